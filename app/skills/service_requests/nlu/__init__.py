"""What people say while a request is put together, read without a model. Pure."""

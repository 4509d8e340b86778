"""Understanding messages without a language model."""

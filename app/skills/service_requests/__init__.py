"""Service requests: what is broken or needed, told in the chat, filed, and looked after."""

"""Quoting: what of the passages that a search found answers a question, word by word."""

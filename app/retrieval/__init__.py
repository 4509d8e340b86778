"""One module serves every search: by words (BM25), by meaning (vectors), or both at once."""

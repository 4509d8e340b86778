"""Making types of requests: what an editor works on, and what of it can be saved.

`page_state` is what stands on the page, right or wrong, and pure; `parser` turns it into what a
type stores, or says what is wrong where; `presenters` draw it, and say it in words.
"""

"""Making forms: what an editor works on, what of it can be saved, and what was saved before.

`rows` and `work` are what stands on the page, right or wrong, and pure; `reading` turns it into
what a template stores, or says what is wrong where.
"""

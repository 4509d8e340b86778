"""Making fields: what an editor of fields works on, whatever it is that is made of them.

`rows` and `work` are what stands on the page, right or wrong, and pure; `reading` turns it into
fields that can be stored, or says what is wrong where; `pages` is what the templates are given.
"""

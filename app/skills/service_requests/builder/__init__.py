"""Making types of requests: what an editor works on, and what of it can be saved.

`work` is what stands on the page, right or wrong, and pure; `reading` turns it into what a type
stores, or says what is wrong where; `wording` says it in words, as versions are compared.
"""

"""Making forms: what an editor works on, what of it can be saved, and what was saved before.

The editing of the fields themselves is the platform's (`app.fields.editor`); `work` is what
stands on the page, and `reading` turns it into what a template stores, or says what is wrong.
"""

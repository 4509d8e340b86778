"""Making forms: what an editor works on, what of it can be saved, and what was saved before.

The editing of the fields themselves is the platform's (`app.fields.editor`); `page_state` is what
stands on the page, and `parser` turns it into what a template stores, or says what is wrong.
"""

"""The fields of a form: what they are, which values they take, when they are shown.

Pure: nothing here touches the database or the request.
"""

"""The kinds of files that are taken, their limits, and what can be wrong with one."""

from __future__ import annotations

KIB = 1024
MIB = 1024 * KIB

# Nothing larger is taken, whatever a field allows.
LARGEST_BYTES = 20 * MIB
# What a form is larger than its file.
FORM_BYTES = 64 * KIB

KINDS = ("image", "pdf", "text", "office")

# The endings that a name may have, the usual one first.
ENDINGS = {
    "image/jpeg": (".jpg", ".jpeg"),
    "image/png": (".png",),
    "application/pdf": (".pdf",),
    "text/plain": (".txt", ".csv", ".md", ".log", ".tsv"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": (".docx",),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": (".xlsx",),
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": (".pptx",),
}
# What a file chooser is asked to show; the content decides.
CHOOSABLE = {
    "image": "image/jpeg,image/png,image/webp,image/gif",
    "pdf": "application/pdf,.pdf",
    "text": "text/plain,.txt,.csv,.md",
    "office": ".docx,.xlsx,.pptx",
}


class Unfit(Exception):
    """A file that is not taken; `code` says why (see `app.files.uploads` and `app.files.tables`).

    `number` is the line that it is about, or how many of something there are.
    """

    def __init__(self, code: str, number: int = 0) -> None:
        super().__init__(code)
        self.code, self.number = code, number

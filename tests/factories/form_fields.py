"""What the forms of pages carry of what they showed, so that nothing unseen is changed by them.

Every page that a test looks at is checked for it: a form that goes to one of these routes has a
field of each of these names, where * stands for any end.
"""

from __future__ import annotations

CARRIED = {
    # Of its forms, inviting carries nothing; changing a role and the like are tested by themselves.
    "accounts.change_people": (),
    "accounts.save_profile": ("was_*",),
    "admin.limits": ("was_*",),
    # The widgets of a request carry the question that they answer instead (`seen` is optional).
    "chat.post_message": (),
    "contacts.save": ("was_*",),
    "contacts.switch": ("was_*",),
    "editing.confirm_translation": ("version",),
    "editing.move": ("version",),
    "editing.restore": ("signature",),
    "editing.save": ("version",),
    "editing.withdraw": ("version", "signature"),
    "expenses.delete": ("version",),
    "expenses.restore": ("version",),
    "expenses.save": ("version",),
    "expenses.save_ledger": ("version",),
    "form_builder.change_status": ("version",),
    "form_builder.restore": ("version",),
    "form_builder.save": ("version",),
    "forms.ask": ("seen",),
    "forms.save": ("page", "s-*"),
    # The button of the form that `forms.save` is of.
    "forms.undo": (),
    "imports.apply": ("signature",),
    "imports.cancel": ("status",),
    "imports.choose_editions": ("signature",),
    "inbox.handle": ("given_at",),
    "inbox.sentence": ("given_at",),
    "group_settings.save": ("was_*",),
    "knowledge.restore": ("version",),
    "menu.declare": ("version",),
    "menu.rename": ("signature",),
    "menu.save": ("version",),
    "notifications.read": ("until",),
    "prompts.delete": ("version",),
    "prompts.keep_ours": ("seed_digest",),
    "prompts.move": ("version",),
    "prompts.restore": ("version",),
    "prompts.save": ("version",),
    "prompts.switch": ("version",),
    "request_settings.save": ("version",),
    "request_teams.remove": ("was_*",),
    "request_teams.save": ("was_*",),
    "request_types.archive": ("version", "signature"),
    "request_types.restore": ("version",),
    "request_types.save": ("version",),
    "sentences.delete": ("was_*",),
    "sentences.save": ("was_*",),
    "service_requests.change_chosen": ("request", "last"),
    "service_requests.set_assignee": ("version",),
    "service_requests.set_priority": ("version",),
    "service_requests.set_status": ("version", "last"),
}
ADDS = "it adds something, and changes nothing that is there"
OWN = "it is its person's own, and what they press is all that it changes"
SHOWN = "what was shown cannot change: it is kept as it was shown"
SMALL = "the button beside it takes it back"
NEED_NONE = {
    **dict.fromkeys(
        (
            "api.ask", "contacts.add", "editing.create", "editing.preview", "expenses.add",
            "expenses.read_receipt", "files.upload", "form_builder.add", "form_builder.copy",
            "form_builder.drawn", "form_handover.open_form", "history.begin", "imports.upload",
            "inbox.add_word", "menu.create", "prompts.add", "request_teams.add",
            "request_types.add", "sentences.add", "service_requests.save_filters",
            "service_requests.write_note",
        ),
        ADDS,
    ),
    **dict.fromkeys(
        (
            "accounts.change_password", "accounts.set_language", "accounts.set_theme",
            "accounts.sign_out", "accounts.submit_forgot_password", "accounts.submit_invitation",
            "accounts.submit_reset_password", "accounts.submit_sign_in", "accounts.switch_group",
            "chat.again", "chat.branch", "chat.stop", "feedback.give", "forms.discard",
            "forms.restore", "history.cancel", "history.delete", "history.rename",
            "history.restore", "service_requests.remove_filters",
        ),
        OWN,
    ),
    **dict.fromkeys(
        ("expenses_api.chat", "inbox.remove_word", "proposals.act", "proposals_api.act"), SHOWN
    ),
    **dict.fromkeys(
        (
            "bench.cancel", "bench.start", "editing.prepare_again", "inbox.reopen",
            "request_types.move",
        ),
        SMALL,
    ),
    "contacts.take_table": "it says itself what it brings up to date, whatever that was before",
    "imports.undo": "what somebody has changed since the import stays as they made it",
    "service_requests.write_reply": "it is put below all that was said before, and changes nothing",
}  # fmt: skip

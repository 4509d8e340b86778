"""Small functions that make what a test needs, in a group of the test's own."""

from tests.factories.browser import CheckedClient, Page, sign_in
from tests.factories.chat import answer, ask, make_thread, make_turn_facts
from tests.factories.forms import make_contact, make_form, make_house_forms
from tests.factories.library import embed_library, make_product, make_section
from tests.factories.people import PASSWORD, Member, api_token, make_group, make_user

__all__ = [
    "PASSWORD",
    "CheckedClient",
    "Member",
    "Page",
    "answer",
    "api_token",
    "ask",
    "embed_library",
    "make_contact",
    "make_form",
    "make_group",
    "make_house_forms",
    "make_product",
    "make_section",
    "make_thread",
    "make_turn_facts",
    "make_user",
    "sign_in",
]

"""What the library's templates ask about whoever reads them: their language, their allergens.

A card is stored without its reader, so what concerns one is found when it is drawn.
"""

from __future__ import annotations

from flask import Blueprint, g
from flask_login import current_user

from app.accounts.models import UserProfile
from app.skills.knowledge.services import vocabulary
from app.text import allergens
from app.text.bilingual import reader_language
from app.web.pages import db_session


def own_allergens() -> frozenset[str]:
    """The allergen codes of the reader's profile, looked up once a request if at all."""
    if "own_allergens" not in g:
        profile = None
        if current_user.is_authenticated:
            profile = db_session().get(UserProfile, current_user.user_id)
        g.own_allergens = frozenset(profile.allergens if profile else ())
    found: frozenset[str] = g.own_allergens
    return found


def allergen_name(code: str) -> str:
    """`{{ code|allergen_name }}`: the allergen in the reader's language."""
    return allergens.allergen_name(code, reader_language())


def kind_name(kind: str) -> str:
    """`{{ kind|kind_name }}`: what one thing of this kind is called in the reader's language."""
    return vocabulary.item_name(kind, reader_language())


def teach_templates(blueprint: Blueprint) -> None:
    """Give these words to every template of the app that `blueprint` is registered on."""
    blueprint.add_app_template_filter(allergen_name)
    blueprint.add_app_template_filter(kind_name)
    blueprint.add_app_template_global(own_allergens)

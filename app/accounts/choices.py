"""What a profile may say, and the words for it. The codes are those of the menu's data."""

from __future__ import annotations

from flask_babel import LazyString
from flask_babel import lazy_gettext as _

from app.text import allergens
from app.text.bilingual import reader_language

Choices = dict[str, LazyString]


def _allergen(code: str) -> str:
    return allergens.allergen_name(code, reader_language()).capitalize()


ROLES: Choices = {"staff": _("Staff"), "manager": _("Manager"), "admin": _("Admin")}

THEMES: Choices = {"system": _("Auto"), "light": _("Light"), "dark": _("Dark")}

UNITS: Choices = {"us": _("US (cups, ounces, °F)"), "metric": _("Metric (grams, liters, °C)")}

# Languages are written in themselves, so that whoever needs one can find it.
LANGUAGE_NAMES = {"en": "English", "es": "Español"}

ALLERGENS: Choices = {
    code: LazyString(_allergen, code)  # type: ignore[call-overload]  # typed as a plain str
    for code in allergens.ALLERGENS
}

DIETS: Choices = {
    "vegetarian": _("Vegetarian"),
    "vegan": _("Vegan"),
    "pescatarian": _("Pescatarian"),
    "gluten-free": _("Gluten-free"),
    "dairy-free": _("Dairy-free"),
    "low-carb": _("Low-carb"),
    "halal": _("Halal"),
    "kosher": _("Kosher"),
}

CUISINES: Choices = {
    "mexican": _("Mexican"),
    "tex-mex": _("Tex-Mex"),
    "american": _("American"),
    "latin-american": _("Latin American"),
    "italian": _("Italian"),
    "french": _("French"),
    "spanish": _("Spanish"),
    "mediterranean": _("Mediterranean"),
    "asian": _("Asian"),
    "indian": _("Indian"),
}

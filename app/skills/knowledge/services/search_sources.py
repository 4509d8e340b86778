"""How sections and products become search documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.config import LANGUAGES
from app.retrieval.chunks import chunk_markdown
from app.retrieval.index import ChunkInput, SourceInput
from app.skills.knowledge.models import ManualSection, Product
from app.skills.knowledge.services.vocabulary import category_name, fact_pairs, kind_name
from app.text.allergens import allergen_name

SECTION_SOURCES = {"training": "training", "recipe": "recipes"}
SECTION_CONTEXTS = ("manual", *SECTION_SOURCES.values())


def section_source_type(section: ManualSection) -> str:
    """The citation context of a section: manual, training or recipes."""
    return SECTION_SOURCES.get(section.kind, "manual")


def section_source(section: ManualSection, path_en: list[str], path_es: list[str]) -> SourceInput:
    """The section's passages in both languages; `path_en` and `path_es` are the titles above.

    A text that exists in one language only serves the readers of both.
    """
    chunks: list[ChunkInput] = []
    for language, path in zip(LANGUAGES, (path_en, path_es), strict=True):
        body = section.body_es if language == "es" else section.body_en
        other = section.body_en if language == "es" else section.body_es
        if body.strip():
            serves = (language,) if other.strip() else LANGUAGES
            chunks += _section_chunks(section, body, language, serves, path)
    return SourceInput(
        section_source_type(section), section.id, chunks, is_published=section.is_published
    )


def _section_chunks(
    section: ManualSection, body: str, language: str, serves: tuple[str, ...], path: list[str]
) -> list[ChunkInput]:
    title = section.title(language)
    return [
        ChunkInput(
            chunk_no=number,
            language=language,
            serves=serves,
            title=title,
            headings=(*path, *chunk.headings),
            text=chunk.text,
            details={
                "entity": "section",
                "slug": section.slug,
                "path": [*path, title],
                "start": chunk.start,
                "end": chunk.end,
            },
        )
        for number, chunk in enumerate(chunk_markdown(body))
    ]


def product_source(product: Product) -> SourceInput:
    """The product's one bilingual document."""
    chunk = ChunkInput(
        language="mul",
        serves=LANGUAGES,
        title=_both(product.name_en, product.name_es),
        text=product_text(product),
        details={
            "entity": "product",
            "kind": product.kind,
            "slug": product.slug,
            "category": product.category,
            "tags": product.tags,
            # Without the key, nobody has declared them: that is not the same as none.
            **({} if product.allergens is None else {"allergens": product.allergens}),
            **{key: product.facts[key] for key in _FILTERS if key in product.facts},
        },
    )
    return SourceInput(product.kind, product.id, [chunk], is_published=product.is_active)


# What is searched of a product; as much of one is looked through in the menus.
LONGEST_TEXT = 16_000
_FILTERS = ("total_time_minutes", "difficulty", "cuisine", "meal")


def product_text(product: Product) -> str:
    """What is searched of a product: one bilingual text of its record, as far as there is room."""
    lines = [
        # What everything of this kind is asked for by: "which wine goes with …".
        _both(kind_name(product.kind, "en"), kind_name(product.kind, "es")),
        _both(product.description_en, product.description_es),
        _both(category_name(product.category, "en"), category_name(product.category, "es")),
        _listed("Ingredients", [_both(i["en"], i["es"]) for i in product.ingredients]),
        _listed("Allergens", [_bilingual_allergen(code) for code in product.allergens or ()]),
        _listed(
            "Tags", [_both(category_name(t, "en"), category_name(t, "es")) for t in product.tags]
        ),
        _facts(product.facts),
        _listed("Goes with / Va con", _pairing(product)),
    ]
    return "\n".join(_fitted([line for line in lines if line]))


def _fitted(lines: Sequence[str]) -> list[str]:
    """The lines with their ends cut off until there is room for them: of the longest ones alone."""
    fitted, room = list(lines), LONGEST_TEXT - len(lines)
    by_length = sorted(range(len(lines)), key=lambda place: len(lines[place]))
    for number, place in enumerate(by_length):
        fitted[place] = lines[place][: room // (len(lines) - number)]
        room -= len(fitted[place])
    return fitted


def _pairing(product: Product) -> list[str]:
    notes = _both(product.pairing_notes_en, product.pairing_notes_es)
    return [notes] if notes else []


def _both(first: str, second: str) -> str:
    return first if first == second or not second else f"{first} / {second}"


def _bilingual_allergen(code: str) -> str:
    return _both(allergen_name(code, "en"), allergen_name(code, "es"))


def _listed(label: str, words: list[str]) -> str:
    return f"{label}: {', '.join(words)}" if words else ""


def _facts(facts: dict[str, Any]) -> str:
    """Label and value of each fact in both languages, or in the one it is known in."""
    lines = []
    for key, value in facts.items():
        english, spanish = (list(fact_pairs({key: value}, each).items()) for each in LANGUAGES)
        for (label, said), (translated, dicho) in zip(
            english or spanish, spanish or english, strict=True
        ):
            lines.append(f"{_both(label, translated)}: {_both(said, dicho)}")
    return "; ".join(lines)

"""The six search tools. They only look, and only at the signed-in person's group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from flask_babel import gettext as _
from pydantic import AfterValidator, Field, WithJsonSchema
from sqlalchemy import select

from app.accounts.models import Group
from app.assistant.prompts.system_prompt import own_buttons
from app.assistant.tools.examples import load_examples
from app.assistant.tools.parts import Part, Suggestion
from app.assistant.tools.tool import Arguments, ReadTool, ToolContext, ToolResult
from app.db import ScopedSession
from app.retrieval.chunks import readable
from app.retrieval.embedder import Embedder
from app.retrieval.evidence import NAMED, THIN, odds_of, strength_of
from app.retrieval.search import (
    AtMost,
    Contains,
    Equals,
    Filter,
    Hit,
    Lacks,
    SearchOutcome,
    SearchRequest,
    search,
    unknown_words,
)
from app.retrieval.team_words import load_meanings
from app.skills.knowledge.models import ManualSection, Product
from app.skills.knowledge.nlu.record_answers import ProductAnswers
from app.skills.knowledge.services.display import (
    ACTIONS,
    passage_citation,
    product_card,
    product_citation,
    product_record,
)
from app.skills.knowledge.services.library import load_products, load_sections
from app.skills.knowledge.services.names import name_words
from app.text.allergens import ALLERGENS, FAMILIES, allergen_name, expand_families
from app.text.synonyms import meanings_in, restate

EXAMPLES = Path(__file__).with_name("examples.yaml")
MOST_RESULTS = 6
MOST_CARDS = 3
MOST_CHIPS = 3
# In words: a section up to this long is given whole.
SHORT_SECTION = 400
# Words like "and" and "the" name nothing.
SHORT_WORD = 3


def _known_allergen(code: str) -> str:
    """A family such as "nuts" may be meant too: it counts for all that belong to it."""
    if code not in ALLERGENS and code not in FAMILIES:
        raise ValueError("not an allergen that is listed here")
    return code


# The schema names the codes of the one vocabulary, so that no model has to guess at them.
Allergen = Annotated[
    str,
    AfterValidator(_known_allergen),
    WithJsonSchema({"type": "string", "enum": [*ALLERGENS, *FAMILIES]}),
]


class SearchArguments(Arguments):
    query: str = Field(min_length=1, max_length=200, description="The words that matter.")


class ProductArguments(SearchArguments):
    free_of: list[Allergen] | None = Field(
        None, max_length=20, description="Only what is listed without these allergens."
    )


class RecipeArguments(ProductArguments):
    max_time_minutes: int | None = Field(None, ge=1, le=1440, description="At most this long.")
    difficulty: Literal["easy", "medium", "hard"] | None = None
    cuisine: str | None = Field(
        None,
        max_length=40,
        examples=[
            "mexican", "tex-mex", "american", "italian", "french",
            "spanish", "asian", "indian", "mediterranean", "latin-american",
        ],
    )  # fmt: skip
    diet: Literal["vegetarian", "vegan", "gluten-free"] | None = None
    meal: (
        Literal["breakfast", "lunch", "dinner", "side", "dessert", "snack", "drink", "sauce"] | None
    ) = None


class SearchTool(ReadTool):
    """Searches the documents of some citation contexts, the first of which names it."""

    arguments: type[Arguments] = SearchArguments
    is_search = True
    records = ProductAnswers()

    def __init__(
        self,
        name: str,
        source_types: tuple[str, ...],
        description: str,
        activity: Mapping[str, str],
        place: Mapping[str, str],
    ) -> None:
        self.name = name
        self.domain = source_types[0]
        self.place = place
        self.source_types = source_types
        self.description = description
        self.activity = activity
        self.examples = load_examples(EXAMPLES)[name]

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Search, cite what was found, and draw products as cards."""
        asked = arguments.query
        embedder: Embedder = context.services["embedder"]
        # By itself: the search asks a model for a vector first, which no transaction waits for.
        with context.transaction() as session:
            meanings = meanings_in(asked, load_meanings(session))
        arguments = arguments.model_copy(update={"query": restate(asked, meanings)})
        with context.transaction() as session:
            outcome = search(session, self.request(arguments, context.language), embedder)
            odds = odds_for(session, arguments.query, outcome, embedder.model, context.language)
            strength = strength_of(odds)
            weak = strength != "good"
            free_of = _avoided(arguments)
            results, cards = self._results(session, outcome.hits, context, weak, free_of)
        payload: dict[str, Any] = {
            "searched": self.domain,
            "place": self.place[context.language],
            "query": asked,
            "weak": weak,
            "evidence": strength,
            "results": results,
            "near": [result.get("title") or result["name"] for result in results][:MOST_CHIPS],
        }
        if meanings:
            payload["means"] = meanings
        if free_of:
            payload["free_of"] = [allergen_name(code, context.language) for code in free_of]
        related = _related(outcome, weak)
        return ToolResult(payload, cards, related, by_words_alone=outcome.degraded, odds=odds)

    def request(self, arguments: Any, language: str) -> SearchRequest:
        """What this tool searches for, for readers of `language`."""
        return SearchRequest(
            text=arguments.query,
            language=language,
            source_types=self.source_types,
            limit=MOST_RESULTS,
            filters=self.filters(arguments),
        )

    def filters(self, arguments: Any) -> tuple[Filter, ...]:
        """Hard filters on the documents' details; none but for products."""
        return ()

    def _results(
        self,
        session: ScopedSession,
        hits: Sequence[Hit],
        context: ToolContext,
        weak: bool,
        free_of: Sequence[str],
    ) -> tuple[list[dict[str, Any]], list[Part]]:
        products = {
            product.id: product
            for product in load_products(
                session, [hit.source_id for hit in hits if hit.details["entity"] == "product"]
            )
        }
        sections = {
            section.id: section
            for section in load_sections(
                session, [hit.source_id for hit in hits if hit.details["entity"] == "section"]
            )
        }
        currency = _currency(session)
        results: list[dict[str, Any]] = []
        cards: list[Part] = []
        # Each tool has one kind of product, and of the manual there are no cards.
        known = ACTIONS.get(self.domain, ())
        own = own_buttons(session, self.domain, context.language, known) if products else {}
        for hit in hits:
            product = products.get(hit.source_id)
            # The record has the last word: a document may have been indexed when it said less.
            if product is not None and not _is_listed_without(product, free_of):
                continue
            if product is not None:
                results.append(self._product_result(product, hit, context, currency))
                if not weak and len(cards) < MOST_CARDS and _worth_a_card(hit, hits[0]):
                    cards.append(product_card(product, context.language, currency, own))
            elif hit.source_id in sections:
                results.append(_passage_result(hit, sections[hit.source_id], context))
        return results, cards

    @staticmethod
    def _product_result(
        product: Product, hit: Hit, context: ToolContext, currency: str
    ) -> dict[str, Any]:
        number = context.ledger.cite(product_citation(product, hit, context.language, currency))
        return {"cite": number, **product_record(product, context.language, currency)}


def _avoided(arguments: Any) -> tuple[str, ...]:
    """The codes of the allergens that nothing found may have; none where nobody named any."""
    return expand_families(getattr(arguments, "free_of", None) or ())


def _is_listed_without(product: Product, free_of: Sequence[str]) -> bool:
    """True when its list names none of these; without a list only where none were asked for."""
    if not free_of:
        return True
    return product.allergens is not None and not set(product.allergens) & set(free_of)


def _passage_result(hit: Hit, section: ManualSection, context: ToolContext) -> dict[str, Any]:
    """The passage, or the whole of a short section: half a list of steps helps nobody."""
    body = section.body(hit.language)
    is_short = len(body.split()) <= SHORT_SECTION
    given = body if is_short else hit.text
    start = body.find(hit.text)
    text = given if is_short or start < 0 else readable(body, start, start + len(hit.text))
    return {
        "cite": context.ledger.cite(passage_citation(hit, given)),
        "title": hit.title,
        "path": list(hit.details.get("path", []))[:-1],
        "text": text,
        "language": hit.language,
    }


def odds_for(
    session: ScopedSession, query: str, outcome: SearchOutcome, model: str, language: str | None
) -> float:
    """How good what was found is as evidence; a title that is named is as good as can be."""
    unknown = unknown_words(session, query, language)
    odds = max((odds_of(hit, query, model, unknown) for hit in outcome.hits), default=THIN - 1)
    return max(odds, NAMED) if _names_a_title(query, outcome) else odds


def _names_a_title(query: str, outcome: SearchOutcome) -> bool:
    """True when the best hit's title stands in the query, or is half of what it says.

    A question about "the smoked turkey" is about the page of that name, however many
    other words it has.
    """
    if not outcome.hits:
        return False
    asked = name_words(query)
    for title in outcome.hits[0].title.split(" / "):
        words_of_title = name_words(title)
        common = {word for word in asked & words_of_title if len(word) > SHORT_WORD}
        if common and (words_of_title <= asked or 2 * len(common) >= len(asked)):
            return True
    return False


def _worth_a_card(hit: Hit, best: Hit) -> bool:
    """A card beside the best one must be nearly as good, or it only distracts."""
    return hit.score >= 0.8 * best.score


def _related(outcome: SearchOutcome, weak: bool) -> list[Suggestion]:
    """Chips to the other sections that were found (all of them when the evidence is weak)."""
    sections = [hit for hit in outcome.hits if hit.details["entity"] == "section"]
    titles = list(dict.fromkeys(hit.title for hit in sections))[0 if weak else 1 :]
    return [
        Suggestion(
            label=title, message=_("What does the manual say about “%(title)s”?", title=title)
        )
        for title in titles[:MOST_CHIPS]
    ]


def _currency(session: ScopedSession) -> str:
    return session.scalars(select(Group.currency).where(Group.id == session.scope.group_id)).one()


class ProductSearch(SearchTool):
    """A search over products, which can leave out what is not listed without an allergen.

    The prompt row of its domain introduces it: a group that serves no wine switches
    `domain-wines` off, and nobody looks for wines any more.
    """

    arguments = ProductArguments

    def __init__(
        self,
        name: str,
        source_types: tuple[str, ...],
        description: str,
        activity: Mapping[str, str],
        place: Mapping[str, str],
    ) -> None:
        super().__init__(name, source_types, description, activity, place)
        self.prompt_slug = f"domain-{self.domain}"

    def filters(self, arguments: Any) -> tuple[Filter, ...]:
        """What nobody has declared the allergens of is left out, whatever it is free of."""
        free_of = _avoided(arguments)
        return (Lacks("allergens", free_of),) if free_of else ()


class RecipeSearch(ProductSearch):
    """The search over recipes, which takes more filters."""

    arguments = RecipeArguments

    def filters(self, arguments: Any) -> tuple[Filter, ...]:
        """Allergens, time, difficulty, cuisine, meal and diet, as the details have them."""
        cuisine = arguments.cuisine.lower() if arguments.cuisine else None
        equal = {"difficulty": arguments.difficulty, "cuisine": cuisine, "meal": arguments.meal}
        filters: list[Filter] = [*super().filters(arguments)]
        filters += [Equals(key, value) for key, value in equal.items() if value]
        if arguments.max_time_minutes:
            filters.append(AtMost("total_time_minutes", arguments.max_time_minutes))
        if arguments.diet:
            filters.append(Contains("tags", (arguments.diet,)))
        return tuple(filters)


TOOLS: tuple[SearchTool, ...] = (
    SearchTool(
        "search_manual_v2",
        ("manual", "training"),
        "Search the restaurant's manual: procedures, policies, food safety, cleaning,"
        " equipment, emergencies, pay, schedules and training.",
        {"en": "Searching the manual…", "es": "Buscando en el manual…"},
        {"en": "the manual", "es": "el manual"},
    ),
    ProductSearch(
        "search_dishes",
        ("dishes",),
        "Search the food menu: dishes with ingredients, allergens, price, doneness and pairing.",
        {"en": "Looking at the menu…", "es": "Mirando la carta…"},
        {"en": "the menu", "es": "la carta"},
    ),
    ProductSearch(
        "search_wines",
        ("wines",),
        "Search the wine list: grape, region, style, price and what each goes with.",
        {"en": "Looking at the wine list…", "es": "Mirando la carta de vinos…"},
        {"en": "the wine list", "es": "la carta de vinos"},
    ),
    ProductSearch(
        "search_cocktails",
        ("cocktails",),
        "Search the cocktails, alcohol-free ones too: spec, method, glass and garnish.",
        {"en": "Looking at the cocktails…", "es": "Mirando los cocteles…"},
        {"en": "the cocktails", "es": "los cocteles"},
    ),
    RecipeSearch(
        "search_recipes",
        ("recipes",),
        "Search the restaurant's recipes by dish, ingredients, cuisine, time or mood: how to cook"
        " it.",
        {"en": "Searching the recipes…", "es": "Buscando en las recetas…"},
        {"en": "the recipes", "es": "las recetas"},
    ),
    ProductSearch(
        "search_beer_liquor",
        ("beer_liquor",),
        "Search beers and spirits: style, origin, strength, pour and pairing.",
        {"en": "Looking at beer and spirits…", "es": "Mirando cervezas y destilados…"},
        {"en": "the beer and spirits", "es": "las cervezas y los destilados"},
    ),
)

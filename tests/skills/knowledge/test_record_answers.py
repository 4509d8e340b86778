"""Questions about the demo menu, answered from records as the search tools give them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from app.retrieval.quotes.lines import to_markdown
from app.skills.knowledge.nlu.allergen_answers import describe_none
from app.skills.knowledge.nlu.record_answers import describe_records, is_only_near
from app.skills.knowledge.nlu.records import Record, read_record
from tests.assistant.builtin.payloads import products


def records(kind: str, *slugs: str) -> list[Record]:
    return [
        read_record({"cite": number, **products(kind)[slug]})
        for number, slug in enumerate(slugs, 1)
    ]


def tell(
    question: str, found: Sequence[Record], named: Sequence[str] = (), action: str = ""
) -> str:
    return to_markdown(describe_records(question, found, named, action))


@pytest.fixture(scope="module")
def steaks() -> list[Record]:
    known = products("dishes")
    slugs = [slug for slug in known if known[slug]["category"] == "steak"]
    return records("dishes", *slugs)


@pytest.fixture(scope="module")
def dishes() -> list[Record]:
    known = products("dishes")
    wanted = ("Chicken in Mole", "Smoked Brisket", "Charred Caesar", "Cinnamon Tres", "Hand-Cut")
    slugs = [slug for name in wanted for slug in known if known[slug]["name"].startswith(name)]
    return records("dishes", *slugs)


@pytest.fixture(scope="module")
def cocktails() -> list[Record]:
    known = products("cocktails")
    wanted = ("Classic Margarita", "Old Fashioned", "Pecan Old Fashioned", "Mojito", "Negroni")
    slugs = [slug for name in wanted for slug in known if known[slug]["name"] == name]
    return records("cocktails", *slugs)


@pytest.fixture(scope="module")
def wines() -> list[Record]:
    return records("wines", *list(products("wines"))[:6])


def test_the_dish_that_is_named_is_told_of_price_first(steaks: list[Record]) -> None:
    told = tell("how much does the tomahawk cost", steaks)
    ribeye = next(one for one in steaks if one.name.startswith("Tomahawk"))
    assert told.startswith(f"**{ribeye.name}**: Price: {ribeye.price}. [{ribeye.cite}]")
    assert "Filet" not in told


def test_listed_allergens_are_repeated_and_nothing_is_called_safe(dishes: list[Record]) -> None:
    told = tell("does the mole have peanuts in it", dishes)
    assert "Listed allergens: peanut, tree nut" in told
    assert "Check with the kitchen" in told
    assert "safe" not in told.lower()


def test_no_listed_allergen_is_said_to_be_just_that() -> None:
    told = tell("allergens in the water", [Record(cite=3, name="Water", allergens=())])
    assert told.startswith("**Water**: No listed allergen found. [3]")


def test_allergens_that_nobody_has_listed_are_not_taken_for_none() -> None:
    told = tell("allergens in the soup", [Record(cite=3, name="Soup", allergens=None)])
    assert told.startswith("**Soup**: Nobody has listed its allergens yet. [3]")


def test_what_holds_an_allergen_is_left_out_of_a_list_without_it(dishes: list[Record]) -> None:
    told = tell("which dishes have no gluten", dishes)
    assert "Brisket Flautas" in told
    assert "Mole" not in told
    assert "Caesar" not in told


def test_what_holds_an_allergen_is_listed_when_it_is_asked_for(dishes: list[Record]) -> None:
    told = tell("which dishes contain fish", dishes)
    assert "Caesar" in told
    assert "Flautas" not in told


FLAN = Record(1, "Flan", "Silky.", allergens=("milk", "egg"))
MOLE = Record(2, "Mole", "Dark.", allergens=("peanuts", "tree nuts", "gluten"))
FRIES = Record(3, "Fries", "Hot.", allergens=())
SPECIAL = Record(4, "Special", "Whatever there is.", allergens=None)
MENU = (FLAN, MOLE, FRIES, SPECIAL)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("can a celiac eat the fries", "**Fries**: Gluten is not on its list. [3]"),
        ("is the flan nut free", "Listed allergens: milk, egg. [1] Tree nuts, peanuts are not on"),
        (
            "does the mole have nuts",
            "According to its own list, it contains: tree nuts, peanuts. [2]",
        ),
        ("is the mole free of peanuts", "According to its own list, it contains: peanuts. [2]"),
        ("¿el flan no lleva huevo?", "According to its own list, it contains: egg. [1]"),
        ("I'm lactose intolerant, can I have the flan", "it contains: milk. [1]"),
        ("can a celiac eat the special", "**Special**: Nobody has listed its allergens yet. [4]"),
    ],
)
def test_one_dish_is_told_of_by_what_its_list_says_of_that_allergen(
    question: str, told: str
) -> None:
    answer = tell(question, MENU)
    assert told in answer
    assert answer.count("**") == 2
    assert "No listed allergen" not in answer
    assert answer.endswith("Check with the kitchen before you promise a guest anything.")


@pytest.mark.parametrize(
    "question", ["is the lobster roll gluten free", "does the Wintern flan contain nuts"]
)
def test_a_dish_that_was_not_found_is_not_answered_from_another(question: str) -> None:
    assert tell(question, MENU) == ""


def test_a_name_that_is_written_otherwise_is_found(dishes: list[Record]) -> None:
    assert "**Charred Caesar" in tell("does the chared caesar contain nuts", dishes)


@pytest.mark.parametrize(
    "question",
    ["does the mole have peanuts in it?", "any peanuts in the mole?", "is there peanut in the mole",
     "¿hay cacahuate en el mole?"],
)  # fmt: skip
def test_however_it_is_asked_what_is_declared_is_told(question: str) -> None:
    assert "According to its own list, it contains: peanuts. [2]" in tell(question, MENU)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("which desserts without nuts go with the mole?", ["Mole"]),
        ("what can I offer instead of the mole to a guest with a peanut allergy?", ["Mole"]),
    ],
)
def test_what_has_it_is_not_offered_because_something_is_named(
    question: str, named: list[str]
) -> None:
    told = tell(question, MENU, named)
    assert "**Mole**" not in told
    assert "**Flan**" in told or "**Fries**" in told


@pytest.mark.parametrize(
    "question",
    [
        "does the caesar salad dressing have fish?",
        "is the caesar completely nut free?",
        "can a guest with a nut allergy eat the caesar tonight?",
        "does the grilled caesar contain nuts?",
    ],
)
def test_what_is_said_beside_a_name_does_not_hide_the_dish(
    dishes: list[Record], question: str
) -> None:
    assert "**Charred Caesar" in tell(question, dishes)


def test_what_is_named_is_told_of_though_it_has_what_is_unwanted() -> None:
    told = tell("gluten free mole?", MENU, named=["Mole"])
    assert "**Mole**" in told
    assert "**Flan**" not in told


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("which dishes are gluten free", {"Flan", "Fries"}),
        ("¿qué platillos no tienen leche?", {"Mole", "Fries"}),
        ("what can someone with a nut allergy eat", {"Flan", "Fries"}),
        ("anything without nuts or eggs", {"Fries"}),
    ],
)
def test_what_has_it_or_may_have_it_is_not_among_what_is_without(
    question: str, names: set[str]
) -> None:
    told = tell(question, MENU)
    assert {record.name for record in MENU if f"**{record.name}**" in told} == names
    assert "Check with the kitchen" in told


def test_where_all_have_it_or_may_have_it_none_is_named() -> None:
    told = tell("which dishes are gluten free", [MOLE, SPECIAL])
    assert told.startswith("I found nothing that is listed without this: gluten.")
    assert "Check with the kitchen" in told
    assert "Mole" not in told


def test_a_search_that_found_nothing_without_it_says_so() -> None:
    assert "without this: milk, egg." in to_markdown(describe_none({"free_of": ["milk", "egg"]}))
    assert describe_none({"results": []}) == []


def test_an_allergen_in_a_name_is_not_what_is_asked_about() -> None:
    taco = Record(1, "Fish taco", "Crisp.", allergens=("fish", "gluten"))
    told = tell("is the fish taco gluten free", [taco])
    assert "it contains: gluten. [1]" in told


def test_ingredients_come_as_they_are_written(dishes: list[Record]) -> None:
    told = tell("what's in the caesar?", dishes)
    assert "Ingredients: romaine lettuce; pasteurized egg yolk; anchovy" in told


def test_a_drink_without_steps_is_told_by_its_measures_and_method(
    cocktails: list[Record],
) -> None:
    told = tell("how do I make a margarita", cocktails)
    assert "Spec: 2 oz tequila, 1 oz orange liqueur" in told
    assert "Method: shake 12 s" in told


def test_a_recipe_is_told_in_its_steps() -> None:
    recipe = Record(
        2,
        "Hummus",
        "A dip.",
        ingredients=("480 g chickpea", "1 tsp salt"),
        steps=("Boil.", "Blend."),
    )
    assert tell("how do I make hummus", [recipe]) == (
        "**Hummus**: A dip. [2] Ingredients: 480 g chickpea; 1 tsp salt. [2]"
        "\n\n1. Boil. [2]\n2. Blend. [2]"
    )


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("what glass for the mojito", "Glass: "),
        ("what's the garnish on the mojito", "Garnish: "),
        ("how many ounces of rum in the mojito", "Spec: 2 oz white rum"),
        ("how strong is the mojito", "Abv estimate: "),
        ("is the mojito shaken or stirred", "Method: "),
    ],
)
def test_a_fact_is_found_by_what_its_label_means(
    cocktails: list[Record], question: str, fact: str
) -> None:
    assert f"**Mojito**: {fact}" in tell(question, cocktails)


def test_the_whole_name_is_meant_and_not_a_part_of_it(cocktails: list[Record]) -> None:
    names = ["Pecan Old Fashioned", "Old Fashioned"]
    told = tell("does the pecan old fashioned have nuts", cocktails, names)
    assert told.startswith("**Pecan Old Fashioned**: Listed allergens: tree nut")
    assert told.count("**") == 2


def test_several_are_listed_three_at_most(steaks: list[Record]) -> None:
    told = tell("which steaks do we have on the menu", steaks)
    assert told.count("\n- ") == 2
    assert told.count("Price: ") == 3


def test_the_cheapest_come_first(steaks: list[Record]) -> None:
    told = tell("what's the cheapest steak we sell", steaks)
    prices = [float(part.split()[0]) for part in told.split("Price: $")[1:]]
    assert prices == sorted(prices)
    assert prices[0] == min(float(one.price[1:]) for one in steaks)


def test_prices_are_compared_in_either_way_of_writing() -> None:
    found = [
        Record(1, "First", "Red.", price="1.250,00 US$"),
        Record(2, "Second", "Red.", price="6,50 US$"),
    ]
    assert tell("the cheapest red?", found).index("Second") < tell(
        "the cheapest red?", found
    ).index("First")


def test_a_wine_is_told_with_what_it_goes_with(wines: list[Record]) -> None:
    told = tell("what wine goes with the ribeye", wines)
    assert "Goes with: Arrachera, ribeye and anything with mesquite char." in told


def test_an_action_asks_for_its_attribute_whatever_the_words(steaks: list[Record]) -> None:
    told = tell("Filet Mignon 8 oz", steaks, ["Filet Mignon 8 oz"], action="pairing")
    assert told.startswith("**Filet Mignon 8 oz**: Goes with: ")


def test_what_a_record_lacks_is_said_to_be_missing() -> None:
    told = tell("how much is the soup", [Record(4, "Soup", "Hot and red.")])
    assert told == "**Soup**: Its record does not say. [4] Hot and red. [4]"


def test_a_malformed_record_is_read_as_far_as_it_goes() -> None:
    record = read_record({"name": "Soup", "price": None, "facts": None, "allergens": None})
    assert record == Record(0, "Soup", allergens=None, facts={})


@pytest.mark.parametrize(
    ("question", "is_near"),
    [
        ("how much does the tomahawk cost", False),
        ("how much is the 12 oz filet", True),
        ("how much is the prime rib", True),
        ("does the tomahawk have milk", False),
        ("which steaks do we have", False),
    ],
)
def test_what_no_product_has_is_only_near(
    steaks: list[Record], question: str, is_near: bool
) -> None:
    assert is_only_near(question, steaks) is is_near

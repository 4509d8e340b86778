from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from app.assistant.providers.builtin.slots import fill_arguments
from app.nlu.queries import make_query


class Filters(BaseModel):
    """A tool's arguments as a skill might declare them."""

    query: str = Field(max_length=200)
    max_time_minutes: int | None = None
    difficulty: Literal["easy", "medium", "hard"] | None = None
    cuisine: str | None = Field(None, examples=["mexican", "tex-mex", "italian"])
    diet: Literal["vegetarian", "vegan", "gluten-free"] | None = None
    meal: Literal["breakfast", "dinner", "sauce"] | None = None


SCHEMA = Filters.model_json_schema()


@pytest.mark.parametrize(
    ("question", "filters"),
    [
        ("What can I cook in under 30 minutes?", {"max_time_minutes": 30}),
        ("algo rápido en menos de media hora", {"max_time_minutes": 30}),
        ("sopa en una hora y media", {"max_time_minutes": 90}),
        ("a stew in at most two hours", {"max_time_minutes": 120}),
        ("I need an easy Mexican recipe", {"difficulty": "easy", "cuisine": "mexican"}),
        ("una receta mexicana fácil", {"difficulty": "easy", "cuisine": "mexican"}),
        (
            "easy tex-mex breakfast",
            {"difficulty": "easy", "cuisine": "tex-mex", "meal": "breakfast"},
        ),
        ("una cena vegetariana", {"diet": "vegetarian", "meal": "dinner"}),
        ("a dinner without meat", {"diet": "vegetarian", "meal": "dinner"}),
        ("postre sin gluten", {"diet": "gluten-free"}),
        ("chicken in mushroom sauce", {}),
        ("vegan or vegetarian soup", {}),
        ("how long does the pozole take", {}),
    ],
)
def test_filters_are_filled_from_either_language(question: str, filters: dict[str, Any]) -> None:
    arguments = fill_arguments(SCHEMA, question)
    assert arguments is not None
    assert arguments.pop("query")
    assert arguments == filters
    Filters.model_validate({"query": "x", **arguments})


class Dishes(BaseModel):
    """A tool that can leave out what has an allergen, and takes a list of something else."""

    query: str = Field(max_length=200)
    free_of: list[Literal["milk", "egg", "tree_nut", "peanut", "gluten", "nuts"]] | None = None
    meals: list[Literal["breakfast", "lunch", "dinner"]] = []
    diet: Literal["vegan", "gluten-free"] | None = None


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ("which dishes are gluten free", {"query": "dishes", "free_of": ["gluten"]}),
        ("¿qué platillos no tienen gluten?", {"query": "platillos", "free_of": ["gluten"]}),
        ("what can a celiac eat", {"query": "dishes", "free_of": ["gluten"]}),
        ("gluten free recipes", {"query": "recipes", "free_of": ["gluten"]}),
        ("¿qué puede comer un celíaco?", {"query": "dishes", "free_of": ["gluten"]}),
        ("desserts for someone allergic to peanuts", {"query": "desserts", "free_of": ["peanut"]}),
        ("nut and dairy free desserts", {"query": "desserts", "free_of": ["milk", "nuts"]}),
        ("entradas sin nueces ni huevo", {"query": "entradas", "free_of": ["egg", "nuts"]}),
        ("no peanut butter", {"query": "dishes", "free_of": ["peanut"]}),
        ("without any tree nuts", {"query": "dishes", "free_of": ["tree_nut"]}),
        ("lactose intolerant, which soups", {"query": "soups", "free_of": ["milk"]}),
        ("something with cheese but no nuts", {"query": "cheese", "free_of": ["nuts"]}),
        ("alérgico a la leche, ¿qué postres hay?", {"query": "postres", "free_of": ["milk"]}),
        ("a vegan dinner", {"query": "vegan dinner", "meals": ["dinner"], "diet": "vegan"}),
        ("breakfast or lunch", {"query": "breakfast lunch", "meals": ["breakfast", "lunch"]}),
        # What has it is what is asked for.
        ("which dishes have peanuts", {"query": "dishes peanuts"}),
        ("¿no tienes algo con queso?", {"query": "queso"}),
        ("I don't know which sauce goes with the egg", {"query": "sauce egg"}),
        ("que platillos no puede pedir un celiaco", {"query": "platillos pedir celiaco"}),
    ],
)
def test_only_allergens_that_are_unwanted_are_left_out(
    question: str, arguments: dict[str, Any]
) -> None:
    filled = fill_arguments(Dishes.model_json_schema(), question)
    assert filled == arguments
    Dishes.model_validate(filled)


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("is the tres leches nut free", "tres leches"),
        ("can a celiac eat the fries", "fries"),
        ("¿puede un celíaco comer las papas?", "papas"),
        ("chicken mole gluten free?", "chicken mole"),
        ("I'm allergic to nuts, can I have the flan?", "flan"),
        ("can I get the caesar without cheese", "caesar"),
        ("¿el flan no lleva huevo?", "flan"),
    ],
)
def test_what_is_named_is_found_although_it_may_have_the_allergen(
    question: str, query: str
) -> None:
    assert fill_arguments(Dishes.model_json_schema(), question) == {"query": query}


def test_a_tool_that_knows_no_allergens_is_asked_in_all_the_words() -> None:
    schema = {"properties": {"query": {"type": "string"}}, "required": ["query"]}
    filled = fill_arguments(schema, "a guest is allergic to peanuts")
    assert filled == {"query": "guest allergic to peanuts"}


def test_a_length_of_time_is_not_searched_for() -> None:
    arguments = fill_arguments(SCHEMA, "chicken soup in under 30 minutes")
    assert arguments == {"query": "chicken soup", "max_time_minutes": 30}


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("What is our policy on tips?", "policy tips"),
        ("how much does the tomahawk cost", "tomahawk"),
        ("¿Cuánto cuesta el ribeye?", "ribeye"),
        ("recipe", "recipe"),
        ("???", "???"),
    ],
)
def test_a_query_is_the_words_that_matter(question: str, query: str) -> None:
    assert make_query(question) == query


def test_a_query_is_never_longer_than_a_search_takes() -> None:
    question = " ".join(f"ingredient{number}" for number in range(400))
    query = make_query(question)
    assert len(query) <= 200
    assert query.split()[-1] in question.split()


def test_a_tool_that_needs_what_was_not_said_is_not_called() -> None:
    schema = {"properties": {"amount": {"type": "number"}}, "required": ["amount"]}
    assert fill_arguments(schema, "log the expense") is None

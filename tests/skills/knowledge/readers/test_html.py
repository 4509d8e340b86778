"""HTML pages and folders of them become chapters of named sections."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from app.skills.knowledge.readers import ReadDocument
from app.skills.knowledge.services.sections import LONGEST_BODY
from tests.skills.knowledge.readers.files import (
    body,
    codes,
    everything,
    fatal,
    outline,
    read,
    told,
    zip_of,
)

PAGE = """<!DOCTYPE html><html><head><title>Food safety – Casa</title>
<style>p { color: red }</style><script>steal()</script></head>
<body onload="steal()">
<nav><a href="/">Home</a></nav>
<header><a href="a.html">Previous</a> <a href="b.html">Next</a></header>
<main>
<h1 id="food-safety">Food safety<a class="headerlink" href="#food-safety">¶</a></h1>
<p>Keep it <b>cold</b> and <em>clean</em>. See <a href="knives.html#care">the knives</a>
or <a href="https://www.fda.gov/food">the code</a>.<img src="x.png" alt="a fridge"></p>
<section id="raw_chicken"><h3>Raw chicken</h3>
<p>Two hours * at most.</p><script>alert(1)</script>
<ul><li>Cooler<ul><li>Bottom shelf</li></ul></li><li>Never <code>the_top</code></li></ul>
<ol start="3"><li>Wash</li><li>Dry</li></ol>
<table><tr><th>Food</th><th>°F</th></tr><tr><td>Chicken | duck</td><td>165</td></tr></table>
<pre>if hot:
    throw *away*</pre>
<blockquote><p>When in doubt, throw it out.</p></blockquote>
<dl><dt>FIFO</dt><dd>First in, first out.</dd></dl></section>
<h2>Thawing</h2><p># 1 rule: never on the counter.</p>
</main><footer><a href="i.html">Imprint</a></footer></body></html>"""


def test_headings_become_a_tree_and_lasting_ids_their_slugs() -> None:
    reading = read(PAGE, "02-safety.en.html")
    assert outline(reading) == [
        ("Food safety", 0, None),
        ("Raw chicken", 1, "Food safety"),
        ("Thawing", 1, "Food safety"),
    ]
    sections = reading.documents[0].sections
    assert [(each.slug, each.is_named) for each in sections] == [
        ("food-safety", True),
        ("raw-chicken", True),
        ("food-safety-thawing", False),
    ]
    assert reading.documents[0].source == "02-safety"
    assert reading.facts["sections"] == 3


def test_what_a_page_says_comes_as_markdown() -> None:
    reading = read(PAGE, "safety.html")
    chicken = body(reading, "Raw chicken")
    assert "Two hours \\* at most." in chicken
    assert "- Cooler\n  - Bottom shelf\n- Never `the_top`" in chicken
    assert "3. Wash\n4. Dry" in chicken
    assert "| Food | °F |\n| --- | --- |\n| Chicken \\| duck | 165 |" in chicken
    assert "```\nif hot:\n    throw *away*\n```" in chicken
    assert "> When in doubt, throw it out." in chicken
    assert "**FIFO**\n\nFirst in, first out." in chicken
    assert body(reading, "Thawing") == "\\# 1 rule: never on the counter."


def test_links_within_the_manual_become_words_and_pictures_what_they_are_called() -> None:
    text = body(read(PAGE, "safety.html"), "Food safety")
    assert "**cold** and *clean*" in text
    assert "See the knives\nor [the code](https://www.fda.gov/food)." in text.replace(" or", "\nor")
    assert text.endswith("a fridge")
    assert "x.png" not in text


def test_scripts_styles_and_navigation_are_not_read() -> None:
    reading = read(PAGE, "safety.html")
    everything = " ".join(each.title + each.body for each in reading.documents[0].sections)
    for word in ("steal", "alert", "color", "Home", "Previous", "Imprint", "¶"):
        assert word not in everything


DOCBOOK = """<?xml version="1.0" encoding="UTF-8"?>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Chapter 1. The bar</title></head><body>
<div class="navheader"><table><tr><th>The bar</th></tr></table><hr/></div>
<div class="chapter"><div class="titlepage"><div><div>
<h2 class="title"><a id="_the_bar"/>Chapter 1. The bar</h2></div></div></div>
<div class="toc"><dl><dt><a href="#_ice">1.1. Ice</a></dt></dl></div>
<p>Open it at <a id="x1"/>three.</p>
<div class="section"><div class="titlepage"><div><div>
<h2 class="title"><a id="_ice"/>1.1. Ice</h2></div></div></div>
<div class="warning"><table><tr><td rowspan="2"><img alt="[Warning]" src="w.png"/></td>
<th>Warning</th></tr><tr><td><p>Never scoop with the glass.</p></td></tr></table></div>
<div class="section"><div class="titlepage"><div><div>
<h3 class="title"><a id="idm42"/>1.1.1. Cubes</h3></div></div></div><p>Large ones.</p></div>
</div></div>
<div class="navfooter"><a href="ch02.html">Next</a></div></body></html>"""


def test_docbook_says_how_deep_a_section_is_by_where_it_stands() -> None:
    reading = read(DOCBOOK, "ch01.html")
    assert outline(reading) == [
        ("Chapter 1. The bar", 0, None),
        ("1.1. Ice", 1, "Chapter 1. The bar"),
        ("1.1.1. Cubes", 2, "1.1. Ice"),
    ]
    slugs = [section.slug for section in reading.documents[0].sections]
    # A counted id says something else tomorrow, and so does the number of a section.
    assert slugs == ["the-bar", "ice", "the-bar-cubes"]
    assert body(reading, "1.1. Ice") == "> **Warning**\n>\n> Never scoop with the glass."
    assert body(reading, "Chapter 1. The bar") == "Open it at three."


def test_both_languages_of_a_page_have_the_same_slugs() -> None:
    spanish = PAGE.replace("Raw chicken", "Pollo crudo").replace("Food safety", "Inocuidad")
    english, other = read(PAGE, "s.en.html"), read(spanish, "s.es.html", language="es")
    assert [each.slug for each in other.documents[0].sections][:2] == [
        each.slug for each in english.documents[0].sections
    ][:2]
    assert other.documents[0].source == english.documents[0].source == "s"


def test_a_header_may_hold_the_title_and_leaves_its_links() -> None:
    page = "<body><header><h1>Bar</h1><a href='x'>Home</a></header><p>Ice.</p></body>"
    assert body(read(f"<html>{page}</html>", "x.html"), "Bar") == "Ice."


def test_a_folder_of_pages_comes_in_the_order_of_its_index() -> None:
    files = {
        "m/index.html": '<title>Manual</title><h1>Manual</h1><a href="b.html#x">B</a>'
        ' <a href="a.html">A</a>',
        "m/a.html": "<h1 id='bar'>Bar</h1><p>Ice.</p>",
        "m/b.html": "<h1 id='floor'>Floor</h1><p>Tables.</p>",
        "m/c.md": "# Kitchen {#kitchen}\nStoves.",
        "m/empty.html": "<html><body></body></html>",
        "m/.hidden.html": "<h1>No</h1>",
        "m/picture.png": b"\x89PNG",
    }
    reading = read(zip_of(files), "house.zip")
    assert [each.sections[0].title for each in reading.documents] == ["Floor", "Bar", "Kitchen"]
    assert [each.source for each in reading.documents] == ["house-b", "house-a", "c"]
    assert [(each.code, each.place) for each in reading.problems] == [
        ("file_left_out", "m/empty.html")
    ]


def test_what_is_not_read_of_a_folder_is_named() -> None:
    files = {
        "a.es.html": "<h1>Barra</h1><p>Hielo.</p>",
        "a.en.html": "<h1>Bar</h1><p>Ice.</p>",
        "b.en.html": "<h1>Floor</h1><p>Tables.</p>",
        "deep.es.html": "<html>" + "<div>" * 20_000 + "x",
        "two.es.md": "# A\n## B {#b}\nx\n## C {#b}\ny",
        "wines.pdf": b"%PDF-1.7",
        "style.css": "p {}",
        "__MACOSX/wines.pdf": b"x",
    }
    reading = read(zip_of(files), "m.zip", language="es")
    assert [(each.place, each.code, each.detail) for each in reading.problems] == [
        ("wines.pdf", "not_in_a_zip", ""),
        ("", "other_language", "2"),
        ("deep.es.html", "page_unreadable", ""),
        ("two.es.md", "duplicate_slug", "b"),
    ]


def test_chapters_of_a_folder_never_share_a_slug() -> None:
    page = "<h1 id='intro'>Intro</h1><p>Words.</p><h2>More</h2><p>Words.</p>"
    reading = read(zip_of({"a.html": page, "b.html": page, "ch10.html": page}), "m.zip")
    slugs = [each.slug for document in reading.documents for each in document.sections]
    assert len(slugs) == len(set(slugs)) == 6
    named = [each.is_named for document in reading.documents for each in document.sections]
    assert named == [True, False] + [False] * 4


def test_of_a_folder_in_both_languages_only_the_asked_one_is_read() -> None:
    files = {"a.en.html": "<h1>Bar</h1><p>Ice.</p>", "a.es.html": "<h1>Barra</h1><p>Hielo.</p>"}
    reading = read(zip_of(files), "m.zip", language="es")
    assert [each.sections[0].title for each in reading.documents] == ["Barra"]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "utf-16"])
def test_accents_survive_in_whatever_encoding(encoding: str) -> None:
    charset = f'<meta charset="{encoding}">' if encoding != "utf-16" else ""
    page = f"<html><head>{charset}</head><body><h1>Jalapeño</h1><p>Añejo</p></body></html>"
    assert outline(read(page.encode(encoding), "x.html")) == [("Jalapeño", 0, None)]


def test_a_page_without_headings_is_one_chapter_called_by_its_title() -> None:
    reading = read("<html><title>Closing</title><body><p>Lock the door.</p></body></html>", "c.htm")
    assert outline(reading) == [("Closing", 0, None)]
    assert codes(reading) == ["no_headings"]


def test_a_long_text_without_headings_is_cut_between_its_paragraphs() -> None:
    paragraphs = "".join(f"<p>{number} {'word ' * 200}</p>" for number in range(15))
    document: ReadDocument = read(f"<html><body>{paragraphs}</body></html>", "l.html").documents[0]
    assert [each.title for each in document.sections] == ["L", "L (2)", "L (3)", "L (4)"]
    words = [len(each.body.split()) for each in document.sections]
    assert sum(words) == 15 * 201
    assert all(each.parent == 0 for each in document.sections[1:])


def test_a_section_longer_than_one_may_be_typed_is_cut_where_it_stands() -> None:
    paragraphs = "".join(f"<p>{number} {'word ' * 400}</p>" for number in range(110))
    rest = "<h3>Cubes</h3><p>Big.</p><h2>Salt</h2>"
    page = f"<html><h1>Bar</h1><h2>Ice</h2>{paragraphs}{rest}</html>"
    sections = read(page, "b.html").documents[0].sections
    titles = [each.title for each in sections]
    assert titles[:4] == ["Bar", "Ice", "Ice (2)", "Ice (3)"]
    assert titles[-2:] == ["Cubes", "Salt"]
    assert {sections[each.parent].title for each in sections[2:-1] if each.parent} == {"Ice"}
    assert sections[-1].parent == 0
    assert max(len(each.body) for each in sections) <= LONGEST_BODY
    assert sum(each.body.count("word") for each in sections) == 110 * 400


def test_a_paragraph_longer_than_a_section_may_be_is_refused_by_the_sections_name() -> None:
    reading = read(f"<html><h1>Bar</h1><h2>Ice</h2><p>{'word ' * 50_000}</p></html>", "b.html")
    assert fatal(reading) == "section_too_long"
    assert reading.problems[0].detail == "Ice"


def test_elements_thousands_deep_are_refused() -> None:
    assert fatal(read("<html>" + "<div>" * 20_000 + "x", "x.html")) == "could_not_be_read"


def test_pages_without_a_word_are_refused() -> None:
    assert fatal(read("<html><body><script>x()</script></body></html>", "x.html")) == "no_sections"
    assert fatal(read(zip_of({"a.html": "<html></html>"}), "x.zip")) == "no_sections"


def test_a_heading_of_a_thousand_words_is_a_text() -> None:
    reading = read(f"<html><h1>Bar</h1><h2>{'word ' * 1000}</h2></html>", "x.html")
    section = reading.documents[0].sections[1]
    assert len(section.title) <= 200
    assert len(section.body.split()) == 1000


def table_of(html: str) -> str:
    return body(read(f"<html><body><h1>Menu</h1>{html}</body></html>", "x.html"), "Menu")


def test_a_value_that_spans_rows_or_columns_stands_in_each_of_them() -> None:
    table = table_of(
        "<table><thead><tr><th>Kind<th>Dish<th>Milk<th>Peanuts</tr></thead><tbody>"
        "<tr><td rowspan=2>Rolls<td>Spring roll<td>yes<td>no</tr>"
        "<tr><td>Satay roll<td>no<td>yes</tr>"
        "<tr><td>Soups<td>Tom kha<td colspan=2>ask</tr></tbody></table>"
    )
    assert table == (
        "| Kind | Dish | Milk | Peanuts |\n| --- | --- | --- | --- |\n"
        "| Rolls | Spring roll | yes | no |\n"
        "| Rolls | Satay roll | no | yes |\n"
        "| Soups | Tom kha | ask | ask |"
    )


def test_no_cell_reaches_from_the_head_of_a_table_into_its_body() -> None:
    table = table_of(
        "<table><thead><tr><th rowspan=9>Dish<th>Peanuts</tr></thead>"
        "<tbody><tr><td rowspan=0>Satay<td>yes</tr><tr><td>traces</tr></tbody></table>"
    )
    assert table.split("\n")[2:] == ["| Satay | yes |", "| Satay | traces |"]


def test_cells_that_are_missing_at_the_end_are_empty_and_told() -> None:
    page = (
        "<h1>Menu</h1><table><tr><th>Dish<th>Milk<th>Peanuts</tr><tr><td>Satay<td>no</tr></table>"
    )
    reading = read(f"<html>{page}</html>", "x.html")
    assert body(reading, "Menu").endswith("| Satay | no |  |")
    assert told(reading, "uneven_table") == ["Dish, Milk, Peanuts"]


def test_two_cells_in_one_place_are_both_read_and_told() -> None:
    page = (
        "<h1>Menu</h1><table><tr><th>Dish<th>Milk<th>Peanuts</tr>"
        "<tr><td>Satay<td>no<td rowspan=2>yes</tr><tr><td colspan=3>ask</tr></table>"
    )
    reading = read(f"<html>{page}</html>", "x.html")
    assert body(reading, "Menu").endswith("| ask | ask | yes / ask |")
    assert told(reading, "uneven_table") == ["Dish, Milk, Peanuts"]


def test_spans_that_would_blow_a_table_up_leave_its_words_and_no_columns() -> None:
    wide = "".join(f"<td colspan={n}>a{n}</td><td>b</td>" for n in range(900, 1000))
    rows = "".join(f"<tr><td colspan={n + 1}>x{n}</td><td>y</td></tr>" for n in range(900))
    for table in (f"<table><tr>{wide}</tr>{rows}</table>", tall_table(200)):
        reading = read(f"<html><h1>Menu</h1>{table}<p>End.</p></html>", "x.html")
        assert len(body(reading, "Menu")) < 20 * len(table)
        assert len(told(reading, "uneven_table")) == 1
    assert "x899, y" in everything(
        read(f"<html><h1>Menu</h1><table>{rows}</table></html>", "x.html")
    )


def test_tables_within_tables_do_not_multiply_without_end() -> None:
    table = "peanuts"
    for _ in range(30):
        cells = "<td>a<td>b<td>c<td>d"
        table = f"<table><tr><td colspan=4>{table}</td></tr><tr>{cells}</tr></table>"
    reading = read(f"<html><h1>Menu</h1>{table}</html>", "x.html")
    assert fatal(reading) == "too_many_words" or len(everything(reading)) < 500_000


def tall_table(size: int) -> str:
    cells = "<td rowspan=65534 colspan=1000>x</td>" * size
    return f"<table><tr>{cells}</tr>{'<tr><td>y</td></tr>' * size}</table>"


def test_a_span_over_more_columns_than_a_table_has_adds_none() -> None:
    table = table_of(
        "<table><tr><td colspan=1000>Allergens</tr><tr><td>Satay<td>peanuts</tr></table>"
    )
    assert table == "| Allergens | Allergens |\n| --- | --- |\n| Satay | peanuts |"


def test_a_table_within_a_cell_is_that_cells_words() -> None:
    inner = "<table><tr><td rowspan=2>milk<td>no</tr><tr><td>traces</tr></table>"
    table = table_of(f"<table><tr><th>Dish<th>Has</tr><tr><td>Satay<td>{inner}</tr></table>")
    assert table.endswith("| Satay | milk \\| no; milk \\| traces |")


def test_a_note_keeps_the_table_that_is_in_it() -> None:
    table = (
        "<table><tr><th>Dish<th>Peanuts</tr><tr><td>Satay<td>yes</tr><tr><td>Pho<td>no</tr></table>"
    )
    note = table_of(f"<div class='warning'><p>Ask first.</p>{table}<p>Then serve.</p></div>")
    assert "> Ask first.\n>\n> | Dish | Peanuts |" in note
    assert "> | Satay | yes |\n> | Pho | no |" in note
    assert note.endswith("> Then serve.")


@pytest.mark.parametrize(
    "html",
    [
        "<aside>Satay contains peanuts.</aside>",
        "<aside>Ask the chef first.</aside>",
        "<footer>Fried dishes share one fryer.</footer>",
        "<footer><a href='x'>Contains gluten</a></footer>",
        "<header>Warning: nuts</header>",
        "<div class='menu'><p>Satay with peanut sauce</p></div>",
        "<div class='sidebar'><p>Shake the bottle first.</p></div>",
        "<div role='contentinfo'>Fried dishes share one fryer.</div>",
        "<nav>Every sauce contains soy.</nav>",
        "<form><p>Sign when the fryer is clean.</p><input name=x></form>",
        "<noscript>Contains egg.</noscript>",
        "<button>Contains egg</button>",
        "<div role='tabpanel' hidden>Fryer two is for fish.</div>",
        "<table><tr><td class='menu'>Taco</td><td aria-hidden='true'>lime</td></tr></table>",
    ],
)
def test_a_text_is_not_furniture_for_where_it_stands(html: str) -> None:
    words = BeautifulSoup(html, "lxml").get_text(" ", strip=True).split()
    inside = read(f"<html><body><h1>Menu</h1><p>Text.</p>{html}</body></html>", "x.html")
    beside = read(
        f"<html><body><main><h1>Menu</h1><p>Text.</p></main>{html}</body></html>", "x.html"
    )
    for reading in (inside, beside):
        said = everything(reading) + " ".join(told(reading, "left_out"))
        assert [word for word in words if word not in said] == []
    assert told(inside, "left_out") == []
    assert outline(inside) == outline(beside) == [("Menu", 0, None)]


@pytest.mark.parametrize(
    "html",
    [
        "<nav><a href='a'>Peanut sauce</a></nav>",
        "<aside><a href='a'>Home</a> | <a href='b'>Bar</a></aside>",
        "<ul class='menu'><li><a href='a'>Home</a></li></ul>",
        "<div role='search'>Search</div>",
        "<script>peanuts()</script>",
    ],
)
def test_navigation_goes_without_a_word(html: str) -> None:
    reading = read(f"<html><h1>Menu</h1><p>Text.</p>{html}</html>", "x.html")
    assert everything(reading) == "Menu Text."
    assert codes(reading) == []


def test_what_is_left_out_besides_navigation_is_told_once() -> None:
    page = (
        "<html><body><div>Casa Lucero</div><main><h1>Bar</h1><p>Ice.</p>"
        "<p hidden>An old rule.</p><button>Print</button></main>"
        "<footer>© 2024 Casa Lucero. Page 3</footer></body></html>"
    )
    reading = read(page, "x.html")
    assert everything(reading) == "Bar Ice."
    left_out = ["An old rule.", "Print", "© 2024 Casa Lucero. Page 3", "Casa Lucero"]
    assert told(reading, "left_out") == left_out
    assert reading.is_usable
    folder = read(zip_of({"a.html": page, "b.html": page}), "m.zip")
    assert told(folder, "left_out") == left_out
    assert {each.place for each in folder.problems} == {"a.html"}


@pytest.mark.parametrize(
    "part",
    [
        '<img src="n.png" title="Contains walnuts">',
        '<abbr title="Contains walnuts">N</abbr>',
        '<map><area alt="Contains walnuts"></map>',
        '<input placeholder="Contains walnuts">',
        "<template>Contains walnuts</template>",
        '<span aria-label="Contains walnuts"></span>',
    ],
)
def test_an_allergen_that_stands_in_no_text_is_told(part: str) -> None:
    reading = read(f"<html><h1>Menu</h1><p>Salad. {part}</p></html>", "x.html")
    assert everything(reading).count("walnuts") + len(told(reading, "left_out")) == 1
    harmless = (
        f"<html><h1>Menu</h1><p>Salad. {part.replace('Contains walnuts', 'Fresh')}</p></html>"
    )
    assert told(read(harmless, "x.html"), "left_out") == []


def test_many_texts_that_are_left_out_are_counted() -> None:
    buttons = "".join(f"<button>Step {'x' * n}</button>" for n in range(1, 31))
    reading = read(f"<html><h1>Bar</h1><p>Ice.</p>{buttons}</html>", "x.html")
    assert len(told(reading, "left_out")) == 20
    assert told(reading, "and_more") == ["10"]


def test_pictures_with_words_stand_for_them_in_tables_too() -> None:
    table = table_of(
        "<table><tr><th>Dish<th>Peanuts<th>Milk<th>Egg<th>Soy<th>Fish</tr><tr><td>Satay"
        "<td><img src=x.png alt=contains><td><svg><title>contains</title></svg>"
        "<td><i class='icon' title='free of'></i><td><span role=img aria-label=traces>▲</span>"
        "<td><input type=checkbox checked></tr></table>"
    )
    assert table.endswith("| Satay | contains | contains | free of | traces | ☑ |")
    assert table_of("<p>Ice<img alt='IMG_2041.jpg' src=x></p>") == "Ice"


def test_what_is_struck_out_stays_so() -> None:
    struck = "<strike>milk</strike>, <span style='text-decoration: line-through'>egg</span>"
    assert table_of(f"<p>{struck}, <s>soy</s></p>") == "~~milk~~, ~~egg~~, ~~soy~~"
    titled = read("<html><h1>Satay</h1><h2>With <s>peanuts</s></h2><p>x</p></html>", "x.html")
    assert outline(titled)[1][0] == "With ~~peanuts~~"

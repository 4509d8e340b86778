"""Whatever a model or a person writes is text: nothing runs, and nothing is fetched."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.scripts import exactly
from tests.model_server import Call, Say, scenario
from tests.script_payloads import (
    ENCODINGS,
    HANDLERS,
    IMAGES,
    LINKS,
    MARKUP,
    NAMESPACES,
    PAYLOADS,
    WAYS_OUT,
)

FAMILIES = (MARKUP, HANDLERS, NAMESPACES, ENCODINGS, LINKS, IMAGES, WAYS_OUT)
# Longer than text is gathered before it is sent: each character comes to the page alone.
ALONE_SECONDS = 0.055

# The ways to run something end here, where the page can be asked about them afterwards.
TRAPS = """
window.trapped = [];
for (const name of ["alert", "msgbox"]) window[name] = () => window.trapped.push(name);
"""
# What a conversation never has, whoever wrote it.
FOREIGN = """() => {
  const addresses = /^(href|src|action|formaction|xlink:href)$/;
  const never = "script, style, link, meta, base, iframe, object, embed, img, video, audio, source,"
    + " math, foreignObject, animate, marquee, template, input:not([type=hidden])";
  const wrong = [...document.querySelectorAll("#messages *, #history *")].filter((element) => {
    // htmx puts a style on the hidden fields of its forms; nothing else has one.
    const styled = element.hasAttribute("style") && element.localName !== "input";
    // What renames a chat is the product's own; the name stands in it as a value.
    const renames = element.closest(".rail-rename") && element.matches("link, input");
    const foreign = element.matches(never) && !renames;
    return styled || foreign || [...element.attributes].some(({ name, value }) =>
      name.startsWith("on") || (addresses.test(name) && !/^[/#](?!\\/)/.test(value)));
  });
  return [...window.trapped, ...wrong.map((element) => element.outerHTML.slice(0, 200))];
}"""


def watched(visit: Visit, house: House, *, phone: bool = False) -> Visitor:
    visitor = visit(house.hire(), phone=phone, fresh=True)
    visitor.page.context.add_init_script(TRAPS)
    return visitor.open()


@pytest.mark.fault(25)
def test_no_payload_runs_while_it_streams_nor_when_it_is_stored(visit: Visit, house: House) -> None:
    text = "\n\n".join(payload.replace("\x00", "") for payload in PAYLOADS)
    # Nor does a tool that does not exist, nor what a tool is asked.
    words = {"query": "<img src=x onerror=alert(1)>"}
    calls = Call("run_script", words), Call("search_manual_v2", words)
    house.model.script(scenario(*calls, Say(text, sizes=1), when=exactly("All payloads")))
    visitor = watched(visit, house)
    visitor.ask("All payloads")
    visitor.wait_for_answer()
    assert visitor.evaluate(FOREIGN) == []
    expect(visitor.words.first).to_contain_text("<script>alert(1)</script>")
    visitor.page.reload()
    expect(visitor.words.first).to_contain_text("<script>alert(1)</script>")
    assert visitor.evaluate(FOREIGN) == []


@pytest.mark.fault(25)
def test_no_payload_runs_though_each_of_its_characters_comes_alone(
    visit: Visit, house: House
) -> None:
    # A browser has six connections to one host, and each tab that is looked at needs one.
    here, there = watched(visit, house), watched(visit, house)
    tabs = [here, there, *(here.another_tab("/chat") for _ in FAMILIES[2:5])]
    tabs += [there.another_tab("/chat") for _ in FAMILIES[5:]]
    for number, (tab, family) in enumerate(zip(tabs, FAMILIES, strict=True)):
        text = "\n\n".join(sorted((each.replace("\x00", "") for each in family), key=len)[:3])
        question = f"Alone {number}"
        say = Say(text, sizes=1, delay=ALONE_SECONDS)
        house.model.script(scenario(say, when=exactly(question), byte_by_byte=True))
        tab.ask(question)
    for tab in tabs:
        tab.wait_for_answer()
        assert tab.evaluate(FOREIGN) == []


def test_what_a_person_types_is_shown_as_it_was_typed(visit: Visit, house: House) -> None:
    visitor = watched(visit, house)
    texts = [" ".join(each for each in family if each.isprintable()) for family in FAMILIES[:3]]
    for text in texts:
        visitor.ask(text)
        visitor.wait_for_answer()
    assert visitor.questions.all_inner_texts() == texts
    assert visitor.evaluate(FOREIGN) == []
    visitor.page.reload()
    assert visitor.questions.all_inner_texts() == texts
    assert visitor.evaluate(FOREIGN) == []


@pytest.mark.fault(26)
def test_the_watch_over_every_test_sees_what_must_not_happen(visit: Visit, house: House) -> None:
    visitor = visit(fresh=True).open("/sign-in")
    watch = visitor.watch
    visitor.evaluate("alert('from a script')")
    visitor.evaluate("document.body.append(Object.assign(new Image(), { src: '//evil.example/' }))")
    visitor.evaluate("setTimeout(() => { throw new Error('unforeseen') })")
    visitor.page.goto(house.url.replace("127.0.0.1", "localhost") + "/healthz")
    for found in (watch.dialogs, watch.violations, watch.errors):
        with pytest.raises(AssertionError):
            watch.check()
        assert found
        found.clear()
    watch.origin = "http://localhost"
    with pytest.raises(AssertionError, match="asked elsewhere"):
        watch.check()
    watch.requests.clear()

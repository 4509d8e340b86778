"""Photos, files and signatures of a form: by thumb, by mouse, by keyboard, and without scripts."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Locator, Route, expect
from sqlalchemy import select

from app.files.models import StoredFile
from app.files.storage import make_storage
from app.skills.forms.models import FormTemplate
from tests.browser.axe import findings
from tests.browser.chat_page import SECONDS, Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.interception import Interception, lose
from tests.browser.looks import BOTH_SIZES, TOO_WIDE
from tests.factories import Member, make_user
from tests.files import samples
from tests.skills.forms.filling import WHAT, make_template

STILL: dict[str, Any] = {"reduced_motion": "reduce"}
PROOF = {"type": "photo", "name": "proof", "label": {"en": "Photos", "es": "Fotos"}, "most": 3}
PAPERS = {
    "type": "file", "name": "papers", "label": {"en": "Papers", "es": "Papeles"},
    "kinds": ["pdf", "image"], "most": 1, "largest_mib": 2,
}  # fmt: skip
SIGNED = {"type": "signature", "name": "signed", "label": {"en": "Signature", "es": "Firma"}}
FIELDS = [{**WHAT, "required": False}, PROOF, PAPERS, SIGNED]
LOST = r"Failed to fetch|ERR_INTERNET_DISCONNECTED|ERR_FAILED|Failed to load resource"


@pytest.fixture
def member(house: House) -> Member:
    return make_user(house.owner)


@pytest.fixture
def template(house: House, member: Member) -> FormTemplate:
    return make_template(house.owner, member.group_id, FIELDS)


def photo(folder: Path, name: str, color: str = "red") -> Path:
    file = folder / name
    Image.new("RGB", (800, 600), color).save(file)
    return file


def field(visitor: Visitor, name: str) -> Locator:
    return visitor.page.locator(f"#field-{name}")


def chooser(visitor: Visitor, name: str) -> Locator:
    """The file chooser; a photo has another one for the camera before it."""
    return field(visitor, name).locator("input[type=file]").last


def there(visitor: Visitor, name: str) -> Locator:
    """The files that have arrived in a field."""
    return field(visitor, name).locator(".upload:not(.upload-waiting) .upload-name")


def is_saved(visitor: Visitor) -> None:
    expect(visitor.page).to_have_url(re.compile("/forms/drafts/"))
    expect(visitor.page.locator("#save-told")).to_contain_text("Saved")


def rows(house: House, member: Member) -> list[StoredFile]:
    with house.owner.session() as session:
        query = select(StoredFile).where(StoredFile.user_id == member.user_id)
        return list(session.scalars(query.order_by(StoredFile.created_at)))


def cut_saves(route: Route) -> None:
    """Let a page come and no save arrive."""
    if route.request.method == "POST":
        route.abort()
    else:
        route.continue_()


def look_over(visitor: Visitor) -> None:
    assert findings(visitor.page) == []
    assert visitor.evaluate(TOO_WIDE) == []


@BOTH_SIZES
def test_photos_are_added_kept_in_order_taken_away_and_sent(
    visit: Visit, house: House, member: Member, template: FormTemplate, tmp_path: Path, phone: bool
) -> None:
    visitor = visit(member, phone=phone, media=STILL).open(f"/forms/{template.slug}")
    expect(field(visitor, "proof").get_by_text("Take a photo")).to_be_visible(visible=phone)
    look_over(visitor)
    names = ["one.jpg", "two.jpg", "three.jpg"]
    chooser(visitor, "proof").set_input_files([photo(tmp_path, name) for name in names])
    expect(there(visitor, "proof")).to_have_text(names)
    is_saved(visitor)
    look_over(visitor)

    visitor.page.reload()
    expect(there(visitor, "proof")).to_have_text(names)
    picture = field(visitor, "proof").locator("img").first
    assert picture.evaluate("(img) => img.decode().then(() => img.naturalWidth)") == 320
    field(visitor, "proof").get_by_label("Remove two.jpg").click()
    expect(there(visitor, "proof")).to_have_text(["one.jpg", "three.jpg"])
    visitor.page.get_by_role("button", name="Send the form").click()
    expect(visitor.page).to_have_url(re.compile("/forms/submissions/"))
    kept = {file.name: file.state for file in rows(house, member)}
    assert kept == {"one.jpg": "kept", "two.jpg": "temporary", "three.jpg": "kept"}


def test_more_than_fit_are_not_taken_and_what_is_too_large_is_not_sent(
    visit: Visit, member: Member, template: FormTemplate, tmp_path: Path
) -> None:
    visitor = visit(member, phone=True).open(f"/forms/{template.slug}")
    chooser(visitor, "proof").set_input_files([photo(tmp_path, f"{n}.jpg") for n in range(4)])
    expect(there(visitor, "proof")).to_have_count(3)
    expect(field(visitor, "proof").locator(".upload-status")).to_have_text(
        "Only 3 files fit here. Remove one first."
    )
    large = tmp_path / "large.pdf"
    large.write_bytes(b"%PDF-1.7" + b"x" * 3 * 1024 * 1024)
    chooser(visitor, "papers").set_input_files(large)
    expect(field(visitor, "papers").locator(".upload-status")).to_contain_text("larger than 2 MB")
    assert visitor.watch.count("/files") >= 3
    expect(there(visitor, "papers")).to_have_count(0)


def test_a_file_that_is_not_taken_says_why_and_is_never_left_out_in_silence(
    visit: Visit, house: House, member: Member, template: FormTemplate, tmp_path: Path
) -> None:
    visitor = visit(member, phone=True, media=STILL).open(f"/forms/{template.slug}")
    visitor.watch.expect("422")
    drawing = tmp_path / "logo.png"
    drawing.write_bytes(b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>")
    chooser(visitor, "proof").set_input_files([drawing, photo(tmp_path, "good.jpg")])
    refused = field(visitor, "proof").locator(".upload-waiting", has_text="logo.png")
    expect(refused).to_contain_text("Only pictures can be added here")
    expect(refused.get_by_role("button", name="Try again")).to_be_hidden()
    expect(there(visitor, "proof")).to_have_text(["good.jpg"])
    # What was refused takes up no room.
    chooser(visitor, "proof").set_input_files([photo(tmp_path, f"{n}.jpg") for n in range(2)])
    expect(there(visitor, "proof")).to_have_text(["good.jpg", "0.jpg", "1.jpg"])
    look_over(visitor)
    visitor.page.get_by_role("button", name="Send the form").click()
    expect(field(visitor, "proof").locator(".upload-status")).to_contain_text("could not be added")
    refused.get_by_label("Remove").click()
    visitor.page.get_by_role("button", name="Send the form").click()
    expect(visitor.page).to_have_url(re.compile("/forms/submissions/"))
    assert [file.name for file in rows(house, member)] == ["good.jpg", "0.jpg", "1.jpg"]


def test_a_lost_connection_costs_nothing(
    visit: Visit, house: House, member: Member, template: FormTemplate, tmp_path: Path
) -> None:
    visitor = visit(member, phone=True).open(f"/forms/{template.slug}")
    visitor.watch.expect(LOST)
    visitor.page.context.set_offline(True)
    chooser(visitor, "proof").set_input_files(photo(tmp_path, "one.jpg"))
    waiting = field(visitor, "proof").locator(".upload-waiting")
    expect(waiting).to_be_visible()
    visitor.page.context.set_offline(False)
    expect(there(visitor, "proof")).to_have_text(["one.jpg"])
    assert len(rows(house, member)) == 1


def test_files_that_a_save_did_not_reach_are_there_when_the_page_is_opened_again(
    visit: Visit, house: House, member: Member, template: FormTemplate, tmp_path: Path
) -> None:
    visitor = visit(member, phone=True, fresh=True).open(f"/forms/{template.slug}")
    names = ["one.jpg", "two.jpg"]
    chooser(visitor, "proof").set_input_files([photo(tmp_path, name) for name in names])
    expect(there(visitor, "proof")).to_have_text(names)
    is_saved(visitor)
    visitor.watch.expect(LOST)
    outage = Interception(visitor.page, "**/forms/drafts/*", cut_saves)
    field(visitor, "proof").get_by_label("Remove one.jpg").click()
    chooser(visitor, "proof").set_input_files(photo(tmp_path, "three.jpg"))
    expect(there(visitor, "proof")).to_have_text(["two.jpg", "three.jpg"])
    expect(visitor.page.locator("#save-told")).to_contain_text("Not saved yet")
    address = visitor.path
    visitor.page.goto("about:blank")
    outage.end()
    visitor.open(address)
    expect(there(visitor, "proof")).to_have_text(["two.jpg", "three.jpg"])
    is_saved(visitor)
    visitor.page.reload()
    expect(there(visitor, "proof")).to_have_text(["two.jpg", "three.jpg"])


def test_a_page_that_was_loaded_again_before_a_save_arrived_shows_what_it_saved(
    visit: Visit, house: House, member: Member, template: FormTemplate, tmp_path: Path
) -> None:
    visitor = visit(member, fresh=True).open(f"/forms/{template.slug}")
    chooser(visitor, "proof").set_input_files(photo(tmp_path, "one.jpg"))
    is_saved(visitor)
    drawn = visitor.page.request.get(visitor.page.url)
    chooser(visitor, "proof").set_input_files(photo(tmp_path, "two.jpg"))
    expect(there(visitor, "proof")).to_have_text(["one.jpg", "two.jpg"])
    is_saved(visitor)
    # The page is drawn before the save, and its answer comes after it. The route stays: one that is
    # taken away (`times=1`) while the page's own files are asked for leaves some without an answer.
    answers = [drawn]

    def late(route: Route) -> None:
        if answers:
            route.fulfill(response=answers.pop())
        else:
            route.continue_()

    visitor.page.route(visitor.page.url, late)
    visitor.page.reload()
    expect(there(visitor, "proof")).to_have_text(["one.jpg", "two.jpg"])


@pytest.mark.soak
def test_what_did_not_reach_us_after_some_tries_is_kept_and_tried_again_by_a_button(
    visit: Visit, house: House, member: Member, template: FormTemplate, tmp_path: Path
) -> None:
    visitor = visit(member, phone=True, fresh=True).open(f"/forms/{template.slug}")
    visitor.watch.expect(LOST)
    outage = Interception(visitor.page, "**/files", lose)
    chooser(visitor, "proof").set_input_files(photo(tmp_path, "one.jpg"))
    again = field(visitor, "proof").get_by_role("button", name="Try again")
    expect(again).to_be_visible(timeout=60 * SECONDS)
    expect(field(visitor, "proof")).to_contain_text("did not reach us")
    assert visitor.watch.count("/files") == 4
    outage.end()
    again.click()
    expect(there(visitor, "proof")).to_have_text(["one.jpg"])
    assert len(rows(house, member)) == 1


def test_a_form_is_sent_when_its_files_are_there(
    visit: Visit, house: House, member: Member, template: FormTemplate, tmp_path: Path
) -> None:
    visitor = visit(member, phone=True, fresh=True).open(f"/forms/{template.slug}")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    visitor.page.route("**/files", hold)
    chooser(visitor, "proof").set_input_files(photo(tmp_path, "one.jpg"))
    visitor.page.get_by_role("button", name="Send the form").click()
    expect(field(visitor, "proof").locator(".upload-status")).to_contain_text("still uploading")
    held[0].continue_()
    expect(visitor.page).to_have_url(re.compile("/forms/submissions/"))
    assert [file.state for file in rows(house, member)] == ["kept"]


def stroke(visitor: Visitor, points: list[tuple[float, float]]) -> None:
    """Draw with a finger on the signature's field; points are shares of its box."""
    box = field(visitor, "signed").locator("canvas").bounding_box()
    assert box
    session = visitor.page.context.new_cdp_session(visitor.page)
    places = [
        {"x": box["x"] + x * box["width"], "y": box["y"] + y * box["height"]} for x, y in points
    ]
    for kind, place in zip(["touchStart", *["touchMove"] * len(places)], places, strict=False):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [place]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def darkness(house: House, file: StoredFile) -> float:
    """Which share of the picture is ink."""
    with make_storage(house.settings).open(file.key) as stored:
        image = Image.open(BytesIO(stored.read())).convert("L")
    return sum(image.histogram()[:100]) / (image.width * image.height)


def test_one_signs_with_a_finger_and_can_begin_again(
    visit: Visit, house: House, member: Member, template: FormTemplate
) -> None:
    visitor = visit(member, phone=True, media=STILL).open(f"/forms/{template.slug}")
    pad = field(visitor, "signed")
    pad.locator("canvas").scroll_into_view_if_needed()
    before = visitor.evaluate("scrollY")
    stroke(visitor, [(0.1, 0.2), (0.3, 0.8), (0.5, 0.2), (0.7, 0.8), (0.9, 0.2)])
    assert visitor.evaluate("scrollY") == before, "the page moved under the finger"
    pad.get_by_role("button", name="Clear").click()
    stroke(visitor, [(0.2, 0.5), (0.5, 0.3), (0.8, 0.5)])
    stroke(visitor, [(0.5, 0.2), (0.5, 0.8)])
    pad.get_by_role("button", name="Use this signature").click()
    expect(there(visitor, "signed")).to_have_text(["signature.png"])
    expect(pad.locator("canvas")).to_be_hidden()
    is_saved(visitor)
    look_over(visitor)
    [signature] = rows(house, member)
    assert signature.media_type == "image/png"
    assert 0.002 < darkness(house, signature) < 0.1


def test_one_signs_with_the_mouse_and_sends_without_another_button(
    visit: Visit, house: House, member: Member, template: FormTemplate
) -> None:
    visitor = visit(member).open(f"/forms/{template.slug}")
    canvas = field(visitor, "signed").locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box
    mouse = visitor.page.mouse
    mouse.move(box["x"] + 30, box["y"] + 30)
    mouse.down()
    mouse.move(box["x"] + box["width"] - 30, box["y"] + box["height"] - 30, steps=8)
    mouse.up()
    visitor.page.get_by_role("button", name="Send the form").click()
    expect(visitor.page).to_have_url(re.compile("/forms/submissions/"))
    [signature] = rows(house, member)
    assert signature.state == "kept"
    assert darkness(house, signature) > 0.002


def test_one_signs_with_the_keyboard(
    visit: Visit, house: House, member: Member, template: FormTemplate
) -> None:
    visitor = visit(member).open(f"/forms/{template.slug}")
    visitor.page.get_by_label("Or type your name", exact=True).focus()
    visitor.page.keyboard.type("Ana García")
    visitor.page.keyboard.press("Tab")
    visitor.page.keyboard.press("Enter")
    expect(there(visitor, "signed")).to_have_text(["signature.png"])
    field(visitor, "signed").get_by_label("Remove signature.png").press("Enter")
    expect(field(visitor, "signed").locator("canvas")).to_be_visible()
    [signature] = rows(house, member)
    assert darkness(house, signature) > 0.005


def test_without_scripts_files_come_with_the_form_and_can_be_taken_away(
    visit: Visit, house: House, member: Member, template: FormTemplate, tmp_path: Path
) -> None:
    visitor = visit(member, phone=True, java_script_enabled=False).open(f"/forms/{template.slug}")
    page = visitor.page
    chooser(visitor, "proof").set_input_files(
        [photo(tmp_path, "one.jpg"), photo(tmp_path, "two.jpg")]
    )
    signature = tmp_path / "me.png"
    signature.write_bytes(samples.picture("PNG", (300, 100)))
    page.get_by_label("A picture of your signature").set_input_files(signature)
    page.get_by_role("button", name="Save for later").click()
    expect(page).to_have_url(re.compile("/forms/drafts/"))
    expect(there(visitor, "proof")).to_have_text(["one.jpg", "two.jpg"])
    expect(there(visitor, "signed")).to_have_text(["me.png"])
    page.get_by_label("Keep one.jpg").uncheck()
    page.get_by_role("button", name="Send the form").click()
    expect(page).to_have_url(re.compile("/forms/submissions/"))
    kept = {file.name for file in rows(house, member) if file.state == "kept"}
    assert kept == {"two.jpg", "me.png"}


def test_an_upload_keeps_nobodys_stream_waiting(
    visit: Visit, member: Member, template: FormTemplate, tmp_path: Path
) -> None:
    """While a child looks at a large picture, the same web worker answers others at once."""
    visitor = visit(member).open(f"/forms/{template.slug}")
    large = tmp_path / "large.png"
    Image.effect_noise((2500, 2400), 80).convert("RGB").save(large, compress_level=0)
    chooser(visitor, "proof").set_input_files(large)
    answers = visitor.evaluate(
        """async () => {
          let answers = 0;
          while (document.querySelector("#field-proof .upload-waiting")) {
            await fetch("/healthz", { cache: "no-store" });
            answers += 1;
            await new Promise((resolve) => setTimeout(resolve, 10));
          }
          return answers;
        }"""
    )
    expect(there(visitor, "proof")).to_have_text(["large.jpg"], timeout=40 * SECONDS)
    assert answers > 5

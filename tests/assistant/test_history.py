"""One's own conversations: found by what was said, named, deleted; and nobody else's."""

from __future__ import annotations

import time
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import text, update

from app.assistant.models import Thread
from app.assistant.threads import history
from app.assistant.threads.history import PAGE_THREADS, FoundThread, find_threads
from app.db import Database, Impatient, utc_now
from app.text.normalize import fold
from tests.factories import CheckedClient, Member, ask, make_thread, make_user, sign_in


def found(database: Database, member: Member, words: str) -> list[str]:
    with database.transaction(member.scope) as session:
        return [entry.thread.title for entry in find_threads(session, words)]


def found_entries(database: Database, member: Member, words: str) -> list[FoundThread]:
    with database.transaction(member.scope) as session:
        return find_threads(session, words)


@pytest.mark.parametrize(
    "words", ["política", "POLITICA", "de  propinas", "jalapeño", "JALAPENO", "ribeye", "%", "_"]
)
def test_accents_and_case_make_no_difference(
    database: Database, member: Member, words: str
) -> None:
    make_thread(database, member, "¿Política de propinas?", reply="Con jalapeño, 100%_ ribeye.")
    make_thread(database, member, "Something else", reply="Nothing of it.")
    assert found(database, member, words) == ["¿Política de propinas?"]


@pytest.mark.parametrize(
    "words",
    ["propinas", "propina", "PROPI", "propinas política", "the propina", "pollos crudos", "crudo"],
)
def test_words_are_found_in_any_form_order_and_half_typed(
    database: Database, member: Member, words: str
) -> None:
    make_thread(database, member, "Hola", reply="La política: una propina y pollo crudo.")
    make_thread(database, member, "Something else", reply="La política de la casa.")
    assert found(database, member, words) == ["Hola"]


@pytest.mark.parametrize("words", ["policies", "policy", "polic", "tips policies", "tips"])
def test_english_forms_are_found_too(database: Database, member: Member, words: str) -> None:
    make_thread(database, member, "Our tip policy")
    assert found(database, member, words) == ["Our tip policy"]


@pytest.mark.parametrize("words", ["propina cerveza", "politico", "100", "\\"])
def test_every_word_has_to_be_there(database: Database, member: Member, words: str) -> None:
    make_thread(database, member, "Hola", reply="Una propina.")
    make_thread(database, member, "Adiós", reply="Una cerveza.")
    assert found(database, member, words) == []


def test_what_was_found_is_marked_and_opens_at_its_message(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    texts = [f"Question {number}" for number in range(40)]
    thread_id = make_thread(database, member, "Where is the ladder?", *texts)
    [link] = [
        a
        for a in browser.page("/chats?q=LADDERS").find_all("a")
        if a.attributes["href"].startswith(f"/chat/{thread_id}?")
    ]
    assert [mark.text for mark in link.find_all("mark")] == ["ladder", "ladder"]
    address, anchor = link.attributes["href"].split("#")
    page = browser.page(address)
    assert page.find("article", id=anchor).text.startswith("You Where is the ladder?")
    assert "Show newest messages" in page.text
    assert "Question 39" not in page.text


def test_what_stands_on_the_last_page_opens_as_always(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id = make_thread(database, member, "Where is the ladder?")
    entry = found_entries(database, member, "ladder")[0]
    page = browser.page(f"/chat/{thread_id}?at={entry.message_id}")
    assert "Show newest messages" not in page.text
    for nonsense in (UUID(int=1), "x"):
        assert "ladder" in browser.page(f"/chat/{thread_id}?at={nonsense}").text


def test_a_message_of_another_branch_is_found_and_shown_on_it(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id = make_thread(database, member, "Where is the ladder?")
    [entry] = found_entries(database, member, "ladder")
    assert entry.message_id
    ask(database, member, "Where is the mop?", thread_id, instead_of=entry.message_id)

    def asked(address: str) -> list[str]:
        return [p.text for p in browser.page(address).find_all("p", class_="bubble")]

    assert asked(f"/chat/{thread_id}") == ["Where is the mop?"]
    assert asked(f"/chat/{thread_id}?at={entry.message_id}") == ["Where is the ladder?"]
    shown = browser.page(f"/chat/{thread_id}?at={entry.message_id}")
    assert "Show newest messages" in shown.text


def test_typing_asks_for_the_list_alone(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    make_thread(database, member, "Where is the ladder?")
    part = browser.fragment("/chats?q=lad")
    assert part.find("div", id="found-chats")
    assert not part.find_all("html")
    assert "1 chat has these words." in part.text


def test_two_thousand_chats_are_searched_while_somebody_types(
    owner: Database, database: Database, member: Member
) -> None:
    with owner.transaction() as session:
        facts = {"group": member.group_id, "user": member.user_id}
        session.execute(text(MANY_CHATS), facts)
    started = time.perf_counter()
    assert len(found(database, member, "heliports")) == 1
    # A tenth of that on a quiet machine.
    assert time.perf_counter() - started < 1


MANY_CHATS = """
    WITH chats AS (
        INSERT INTO threads (id, group_id, user_id, title, context_type, created_at,
            last_message_at)
        SELECT gen_random_uuid(), :group, :user, 'Chat ' || n, 'manual', now(),
            now() - n * interval '1 hour' FROM generate_series(1, 2000) AS n
        RETURNING id, title
    )
    INSERT INTO messages (id, group_id, user_id, thread_id, role, status, content, language,
        mode, parts, citations, suggestions, actions, tool_trace, degraded, provider, model,
        tokens_in, tokens_out, event_cursor, created_at)
    SELECT gen_random_uuid(), :group, :user, chats.id, 'assistant', 'complete',
        repeat('El pollo crudo puede estar fuera dos horas como máximo. ', 8)
            || CASE WHEN chats.title = 'Chat 1999' AND n = 1 THEN 'heliport' ELSE '' END,
        'es', 'search', '[]', '[]', '[]', '[]', '[]', false, '', '', 0, 0, '', now()
    FROM chats, generate_series(1, 4) AS n
"""


def test_what_was_said_is_shown_around_the_words(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    long_reply = "word " * 60 + "then **the** oak tree [1] " + "word " * 60
    make_thread(database, member, "Where do we meet?", reply=long_reply)
    page = browser.page("/chats?q=oak+tree")
    assert "then the oak tree word" in page.text
    assert page.text.count("word") < 60
    assert "1 chat has these words." in page.text
    assert "No chat has these words." in browser.page("/chats?q=heliport").text


def test_all_chats_are_listed_a_page_at_a_time(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    for number in range(PAGE_THREADS + 3):
        make_thread(database, member, f"Question {number:02}")
    first = browser.page("/chats")
    rows = [item for item in first.find_all("li") if item.has_class("chat-row")]
    assert len(rows) == PAGE_THREADS
    [more] = [a for a in first.find_all("a") if a.text == "Older chats"]
    rest = browser.page(more.attributes["href"])
    rows = [item for item in rest.find_all("li") if item.has_class("chat-row")]
    assert len(rows) == 3
    assert not [a for a in rest.find_all("a") if a.text == "Older chats"]


def test_a_chat_is_renamed(database: Database, member: Member, browser: CheckedClient) -> None:
    thread_id = make_thread(database, member, "Old name")
    answer = browser.post(f"/chats/{thread_id}/rename", title="  The   new\tname ")
    assert (answer.status_code, answer.location) == (303, "/chats")
    assert "It is called “The new name” now." in browser.page("/chats").text
    assert "The new name" in browser.page(f"/chat/{thread_id}").find("title").text


@pytest.mark.parametrize(
    ("title", "said"),
    [("", "Give the chat a name."), ("x" * 81, "A name can have up to 80 characters.")],
)
def test_a_name_must_be_one(
    database: Database, member: Member, browser: CheckedClient, title: str, said: str
) -> None:
    thread_id = make_thread(database, member, "Old name")
    browser.post(f"/chats/{thread_id}/rename", title=title)
    page = browser.page("/chats").text
    assert said in page
    assert "Old name" in page


def test_the_open_chat_is_renamed_in_the_list_of_chats(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    other = make_thread(database, member, "Another one")
    thread_id = make_thread(database, member, "Old name")
    page = browser.page(f"/chat/{thread_id}")
    assert len(page.find_all("details", class_="rail-rename")) == 1
    address = f"/chats/{thread_id}/rename"
    renamed = browser.post(address, htmx=True, title="  Friday's <b>fryer ", **{"from": "rail"})
    assert "<title>Friday&#39;s &lt;b&gt;fryer · Comanda</title>" in renamed.text
    assert "It is called “Friday&#39;s &lt;b&gt;fryer” now." in renamed.text
    assert f"/chat/{other}" in renamed.text and "Old name" not in renamed.text
    # What is no name stays in the field, and nothing is called so.
    refused = browser.post(address, htmx=True, title="x" * 81, **{"from": "rail"})
    assert "A name can have up to 80 characters." in refused.text
    assert f'value="{"x" * 81}"' in refused.text and "fryer</span>" in refused.text
    # Without scripts the chat is shown again.
    answer = browser.post(address, title="Fryer", **{"from": "rail"})
    assert (answer.status_code, answer.location) == (303, f"/chat/{thread_id}")


def test_chats_that_are_called_the_same_tell_their_time(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    for words in ("How do I report a leak?", "How do I report a leak?", "Who is on tonight?"):
        make_thread(database, member, words)
    shown = browser.page("/chat").find("nav", id="history")
    times = [each.find_all("small") for each in shown.find_all("a", class_="rail-link")[:3]]
    assert [len(each) for each in times] == [0, 1, 1]


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (["Hi!", "thanks", "the ice machine is leaking"], "the ice machine is leaking"),
        (["Hola, buenos días", "¿cuánto cuesta el ribeye?"], "¿cuánto cuesta el ribeye?"),
        (["Good morning, what is the dress code?", "and the shoes?"], "what is the dress code?"),
        (["Hola, ¿cuánto cuesta el ribeye?"], "¿cuánto cuesta el ribeye?"),
        (["Hola", "gracias"], "Hola"),
    ],
)
def test_a_chat_is_called_by_what_says_something(
    database: Database, member: Member, said: list[str], title: str
) -> None:
    thread_id = make_thread(database, member, *said)
    with database.transaction(member.scope) as session:
        assert session.get_one(Thread, thread_id).title == title


def test_a_chat_that_its_person_named_keeps_its_name(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id = make_thread(database, member, "Hi!")
    browser.post(f"/chats/{thread_id}/rename", title="Hola")
    ask(database, member, "the ice machine is leaking", thread_id)
    with database.transaction(member.scope) as session:
        assert session.get_one(Thread, thread_id).title == "Hola"


def test_a_deleted_chat_is_gone_and_its_answer_stopped(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    asked = ask(database, member, "Delete me")
    thread_id = asked.thread.id
    browser.post(f"/chats/{thread_id}/delete")
    page = browser.page("/chats").text
    assert "“Delete me” was deleted. Its words will be gone within two hours." in page
    assert f"/chat/{thread_id}" not in page
    assert browser.get(f"/chat/{thread_id}").status_code == 404
    assert browser.post(f"/chats/{thread_id}/delete").status_code == 404
    with database.transaction(member.scope) as session:
        assert find_threads(session, "Delete me") == []


@pytest.mark.parametrize("who", ["a colleague", "another group"])
def test_what_is_not_yours_does_not_exist(
    app: Flask, owner: Database, database: Database, member: Member, who: str
) -> None:
    thread_id = make_thread(database, member, "A private question")
    group = member.group_id if who == "a colleague" else None
    other = sign_in(app, owner, make_user(owner, group, role="admin"))
    assert "private" not in other.page("/chats").text
    assert "private" not in other.page("/chats?q=private").text.replace('value="private"', "")
    for action in ("rename", "delete"):
        assert other.post(f"/chats/{thread_id}/{action}", title="Mine").status_code == 404
    with database.transaction(member.scope) as session:
        assert session.get_one(Thread, thread_id).title == "A private question"


def test_who_searches_too_often_waits_and_still_sees_the_list(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    make_thread(database, member, "Where is the ladder?")
    # A minute may end while they are counted, and the next one begins anew.
    answers = [browser.get("/chats?q=ladder").status_code for _ in range(90)]
    assert set(answers) == {200}
    more = (browser.get("/chats?q=ladder").status_code for _ in range(150))
    assert next(status for status in more if status != 200) == 429
    assert "Where is the ladder?" in browser.page("/chats").text


def test_a_search_that_takes_too_long_is_ended(
    owner: Database, database: Database, member: Member, browser: CheckedClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    make_thread(database, member, "Where is the ladder?")
    monkeypatch.setattr("app.text.free_text.LONGEST_WAIT", 100)
    with owner.transaction() as session:
        session.execute(text("LOCK TABLE messages IN ACCESS EXCLUSIVE MODE"))
        found = browser.fragment("/chats?q=ladder", 429)
    assert "That search takes too long." in found.text
    assert "Where is the ladder?" in browser.page("/chats?q=ladder").text


def test_patience_ends_with_the_transaction(database: Database, member: Member) -> None:
    slow = text("SELECT pg_sleep(0.2)")
    with database.session(member.scope) as session:
        with pytest.raises(Impatient), session.patience(50):
            session.execute(slow)
        session.execute(slow)
        assert session.scalar(text("SELECT current_setting('comanda.user_id')"))


@pytest.mark.parametrize("before", ["yesterday", "2026-01-01", "", "9999-99-99T00:00:00Z"])
def test_a_moment_that_is_none_is_ignored(
    database: Database, member: Member, browser: CheckedClient, before: str
) -> None:
    make_thread(database, member, "Still here")
    assert "Still here" in browser.page(f"/chats?before={before}").text


def test_a_stranger_is_asked_to_sign_in(app: Flask) -> None:
    assert app.test_client().get("/chats").location == "/sign-in?next=/chats"
    assert app.test_client().post(f"/chats/{UUID(int=1)}/delete").status_code in (303, 400)


def test_a_chat_that_was_used_again_comes_first(database: Database, member: Member) -> None:
    first = make_thread(database, member, "First")
    make_thread(database, member, "Second")
    with database.transaction(member.scope) as session:
        session.execute(update(Thread).where(Thread.id == first).values(last_message_at=utc_now()))
    assert found(database, member, "")[0] == "First"


@pytest.mark.fault(47)
def test_where_a_word_stands_is_looked_for_once_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each word of a reply was folded anew for each of fifty words that were searched: 13 s."""
    folded: list[str] = []

    def counted(text: str) -> str:
        folded.append(text)
        return fold(text)

    monkeypatch.setattr(history, "fold", counted)
    assert history._first("é " * 1_000 + "zqj", ["zqj", *map(str, range(50))]) == 2_000
    assert len(folded) == 1_001

"""A thread's events: numbered without gaps, missed by nobody, refused from the past's runner."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from uuid import UUID

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.assistant.turns import events as module
from app.assistant.turns.events import Event, EventLog, Subscription, parse_id
from app.db import new_id

SOON = 10.0


@pytest.fixture
def log(redis_client: redis.Redis) -> EventLog:
    return EventLog(redis_client)


@pytest.fixture
def thread() -> UUID:
    return new_id()


class Listener:
    """Reads a subscription on a thread of its own until it is told to stop."""

    def __init__(self, log: EventLog, thread: UUID, last_id: str, heartbeat: float = 0.2) -> None:
        self.heard: list[Event] = []
        self.heartbeats = 0
        self.changed = threading.Condition()
        self.stopping = False
        self.subscription = Subscription(log, thread, last_id)
        self.thread = threading.Thread(target=self._listen, args=(heartbeat,), daemon=True)
        self.thread.start()

    def _listen(self, heartbeat: float) -> None:
        for event in self.subscription.events(heartbeat):
            with self.changed:
                if event is None:
                    self.heartbeats += 1
                else:
                    self.heard.append(event)
                self.changed.notify_all()
            if self.stopping:
                return

    def wait(self, until: Callable[[], bool]) -> None:
        with self.changed:
            assert self.changed.wait_for(until, timeout=SOON), f"heard only {self.texts}"

    @property
    def texts(self) -> list[str]:
        return [event.payload.get("text", event.type) for event in self.heard]

    def hears(self, *texts: str) -> None:
        """Wait for so many events and compare what they say."""
        self.wait(lambda: len(self.heard) >= len(texts))
        assert self.texts == list(texts)


@contextmanager
def listening(log: EventLog, thread: UUID, last_id: str = "") -> Iterator[Listener]:
    listener = Listener(log, thread, last_id)
    try:
        listener.wait(lambda: listener.heartbeats > 0)  # it is subscribed by now
        yield listener
    finally:
        listener.stopping = True
        listener.thread.join(SOON)


def say(log: EventLog, thread: UUID, *texts: str) -> list[str]:
    ids = [log.publish(thread, "token", {"text": text}) for text in texts]
    assert all(ids)
    return [id_ for id_ in ids if id_]


def read(log: EventLog, thread: UUID, last_id: str, count: int) -> list[Event]:
    """The first events of a fresh subscription."""
    found = Subscription(log, thread, last_id).events(heartbeat_seconds=SOON)
    return [event for event in islice(found, count) if event]


def test_ids_are_contiguous_within_one_epoch(log: EventLog, thread: UUID) -> None:
    parsed = [parse_id(id_) for id_ in say(log, thread, "a", "b", "c")]
    assert [number for _epoch, number in filter(None, parsed)] == [1, 2, 3]
    assert len({epoch for epoch, _number in filter(None, parsed)}) == 1


def test_parallel_publishers_leave_no_gap_and_no_double(log: EventLog, thread: UUID) -> None:
    def publish() -> None:
        for _ in range(50):
            log.publish(thread, "token", {"text": "x"})

    threads = [threading.Thread(target=publish) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    epoch = log.tip(thread).split("-")[0]
    ids = [event.id for event in log.after(thread, "") or []]
    assert ids == [f"{epoch}-{number}" for number in range(1, 201)]


def test_a_reader_gets_what_came_after_the_id_it_names(log: EventLog, thread: UUID) -> None:
    first, second, third = say(log, thread, "a", "b", "c")
    assert [e.id for e in log.after(thread, first) or []] == [second, third]
    assert log.after(thread, third) == []
    assert log.tip(thread) == third


def test_a_reader_without_an_id_gets_everything(log: EventLog, thread: UUID) -> None:
    assert log.after(thread, "") == []
    say(log, thread, "a", "b")
    assert [e.payload["text"] for e in log.after(thread, "") or []] == ["a", "b"]


@pytest.mark.fault(7)
def test_what_was_published_before_subscribing_is_delivered(log: EventLog, thread: UUID) -> None:
    first, *_ = say(log, thread, "a", "b", "c")
    assert [event.payload["text"] for event in read(log, thread, first, 2)] == ["b", "c"]


@pytest.mark.fault(63)
def test_a_long_replay_lets_others_go_on_between_its_stretches(log: EventLog, thread: UUID) -> None:
    texts = [str(number) for number in range(2 * module.STRETCH + 20)]
    say(log, thread, *texts)
    told: list[str] = []
    rests: list[int] = []
    reading = Subscription(log, thread, "", rest=lambda: rests.append(len(told)))
    for event in islice(reading.events(heartbeat_seconds=SOON), len(texts)):
        assert event
        told.append(event.payload["text"])
    assert told == texts
    assert rests == [module.STRETCH, 2 * module.STRETCH]


def test_whoever_reads_slowly_is_asked_for_before_anything_newer_is_told(
    log: EventLog, thread: UUID
) -> None:
    """A stream ends with its sign-in, though its reader is a stretch behind."""
    say(log, thread, *map(str, range(module.STRETCH + 5)))
    heard = Subscription(log, thread, "").events(heartbeat_seconds=0.2)
    assert next(heard) is not None
    time.sleep(0.3)
    say(log, thread, "newer")
    rest = [event and event.payload["text"] for event in islice(heard, module.STRETCH + 6)]
    # What had been read before is told, and nothing else before the question.
    assert rest.index(None) == module.STRETCH - 1 < rest.index("newer")


def test_a_thread_that_is_never_quiet_asks_before_it_tells(log: EventLog, thread: UUID) -> None:
    heard = Subscription(log, thread, "").events(heartbeat_seconds=0.2)
    assert next(heard) is None
    for number in range(3):
        say(log, thread, str(number))
        told = next(heard)
        assert told is not None and told.payload["text"] == str(number)
        time.sleep(0.3)
        say(log, thread, f"{number} and more")
        assert next(heard) is None
        told = next(heard)
        assert told is not None and told.payload["text"] == f"{number} and more"


def test_live_events_follow_the_replayed_ones(log: EventLog, thread: UUID) -> None:
    say(log, thread, "a", "b")
    with listening(log, thread) as listener:
        say(log, thread, "c")
        listener.hears("a", "b", "c")


@pytest.mark.fault(8)
@pytest.mark.parametrize(
    "wrong",
    [
        "garbage",
        "-",
        "--1",
        "1",
        "{epoch}-",
        "{epoch}-x",
        "{epoch}--1",
        "{epoch}-1.5",
        "{epoch}-99",
        "{epoch}-999999999999999999999999",
        "otherepoch-1",
        "{epoch}-²",
        "{epoch}-1\r\nx",
        "é" * 5000,
        "\x00-1",
    ],
)
def test_an_id_that_cannot_be_followed_resets_the_reader(
    log: EventLog, thread: UUID, wrong: str
) -> None:
    [tip] = say(log, thread, "a")
    last_id = wrong.replace("{epoch}", tip.split("-")[0])
    assert log.after(thread, last_id) is None
    [event] = read(log, thread, last_id, 1)
    assert (event.type, event.id) == ("reset", tip)


@given(st.text(max_size=40))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_id_at_all_breaks_the_reader(log: EventLog, last_id: str) -> None:
    log.after(UUID(int=7), last_id)


@pytest.mark.fault(8)
def test_a_trimmed_id_resets_the_reader(
    log: EventLog, thread: UUID, redis_client: redis.Redis
) -> None:
    first, second, third = say(log, thread, "a", "b", "c")
    redis_client.xtrim(f"events:{thread}:log", maxlen=1, approximate=False)
    assert log.after(thread, first) is None
    assert [event.id for event in log.after(thread, second) or []] == [third]
    assert [event.type for event in read(log, thread, first, 1)] == ["reset"]


def test_after_a_reset_the_reader_goes_on_from_the_tip(log: EventLog, thread: UUID) -> None:
    [tip] = say(log, thread, "a")
    with listening(log, thread, "garbage") as listener:
        assert [(event.type, event.id) for event in listener.heard] == [("reset", tip)]
        say(log, thread, "b")
        listener.hears("reset", "b")


def test_the_log_is_kept_to_a_bounded_length_and_time(
    log: EventLog, thread: UUID, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEEP_EVENTS", 100)
    say(log, thread, *["x"] * 500)
    assert redis_client.xlen(f"events:{thread}:log") < 300
    for name in ("log", "state"):
        assert 0 < redis_client.ttl(f"events:{thread}:{name}") <= module.KEEP_SECONDS


@pytest.mark.fault(4)
def test_a_lost_log_begins_a_new_epoch_and_resets_readers(
    log: EventLog, thread: UUID, redis_client: redis.Redis
) -> None:
    [old] = say(log, thread, "a")
    with listening(log, thread, old) as listener:
        redis_client.delete(f"events:{thread}:log")
        [new] = say(log, thread, "b")
        assert new.split("-")[0] != old.split("-")[0]
        assert new.endswith("-1")
        listener.hears("reset")
        say(log, thread, "c")
        listener.hears("reset", "c")


@pytest.mark.fault(4)
def test_a_redis_that_came_back_empty_resets_readers_before_anything_new(
    log: EventLog, thread: UUID, redis_client: redis.Redis
) -> None:
    [old] = say(log, thread, "a")
    redis_client.delete(f"events:{thread}:log", f"events:{thread}:state")
    assert log.tip(thread) == ""
    with listening(log, thread, old) as listener:
        assert [(event.type, event.id) for event in listener.heard] == [("reset", "")]
        say(log, thread, "b")
        listener.hears("reset", "b")


@pytest.mark.fault(6)
def test_killed_pub_sub_connections_leave_no_hole(
    log: EventLog, thread: UUID, redis_client: redis.Redis
) -> None:
    texts = [str(number) for number in range(60)]
    with listening(log, thread) as listener:
        for number, text in enumerate(texts):
            if number % 20 == 10:
                redis_client.client_kill_filter(_type="pubsub")
            say(log, thread, text)
        listener.hears(*texts)


def add_unannounced(redis_client: redis.Redis, thread: UUID) -> None:
    """Add the second event to the log at once, as publishing does, and announce it to nobody."""
    with redis_client.pipeline(transaction=True) as pipe:
        pipe.hincrby(f"events:{thread}:state", "n", 1)
        pipe.xadd(f"events:{thread}:log", {"t": "token", "d": '{"text":"b"}'}, id="2-0")
        pipe.execute()


def test_a_lost_announcement_is_found_in_the_log(
    log: EventLog, thread: UUID, redis_client: redis.Redis
) -> None:
    [first] = say(log, thread, "a")
    with listening(log, thread, first) as listener:
        add_unannounced(redis_client, thread)
        say(log, thread, "c")
        listener.hears("b", "c")


def test_a_lost_last_announcement_is_found_at_the_next_heartbeat(
    log: EventLog, thread: UUID, redis_client: redis.Redis
) -> None:
    [first] = say(log, thread, "a")
    with listening(log, thread, first) as listener:
        add_unannounced(redis_client, thread)
        listener.hears("b")


def test_an_announcement_heard_twice_is_told_once(
    log: EventLog, thread: UUID, redis_client: redis.Redis
) -> None:
    with listening(log, thread) as listener:
        [first] = say(log, thread, "a")
        redis_client.publish(f"events:{thread}", f'{first}\ntoken\n{{"text":"a"}}')
        say(log, thread, "b")
        listener.hears("a", "b")


def test_a_first_event_while_the_empty_log_is_read_resets_nobody(
    log: EventLog, redis_client: redis.Redis
) -> None:
    """What a reader takes for the log's state and what it reads of it are of one moment."""
    for _ in range(100):
        thread, ready = new_id(), threading.Barrier(2)

        def publish(thread: UUID = thread, ready: threading.Barrier = ready) -> None:
            ready.wait()
            say(log, thread, "a")

        publisher = threading.Thread(target=publish)
        publisher.start()
        ready.wait()
        for event in log.after(thread, "") or []:
            assert parse_id(event.id) is not None
        publisher.join()


def test_threads_do_not_hear_one_another(log: EventLog, thread: UUID) -> None:
    with listening(log, thread) as listener:
        say(log, new_id(), "elsewhere")
        say(log, thread, "here")
        listener.hears("here")


@pytest.mark.fault(13)
def test_a_silent_stream_still_beats(log: EventLog, thread: UUID) -> None:
    with listening(log, thread) as listener:
        listener.wait(lambda: listener.heartbeats >= 3)
        assert listener.heard == []


@pytest.mark.fault(3)
def test_a_runner_that_lost_its_lease_is_not_heard(log: EventLog, thread: UUID) -> None:
    turn = new_id()
    assert log.publish(thread, "token", {"text": "old"}, fence=(turn, 1))
    assert log.publish(thread, "token", {"text": "new"}, fence=(turn, 2))
    assert log.publish(thread, "token", {"text": "old again"}, fence=(turn, 1)) is None
    assert log.publish(thread, "token", {"text": "new again"}, fence=(turn, 2))
    events = log.after(thread, "") or []
    assert [event.payload["text"] for event in events] == ["old", "new", "new again"]


def test_fences_of_different_turns_do_not_touch(log: EventLog, thread: UUID) -> None:
    assert log.publish(thread, "token", {}, fence=(new_id(), 7))
    assert log.publish(thread, "token", {}, fence=(new_id(), 1))


def test_text_with_separators_newlines_and_emoji_arrives_unchanged(
    log: EventLog, thread: UUID
) -> None:
    text = "  two\n\nlines\r\n\u2028\u2029\u0085 é 🌮 </script>"
    with listening(log, thread) as listener:
        say(log, thread, text)
        listener.hears(text)
    [event] = log.after(thread, "") or []
    assert event.data.isascii()
    assert "\n" not in event.data


@pytest.mark.fault(9)
def test_a_reader_that_goes_away_leaves_no_subscription(
    log: EventLog, thread: UUID, redis_client: redis.Redis
) -> None:
    reading = Subscription(log, thread, "").events(heartbeat_seconds=0.1)
    assert next(reading) is None
    assert redis_client.pubsub_numsub(f"events:{thread}") == [(f"events:{thread}".encode(), 1)]
    reading.close()  # type: ignore[attr-defined]
    assert redis_client.pubsub_numsub(f"events:{thread}") == [(f"events:{thread}".encode(), 0)]

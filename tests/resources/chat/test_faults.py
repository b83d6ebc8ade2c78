"""What a service does wrong: it is asked again at the pace that it wants, and no longer than makes sense."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from pipelines.errors import ServiceError, SettingsError, StopStage
from resources.chat import limits, services
from resources.chat.services import retry_after
from resources.chat.spending import Spending, spending
from resources.lake import Lake
from resources.models.registry import build_adapter
from tests.resources.chat.asking import PROTOCOLS, Number, a_client, a_question, ask, echo, kept_files, numbers
from tests.resources.chat.servers import Answer, Asked, serving

FAULTS = {
    "status 500": Answer("overloaded", status=500),
    "status 429": Answer("slow down", status=429),
    "status 503, no JSON": Answer(status=503, raw=b"<html>Bad gateway</html>", headers={"content-type": "text/html"}),
    "cut connection": Answer('{"number": 1}', cut=True),
    "no JSON": Answer(raw=b'{"choices": [{'),
    "no JSON at all": Answer(raw=b"<html>Hello</html>", headers={"content-type": "text/html"}),
    "null": Answer(raw=b"null"),
    "a list": Answer(raw=b"[1]"),
    "a word": Answer(raw=b'"hello"'),
    "no choices": Answer(raw=b"{}"),
    "odd choices": Answer(raw=b'{"choices": "none", "candidates": "none", "usage": "much"}'),
    "empty choices": Answer(raw=b'{"choices": [], "candidates": []}'),
    "odd choice": Answer(raw=b'{"choices": [7], "candidates": [7]}'),
}


def first_then(fault: Answer, times: int = 1) -> Callable[[Asked], Answer]:
    """Answers that begin with so many faults."""
    left = [fault] * times
    return lambda asked: left.pop() if left else Answer(echo(asked))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_asked_again(protocol: str, fault: str, tmp_path: Path) -> None:
    with serving(first_then(FAULTS[fault], 2)) as server:
        assert numbers(ask(a_client(protocol, server, tmp_path, tries=3), [a_question(5)])) == [5]
    assert len(server.asked) == 3


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_stays_is_an_error_of_the_service_and_nothing_is_kept(
    protocol: str, fault: str, tmp_path: Path
) -> None:
    with serving(lambda asked: FAULTS[fault]) as server:
        with pytest.raises(ServiceError, match=rf"no answer in 2 tries.*{protocol} model-x at http://127") as caught:
            ask(a_client(protocol, server, tmp_path, tries=2), [a_question()])
        assert len(server.asked) == 2
    assert kept_files(tmp_path) == {} and len(str(caught.value)) < 700


@pytest.mark.parametrize("raw", [b'{"choices": [{"message": "hi"}], "usage": [1]}', b'{"choices": [{}]}'])
def test_an_odd_message_is_an_empty_reply(raw: bytes, tmp_path: Path) -> None:
    with serving(lambda asked: Answer(raw=raw)) as server:
        assert numbers(ask(a_client("openai", server, tmp_path), [a_question()])) == ["reply_empty"]


def test_a_server_that_does_not_run_is_an_error_of_the_service(protocol: str, tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="no answer in 2 tries"):
        ask(a_client(protocol, "http://127.0.0.1:9", tmp_path, tries=2), [a_question()])


def test_other_answers_are_kept_when_one_has_none(protocol: str, tmp_path: Path) -> None:
    """They were paid: the next run asks for the missing one alone."""
    broken = threading.Event()

    def answer(asked: Asked) -> Answer:
        is_first = "this: 0?" in asked.turns[0][1] and not broken.is_set()
        return Answer("", status=500) if is_first else Answer(echo(asked))

    questions = [a_question(number) for number in range(8)]
    with serving(answer) as server:
        with pytest.raises(ServiceError):
            ask(a_client(protocol, server, tmp_path, tries=2), questions)
        assert len(kept_files(tmp_path)) == 7
        broken.set()
        assert numbers(ask(a_client(protocol, server, tmp_path), questions)) == list(range(8))
    assert len(server.asked) == 2 + 7 + 1


def test_a_reply_that_takes_too_long_is_given_up(protocol: str, tmp_path: Path) -> None:
    never = threading.Event()
    with serving(lambda asked: Answer("", wait=never)) as server:
        with pytest.raises(ServiceError, match="the service took too long"):
            ask(a_client(protocol, server, tmp_path, tries=2, timeout=0.05), [a_question()])
        never.set()


def test_a_reply_that_drips_is_given_up(protocol: str, tmp_path: Path) -> None:
    """Each byte comes in time, and the whole never would."""
    never = threading.Event()
    with serving(lambda asked: Answer(echo(asked), drip=never)) as server:
        with pytest.raises(ServiceError, match="the service took too long"):
            ask(a_client(protocol, server, tmp_path, tries=1, timeout=0.3), [a_question()])
        never.set()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": " 2.5 "}, 2.5),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "x", "retry-after": "3"}, 3.0),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_retry_after_may_be_a_date(monkeypatch: pytest.MonkeyPatch) -> None:
    when = datetime(2026, 10, 5, 12, 0, 7, tzinfo=UTC)

    class Clock(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return when - timedelta(seconds=7)

    monkeypatch.setattr(services, "datetime", Clock)
    assert retry_after({"retry-after": format_datetime(when, usegmt=True)}) == 7.0
    assert retry_after({"retry-after": "Mon, 05 Oct 2026 12:00:07"}) == 7.0
    assert retry_after({"retry-after": "Mon, 05 Oct 1998 12:00:07 GMT"}) == 0.0


class FakeClock:
    """Time that passes when someone sleeps, and what was slept."""

    def __init__(self) -> None:
        self.now, self.slept = 0.0, []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    clock = FakeClock()
    monkeypatch.setattr(limits, "_now", lambda: clock.now)
    monkeypatch.setattr(limits.asyncio, "sleep", clock.sleep)
    return clock


@pytest.mark.parametrize(
    ("headers", "seconds"), [({"retry-after": "30"}, 30), ({"retry-after-ms": "1500"}, 1.5), ({"retry-after": "86400"}, 600)]
)  # fmt: skip
def test_what_the_service_says_is_waited_and_no_more(
    protocol: str, headers: dict[str, str], seconds: float, clock: FakeClock, tmp_path: Path
) -> None:
    with serving(first_then(Answer("slow down", status=429, headers=headers))) as server:
        assert numbers(ask(a_client(protocol, server, tmp_path), [a_question(5)])) == [5]
    assert clock.now == pytest.approx(seconds, abs=0.01)


def test_gemini_says_in_the_body_how_long_to_wait(clock: FakeClock, tmp_path: Path) -> None:
    details = b'[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]'
    said = b"You exceeded your current quota, please check your plan and billing details."
    body = b'{"error": {"code": 429, "message": "%s", "status": "RESOURCE_EXHAUSTED", "details": %s}}' % (said, details)
    with serving(first_then(Answer(status=429, raw=body))) as server:
        assert numbers(ask(a_client("gemini", server, tmp_path), [a_question(5)])) == [5]
    assert clock.now == pytest.approx(34, abs=0.01)


def test_pauses_double_and_are_drawn(monkeypatch: pytest.MonkeyPatch, clock: FakeClock, tmp_path: Path) -> None:
    monkeypatch.setattr(limits, "_FIRST_PAUSE", 1.0)
    monkeypatch.setattr(limits, "_LONGEST_SLEEP", 1000.0)
    with serving(lambda asked: FAULTS["status 500"]) as server, pytest.raises(ServiceError):
        ask(a_client("openai", server, tmp_path, tries=9), [a_question()])
    assert len(clock.slept) == 8
    for pause, whole in zip(clock.slept, [1, 2, 4, 8, 16, 32, 60, 60], strict=True):
        assert whole / 2 <= pause <= whole


def test_calls_a_minute_begin_at_even_distances(protocol: str, clock: FakeClock, tmp_path: Path) -> None:
    times = []

    def answer(asked: Asked) -> str:
        times.append(clock.now)
        return echo(asked)

    with serving(answer) as server:
        # One at a time, or the shared clock would be moved while another sleeps.
        ask(a_client(protocol, server, tmp_path, per_minute=30, in_flight=1), [a_question(n) for n in range(5)])
    assert times == pytest.approx([0, 2, 4, 6, 8])


@pytest.mark.parametrize("in_flight", [1, 3])
def test_no_more_are_in_flight_than_allowed(protocol: str, in_flight: int, tmp_path: Path) -> None:
    lock, now, most = threading.Lock(), [0], [0]
    full = threading.Event()

    def answer(asked: Asked) -> str:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
            if now[0] == in_flight:
                full.set()
        assert full.wait(20)  # until as many are there as may be
        with lock:
            now[0] -= 1
        return echo(asked)

    with serving(answer) as server:
        client = a_client(protocol, server, tmp_path, in_flight=in_flight)
        parts = [[a_question(n) for n in range(start, 24, 4)] for start in range(4)]
        with spending(Spending()), ThreadPoolExecutor(4) as threads:
            for found in threads.map(lambda part: list(client.ask(part)), parts):
                assert all(isinstance(answer, Number) for answer in found)
    assert most[0] == in_flight and len(server.asked) == 24


@pytest.mark.parametrize("status", [401, 403])
def test_a_dead_key_stops_the_stage_at_once(
    protocol: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-dead-and-gone")
    run = Spending()
    with serving(lambda asked: Answer("Incorrect key sk-dead-and-gone", status=status)) as server:
        client = a_client(protocol, server, tmp_path, key_variable="MY_KEY", in_flight=4)
        with pytest.raises(StopStage, match=r"refuses the key.*Check the key in MY_KEY") as caught:
            ask(client, [a_question(n) for n in range(200)], run)
        asked = len(server.asked)
        with pytest.raises(StopStage), spending(run):  # another shard of the run
            list(client.ask([a_question(n) for n in range(200, 300)]))
        assert len(server.asked) == asked <= 4, "only what was in flight"
    assert "sk-dead" not in str(caught.value)


def test_gemini_calls_a_wrong_key_a_bad_request(tmp_path: Path) -> None:
    said = Answer("API key not valid. Please pass a valid API key.", status=400)
    with serving(lambda asked: said) as server, pytest.raises(StopStage, match="refuses the key"):
        ask(a_client("gemini", server, tmp_path, in_flight=2), [a_question(n) for n in range(50)])
    assert len(server.asked) <= 2 and kept_files(tmp_path) == {}


def test_no_credit_stops_the_stage_at_once(tmp_path: Path) -> None:
    said = b'{"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}'
    with serving(lambda asked: Answer(status=429, raw=said)) as server, pytest.raises(StopStage, match="no credit"):
        ask(a_client("openai", server, tmp_path, in_flight=2), [a_question(n) for n in range(50)])
    assert len(server.asked) <= 2


def test_an_unknown_model_stops_the_stage_at_once(protocol: str, tmp_path: Path) -> None:
    said = Answer("The model `model-x` does not exist", status=404)
    with serving(lambda asked: said) as server, pytest.raises(StopStage, match="knows no such model"):
        ask(a_client(protocol, server, tmp_path, in_flight=2), [a_question(n) for n in range(50)])
    assert len(server.asked) <= 2


def test_settings_that_no_request_survives_stop_the_stage(protocol: str, tmp_path: Path) -> None:
    said = Answer("unknown parameter `temperature`", status=400)
    with serving(lambda asked: said) as server, pytest.raises(StopStage, match=r"every request invalid.*temperature"):
        ask(a_client(protocol, server, tmp_path, in_flight=4), [a_question(n) for n in range(500)])
    assert len(server.asked) < 40 and kept_files(tmp_path) == {}


def run_shards(client: object, shards: int, run: Spending) -> list[str]:
    """Ask about so many books one after the other, as an engine does: the error of each."""
    errors = []
    for shard in range(shards):
        try:
            ask(client, [a_question(100 * shard + n) for n in range(6)], run)  # type: ignore[arg-type]
        except (ServiceError, StopStage) as error:
            errors.append(type(error).__name__)
    return errors


def test_a_service_that_is_down_is_not_asked_for_ever(protocol: str, tmp_path: Path) -> None:
    with serving(lambda asked: FAULTS["status 500"]) as server:
        client = a_client(protocol, server, tmp_path, tries=3, in_flight=2)
        errors = run_shards(client, 50, Spending())
        assert set(errors) == {"ServiceError", "StopStage"} and errors[-40:] == ["StopStage"] * 40
        assert len(server.asked) < 60
        server.answers = echo
        assert run_shards(client, 2, Spending()) == [], "the next run finds it well again"


def test_a_moment_of_overload_stops_nothing(protocol: str, tmp_path: Path) -> None:
    """Sixty calls fail at once, and all are answered when asked again."""
    busy = {number: 2 for number in range(60)}

    def answer(asked: Asked) -> Answer | str:
        number = int(asked.turns[0][1].partition("this: ")[2].partition("?")[0])
        busy[number] -= 1
        return FAULTS["status 500"] if busy[number] >= 0 else echo(asked)

    with serving(answer) as server:
        client = a_client(protocol, server, tmp_path, in_flight=60)
        assert numbers(ask(client, [a_question(number) for number in range(60)])) == list(range(60))
    assert len(server.asked) == 180


def test_a_stopped_run_does_not_wait_out_its_pauses(
    monkeypatch: pytest.MonkeyPatch, protocol: str, tmp_path: Path
) -> None:
    monkeypatch.setattr(limits, "_LONGEST_SLEEP", 0.01)

    def answer(asked: Asked) -> Answer:
        is_first = "this: 0?" in asked.turns[0][1]
        return Answer("", status=401) if is_first else Answer("", status=429, headers={"retry-after": "500"})

    started = time.monotonic()
    with serving(answer) as server, pytest.raises(StopStage, match="refuses the key"):
        ask(a_client(protocol, server, tmp_path, in_flight=1), [a_question(n) for n in range(3)])
    assert time.monotonic() - started < 60


def test_a_missing_library_stops_with_what_to_install(
    protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(f"resources.chat.{protocol}_service")]:
        monkeypatch.delitem(sys.modules, name)
    library = {"openai": "openai", "gemini": "google.genai"}[protocol]
    for name in [name for name in sys.modules if name == library or name.startswith(f"{library}.")]:
        monkeypatch.delitem(sys.modules, name)
    if protocol == "gemini":
        monkeypatch.setitem(sys.modules, "google", None)
    else:
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(StopStage, match=r"library .*(openai|google).* is not installed.*extra `chat`"):
        ask(a_client(protocol, "http://127.0.0.1:9", tmp_path), [a_question()])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_missing_key_is_named(protocol: str, tmp_path: Path) -> None:
    variable = {"openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"}[protocol]
    with pytest.raises(StopStage, match=f"needs a key.*{variable}"):
        ask(a_client(protocol, "x", tmp_path, base_url=""), [a_question()])


@pytest.mark.parametrize(
    "url",
    [
        "http://me:hush-hush@127.0.0.1:8000/v1",
        "http://hush-hush@127.0.0.1:8000/v1",
        "me:hush-hush@127.0.0.1/v1",
        "http://127.0.0.1:8000/v1?key=hush-hush",
        "127.0.0.1:8000",
        "ftp://127.0.0.1/",
        "http://[hush-hush/v1",
        "http://127.0.0.1:hush-hush/v1",
    ],
)
def test_an_address_that_is_none_or_holds_a_password_is_refused_unseen(protocol: str, url: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="base_url") as caught:
        a_client(protocol, "x", tmp_path, base_url=url)
    assert "hush" not in str(caught.value) and caught.value.__suppress_context__ | (caught.value.__context__ is None)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"colour": "red"}, "colour"),
        ({"in_flight": 0}, "at least 1"),
        ({"per_minute": 0}, "at least 1"),
        ({"tries": -1}, "at least 1"),
        ({"in_flight": "many"}, "not valid"),
        ({"prices": "nowhere.yaml"}, "cannot be read"),
    ],
)
def test_settings_that_make_no_sense_are_named(options: dict[str, object], words: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=words):
        build_adapter("resources.models.chat:openai_chat", model="m", replies=str(tmp_path), **options)


def test_a_form_of_replies_or_parameters_that_do_not_exist_stop_the_stage(tmp_path: Path) -> None:
    with pytest.raises(StopStage, match="structured"):
        ask(a_client("openai", "http://127.0.0.1:9", tmp_path, structured="loosely"), [a_question()])
    with pytest.raises(StopStage, match="colour"):
        ask(a_client("gemini", "http://127.0.0.1:9", tmp_path, parameters={"colour": 1}), [a_question()])


def test_a_reply_that_cannot_be_kept_stops_the_run(
    protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Lake, path: str, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Lake, "put", full)
    run = Spending()
    with serving(echo) as server:
        client = a_client(protocol, server, tmp_path, in_flight=2)
        for start in (0, 50):
            with pytest.raises(StopStage, match=r"paid reply cannot be kept.*No space left"):
                ask(client, [a_question(start + n) for n in range(50)], run)
    assert len(server.asked) <= 4


def test_what_a_killed_run_left_half_written_goes_away(protocol: str, tmp_path: Path) -> None:
    with serving(echo) as server:
        ask(a_client(protocol, server, tmp_path), [a_question(1)])
        (kept,) = (tmp_path / "_chat" / "replies").rglob("*.json")
        half = kept.with_name(f".tmp-{socket.gethostname()}-999999999-abc")
        half.write_text("{")
        ask(a_client(protocol, server, tmp_path), [a_question(2)])
    assert not half.exists() and kept.exists()

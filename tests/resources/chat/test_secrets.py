"""Canaries: no key, header or secret of the environment is to be seen anywhere, though the server sends all of them back."""

from __future__ import annotations

import json
import logging
import traceback
from pathlib import Path

import pytest

from pipelines.errors import StoryloomError
from resources.chat.services import safe_text, secrets_of, shown
from resources.chat.spending import Spending, spending
from tests.resources.chat.asking import a_client, a_question, ask, number_asked
from tests.resources.chat.servers import Answer, Asked, serving
from tests.resources.chat.test_batches import hand_over, records, some_jobs

KEY = "canary-key-4f1c9a"
CANARIES = {
    "THE_KEY": KEY,
    "OPENAI_API_KEY": "canary-openai-83b2",
    "GEMINI_API_KEY": "canary-gemini-83b2",
    "OPENAI_ORG_ID": "canary-org-91ce",
    "OPENAI_PROJECT_ID": "canary-project-91ce",
    "OPENAI_CUSTOM_HEADERS": "X-Proxy-Pass: canary-custom-77aa",
    "AWS_SECRET_ACCESS_KEY": "canary-aws-5d5d",
    "HF_TOKEN": "canary-hf-5d5d",
}


@pytest.fixture(autouse=True)
def _canaries(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in CANARIES.items():
        monkeypatch.setenv(name, value)


def everything(asked: Asked) -> str:
    """All headers of a request, and what else a hostile server may know."""
    return json.dumps(asked.headers) + " ".join(CANARIES.values()) + f" Bearer {KEY}"


def echoing(asked: Asked) -> Answer:
    """By number: a reply, one that breaks its form, and each of the faults, all with the canaries in them."""
    said = everything(asked)
    kinds = {
        0: Answer(json.dumps({"number": 0, "note": said})),
        1: Answer(said),
        2: Answer(said, finish="length"),
        3: Answer("", refusal=said),
        4: Answer(said, status=400),
        5: Answer(said, status=500, headers={"x-echo": KEY}),
        6: Answer(said, status=401),
        7: Answer(said, status=404),
        8: Answer(raw=said.encode(), headers={"content-type": "text/plain"}),
        9: Answer(raw=said.encode()),
        10: Answer(said, cut=True),
        11: Answer(said, status=429),
        12: Answer(status=429, raw=json.dumps({"error": {"message": said, "code": "insufficient_quota"}}).encode()),
        13: Answer(status=502, raw=said.encode()),
    }
    return kinds[number_asked(asked)]


def seen(store: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> str:
    """All that files, the log from its lowest level on, and the terminal show."""
    logging.getLogger("tests").debug("is listened to")
    assert "is listened to" in caplog.text
    files = "".join(path.read_text("utf-8") for path in store.rglob("*") if path.is_file())
    records = "".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    return files + records + "".join(capfd.readouterr())


def test_nothing_secret_is_in_the_cache_the_log_or_an_error(
    protocol: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    said = ""
    with serving(echoing) as server:
        for number in range(14):
            client = a_client(protocol, server, tmp_path, key_variable="THE_KEY", tries=2)
            try:
                said += repr(ask(client, [a_question(number)]))
            except StoryloomError as error:
                said += "".join(traceback.format_exception(error)) + repr(error)
        said += repr(client)
    sent = json.dumps([asked.headers for asked in server.asked])
    assert KEY in sent and (protocol == "gemini" or "canary-custom-77aa" in sent), "there was something to hide"
    assert "[key]" in said, "the server's words are shown, without what is secret"
    said += seen(tmp_path, caplog, capfd)
    assert "canary" not in said


def test_nothing_secret_is_in_what_batches_leave(
    protocol: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(echoing) as server:
        jobs = some_jobs(protocol, server, tmp_path)
        hand_over(jobs, [a_question(n) for n in range(6)])
        assert len(records(tmp_path)) == 1
        assert jobs.fetch() == []
    said = seen(tmp_path, caplog, capfd)
    assert "[key]" in said and "canary" not in said


def test_the_sdk_stays_silent_when_the_user_turns_everything_up(
    protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its own debug output holds requests with their headers and pictures."""
    monkeypatch.setenv("OPENAI_LOG", "debug")
    caplog.set_level(logging.DEBUG)
    with serving(lambda asked: '{"number": 1}') as server:
        client = a_client(protocol, server, tmp_path, key_variable="THE_KEY")
        with spending(Spending()):
            list(client.ask([a_question()]))
    loud = {record.name for record in caplog.records if record.name.partition(".")[0] in (
        "openai", "google_genai", "httpx", "httpx2", "httpcore", "httpcore2")}  # fmt: skip
    assert loud == set()


def test_what_the_environment_calls_secret_is_masked_the_longest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", f"{KEY}-longer")
    monkeypatch.setenv("SHORT_KEY", "a")
    hidden = secrets_of(KEY)
    assert safe_text(f"{KEY}-longer, {KEY}, a", hidden) == "[key], [key], a"
    assert secrets_of("abc") == secrets_of(""), "a key of three letters would mask half of all words"


@pytest.mark.parametrize(
    ("said", "masked"),
    [
        ("Authorization: Bearer abcdefgh1234", "Authorization: Bearer [key]"),
        ('{"x-api-key": "abcdefgh1234"}', '{"x-api-key": "[key]"}'),
        ("api_key=abcdefgh1234 is wrong", "api_key=[key] is wrong"),
        ("API key not valid. Please pass a valid API key.", "API key not valid. Please pass a valid API key."),
        ("The bearer\nof  this", "The bearer of this"),
    ],
)
def test_what_looks_like_a_key_is_masked_whoever_it_belongs_to(said: str, masked: str) -> None:
    assert shown(said, ()) == masked


def test_an_error_is_shown_short_and_in_one_line() -> None:
    assert shown("a\n" * 5000, ()) == ("a " * 200)

"""Batch jobs: submitted once, whatever happens, fetched by a later run, and paid at the provider's lower price."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.chat import ChatRequest, Quoted
from pipelines.errors import ItemError, ServiceError, StopStage
from resources.chat import batches
from resources.chat.batches import BatchJobs
from resources.chat.spending import Spending, spending
from resources.lake import Lake
from tests.resources.chat.asking import (
    CALL_COSTS,
    MODEL,
    Number,
    a_client,
    a_picture,
    a_question,
    ask,
    echo,
    kept_files,
    number_asked,
    numbers,
    prices,
)
from tests.resources.chat.servers import Answer, Asked, ChatServer, serving

pytestmark = pytest.mark.usefixtures("_folders")
QUESTIONS = [a_question(n, a_picture(b"p%d" % n), Quoted("balloon", "Oh!")) for n in range(6)]


@pytest.fixture
def _folders(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()


def some_jobs(protocol: str, server: ChatServer | str, store: Path, run: Spending | None = None) -> BatchJobs:
    """The jobs of a table as a new process sees them."""
    client = a_client(protocol, server, store, prices=prices(store), batch=True, tries=2)
    return BatchJobs(Lake(str(store)), "comic_captions", client, run or Spending())


def hand_over(jobs: BatchJobs, questions: list[ChatRequest[Number]] = QUESTIONS) -> None:
    """What a stage still misses goes out."""
    with spending(Spending(mode="note", noted=lambda _, question: jobs.add(question))):
        list(jobs.client.ask(questions))
    jobs.flush()


def records(store: Path) -> dict[str, dict[str, object]]:
    paths = sorted((store / "_chat" / "batches").glob("*.json"))
    return {path.stem: json.loads(path.read_text("utf-8")) for path in paths}


def test_a_job_is_submitted_then_waited_for_then_fetched(protocol: str, tmp_path: Path) -> None:
    with serving(echo) as server:
        server.run_batches = False
        jobs = some_jobs(protocol, server, tmp_path)
        assert jobs.fetch() == []
        hand_over(jobs)
        assert jobs.submitted == 6 and len(server.batches) == 1
        ((name, record),) = records(tmp_path).items()
        assert record["job"] in server.batches and record["model"] == MODEL
        assert name.startswith("storyloom-comic_captions-")

        assert some_jobs(protocol, server, tmp_path).fetch() == [name]
        assert kept_files(tmp_path) == {} and len(records(tmp_path)) == 1

        server.run_batches = True
        run = Spending()
        jobs = some_jobs(protocol, server, tmp_path, run)
        assert jobs.fetch() == [] and records(tmp_path) == {}
        hand_over(jobs)
        assert jobs.submitted == 0 and len(server.batches) == 1, "nothing is missing any more"
        assert numbers(ask(jobs.client, QUESTIONS)) == list(range(6))
    assert server.asked == [], "no call was made at the full price"
    usage = run.usage[MODEL]
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (6, 600, 60)
    assert usage.dollars == pytest.approx(6 * CALL_COSTS / 2)


def test_a_batch_asks_what_a_call_asks(protocol: str, tmp_path: Path) -> None:
    seen: list[Asked] = []

    def answer(asked: Asked) -> str:
        seen.append(asked)
        return echo(asked)

    with serving(answer) as server:
        jobs = some_jobs(protocol, server, tmp_path / "one")
        hand_over(jobs, QUESTIONS[:1])
        jobs.fetch()
        ask(a_client(protocol, server, tmp_path / "two"), QUESTIONS[:1])
    by_batch, by_call = seen
    assert (by_batch.instruction, by_batch.turns, by_batch.pictures) == (
        by_call.instruction, by_call.turns, by_call.pictures
    )  # fmt: skip
    assert by_batch.body == by_call.body


def test_a_kill_before_the_job_was_submitted_costs_nothing(protocol: str, tmp_path: Path) -> None:
    with serving(echo) as server:
        jobs = some_jobs(protocol, server, tmp_path)
        jobs._write("storyloom-comic_captions-abc", {"provider": protocol, "model": MODEL, "table": "comic_captions",
                                                     "asked": [["k", "numbers@1"]], "job": None})  # fmt: skip
        assert some_jobs(protocol, server, tmp_path).fetch() == []
    assert records(tmp_path) == {}


@pytest.mark.parametrize("others", [0, 5])
def test_a_kill_after_the_job_was_submitted_finds_it_by_name(protocol: str, others: int, tmp_path: Path) -> None:
    with serving(echo) as server:
        jobs = some_jobs(protocol, server, tmp_path)
        hand_over(jobs)
        ((name, record),) = records(tmp_path).items()
        (tmp_path / "_chat" / "batches" / f"{name}.json").write_text(json.dumps(record | {"job": None}))
        for _ in range(others):  # newer ones of the same account, more than a page of them
            other = some_jobs(protocol, server, tmp_path / "two")
            hand_over(other, [a_question(77)])
        jobs = some_jobs(protocol, server, tmp_path)
        assert jobs.fetch() == []
        hand_over(jobs)
        assert jobs.submitted == 0 and len(server.batches) == 1 + others
        assert numbers(ask(jobs.client, QUESTIONS)) == list(range(6))
    assert server.asked == []


def test_a_cut_reply_to_the_submission_leads_to_no_second_job(protocol: str, tmp_path: Path) -> None:
    with serving(echo) as server:
        server.cut_after = "batchGenerateContent" if protocol == "gemini" else "/batches"
        hand_over(some_jobs(protocol, server, tmp_path))
        assert server.cut_after == "", "the reply was cut"
        assert len(server.batches) == 1
        (record,) = records(tmp_path).values()
        assert record["job"] == next(iter(server.batches))


def test_a_submission_that_fails_stops_the_run_and_is_looked_for_by_the_next(protocol: str, tmp_path: Path) -> None:
    with pytest.raises(StopStage, match=r"batch job could not be submitted: no answer in 2 tries"):
        hand_over(some_jobs(protocol, "http://127.0.0.1:9", tmp_path))
    assert [record["job"] for record in records(tmp_path).values()] == [None]
    with serving(echo) as server:
        jobs = some_jobs(protocol, server, tmp_path)
        assert jobs.fetch() == []
        hand_over(jobs)
        assert jobs.submitted == 6 and len(server.batches) == 1


def test_what_fails_in_a_job_is_asked_anew_and_what_would_recur_is_kept(protocol: str, tmp_path: Path) -> None:
    first = True

    def answer(asked: Asked) -> Answer:
        match number_asked(asked):
            case 1 if first:
                return Answer("overloaded", status=500)
            case 2:
                return Answer("this is no picture", status=400)
            case 3:
                return Answer("", finish="content_filter")
            case 4 if first:
                return Answer("no number", status=200)
        return Answer(echo(asked))

    with serving(answer) as server:
        jobs = some_jobs(protocol, server, tmp_path)
        hand_over(jobs)
        assert jobs.fetch() == []
        first = False
        jobs = some_jobs(protocol, server, tmp_path)
        hand_over(jobs)
        assert jobs.submitted == 2, "the one that failed, and the repair of the one that broke the form"
        assert jobs.fetch() == []
        found = ask(jobs.client, QUESTIONS)
    assert numbers(found) == [0, 1, "request_refused", "reply_refused", 4, 5]
    assert server.asked == [] and len(server.batches) == 2


def test_an_expired_job_gives_what_it_got_done(protocol: str, tmp_path: Path) -> None:
    with serving(echo) as server:
        server.batch_end = "expired"
        jobs = some_jobs(protocol, server, tmp_path)
        hand_over(jobs)
        assert jobs.fetch() == [] and len(kept_files(tmp_path)) == 3
        server.batch_end = "completed"
        again = some_jobs(protocol, server, tmp_path)
        hand_over(again)
        assert again.submitted == 3 and again.fetch() == []
        assert numbers(ask(again.client, QUESTIONS)) == list(range(6))


def test_a_failed_job_stops_the_run_once(protocol: str, tmp_path: Path) -> None:
    with serving(echo) as server:
        server.batch_end = "failed"
        jobs = some_jobs(protocol, server, tmp_path)
        hand_over(jobs)
        said = "line 1 is no request" if protocol == "openai" else "JOB_STATE_FAILED"  # its SDK leaves the reason out
        with pytest.raises(StopStage, match=f"batch job failed: {said}.*submitted anew"):
            jobs.fetch()
        server.batch_end = "completed"
        again = some_jobs(protocol, server, tmp_path)
        assert again.fetch() == []
        hand_over(again)
        assert again.submitted == 6


def test_a_job_that_the_service_lost_is_not_silently_paid_again(protocol: str, tmp_path: Path) -> None:
    with serving(echo) as server:
        hand_over(some_jobs(protocol, server, tmp_path))
        server.batches.clear()
        with pytest.raises(StopStage, match=r"404.*has lost the job, delete _chat/batches/storyloom-"):
            some_jobs(protocol, server, tmp_path).fetch()
    assert len(records(tmp_path)) == 1


def test_a_damaged_record_is_named(protocol: str, tmp_path: Path) -> None:
    folder = tmp_path / "_chat" / "batches"
    folder.mkdir(parents=True)
    for text in ("{", "[]", "{}"):
        (folder / "x.json").write_text(text)
        with pytest.raises(StopStage, match=r"damaged \(_chat/batches/x\.json"):
            some_jobs(protocol, "http://127.0.0.1:9", tmp_path).fetch()


def test_jobs_of_other_tables_and_models_are_left_alone(protocol: str, tmp_path: Path) -> None:
    with serving(echo) as server:
        hand_over(some_jobs(protocol, server, tmp_path))
        theirs = some_jobs(protocol, server, tmp_path)
        theirs.table = "comic_texts"
        model = a_client(protocol, server, tmp_path, model="model-y", batch=True)
        assert theirs.fetch() == [] == BatchJobs(theirs.store, "comic_captions", model, Spending()).fetch()
    assert len(records(tmp_path)) == 1 and kept_files(tmp_path) == {}


def test_a_full_job_goes_out_at_once(protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_MOST_REQUESTS", 4)
    with serving(echo) as server:
        jobs = some_jobs(protocol, server, tmp_path)
        hand_over(jobs)
        assert jobs.submitted == 6 and len(server.batches) == 2
        assert jobs.fetch() == []
        assert numbers(ask(jobs.client, QUESTIONS)) == list(range(6))


def test_a_job_holds_no_more_bytes_than_the_service_takes(
    protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(echo) as server:
        jobs = some_jobs(protocol, server, tmp_path)
        monkeypatch.setattr(type(jobs.client.service), "batch_bytes", 30_000)
        hand_over(jobs, [a_question(n, a_picture(b"%d" % n * 7000)) for n in range(6)])
        assert jobs.submitted == 6 and len(server.batches) == 3
        sent = [data for name, data in server.files.items() if name in server.batches or protocol == "openai"]
        assert [len(data) < 30_000 for data in sent] == [True] * 3


def test_a_budget_holds_back_what_it_does_not_allow(protocol: str, tmp_path: Path) -> None:
    with serving(echo) as server:
        jobs = some_jobs(protocol, server, tmp_path, Spending(budget=0.04))
        hand_over(jobs)
        assert jobs.submitted + jobs.beyond_budget == 6 and 0 < jobs.submitted < 6
        run = Spending(budget=0.04)
        jobs = some_jobs(protocol, server, tmp_path, run)
        jobs.fetch()
        assert run.dollars <= 0.04 and run.usage[MODEL].calls < 6


def test_a_budget_without_a_price_submits_nothing(protocol: str, tmp_path: Path) -> None:
    with serving(echo) as server, pytest.raises(StopStage, match="price of model-x is not known"):
        client = a_client(protocol, server, tmp_path, batch=True)
        hand_over(BatchJobs(Lake(str(tmp_path)), "comic_captions", client, Spending(budget=9.0)))
    assert server.batches == {}


def test_media_that_cannot_be_made_is_left_out_of_the_job(protocol: str, tmp_path: Path) -> None:
    def fails() -> bytes:
        raise ItemError("corrupt", "The picture is damaged")

    whole = a_picture(b"x")
    broken = type(whole)("broken", whole.media_type, 1, 1, fails)
    with serving(echo) as server:
        jobs = some_jobs(protocol, server, tmp_path)
        questions = [a_question(1), a_question(2, broken)]
        hand_over(jobs, questions)
        assert jobs.submitted == 1 and jobs.fetch() == []
        assert numbers(ask(jobs.client, questions)) == [1, "corrupt"]


def test_replies_that_nobody_asked_for_are_not_taken(protocol: str, tmp_path: Path) -> None:
    with serving(echo) as server:
        jobs = some_jobs(protocol, server, tmp_path)
        hand_over(jobs)
        ((name, record),) = records(tmp_path).items()
        asked = record["asked"]
        assert isinstance(asked, list)
        (tmp_path / "_chat" / "batches" / f"{name}.json").write_text(json.dumps(record | {"asked": asked[:2]}))
        assert some_jobs(protocol, server, tmp_path).fetch() == []
    assert len(kept_files(tmp_path)) == 2


def test_a_service_without_answers_leaves_the_jobs_as_they_are(protocol: str, tmp_path: Path) -> None:
    with serving(echo) as server:
        hand_over(some_jobs(protocol, server, tmp_path))
    with pytest.raises(ServiceError, match="no answer in 2 tries"):
        some_jobs(protocol, "http://127.0.0.1:9", tmp_path).fetch()
    assert len(records(tmp_path)) == 1


@pytest.mark.parametrize("line", ["", "{", "[]", "7", "null", '{"custom_id": "a"}', '{"custom_id": 1, "response": 3}'])
def test_a_line_of_results_that_makes_no_sense_is_passed_over(line: str, tmp_path: Path) -> None:
    with serving(echo) as server:
        jobs = some_jobs("openai", server, tmp_path)
        hand_over(jobs)
        (job,) = server.batches
        (name,) = records(tmp_path)
        server.batches[job] |= {"status": "completed", "output_file_id": "mine", "error_file_id": "gone-1"}
        server.files |= {"mine": line.encode(), "gone-1": b"\xff\n" + line.encode()}
        assert some_jobs("openai", server, tmp_path).fetch() == [] and kept_files(tmp_path) == {}
        assert name not in records(tmp_path)

"""The main job with a chat model that writes the captions: on a loopback server, through Dagster."""

from __future__ import annotations

import itertools
import json
import logging
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow.parquet as pq
import pytest
import yaml
from dagster._serdes import serialize_value

from assets.comics import COMICS
from assets.pick_a_panel import PICK_A_PANEL
from assets.tables import StoryloomResource, table_assets
from resources.chat import limits
from tests.assets.three_books import SCALE, SPLIT_OF, a_library, build
from tests.pipelines.pick_a_panel.released_book import panel_box
from tests.resources.chat.servers import Answer, Asked, ChatServer, serving

MODEL = "model-x"
SAID = "COME HOME RIGHT NOW"
"""Lettered in the second panel of the first page of each book."""
HUMAN = "A hill that a person described."
"""The caption of the first panel of that page."""
CALLS = 3 * (8 * 4 - 1)
PRICE = {"input": 10.0, "output": 1000.0, "picture": 50, "batch": 0.5}
CALL_COSTS = (100 * 10 + 10 * 1000) / 1e6


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_FIRST_PAUSE", 0.001)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of three books with one human caption a book, and one textbox."""
    root = a_library(tmp_path_factory.mktemp("library"))
    for file in (root / "annotations").glob("*.json"):
        truth = json.loads(file.read_text())
        for page in truth["pages"]:
            page["captions"] = {"1": HUMAN} if page["page"] == 1 else {}
            if page["page"] == 1:
                x, y = (SCALE * edge for edge in panel_box(2)[:2])
                page["texts"] = [{"box": [x + 8, y + 8, 60, 20], "text": SAID, "panel": 2}]
        file.write_text(json.dumps(truth))
    return root


@pytest.fixture(scope="module")
def plain_lake(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables, built without a captioner."""
    lake = tmp_path_factory.mktemp("plain") / "lake"
    build(library, lake)
    return lake


def caption(asked: Asked) -> str:
    return json.dumps({"caption": "A green hill under a wide sky."})


@dataclass(frozen=True)
class Job:
    """A project with a captioner, whose runs are recorded in one Dagster instance."""

    library: Path
    lake: Path
    server: ChatServer
    instance: dg.DagsterInstance

    def run(
        self, *selection: str, succeeds: bool = True, chat: dict[str, Any] | None = None,
        runtime: dict[str, Any] | None = None, **config: Any,
    ) -> dg.ExecuteInProcessResult:  # fmt: skip
        prices, profile = self.lake.parent / "prices.yaml", self.lake.parent / "profile.yaml"
        prices.write_text(yaml.safe_dump({MODEL: PRICE}))
        captioner = {
            "adapter": "openai",
            "options": {"model": MODEL},
            "runtime": {"base_url": f"{self.server.url}/v1", "tries": 2} | (runtime or {}),
        }
        given = {
            "engine": {"workers": 2},
            "build_missing_upstream": True,
            "models": {"captioner": captioner},
            "chat": {"prices": str(prices)} | (chat or {}),
        }
        profile.write_text(yaml.safe_dump(given))
        storyloom = StoryloomResource(library=str(self.library), lake=str(self.lake), profile=str(profile))
        result = dg.materialize(
            table_assets([*COMICS, *PICK_A_PANEL]),
            instance=self.instance,
            resources={"storyloom": storyloom},
            selection=list(selection or ["comic_captions"]),
            run_config={"ops": {"comic_captions": {"config": config}}} if config else None,
            raise_on_error=False,
        )
        assert result.success == succeeds
        return result

    def captions(self) -> list[dict[str, Any]]:
        return [
            row for book in SPLIT_OF for row in pq.read_table(self.lake / "comic_captions" / f"{book}.parquet").to_pylist()
        ]  # fmt: skip

    def failures(self) -> list[dict[str, Any]]:
        paths = sorted((self.lake / "_failures" / "comic_captions").glob("*.parquet"))
        return [row for path in paths for row in pq.read_table(path).to_pylist()]

    def kept(self) -> int:
        return len(list((self.lake / "_chat" / "replies").rglob("*.json")))


@pytest.fixture
def a_job(library: Path, plain_lake: Path, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    with serving(caption) as server, dg.DagsterInstance.ephemeral() as instance:
        lake = Path(shutil.copytree(plain_lake, tmp_path / "lake"))
        yield lambda answers=caption: (setattr(server, "answers", answers), Job(library, lake, server, instance))[1]


def metadata(result: dg.ExecuteInProcessResult, asset: str = "comic_captions") -> dict[str, Any]:
    (event,) = result.asset_materializations_for_node(asset)
    return {name: value.value for name, value in event.metadata.items()}


def observed(result: dg.ExecuteInProcessResult) -> dict[str, Any]:
    """What the run observed of the captions, that it built nothing, and that this is not said elsewhere."""
    assert result.asset_materializations_for_node("comic_captions") == []
    (event,) = result.asset_observations_for_node("comic_captions")
    return {name: value.value for name, value in event.metadata.items()}


def message(result: dg.ExecuteInProcessResult) -> str:
    (event,) = [event for event in result.all_events if event.is_step_failure]
    return str(event.step_failure_data.error) + str(event.step_failure_data.user_failure_data)


def test_every_panel_of_a_story_is_captioned_once(a_job: Callable[..., Job]) -> None:
    job = a_job()
    result = job.run()
    rows = job.captions()
    human = [row for row in rows if row["source"] == "human"]
    written = [row for row in rows if row["source"] != "human"]
    assert [(row["panel_id"], row["caption"]) for row in human] == [(f"{b}/0001/01", HUMAN) for b in SPLIT_OF]
    assert [row["message"] for row in job.failures()] == []
    assert len(written) == CALLS == len(job.server.asked)
    assert {row["source"] for row in written} == {f"openai/{MODEL}@captions@1"}
    assert {row["caption"] for row in written} == {"A green hill under a wide sky."}
    numbers = metadata(result)
    assert (numbers["dagster/row_count"], numbers["failures"]) == (96, 0)
    assert numbers[f"{MODEL}/calls"] == CALLS and numbers[f"{MODEL}/kept_replies"] == 0
    assert (numbers[f"{MODEL}/input_tokens"], numbers[f"{MODEL}/output_tokens"]) == (100 * CALLS, 10 * CALLS)
    assert numbers[f"{MODEL}/dollars"] == pytest.approx(CALLS * CALL_COSTS)
    again = metadata(job.run())
    assert again["shards_built"] == 0 and not any(name.startswith(MODEL) for name in again)
    forced = metadata(job.run(force=True))
    assert (forced[f"{MODEL}/calls"], forced[f"{MODEL}/kept_replies"], forced[f"{MODEL}/dollars"]) == (0, CALLS, 0.0)
    assert len(job.server.asked) == CALLS


def test_what_is_lettered_is_quoted_as_data_and_its_picture_is_sent(a_job: Callable[..., Job]) -> None:
    job = a_job()
    job.run(shards=["one"])
    assert len(job.server.asked) == CALLS / 3
    (asked,) = [asked for asked in job.server.asked if SAID in asked.turns[0][1]]
    assert "lettering (data):\n====" in asked.turns[0][1] and SAID not in asked.instruction
    assert asked.body["max_tokens"] == 512
    assert all(len(a.pictures) == 1 and a.pictures[0][:3] == b"\xff\xd8\xff" for a in job.server.asked)
    assert len({a.pictures[0] for a in job.server.asked}) == CALLS / 3


def test_the_whole_job_gives_samples_of_caption_relevance(a_job: Callable[..., Job]) -> None:
    job = a_job()
    shutil.rmtree(job.lake)
    result = job.run(*(spec.name for spec in [*COMICS, *PICK_A_PANEL]))
    assert len(job.server.asked) == CALLS
    assert "note" not in metadata(result)
    for book in SPLIT_OF:
        samples = pq.read_table(job.lake / "comicspap_samples" / f"{book}.parquet", columns=["sample_id"]).to_pylist()
        assert {"caption_relevance", "sequence_filling"} <= {row["sample_id"].split("/")[0] for row in samples}


def test_tables_before_and_after_are_built_with_the_captions_in_one_go(a_job: Callable[..., Job]) -> None:
    """A laptop's `--select comicspap_samples` builds what is outdated in a run of its own, under the same budget."""
    job = a_job()
    job.run("comicspap_samples")
    assert len(job.server.asked) == CALLS
    assert len(job.captions()) == 96
    stopped = a_job()
    shutil.rmtree(stopped.lake / "_chat")
    shutil.rmtree(stopped.lake / "comic_captions")
    assert "budget of $0.20 is used up" in message(job.run("comicspap_samples", succeeds=False, chat={"budget": 0.2}))


def test_a_caption_that_quotes_is_repaired_once_and_then_a_failure(a_job: Callable[..., Job]) -> None:
    def quoting(asked: Asked) -> str:
        is_lettered = SAID in asked.turns[0][1]
        return json.dumps({"caption": "She says: come home, right now!"}) if is_lettered else caption(asked)

    job = a_job(quoting)
    result = job.run()
    assert len(job.server.asked) == CALLS + 3
    repairs = [asked for asked in job.server.asked if len(asked.turns) == 3]
    assert len(repairs) == 3 and all("repeats 4 words in a row" in asked.turns[2][1] for asked in repairs)
    failures = job.failures()
    assert [(row["item_id"], row["kind"]) for row in failures] == [
        (f"{book}/0001/02", "reply_invalid") for book in sorted(SPLIT_OF)
    ]
    assert all("come home, right now" in row["message"] and "reply kept as" in row["message"] for row in failures)
    assert len(job.captions()) == 96 - 3
    numbers = metadata(result)
    assert (numbers["failures"], numbers[f"{MODEL}/repairs"]) == (3, 3)
    (check,) = result.get_asset_check_evaluations()
    assert not check.passed


def test_a_caption_that_quotes_is_taken_once_it_no_longer_does(a_job: Callable[..., Job]) -> None:
    def learning(asked: Asked) -> str:
        is_first = SAID in asked.turns[0][1] and len(asked.turns) == 1
        return json.dumps({"caption": "Come home right now."}) if is_first else caption(asked)

    job = a_job(learning)
    job.run()
    assert job.failures() == [] and len(job.captions()) == 96


def test_replies_cannot_put_markup_into_the_ui(a_job: Callable[..., Job]) -> None:
    job = a_job(lambda asked: Answer("<img src=x onerror=alert(1)> | `no` JSON"))
    failed = str(metadata(job.run())["failed_items"])
    assert "&lt;img" in failed and "<img" not in failed


def test_an_estimate_asks_and_builds_nothing(a_job: Callable[..., Job]) -> None:
    job = a_job()
    before = {path: path.read_bytes() for path in job.lake.rglob("*") if path.is_file()}
    numbers = observed(job.run(estimate_only=True))
    assert job.server.asked == [] and job.server.routes == []
    assert {path: path.read_bytes() for path in job.lake.rglob("*") if path.is_file()} == before
    assert numbers["estimated_shards"] == 3 and numbers["estimated_shards_failed"] == 0
    assert numbers[f"estimated {MODEL}/calls"] == CALLS
    tokens = numbers[f"estimated {MODEL}/input_tokens"], numbers[f"estimated {MODEL}/output_tokens"]
    assert tokens[1] == 130 * CALLS and 150 * CALLS < tokens[0] < 1000 * CALLS
    assert numbers[f"estimated {MODEL}/dollars"] == pytest.approx((tokens[0] * 10 + tokens[1] * 1000) / 1e6)
    job.run(shards=["one"])
    left = observed(job.run(estimate_only=True))
    assert (left["estimated_shards"], left[f"estimated {MODEL}/calls"]) == (2, CALLS * 2 // 3)


def test_an_estimate_says_what_has_no_price(a_job: Callable[..., Job]) -> None:
    numbers = observed(a_job().run(estimate_only=True, chat={"prices": ""}))
    assert "unknown" in numbers[f"estimated {MODEL}/price"] and f"estimated {MODEL}/dollars" not in numbers


def test_an_estimate_after_an_outdated_table_that_asks_itself_says_so(a_job: Callable[..., Job]) -> None:
    job = a_job()
    storyloom = job.run(estimate_only=True)  # writes the profile
    assert storyloom.success
    resource = StoryloomResource(
        library=str(job.library), lake=str(job.lake), profile=str(job.lake.parent / "profile.yaml")
    )
    result = dg.materialize(
        table_assets([*COMICS, *PICK_A_PANEL]),
        instance=job.instance,
        resources={"storyloom": resource},
        selection=["comicspap_samples"],
        run_config={"ops": {"comicspap_samples": {"config": {"estimate_only": True}}}},
        raise_on_error=False,
    )
    assert not result.success and "the estimate needs comic_captions" in message(result)
    assert job.server.asked == []


def test_a_budget_stops_the_run_and_the_next_goes_on(a_job: Callable[..., Job]) -> None:
    job = a_job()
    job.run(shards=["two"])
    # A reply of 512 tokens, the most that is allowed, would cost half a dollar: so much must be left for each call.
    stopped = job.run(succeeds=False, budget=0.8)
    words = message(stopped)
    assert "the budget of $0.80 is used up" in words and "larger `budget`" in words
    first = len(job.server.asked)
    assert CALLS / 3 < first < CALLS and job.kept() == first, "what was paid is kept"
    assert (first - CALLS / 3) * CALL_COSTS <= 0.8
    assert stopped.asset_materializations_for_node("comic_captions") == []
    captioned = pq.read_table(job.lake / "comic_captions" / "two.parquet").num_rows
    assert captioned == 32, "finished shards stay"
    result = job.run(budget=CALLS * CALL_COSTS + 0.6)
    assert len(job.server.asked) == CALLS and len(job.captions()) == 96
    assert metadata(result)[f"{MODEL}/calls"] == CALLS - first


def test_a_dead_key_stops_the_run_with_few_requests(a_job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "sk-this-is-dead")
    job = a_job(lambda asked: Answer("Incorrect API key provided: sk-this-is-dead", status=401))
    words = message(job.run(succeeds=False, runtime={"key_variable": "A_KEY", "in_flight": 4}))
    assert "the service refuses the key (401)" in words and "Check the key in A_KEY" in words
    assert "sk-this" not in words and len(job.server.asked) <= 4
    assert all(row["source"] == "human" for row in job.captions()), "the table stays as it was"


def test_a_book_whose_service_fails_is_tried_again_by_the_next_run(a_job: Callable[..., Job]) -> None:
    failing = threading.Event()
    failing.set()
    one: list[bytes] = []

    def answer(asked: Asked) -> Answer:
        is_mine = not one or asked.pictures[0] == one[0]
        one[:] = one or asked.pictures[:1]
        return Answer("overloaded", status=500) if is_mine and failing.is_set() else Answer(caption(asked))

    job = a_job(answer)
    numbers = metadata(job.run(runtime={"in_flight": 1}))
    assert (numbers["shards_built"], numbers["failures"]) == (2, 1)
    ((kind, words),) = [(row["kind"], row["message"]) for row in job.failures()]
    assert kind == "ServiceError" and "no answer in 2 tries" in words
    failing.clear()
    numbers = metadata(job.run())
    assert (numbers["shards_built"], numbers["shards_kept"], numbers["failures"]) == (1, 2, 0)
    assert len(job.captions()) == 96 and len(job.server.asked) == CALLS + 2


def test_nobody_answering_fails_the_run(a_job: Callable[..., Job]) -> None:
    job = a_job(lambda asked: Answer("down", status=503))
    assert "tries" in message(job.run(succeeds=False))
    assert len(job.server.asked) < 100


def test_a_batch_is_handed_over_by_one_run_and_built_by_another(a_job: Callable[..., Job]) -> None:
    job = a_job()
    job.server.run_batches = False
    batch = {"batch": True}
    numbers = observed(job.run(runtime=batch))
    assert f"{CALLS:,} requests submitted as a batch" in numbers["batch"]
    assert "storyloom-comic_captions-" in observed(job.run(runtime=batch))["batch"]
    assert len(job.server.batches) == 1, "what waits is not submitted again"
    job.server.run_batches = True
    result = job.run(runtime=batch)
    assert job.server.asked == [] and len(job.captions()) == 96
    numbers = metadata(result)
    assert numbers[f"{MODEL}/dollars"] == pytest.approx(CALLS * CALL_COSTS / 2)
    assert (numbers[f"{MODEL}/calls"], numbers[f"{MODEL}/kept_replies"]) == (CALLS, CALLS)


def test_tables_after_a_batch_wait_with_it(a_job: Callable[..., Job]) -> None:
    job = a_job()
    samples = job.lake / "comicspap_samples" / "one.parquet"
    before = samples.read_bytes()
    job.server.run_batches = False
    for selection in (["comic_captions", "comicspap_samples"], ["comicspap_samples"]):
        result = job.run(*selection, runtime={"batch": True})
        assert result.asset_materializations_for_node("comicspap_samples") == []
    assert samples.read_bytes() == before and len(job.server.batches) == 1
    job.server.run_batches = True
    job.run("comicspap_samples", runtime={"batch": True})
    assert samples.read_bytes() != before and job.server.asked == []


def test_a_batch_that_failed_fails_the_run(a_job: Callable[..., Job]) -> None:
    job = a_job()
    job.run(runtime={"batch": True})
    job.server.batch_end = "failed"
    words = message(job.run(succeeds=False, runtime={"batch": True}))
    assert "the batch job failed: line 1 is no request" in words and "submitted anew" in words


def test_nothing_secret_reaches_tables_files_or_the_event_log(
    a_job: Callable[..., Job],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The server sends back all headers that it got, in replies and in errors."""
    monkeypatch.setenv("THE_KEY", "canary-key-4f1c9a")
    monkeypatch.setenv("OPENAI_ORG_ID", "canary-org-91ce")
    caplog.set_level(logging.DEBUG)
    place = itertools.count()

    def echoing(asked: Asked) -> Answer:
        said = json.dumps(asked.headers)
        assert "canary-key" in said and "canary-org" in said
        kinds = [
            Answer(json.dumps({"caption": f"A hill. {asked.headers}"})),
            Answer(said),
            Answer(said, finish="length"),
            Answer("", refusal=said),
            Answer(said, status=400),
        ]
        return kinds[next(place) % len(kinds)]

    job = a_job(echoing)
    job.run(runtime={"key_variable": "THE_KEY"})
    kinds = {row["kind"] for row in job.failures()}
    assert kinds == {"reply_invalid", "reply_cut_off", "reply_refused", "request_refused"}
    assert "[key]" in str(job.captions()) and "[key]" in str(job.failures())
    for status in (500, 401):
        job.server.answers = lambda asked, status=status: Answer(json.dumps(asked.headers), status=status)
        job.run(succeeds=False, runtime={"key_variable": "THE_KEY"}, chat={"replies": str(job.lake.parent / "empty")}, force=True)  # fmt: skip
    events = "".join(
        serialize_value(entry) + str(entry) for run in job.instance.get_runs() for entry in job.instance.all_logs(run.run_id)
    )  # fmt: skip
    assert "refuses the key (401)" in events and "status 500" in events
    shown = events + caplog.text + "".join(capfd.readouterr())
    tables = "".join(str(pq.read_table(path).to_pylist()) for folder in ("comic_captions", "_failures") for path in (job.lake / folder).rglob("*.parquet"))  # fmt: skip
    files = "".join(path.read_text("utf-8", "replace") for path in job.lake.parent.rglob("*") if path.is_file())
    assert "canary" not in shown + tables + files


def test_without_a_captioner_nothing_is_asked_and_nothing_changes(a_job: Callable[..., Job], plain_lake: Path) -> None:
    job = a_job()
    resource = StoryloomResource(library=str(job.library), lake=str(job.lake), profile="laptop")
    result = dg.materialize(
        table_assets([*COMICS, *PICK_A_PANEL]),
        instance=job.instance,
        resources={"storyloom": resource},
        selection=["comic_captions"],
    )
    numbers = metadata(result)
    assert (numbers["shards_built"], numbers["dagster/row_count"]) == (0, 3)
    assert not (job.lake / "_chat").exists() and job.server.asked == []
    for book in SPLIT_OF:
        name = f"comic_captions/{book}.parquet"
        assert (job.lake / name).read_bytes() == (plain_lake / name).read_bytes()

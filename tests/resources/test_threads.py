"""The engine of stages that wait for a service: all shards are reported, and a stop lets what was begun end."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import StopStage
from resources.build import ShardReport, ShardTask
from resources.chat.spending import Spending, spending
from resources.engines import threads
from resources.engines.threads import ThreadEngine
from resources.lake import Lake

STAGE: Any = None


def some_tasks(count: int) -> list[ShardTask]:
    return [ShardTask(f"s{number:02d}", "f") for number in range(count)]


def test_all_shards_are_reported_and_run_side_by_side(tmp_path: Path) -> None:
    together = threading.Barrier(threads._THREADS)

    def work(stage: object, task: ShardTask, lake: Lake) -> ShardReport:
        together.wait(20)
        return ShardReport(task.shard, rows=1)

    count = 2 * threads._THREADS
    reports = list(ThreadEngine(work).run(STAGE, some_tasks(count), Lake(str(tmp_path))))
    assert sorted(report.shard for report in reports) == [task.shard for task in some_tasks(count)]


def test_after_a_stop_what_was_begun_ends_and_nothing_more_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "_THREADS", 2)
    begun: list[str] = []
    stopped = threading.Event()

    def work(stage: object, task: ShardTask, lake: Lake) -> ShardReport:
        begun.append(task.shard)
        if task.shard == "s01":
            stopped.set()
            raise StopStage("the budget is used up")
        assert stopped.wait(20)
        if task.shard != "s00":
            raise StopStage("the budget is used up")
        return ShardReport(task.shard)

    found = []
    with pytest.raises(StopStage, match="budget is used up"):
        for report in ThreadEngine(work).run(STAGE, some_tasks(200), Lake(str(tmp_path))):
            found.append(report.shard)
    assert found == ["s00"] and len(begun) < 200


def test_a_run_that_is_cancelled_asks_nothing_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_THREADS", 1)
    run, stopped = Spending(), threading.Event()
    stop = run.stop
    monkeypatch.setattr(run, "stop", lambda error: (stop(error), stopped.set()))
    done: list[str] = []

    def work(stage: object, task: ShardTask, lake: Lake) -> ShardReport:
        # The first ends at once; those after it are at work, or wait for their turn, when the run is cancelled.
        assert task.shard == "s00" or stopped.wait(20)
        if run.stopped:
            raise run.stopped
        done.append(task.shard)
        return ShardReport(task.shard)

    with spending(run), pytest.raises(KeyboardInterrupt):
        for _ in ThreadEngine(work).run(STAGE, some_tasks(50), Lake(str(tmp_path))):
            raise KeyboardInterrupt  # which closes the generator on its way out
    assert done == ["s00"]

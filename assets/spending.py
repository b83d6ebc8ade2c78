"""Money in a run: its budget, what its stages asked of chat models, estimates, and batch jobs.

What does not belong here: counting (`resources.chat.spending`) and jobs themselves (`resources.chat.batches`).
"""

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pipelines.stage import Stage
from resources.build import ShardTask, plan
from resources.chat.batches import BatchJobs
from resources.chat.client import ChatClient, Question
from resources.chat.spending import Spending, Usage, open_spending, spending
from resources.engines.threads import ThreadEngine
from resources.engines.worker import look_through
from resources.lake import Lake
from resources.project import Project


@lru_cache(maxsize=2)
def _of_run(run_id: str, budget: float | None) -> Spending:
    """One for all steps of a run, which share its budget."""
    return Spending(budget)


@contextmanager
def counted(run_id: str, budget: float | None) -> Iterator[Spending]:
    """Count what is asked while the block lasts; a run inside a run counts in the outer one's budget."""
    outer = open_spending()
    if outer is not None:
        yield outer
        return
    with spending(_of_run(run_id, budget)) as run:
        yield run


def usage_since(before: Mapping[str, Usage], run: Spending) -> dict[str, Any]:
    """What was asked of each model since, as numbers that Dagster plots; an unknown price is said, never taken as 0."""
    metadata: dict[str, Any] = {}
    for model, now in sorted(run.usage.items()):
        old = before.get(model, Usage())
        if (now.calls, now.kept_replies) == (old.calls, old.kept_replies):
            continue
        for name in ("calls", "kept_replies", "repairs", "input_tokens", "output_tokens"):
            metadata[f"{model}/{name}"] = getattr(now, name) - getattr(old, name)
        if now.dollars is None:
            metadata[f"{model}/price"] = "unknown: add the model to the profile's file of prices"
        else:
            metadata[f"{model}/dollars"] = round(now.dollars - (old.dollars or 0.0), 6)
    return metadata


def snapshot(run: Spending) -> dict[str, Usage]:
    """The totals so far."""
    return copy.deepcopy(run.usage)


def estimate(project: Project, stage: Stage, tasks: list[ShardTask]) -> tuple[dict[str, Any], str]:
    """What the stage would ask to bring these shards up to date, without a call: numbers by model, and a sentence."""
    for model in stage.models:
        if model.is_remote:
            model.load()  # what is wrong with its settings is said here, not once for each shard
    run = Spending(mode="note")
    with spending(run):
        failed = _look_through(stage, tasks, project.lake)
    metadata: dict[str, Any] = {"estimated_shards": len(tasks), "estimated_shards_failed": failed}
    words = []
    for model, usage in sorted(run.usage.items()):
        tokens = f"about {usage.input_tokens:,} tokens in and {usage.output_tokens:,} out"
        price = "price unknown" if usage.dollars is None else f"about ${usage.dollars:,.4f}"
        words.append(f"{model}: {usage.calls:,} calls, {usage.kept_replies:,} replies kept already, {tokens}, {price}")
        numbers = usage_since({}, run)
        metadata |= {f"estimated {name}": value for name, value in numbers.items() if name.startswith(f"{model}/")}
    if failed:
        words.append(f"{failed:,} shards could not be looked at, and are not in these numbers")
    return metadata, "; ".join(words) or "no call of a chat model"


def _look_through(stage: Stage, tasks: list[ShardTask], lake: Lake) -> int:
    """Let the stage ask what it would ask; returns how many shards could not be looked at."""
    reports = ThreadEngine(look_through).run(stage, tasks, lake)
    return sum(not isinstance(report, str) and bool(report.error) for report in reports)


@dataclass
class BatchState:
    """What the batch jobs of a stage came to: `waiting` says why the stage cannot be computed yet."""

    waiting: list[str] = field(default_factory=list)
    submitted: int = 0


def advance_batches(project: Project, stage: Stage, tasks: list[ShardTask], run: Spending) -> BatchState:
    """Fetch the jobs of a stage whose models work in batches, and submit what it still misses."""
    clients = [model.load() for model in stage.models if model.is_remote]
    jobs = {
        id(c): BatchJobs(project.lake, stage.table, c, run) for c in clients if isinstance(c, ChatClient) and c.batch
    }
    state = BatchState([name for job in jobs.values() for name in job.fetch()])
    if not jobs or state.waiting:
        return state

    def noted(client: ChatClient, question: Question[Any]) -> None:
        if id(client) in jobs:
            jobs[id(client)].add(question)

    with spending(Spending(mode="note", noted=noted)):
        _look_through(stage, tasks, project.lake)
    for job in jobs.values():
        job.flush()
        if job.submitted:
            state.waiting.append(f"{job.submitted:,} requests submitted as a batch")
        if job.beyond_budget:
            state.waiting.append(f"{job.beyond_budget:,} requests not submitted, since the budget does not allow them")
    return state


def stale_shards(stage: Stage, project: Project, found: Any, only: list[str], *, force: bool) -> list[ShardTask]:
    """The shards that a build would compute."""
    return plan(stage, project.lake, found.sources, found.expected, only=only, force=force).todo

"""Brings one table up to date: which shards are stale, which are gone, and an engine over the rest.

The only truth is the footer of each shard (see `resources.lake`): there is no manifest.
Stages and engines know nothing of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pipelines.errors import DamagedFile, LakeError
from pipelines.identity import fingerprint
from pipelines.schemas import FAILURES
from pipelines.stage import Failure, Stage
from resources.lake import Footer, Lake, shard_name
from resources.shard_writer import UPSTREAM, WHOLE, beside, write_failures

OUTSIDE = "//"
"""Shard key of failures that belong to no shard; no id of a book can hold an empty part."""


HEARTBEAT = 10.0
"""Seconds after which an engine says that it is still at work."""


@dataclass(frozen=True)
class Source:
    """What a shard is computed from besides tables: a value for the stage, and the digest of its content."""

    value: Any
    digest: str


@dataclass(frozen=True)
class ShardTask:
    """One shard to compute; `weight` is the size of its inputs, so that the largest can go first."""

    shard: str
    fingerprint: str
    source: Any = None
    weight: int = 0


@dataclass(frozen=True)
class ShardReport:
    """What came of one shard; `error` is set when the whole shard failed and was not written.

    `passing`: what failed was not the shard but what it needs (a service, the lake), which may be back in the next run.
    """

    shard: str
    rows: int = 0
    failures: int = 0
    dropped: int = 0
    error: str = ""
    passing: bool = False


class Engine(Protocol):
    """Runs a stage over shards, in any order, and reports each as it ends."""

    def run(self, stage: Stage, tasks: list[ShardTask], lake: Lake) -> Iterable[ShardReport | str]:
        """Compute and write each task's shard; a failing shard is a report with an error, never an exception.

        At least each `HEARTBEAT` seconds while no shard ends comes what takes so long, or an empty text: so that
        progress can be told.
        """
        ...


@dataclass(frozen=True)
class Plan:
    """The state of a table before a build."""

    todo: list[ShardTask]
    current: dict[str, Footer]
    gone: list[str]
    missing: int
    """How many of `todo` do not exist and did not fail (the rest are stale, or are tried again)."""
    blocked: dict[str, str] = field(default_factory=dict)
    """The shards of which a table before this one has nothing, since they failed there as a whole; and that table."""
    recorded: frozenset[str] = frozenset()
    """Those of `blocked` of which that is recorded, and of which nothing else is left."""

    @property
    def is_current(self) -> bool:
        """Whether a build would change nothing."""
        return not self.todo and not self.gone and self.blocked.keys() == self.recorded


@dataclass
class BuildReport:
    """What a build did and what the table now holds."""

    built: int = 0
    kept: int = 0
    removed: int = 0
    rows: int = 0
    failures: int = 0
    dropped: int = 0
    rows_built: int = 0
    seconds: float = 0.0
    failed_shards: list[ShardReport] = field(default_factory=list)


Progress = Callable[[str, int, int, int, str], None]
"""Called as (table, shards done, shards in all, rows so far, what takes long)."""


def plan(
    stage: Stage,
    lake: Lake,
    sources: Mapping[str, Source] | None = None,
    expected: Iterable[str] | None = None,
    *,
    only: Iterable[str] = (),
    force: bool = False,
) -> Plan:
    """Compare each expected shard's footer with the fingerprint that it would have now.

    A shard some of which the machine failed (`pipelines.stage.PASSING`) is stale too: nothing else would tell that a
    tool was installed since. What stands on it takes it as it is.

    The expected shards are those of `sources`, else `expected`, else those of the first table that the stage reads.
    Shards that failed in one of those are among them, but are not computed: from nothing, nonsense would come.
    With `only`, other shards are left as they are, and nothing counts as gone.
    """
    upstream = {name: lake.footers(name) for name in stage.reads}
    failed = _failed_upstream(lake, upstream)
    if sources is not None:
        wanted = list(sources)
    elif expected is not None:
        wanted = sorted(expected)
    else:
        wanted = sorted(upstream[stage.reads[0]].keys() | failed[stage.reads[0]].keys())
    chosen = set(only)
    if unknown := chosen - set(wanted):
        raise LakeError(
            f"no such shard: {', '.join(sorted(unknown))}",
            where=stage.output,
            remedy="Shards are named by the id of their book; see the column book_id of comic_books.",
        )
    stored = _Stored.of(stage, lake)
    config = (
        [stage.config(), {table: lake.content([table]) for table in stage.gathers}] if stage.gathers else stage.config()
    )
    todo, current, missing, blocked, recorded = [], {}, 0, {}, set()
    for shard in wanted:
        is_chosen = not chosen or shard in chosen
        origin = next((tables[shard] for tables in failed.values() if shard in tables), "")
        if origin and is_chosen:
            blocked[shard] = origin
            if stored.is_gone(shard) and stored.mark(shard) == UPSTREAM + origin:
                recorded.add(shard)
            continue
        reads = {t: _read_content(stage, t, f[shard]) if shard in f else "" for t, f in upstream.items()}
        source = sources[shard] if sources is not None else None
        wish = fingerprint([stage.name, stage.version, config, reads, source.digest if source else ""])
        if not is_chosen or (stored.is_current(shard, wish) and not force):
            if stored.is_whole(shard):
                current[shard] = stored.outputs[0][shard]
            continue
        # A shard that failed as a whole is tried again by each build, but nothing waits for it.
        missing += stored.mark(shard) != WHOLE and not stored.is_whole(shard)
        weight = max((f[shard].rows for f in upstream.values() if shard in f), default=0)
        todo.append(ShardTask(shard, wish, source.value if source else None, weight))
    # A shard that failed from the start has no file, only its failure rows.
    orphans = {} if chosen else lake.footers(beside("_dropped", stage.output), but=wanted)
    known = {s for found in [*stored.outputs, stored.failures, orphans] for s in found}
    gone = [] if chosen else sorted(known - set(wanted) - {OUTSIDE})
    todo.sort(key=lambda t: -t.weight)
    return Plan(todo, current, gone, missing, blocked, frozenset(recorded))


@dataclass(frozen=True)
class _Stored:
    """What the lake holds of a stage's table: the shards of each folder, the failures, and files of left-out items."""

    outputs: list[dict[str, Footer]]
    failures: dict[str, Footer]
    dropped: Collection[str]

    @classmethod
    def of(cls, stage: Stage, lake: Lake) -> _Stored:
        outputs = [lake.footers(table) for table in output_tables(stage)]
        failures = lake.footers(beside("_failures", stage.output))
        return cls(outputs, failures, lake.listing(beside("_dropped", stage.output)))

    def mark(self, shard: str) -> str:
        """Why the shard could not be computed, empty where it could."""
        return self.failures[shard].fingerprint if shard in self.failures else ""

    def is_whole(self, shard: str) -> bool:
        return all(shard in output for output in self.outputs)

    def is_gone(self, shard: str) -> bool:
        return not any(shard in output for output in self.outputs)

    def is_current(self, shard: str, wish: str) -> bool:
        """Whether the shard was computed from what it would be computed from now, with all that stands beside it."""
        if self.mark(shard) or not all(shard in o and o[shard].fingerprint == wish for o in self.outputs):
            return False
        if any(o[shard].passing for o in self.outputs):
            return False
        # Rows beside a table that were deleted come back by computing their shard again.
        counts = self.outputs[0][shard]
        is_lost = counts.failures and shard not in self.failures
        return not is_lost and not (counts.dropped and shard_name(shard) not in self.dropped)


def _failed_upstream(lake: Lake, upstream: Mapping[str, Mapping[str, Footer]]) -> dict[str, dict[str, str]]:
    """For each upstream table the shards of which it has nothing, since they failed, with the table where they did."""
    failed: dict[str, dict[str, str]] = {}
    for table, shards in upstream.items():
        rows = lake.footers(beside("_failures", table))
        marks = {shard: footer.fingerprint for shard, footer in rows.items() if shard not in shards}
        failed[table] = {
            s: mark.removeprefix(UPSTREAM) if mark != WHOLE else table for s, mark in marks.items() if mark
        }
    return failed


def _read_content(stage: Stage, table: str, footer: Footer) -> str | list[str]:
    """What of an upstream shard decides: all of it, or the columns that the stage says it reads."""
    if table not in stage.columns:
        return footer.content
    return [footer.columns.get(name, "") for name in stage.columns[table]]


def build_table(
    stage: Stage,
    lake: Lake,
    engine: Engine,
    progress: Progress,
    sources: Mapping[str, Source] | None = None,
    expected: Iterable[str] | None = None,
    *,
    outside: Sequence[Failure] = (),
    only: Iterable[str] = (),
    force: bool = False,
) -> BuildReport:
    """Compute the stale and missing shards, keep the rest untouched, remove those whose source is gone.

    `outside` are failures that belong to no shard (files that could not be used at all): they replace those of the
    last build.
    """
    started = time.monotonic()
    tables = output_tables(stage)
    for folder in [*tables, *(beside(kind, stage.output) for kind in ("_failures", "_dropped"))]:
        lake.clean(folder)
    state = plan(stage, lake, sources, expected, only=only, force=force)
    for shard in state.gone:
        _remove(lake, stage, shard)
        lake.remove(beside("_failures", stage.output), shard)
    for shard in state.blocked.keys() - state.recorded:
        _block(lake, stage, shard, state.blocked[shard])
    report = BuildReport(kept=len(state.current), removed=len(state.gone))
    _run(engine, stage, state.todo, lake, progress, report)
    _remove_failed(report, stage, lake)
    write_failures(lake, stage, OUTSIDE, outside)
    _count(report, stage, lake, tables)
    report.failures += len(outside) + len(state.blocked)
    report.seconds = time.monotonic() - started
    return report


def _run(
    engine: Engine, stage: Stage, todo: list[ShardTask], lake: Lake, progress: Progress, report: BuildReport
) -> None:
    """Compute the shards and note in the report what came of each."""
    done = 0
    try:
        for result in engine.run(stage, todo, lake):
            if isinstance(result, str):
                progress(stage.output, done, len(todo), report.rows_built, result)
                continue
            done += 1
            report.rows_built += result.rows
            report.built += not result.error
            if result.error:
                report.failed_shards.append(result)
            progress(stage.output, done, len(todo), report.rows_built, "")
    except DamagedFile as damage:
        lake.discard(damage.where)
        raise


def _block(lake: Lake, stage: Stage, shard: str, origin: str) -> None:
    """Record that a shard is not computed, and remove what was computed of it when the upstream table still had it."""
    what = f"It was not computed, since {origin} has nothing of it: see what failed there, in _failures/{origin}."
    write_failures(lake, stage, shard, [Failure(shard, "upstream_failed", what)], UPSTREAM + origin)
    _remove(lake, stage, shard)


def _remove_failed(report: BuildReport, stage: Stage, lake: Lake) -> None:
    """Take away what older versions left of shards that could not be computed: their source is another one now.

    Where not one shard could be computed, the fault is hardly in all of the sources, and what is there stays.
    """
    if report.built or report.kept:
        for failed in report.failed_shards:
            if not failed.passing:
                _remove(lake, stage, failed.shard)


def _remove(lake: Lake, stage: Stage, shard: str) -> None:
    """Delete a shard with the rows of what was left out of it; its failures stay."""
    for table in [*output_tables(stage), beside("_dropped", stage.output)]:
        lake.remove(table, shard)


def _count(report: BuildReport, stage: Stage, lake: Lake, tables: list[str]) -> None:
    """Fill in what the table holds now, all shards together."""
    for table in tables:
        report.rows += sum(f.rows for f in lake.footers(table).values())
    first = lake.footers(tables[0]).values()
    report.failures = sum(f.failures for f in first) + len(report.failed_shards)
    report.dropped = sum(f.dropped for f in first)


def stored_report(stage: Stage, lake: Lake) -> BuildReport:
    """What a table holds now, without building it."""
    report = BuildReport()
    _count(report, stage, lake, output_tables(stage))
    report.failures = lake.read_table(beside("_failures", stage.output), FAILURES, ["item_id"]).num_rows
    return report


def output_tables(stage: Stage) -> list[str]:
    """The folders that a stage writes: one, or one for each value of its partitions."""
    return [stage.output.format(v) for v in stage.partitions[1]] if stage.partitions else [stage.output]

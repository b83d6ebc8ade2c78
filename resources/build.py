"""Brings one table up to date: which shards are stale, which are gone, and an engine over the rest.

The only truth is the footer of each shard (see `resources.lake`): there is no manifest.
Stages and engines know nothing of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pipelines.errors import LakeError
from pipelines.identity import fingerprint
from pipelines.schemas import FAILURES
from pipelines.stage import Failure, Stage
from resources.lake import Footer, Lake
from resources.shard_writer import WHOLE, beside, write_failures

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
    """What came of one shard; `error` is set when the whole shard failed and was not written."""

    shard: str
    rows: int = 0
    failures: int = 0
    dropped: int = 0
    error: str = ""


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

    @property
    def is_current(self) -> bool:
        """Whether a build would change nothing."""
        return not self.todo and not self.gone


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
    With `only`, other shards are left as they are, and nothing counts as gone.
    """
    upstream = {name: lake.footers(name) for name in stage.reads}
    if sources is not None:
        wanted = list(sources)
    else:
        wanted = sorted(expected if expected is not None else upstream[stage.reads[0]])
    chosen = set(only)
    if unknown := chosen - set(wanted):
        raise LakeError(
            f"no such shard: {', '.join(sorted(unknown))}",
            where=stage.output,
            remedy="Shards are named by the id of their book; see the column book_id of comic_books.",
        )
    outputs = [lake.footers(t) for t in output_tables(stage)]
    config = (
        [stage.config(), {table: lake.content([table]) for table in stage.gathers}] if stage.gathers else stage.config()
    )
    beside_them = lake.footers(beside("_failures", stage.output))
    todo, current, missing = [], {}, 0
    for shard in wanted:
        reads = {t: _read_content(stage, t, f[shard]) if shard in f else "" for t, f in upstream.items()}
        source = sources[shard] if sources is not None else None
        wish = fingerprint([stage.name, stage.version, config, reads, source.digest if source else ""])
        is_current = all(shard in o and o[shard].fingerprint == wish and not o[shard].passing for o in outputs)
        if (is_current and not force) or (chosen and shard not in chosen):
            if all(shard in o for o in outputs):
                current[shard] = outputs[0][shard]
            continue
        # A shard that failed as a whole is tried again by each build, but nothing waits for it.
        quarantined = shard in beside_them and beside_them[shard].fingerprint == WHOLE
        missing += not quarantined and not all(shard in o for o in outputs)
        weight = max((f[shard].rows for f in upstream.values() if shard in f), default=0)
        todo.append(ShardTask(shard, wish, source.value if source else None, weight))
    # A shard that failed from the start has no file, only its failure rows.
    known = {s for found in [*outputs, beside_them] for s in found}
    gone = [] if chosen else sorted(known - set(wanted) - {OUTSIDE})
    return Plan(sorted(todo, key=lambda t: -t.weight), current, gone, missing)


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
    for table in tables:
        lake.clean(table)
    state = plan(stage, lake, sources, expected, only=only, force=force)
    for shard in state.gone:
        for table in [*tables, beside("_failures", stage.output), beside("_dropped", stage.output)]:
            lake.remove(table, shard)
    report = BuildReport(kept=len(state.current), removed=len(state.gone))
    rows = done = 0
    for result in engine.run(stage, state.todo, lake):
        if isinstance(result, str):
            progress(stage.output, done, len(state.todo), rows, result)
            continue
        done += 1
        rows += result.rows
        if result.error:
            report.failed_shards.append(result)
        else:
            report.built += 1
        progress(stage.output, done, len(state.todo), rows, "")
    write_failures(lake, stage, OUTSIDE, outside)
    _count(report, stage, lake, tables)
    report.failures += len(outside)
    report.rows_built = rows
    report.seconds = time.monotonic() - started
    return report


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

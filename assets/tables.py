"""How an asset builds its table: one function for all of them, with the metadata and the check that each table has.

Which tables there are is said in the modules named after their field (`assets.comics`, ...).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dagster as dg
import pyarrow as pa
from pydantic import Field

from assets.spending import advance_batches, counted, estimate, snapshot, stale_shards, usage_since
from pipelines.errors import LakeError, SettingsError, StopStage
from pipelines.markdown import escape, table
from pipelines.schemas import FAILURES, TABLES
from pipelines.stage import Failure, Stage
from resources.build import BuildReport, Progress, Source, build_table, output_tables, plan, stored_report
from resources.chat.spending import Spending, Usage
from resources.engines.progress import ProgressReporter
from resources.project import Project
from resources.shard_writer import beside

OWNERS = ["team:storyloom"]
_SHOWN_FAILURES = 20


class StoryloomResource(dg.ConfigurableResource):
    """What to build, where and how; an empty field falls back to its environment variable."""

    library: str = ""
    lake: str = ""
    profile: str = ""
    seed: int | None = None

    def open(self) -> Project:
        """The project with these settings."""
        return Project.open(
            library=self.library or None, lake=self.lake or None, profile=self.profile or None, seed=self.seed
        )


class BuildConfig(dg.Config):
    """Run configuration of a table: rebuild some shards alone, or what is current too; money."""

    shards: list[str] = Field(default_factory=list)
    force: bool = False
    estimate_only: bool = False
    """Say what the chat models would be asked and what that would cost; nothing is asked and nothing built."""
    budget: float | None = Field(default=None, ge=0)
    """The most that the run may spend on chat models, in US dollars, in place of the profile's."""


@dataclass(frozen=True)
class Found:
    """The shards that a table should have; without either, those of the first table that its stage reads."""

    sources: Mapping[str, Source] | None = None
    """What each shard is computed from, for tables that are built from files."""
    expected: Iterable[str] | None = None
    """Which shards, for a table that has one for some of its upstream's shards only."""
    failures: Sequence[Failure] = ()
    """What belongs to no shard: files that could not be used at all."""


@dataclass(frozen=True)
class Finished:
    """What was made after a table: metadata of the asset, and the builds whose failures count as the table's."""

    metadata: Mapping[str, Any] = field(default_factory=dict)
    builds: Sequence[tuple[Stage, BuildReport]] = ()


Finish = Callable[[Project, Progress, BuildConfig], Finished]
"""Makes what stands on a finished table (previews, a release)."""


@dataclass(frozen=True)
class TableSpec:
    """What is particular to one table's asset."""

    name: str
    description: str
    group: str
    kinds: set[str]
    stage: Callable[[Project], Stage]
    deps: tuple[str, ...] = ()
    version: int = 1
    """Code version that Dagster shows: the stage's, or higher where what follows the stage changed."""
    find: Callable[[Project], Found] = lambda project: Found()
    finish: Finish = lambda project, progress, config: Finished()


def table_assets(specs: Sequence[TableSpec]) -> list[dg.AssetsDefinition]:
    """The assets of all tables, given in the order in which they are built."""
    tables = _Tables({spec.name: spec for spec in specs})
    for spec in specs:
        tables.assets[spec.name] = _table_asset(spec, tables)
    return list(tables.assets.values())


@dataclass(frozen=True)
class _Tables:
    """All tables, in the order in which they are built, and their assets."""

    specs: Mapping[str, TableSpec]
    assets: dict[str, dg.AssetsDefinition] = field(default_factory=dict)
    tried: dict[str, set[str]] = field(default_factory=dict)
    """By run, the tables that were built for it: what failed in them is not tried again for its next table."""

    def before(self, name: str) -> set[str]:
        """The tables that a table stands on, directly or not."""
        deps = self.specs[name].deps
        return set(deps).union(*map(self.before, deps))


def _table_asset(spec: TableSpec, tables: _Tables) -> dg.AssetsDefinition:
    @dg.asset(
        name=spec.name,
        deps=list(spec.deps),
        group_name=spec.group,
        kinds=spec.kinds,
        owners=OWNERS,
        description=spec.description,
        code_version=str(spec.version),
        metadata={"dagster/column_schema": column_schema(TABLES[spec.name]), "dagster/table_name": spec.name},
        check_specs=[dg.AssetCheckSpec("failures", asset=spec.name, description="Items that could not be processed")],
        # Nothing comes out where a run only estimates, or waits for a batch job.
        output_required=False,
    )
    def build(
        context: dg.AssetExecutionContext, config: BuildConfig, storyloom: StoryloomResource
    ) -> Iterator[dg.MaterializeResult | dg.AssetCheckResult]:
        project = storyloom.open()
        budget = project.profile.chat.budget if config.budget is None else config.budget
        with counted(context.run_id, budget) as run:
            waiting = _ensure_upstream(context, project, spec.name, tables, estimate_only=config.estimate_only)
            stage, found = spec.stage(project), spec.find(project)
            before = snapshot(run)
            try:
                if waiting := waiting or _waiting(context, project, stage, found, config, run):
                    context.log.info(waiting)
                    yield failures_check(project, [stored_report(stage, project.lake)])
                else:
                    yield _built(context, project, spec, stage, found, config, run, before)
            except StopStage as stopped:
                raise dg.Failure(str(stopped), metadata=usage_since(before, run), allow_retries=False) from None

    return build


def _waiting(
    context: dg.AssetExecutionContext,
    project: Project,
    stage: Stage,
    found: Found,
    config: BuildConfig,
    run: Spending,
) -> str:
    """Why the table is not built in this run, empty when it is: only an estimate was asked for, or batch jobs run."""
    if not config.estimate_only and not stage.is_remote:
        return ""
    tasks = stale_shards(stage, project, found, config.shards, force=config.force)
    if config.estimate_only:
        metadata, words = estimate(project, stage, tasks)
        context.log_event(dg.AssetObservation(context.asset_key, metadata=metadata))
        return f"Estimate for {context.asset_key.to_user_string()}, nothing was asked or built: {words}."
    state = advance_batches(project, stage, tasks, run)
    if not state.waiting:
        return ""
    context.log_event(dg.AssetObservation(context.asset_key, metadata={"batch": "; ".join(state.waiting)}))
    return f"Waiting for batch jobs: {'; '.join(state.waiting)}. Run again later: replies are fetched, then the table is built."


def _built(
    context: dg.AssetExecutionContext,
    project: Project,
    spec: TableSpec,
    stage: Stage,
    found: Found,
    config: BuildConfig,
    run: Spending,
    before: Mapping[str, Usage],
) -> dg.MaterializeResult:
    progress = ProgressReporter(context.log.info)
    report = build_table(
        stage,
        project.lake,
        project.engine(stage),
        progress,
        found.sources,
        found.expected,
        outside=found.failures,
        only=config.shards,
        force=config.force,
    )
    stop_if_all_failed(spec.name, report)
    finished = spec.finish(project, progress, config)
    stages = [stage, *(stage for stage, _ in finished.builds)]
    metadata = report_metadata(project, report, stages) | usage_since(before, run) | dict(finished.metadata)
    if "note" in metadata:
        context.log.warning(f"{spec.name}: {metadata['note']}")
    if failures := sum(r.failures for r in [report, *(report for _, report in finished.builds)]):
        where = ", ".join(project.lake.path(beside("_failures", stage.output)) for stage in stages)
        context.log.warning(f"{spec.name}: {failures:,} items could not be processed; each with its reason in {where}")
    return dg.MaterializeResult(
        metadata=metadata,
        data_version=dg.DataVersion(project.lake.content(output_tables(stage))),
        check_results=[failures_check(project, [report, *(report for _, report in finished.builds)])],
    )


def stop_if_all_failed(name: str, report: BuildReport) -> None:
    """Stop the run where a table has nothing that is up to date: what it held before is still there."""
    if report.failed_shards and not report.built + report.kept:
        raise LakeError(f"no shard of {name} could be computed: {report.failed_shards[0].error}")


def _ensure_upstream(
    context: dg.AssetExecutionContext,
    project: Project,
    name: str,
    tables: _Tables,
    *,
    estimate_only: bool,
) -> str:
    """Build the tables before this one where they are missing or outdated, or stop and name what is missing.

    Returns why this table must wait, empty when it need not: a table before it waits for a batch job.

    They are built where the profile says `build_missing_upstream`, and where the run was asked for a table together with
    tables before it (Dagster's `+table` means those just before it, which leaves gaps). That is a run of its
    own, recorded in the same Dagster instance. Tables that this run builds itself are not looked at. Where only an
    estimate is wanted, no table is built that would ask a chat model.
    """
    selected = {key.to_user_string() for key in context.job_def.asset_layer.selected_asset_keys}
    tried = tables.tried.setdefault(context.run_id, set())
    others = [spec for n, spec in tables.specs.items() if n in tables.before(name) - selected - tried]
    found = {spec.name: spec.find(project) for spec in others}
    stages = {spec.name: spec.stage(project) for spec in others}
    states = {n: plan(stage, project.lake, found[n].sources, found[n].expected) for n, stage in stages.items()}
    missing: list[str] = []
    for spec in others:
        if states[spec.name].missing or not set(spec.deps).isdisjoint(missing):
            missing.append(spec.name)
    outdated = [name for name, state in states.items() if not state.is_current]
    asking = [name for name in outdated if stages[name].is_remote]
    if estimate_only and asking:
        raise SettingsError(
            f"the estimate needs {', '.join(asking)}, which asks a chat model itself",
            remedy="Estimate and build that first, then estimate this.",
        )
    together = any(not tables.before(n).isdisjoint(selected) for n in selected & tables.specs.keys())
    wanted = project.profile.build_missing_upstream or together
    if wanted and outdated:
        context.log.info(f"Building the upstream tables first: {', '.join(states)}")
        resources = {"storyloom": context.resources.original_resource_dict["storyloom"]}
        result = dg.materialize(
            [tables.assets[name] for name in states], instance=context.instance, resources=resources
        )
        tried.update(states)
        if waiting := [name for name in states if not result.asset_materializations_for_node(name)]:
            return f"{waiting[0]} waits for a batch job. Run again later."
        # Dagster noted the upstream's versions when this step started; without a second look the UI would call the
        # table out of date from the start.
        context.op_execution_context.get_step_execution_context().fetch_external_input_asset_version_info()
    elif missing:
        raise LakeError(
            f"upstream tables are missing or lack shards: {', '.join(missing)}",
            where=project.lake.url,
            remedy="Build them first: dagster asset materialize -m assets.definitions "
            f"--select '+{context.asset_key.to_user_string()}'",
        )
    elif outdated:
        context.log.warning(
            f"Upstream tables are out of date and used as they are: {', '.join(outdated)}. "
            f"To build them too: --select '+{context.asset_key.to_user_string()}'"
        )
    return ""


def column_schema(schema: pa.Schema) -> dg.TableSchema:
    """A table's columns as Dagster shows them, with the comments of `pipelines.schemas`."""
    columns = [
        dg.TableColumn(
            f.name,
            str(f.type),
            description=(f.metadata or {}).get(b"comment", b"").decode() or None,
            constraints=dg.TableColumnConstraints(nullable=f.nullable),
        )
        for f in schema
    ]
    return dg.TableSchema(columns=columns)


def report_metadata(project: Project, report: BuildReport, stages: Sequence[Stage]) -> dict[str, Any]:
    """Numbers of a build as metadata that the Dagster UI can plot, and the failures of all its stages as a table."""
    metadata: dict[str, Any] = {
        "dagster/row_count": report.rows,
        "shards_built": report.built,
        "shards_kept": report.kept,
        "shards_removed": report.removed,
        "failures": report.failures,
        "left_out": report.dropped,
        "seconds": round(report.seconds, 3),
        "rows_per_second": round(report.rows_built / report.seconds, 1) if report.seconds else 0.0,
    }
    tables = [project.lake.read_table(beside("_failures", stage.output), FAILURES) for stage in stages]
    rows = pa.concat_tables(tables).slice(0, _SHOWN_FAILURES).to_pylist()
    if rows:
        cells = [[escape(r["item_id"]), escape(r["kind"]), escape(r["message"])] for r in rows]
        metadata["failed_items"] = dg.MetadataValue.md(table(["item", "kind", "message"], cells, numbers=False))
    return metadata


def failures_check(project: Project, reports: Sequence[BuildReport]) -> dg.AssetCheckResult:
    """Passes without failures; else a warning, and an error above the profile's `max_failure_ratio`."""
    failures = sum(report.failures for report in reports)
    ratio = max(report.failures / max(report.rows + report.failures, 1) for report in reports)
    severe = ratio > project.profile.max_failure_ratio
    return dg.AssetCheckResult(
        check_name="failures",
        passed=failures == 0,
        severity=dg.AssetCheckSeverity.ERROR if severe else dg.AssetCheckSeverity.WARN,
        metadata={"failures": failures, "ratio": round(ratio, 4)},
    )

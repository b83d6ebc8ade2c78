"""The check of shortcuts over the finished audit, and what the audit counts."""

from __future__ import annotations

from pathlib import Path

import dagster as dg

from assets.pick_a_panel import PICK_A_PANEL
from assets.tables import BuildConfig
from pipelines.pick_a_panel.audit import AuditSamples
from pipelines.pick_a_panel.solvers import BY_DESIGN
from pipelines.schemas import COMICSPAP_AUDIT, SPLITS
from pipelines.stage import Row
from resources.lake import Lake
from resources.project import Project
from resources.shard_writer import write_shard
from tests.assets.checked_lakes import checked, rows_of, said


def _audit(split: str, solver: str, leak: bool) -> Row:
    numbers = {"samples": 90, "accuracy": 61.5, "low": 51.2, "high": 70.9, "chance": 20.0, "p_value": 1e-9}
    names = {"split": split, "task_type": "sequence_filling", "solver": solver, "source": "test"}
    return names | numbers | {"leak": leak}


def test_shortcuts_are_a_warning_with_their_intervals(lake: Path) -> None:
    rows = [_audit("val", "most area", True), _audit("val", "least area", False)]
    write_shard(Lake(str(lake)), AuditSamples(), "val", "planted", rows)
    check = checked(lake)["comicspap_audit shortcuts"]
    assert not check.passed and check.severity == dg.AssetCheckSeverity.WARN
    line = said(check, "shortcuts")
    assert line.endswith("val, sequence_filling: most area gets 61.5% (51.2 to 70.9) where chance is 20.0%")
    assert "\n" not in line


def test_what_the_tasks_bring_along_is_listed_and_no_warning(lake: Path) -> None:
    (solver,) = BY_DESIGN
    write_shard(Lake(str(lake)), AuditSamples(), "val", "planted", [_audit("val", solver, True)])
    check = checked(lake)["comicspap_audit shortcuts"]
    assert check.passed
    assert said(check, "shortcuts") == "none" and f"{solver} gets 61.5%" in said(check, "by_design")
    spec = next(spec for spec in PICK_A_PANEL if spec.name == "comicspap_audit")
    finished = spec.finish(Project.open(lake=str(lake)), lambda *_: None, BuildConfig())
    text = finished.metadata["shortcuts"].value
    assert solver in text and BY_DESIGN[solver] in text


def test_the_audit_of_the_lake_counts_every_sample(good_lake: Path) -> None:
    audit = Lake(str(good_lake)).read_table("comicspap_audit", COMICSPAP_AUDIT).to_pylist()
    for split in SPLITS:
        rows = rows_of(good_lake, split)
        for task in {row["task_type"] for row in rows}:
            counts = {r["samples"] for r in audit if (r["split"], r["task_type"]) == (split, task)}
            assert counts == {sum(row["task_type"] == task for row in rows)}

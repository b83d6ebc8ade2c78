"""The tables of pick-a-panel: samples of all tasks, their three splits with a release each, and the audit.

What belongs here: which tables there are, and which books and samples each split takes. How samples are built and what
a solver is stands in `pipelines.pick_a_panel`; what a release consists of in `assets.releases`.
"""

import dataclasses

import dagster as dg

from assets.releases import books_of, release_split
from assets.tables import BuildConfig, Finished, Found, TableSpec
from pipelines.markdown import table
from pipelines.pick_a_panel.audit import AuditSamples
from pipelines.pick_a_panel.build import BuildSamples
from pipelines.pick_a_panel.samples import TaskSettings
from pipelines.pick_a_panel.selection import SelectSamples, sample_hash, threshold
from pipelines.pick_a_panel.solvers import BY_DESIGN
from pipelines.schemas import COMICSPAP_AUDIT, COMICSPAP_SAMPLES, SPLITS
from resources.build import Progress
from resources.project import Project


def task_settings(project: Project) -> TaskSettings:
    """The sizes of the tasks: the profile's, with the project's seed."""
    return dataclasses.replace(project.profile.tasks, seed=project.settings.seed)


def _select(project: Project, split: str) -> SelectSamples:
    """The split's selection: each task's cap becomes the largest hash that is kept, over all books together."""
    seed = project.settings.seed
    caps = project.profile.max_samples.get(split, {})
    hashes: dict[str, list[str]] = {task: [] for task in caps}
    if caps:
        for book in books_of(project, split):
            columns = ["sample_id", "task_type", "split"]
            for row in project.lake.read("comicspap_samples", book, COMICSPAP_SAMPLES, columns).to_pylist():
                if row["task_type"] in caps and row["split"] == split:
                    hashes[row["task_type"]].append(sample_hash(seed, row["sample_id"]))
    bounds = tuple((task, threshold(found, caps[task])) for task, found in sorted(hashes.items()))
    return SelectSamples(split, seed, bounds)


def _split_table(split: str) -> TableSpec:
    def finish(project: Project, progress: Progress, config: BuildConfig) -> Finished:
        return release_split(project, split, progress, config)

    return TableSpec(
        f"comicspap_{split}",
        f"The {split} samples of the five tasks, by panel ids, and their release with pictures and a dataset card.",
        "pick_a_panel",
        {"parquet", "huggingface"},
        lambda project: _select(project, split),
        ("comic_books", "comicspap_samples", "comic_panels", "comic_pages"),
        find=lambda project: Found(expected=books_of(project, split)),
        finish=finish,
    )


def _shortcuts(project: Project) -> dg.MarkdownMetadataValue:
    """The solvers that beat chance, each with its interval, and why some must."""
    rows = project.lake.read_table("comicspap_audit", COMICSPAP_AUDIT).to_pylist()
    cells = [
        [
            r["split"],
            f"`{r['task_type']}`",
            r["solver"],
            f"{r['accuracy']:.1f} ({r['low']:.1f} to {r['high']:.1f})",
            f"{r['chance']:.1f}",
            str(r["samples"]),
        ]
        for r in rows
        if r["leak"]
    ]
    head = ["split", "task", "solver", "accuracy (%)", "chance (%)", "samples"]
    found = {r["solver"] for r in rows if r["leak"]}
    notes = [f"By design: *{solver}*. {reason}" for solver, reason in BY_DESIGN.items() if solver in found]
    return dg.MetadataValue.md("\n\n".join([table(head, cells), *notes]) if cells else "No solver beats chance.")


PICK_A_PANEL = [
    TableSpec(
        "comicspap_samples",
        "All samples that the books give, with the reason for each window that gives none in what was left out.",
        "pick_a_panel",
        {"parquet"},
        lambda project: BuildSamples(task_settings(project)),
        BuildSamples.inputs,
        version=BuildSamples.version,
    ),
    *(_split_table(split) for split in SPLITS),
    TableSpec(
        "comicspap_audit",
        "How far simple solvers get on each task of each split: what beats chance is a shortcut.",
        "pick_a_panel",
        {"parquet"},
        lambda project: AuditSamples(),
        AuditSamples.gathers,
        version=AuditSamples.version,
        find=lambda project: Found(expected=SPLITS),
        finish=lambda project, progress, config: Finished({"shortcuts": _shortcuts(project)}),
    ),
]

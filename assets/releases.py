"""What follows a split's table of samples: the files of its release, its hidden answers, the dataset card.

How a file of a release is made stands in `pipelines.pick_a_panel.release`, what the card says in
`pipelines.pick_a_panel.card`.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import dagster as dg
import pyarrow as pa

from assets.previews import picture_key, sample_pictures, sample_scenes, scene_tables
from assets.tables import BuildConfig, Finished, stop_if_all_failed
from pipelines.identity import fingerprint
from pipelines.markdown import table
from pipelines.pick_a_panel.release_schema import RELEASE_NAME
from pipelines.schemas import COMIC_BOOKS, COMICSPAP_SAMPLES, SPLITS, TASKS
from pipelines.stage import Stage
from resources.build import OUTSIDE, Progress, build_table, output_tables
from resources.project import Project
from resources.shard_writer import beside

FOLDER = f"releases/{RELEASE_NAME}"


def books_of(project: Project, split: str) -> list[str]:
    """The ids of a split's books."""
    books = project.lake.read_table("comic_books", COMIC_BOOKS, ["book_id", "split"]).to_pylist()
    return sorted(book["book_id"] for book in books if book["split"] == split)


def release_split(project: Project, split: str, progress: Progress, config: BuildConfig) -> Finished:
    """Bring the release of one split up to date and write the card anew; returns what the split's asset shows."""
    from pipelines.pick_a_panel.card import FIGURE

    books = books_of(project, split)
    withdrawn = _withdraw(project)
    builds = []
    for stage, expected in _stages(project, split, books):
        only = [shard for shard in config.shards if shard in expected]
        engine = project.engine(stage)
        report = build_table(stage, project.lake, engine, progress, expected=expected, only=only, force=config.force)
        stop_if_all_failed(stage.output, report)
        builds.append((stage, report))
    counts = _option_counts(project)
    figure = _figure(project)
    if figure:
        project.lake.put(f"{FOLDER}/{FIGURE}", figure)
    else:
        project.lake.delete(f"{FOLDER}/{FIGURE}")
    project.lake.put(f"{FOLDER}/README.md", _card(project, counts, has_figure=bool(figure)).encode())
    metadata: dict[str, Any] = {
        "samples": dg.MetadataValue.md(_counts_table(counts, split)),
        "release": dg.MetadataValue.path(project.lake.path(FOLDER)),
        "release_rows_built": sum(report.rows_built for _, report in builds),
    }
    metadata |= sample_pictures(project, split)
    if note := " ".join([_note(project, split, books, counts), *withdrawn]).strip():
        metadata["note"] = note
    return Finished(metadata, builds)


def _withdraw(project: Project) -> list[str]:
    """Take the books that are gone, or now in another split, out of the tables and releases of all splits.

    All at once: a book that moved from train to test must not stand in both until somebody builds train again.
    """
    notes = []
    for split in SPLITS:
        books = set(books_of(project, split))
        outputs = [output for stage, _ in _stages(project, split, []) for output in output_tables(stage)]
        besides = [
            beside(kind, stage.output) for stage, _ in _stages(project, split, []) for kind in ("_failures", "_dropped")
        ]
        gone: set[str] = set()
        for folder in [f"comicspap_{split}", *outputs, *besides]:
            strange = project.lake.footers(folder).keys() - books - {OUTSIDE}
            for shard in strange:
                project.lake.remove(folder, shard)
            gone |= strange
        if gone:
            notes.append(f"Taken out of {split}, since they are no longer in it: {', '.join(sorted(gone))}.")
    return notes


def _stages(project: Project, split: str, books: list[str]) -> Iterator[tuple[Stage, list[str]]]:
    """The stages of the release and the books of each; one that is switched off has none, which removes its files."""
    from pipelines.pick_a_panel.release import KeepAnswers, ReleaseRendered, ReleaseSamples
    from pipelines.pick_a_panel.render import Rendering

    release = project.profile.release
    hidden = split in release.hidden_answers
    yield ReleaseSamples(split, hidden, release.jpeg_quality), books
    yield KeepAnswers(split), books if hidden else []
    single = release.single_image
    rendering = Rendering(single.layout, single.longest, single.keep_aspect, single.most_in_row)
    yield ReleaseRendered(split, hidden, release.jpeg_quality, rendering), books if split in single.splits else []


def _option_counts(project: Project) -> dict[tuple[str, str], dict[int, int]]:
    """How many samples have how many options, in each task of each split that is released."""
    from pipelines.pick_a_panel.card import count_options

    counts: dict[tuple[str, str], dict[int, int]] = {}
    for split in SPLITS:
        if any(project.lake.has_table(f"{FOLDER}/{task}/{split}") for task in TASKS):
            counts |= count_options(_sample_shards(project, split), split)
    return counts


def _sample_shards(project: Project, split: str) -> Iterator[pa.Table]:
    for shard in project.lake.footers(f"comicspap_{split}"):
        yield project.lake.read(f"comicspap_{split}", shard, COMICSPAP_SAMPLES, ["task_type", "options"])


def _figure(project: Project) -> bytes:
    """A PNG with a sample of each task, from the splits whose answers are shown, else from the others without answers.

    Empty without any sample.
    """
    from pipelines.pick_a_panel.card import draw_figure
    from pipelines.previews import png

    hidden = project.profile.release.hidden_answers

    def draw() -> bytes:
        scenes: dict[str, Any] = {}
        for split in sorted(SPLITS, key=lambda s: s in hidden):
            scenes = sample_scenes(project, split, answers=split not in hidden) | scenes
        return png(draw_figure(scenes)) if scenes else b""

    key = fingerprint([picture_key(project, scene_tables(SPLITS)), sorted(hidden)])
    return project.remembered("release_figure.png", key, draw)


def _card(project: Project, counts: dict[tuple[str, str], dict[int, int]], *, has_figure: bool) -> str:
    from pipelines.pick_a_panel.card import BookFacts, ReleaseFacts, write_card

    splits = {split for split, _ in counts}
    rows = project.lake.read_table("comic_books", COMIC_BOOKS).to_pylist()
    books = [BookFacts(r["book_id"], r["title"], r["licence"], r["split"]) for r in rows if r["split"] in splits]
    release = project.profile.release
    facts = ReleaseFacts(
        counts,
        books,
        settings=dataclasses.asdict(project.profile.tasks)
        | {"max_samples": project.profile.max_samples, "jpeg_quality": release.jpeg_quality},
        seed=project.settings.seed,
        versions=_versions(project),
        hidden_splits=tuple(s for s in SPLITS if s in release.hidden_answers and s in splits),
        single_image_splits=tuple(s for s in SPLITS if s in release.single_image.splits and s in splits),
        has_figure=has_figure,
    )
    return write_card(facts)


def _versions(project: Project) -> dict[str, str]:
    roles = {role: project.model(role).source for role in ("panel_detector", "text_reader")}
    return {"storyloom": version("storyloom")} | roles


def _counts_table(counts: dict[tuple[str, str], dict[int, int]], split: str) -> str:
    from pipelines.pick_a_panel.samples import chance

    rows = []
    for task in TASKS:
        found = Counter(counts.get((split, task), {}))
        guess = chance(found.elements())
        rows.append([f"`{task}`", f"{found.total():,}", f"{guess:.2f}" if found else "–"])
    return table(["task", "samples", "chance (%)"], rows)


def _note(project: Project, split: str, books: list[str], counts: dict[tuple[str, str], dict[int, int]]) -> str:
    """Why a split or a task is empty, where that is so."""
    if not books:
        return (
            f"No book is in the split {split}: it is drawn by a hash of the book's id. "
            "Name a split for your books in catalog.csv, or change the profile's split_shares."
        )
    empty = [task for task in TASKS if not counts.get((split, task))]
    if not empty:
        return ""
    reasons = {
        "caption_relevance": "needs a caption of the first panel of a window of five, from annotations or a captioner",
        "text_closure": "needs textboxes in the last panel of a window",
        "char_coherence": "needs panels with exactly two textboxes",
    }
    told = [f"{task} {reasons.get(task, 'needs stories of more panels')}" for task in empty]
    return f"Without samples: {'; '.join(told)}. What was left out, and why, is in _dropped/comicspap_samples."

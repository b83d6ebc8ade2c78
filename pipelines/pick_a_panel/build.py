"""From a book's tables to its samples of all five tasks: the panels of each story, their windows, each task's answer.

What does not belong here: the rules of a task (its own module) and which samples a split keeps (`selection`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pipelines.geometry import Box
from pipelines.pick_a_panel.caption_relevance import caption_relevance
from pipelines.pick_a_panel.char_coherence import char_coherence
from pipelines.pick_a_panel.samples import Sample, StoryPanel, TaskSettings, TextBox
from pipelines.pick_a_panel.sequence_filling import sequence_filling
from pipelines.pick_a_panel.text_closure import text_closure
from pipelines.pick_a_panel.visual_closure import visual_closure
from pipelines.pick_a_panel.windows import Window, windows
from pipelines.schemas import TASKS
from pipelines.stage import Dropped, Failure, Row, ShardInputs, Stage

Task = Callable[[Window, TaskSettings], Sample | Dropped]
Stretch = tuple[str, list[StoryPanel]]
"""A story's id and panels that follow one another in it: all of them, or those between two that are lost."""

_NO_FEATURES = (
    "The panel's picture was not looked at, so it cannot be told from others. See the failures of comic_panel_features."
)
_TASKS: dict[str, Task] = {
    "sequence_filling": sequence_filling,
    "char_coherence": char_coherence,
    "visual_closure": visual_closure,
    "text_closure": text_closure,
    "caption_relevance": caption_relevance,
}


@dataclass(frozen=True)
class BuildSamples(Stage):
    """All samples of a book, task by task in window order; each window without a sample says why.

    Windows overlap in the training split alone. Pages of a story that give no panels, and panels whose picture could
    not be looked at, are recorded too.
    """

    name = "build_samples"
    version = 3
    table = "comicspap_samples"
    inputs = (
        "comic_books",
        "comic_pages",
        "comic_panels",
        "comic_panel_features",
        "comic_texts",
        "comic_page_kinds",
        "comic_stories",
        "comic_captions",
    )
    columns: ClassVar[Mapping[str, tuple[str, ...]]] = {"comic_books": ("book_id", "split")}
    settings: TaskSettings = field(default_factory=TaskSettings)

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """Yield the samples of one book."""
        panels, failures = _panels_by_page(inputs)
        yield from failures
        stretches, dropped = _stretches(inputs, panels)
        yield from dropped
        for book in inputs.table("comic_books", ["book_id", "split"]).to_pylist():
            for outcome in samples(stretches, book["split"], self.settings):
                if isinstance(outcome, Sample):
                    yield outcome.row(**book, source=f"storyloom/{self.name}@{self.version}")
                else:
                    yield outcome


def samples(stretches: list[Stretch], split: str, settings: TaskSettings) -> Iterator[Sample | Dropped]:
    """What each task makes of each window of the stretches, in the order of `schemas.TASKS`."""
    for task in TASKS:
        for story_id, panels in stretches:
            size = _window_size(task, settings)
            for window in windows(story_id, panels, size, overlapping=split == "train"):
                yield _TASKS[task](window, settings)


def _window_size(task: str, settings: TaskSettings) -> int:
    sizes = {"sequence_filling": settings.sequence_window, "caption_relevance": settings.caption_window}
    return sizes.get(task, settings.closure_window)


def _stretches(
    inputs: ShardInputs, panels: Mapping[str, list[StoryPanel | None]]
) -> tuple[list[Stretch], list[Dropped]]:
    """The stories' panels in reading order, cut where a page or a panel is lost, and the pages that no story takes.

    A page belongs to the first story that holds it. A page that repeats an earlier one of its story is left out: its
    panels would stand beside themselves. A page that was read and has no kind is blank or a repetition, and passed over.
    """
    kinds: dict[int, dict[str, Any]] = {row["page_number"]: row for row in inputs.table("comic_page_kinds").to_pylist()}
    original = _originals(inputs)
    read = set(inputs.table("comic_pages", ["page_number"])["page_number"].to_pylist())
    found: list[Stretch] = []
    unused = {row["page_id"]: "the page is in no story" for row in kinds.values()}
    for story in inputs.table("comic_stories").sort_by("first_page").to_pylist():
        found.append((story["story_id"], []))
        taken: set[str] = set()
        for number in range(story["first_page"], story["last_page"] + 1):
            page = kinds.get(number)
            if page is None:
                if number not in read:
                    found.append((story["story_id"], []))
            elif page["page_id"] not in unused:
                continue
            elif page["kind"] != "story":
                unused[page["page_id"]] = f"the page is of kind {page['kind']}"
            elif original.get(page["page_id"], "") in taken:
                unused[page["page_id"]] = "the page repeats an earlier page of its story"
            else:
                page_id: str = page["page_id"]
                taken.update((page_id, original.get(page_id, page_id)))
                del unused[page_id]
                for panel in panels.get(page_id, ()):
                    if panel is None:
                        found.append((story["story_id"], []))
                    else:
                        found[-1][1].append(panel)
    dropped = [Dropped(page_id, reason) for page_id, reason in sorted(unused.items())]
    return [stretch for stretch in found if stretch[1]], dropped


def _originals(inputs: ShardInputs) -> dict[str, str]:
    """For each page that repeats another, the first page that it goes back to."""
    pages = inputs.table("comic_pages", ["page_id", "page_number", "duplicate_of"]).sort_by("page_number")
    rows: list[dict[str, Any]] = pages.to_pylist()
    original: dict[str, str] = {}
    for row in rows:
        earlier: str | None = row["duplicate_of"]
        if earlier is not None:
            original[row["page_id"]] = original.get(earlier, earlier)
    return original


def _panels_by_page(inputs: ShardInputs) -> tuple[dict[str, list[StoryPanel | None]], list[Failure]]:
    """The panels of each page in reading order with texts and captions; those of unknown content are None, and failures."""
    hashes = {row["panel_id"]: row["phash"] for row in _rows(inputs, "comic_panel_features", "panel_id", "phash")}
    captions = {row["panel_id"]: row["caption"] for row in _rows(inputs, "comic_captions", "panel_id", "caption")}
    texts = _texts_by_panel(inputs)
    pages: defaultdict[str, list[StoryPanel | None]] = defaultdict(list)
    failures: list[Failure] = []
    for row in _in_order(inputs, "comic_panels"):
        panel_id = row["panel_id"]
        if hashes.get(panel_id) is None:
            failures.append(Failure(panel_id, "no_features", _NO_FEATURES))
            pages[row["page_id"]].append(None)
            continue
        pages[row["page_id"]].append(
            StoryPanel(
                panel_id, _box(row), int(hashes[panel_id], 16), tuple(texts[panel_id]), captions.get(panel_id) or ""
            )
        )
    return pages, failures


def _texts_by_panel(inputs: ShardInputs) -> defaultdict[str, list[TextBox]]:
    texts: defaultdict[str, list[TextBox]] = defaultdict(list)
    for row in _in_order(inputs, "comic_texts"):
        if row["panel_id"] is not None:
            texts[row["panel_id"]].append(TextBox(_box(row), " ".join(row["text"].split()), row["panel_share"]))
    return texts


def _rows(inputs: ShardInputs, table: str, *columns: str) -> list[dict[str, Any]]:
    return inputs.table(table, list(columns)).to_pylist()


def _in_order(inputs: ShardInputs, table: str) -> list[dict[str, Any]]:
    order = [("page_number", "ascending"), ("reading_order", "ascending")]
    return inputs.table(table).sort_by(order).to_pylist()


def _box(row: Mapping[str, Any]) -> Box:
    return Box(row["x"], row["y"], row["w"], row["h"])

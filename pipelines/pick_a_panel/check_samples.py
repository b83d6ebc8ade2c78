"""What must hold of every sample of a finished split, checked again from the tables, apart from the code that built it.

What does not belong here: how far solvers get (`audit`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.pick_a_panel.samples import TaskSettings
from pipelines.schemas import TASKS
from pipelines.stage import Row

_DRAWN = ("char_coherence", "text_closure")


@dataclass(frozen=True)
class Story:
    """Places of the story's panels in reading order, by panel id, and the perceptual hash of each."""

    place: Mapping[str, int]
    phash: Mapping[str, int]


def faults(samples: Sequence[Row], stories: Mapping[str, Story], settings: TaskSettings) -> list[str]:
    """What is wrong with the samples of a split, each in a sentence; an empty list where all is right.

    `stories` holds, by book, the panels on pages of kind `story`: a panel that is not there stands on another kind of page.
    """
    ids = Counter(row["sample_id"] for row in samples)
    found = [f"{sample}: {count} samples have this id" for sample, count in ids.items() if count > 1]
    for row in samples:
        book = stories.get(row["book_id"], Story({}, {}))
        found += [f"{row['sample_id']}: {fault}" for fault in _of_sample(row, book, settings)]
    return found + list(_uneven(samples))


def _of_sample(row: Row, book: Story, settings: TaskSettings) -> Iterator[str]:
    options: list[dict[str, Any]] = row["options"]
    panels = [option["panel_id"] for option in options]
    solution: int = row["solution_index"]
    if not 0 <= solution < len(options):
        yield f"the right option is {solution} of {len(options)}"
        return
    least, most = _sizes(row["task_type"], settings)
    if not least <= len(options) <= most:
        yield f"it has {len(options)} options, not {least} to {most}"
    strange = [panel for panel in [*panels, *row["context"]] if panel not in book.place]
    if strange:
        yield f"{', '.join(sorted(set(strange)))} stand on no story page of its book"
    elif row["task_type"] in _DRAWN:
        yield from _drawn(options, panels, row["context"])
    else:
        yield from _pictured(row, panels, book, settings)


def _sizes(task: str, settings: TaskSettings) -> tuple[int, int]:
    """The fewest and the most options of a task (ComicsPAP's chance accuracies: 5, 2, 7, 4 and 4 as a rule)."""
    return {
        "sequence_filling": (2, settings.sequence_distractors + 1),
        "visual_closure": (2, settings.visual_distractors + 1),
        "text_closure": (settings.text_distractors + 1,) * 2,
        "char_coherence": (2, 2),
        "caption_relevance": (settings.caption_window - 1,) * 2,
    }[task]


def _drawn(options: Sequence[dict[str, Any]], panels: Sequence[str], context: Sequence[str]) -> Iterator[str]:
    if len(set(panels)) != 1 or panels[0] in context:
        yield "its options are not one panel with other words"
    texts = [tuple(edit["text"] for edit in option["edits"]) for option in options]
    boxes = {tuple((e["x"], e["y"], e["w"], e["h"]) for e in option["edits"]) for option in options}
    if len(set(texts)) != len(texts) or len(boxes) != 1 or not all(texts):
        yield "its options do not differ in their words alone"


def _pictured(row: Row, panels: Sequence[str], book: Story, settings: TaskSettings) -> Iterator[str]:
    shown = row["context"]
    if set(panels) & set(shown) or len(set(panels)) != len(panels):
        yield "an option is shown in the context, or twice"
    hashes = [book.phash[panel] for panel in [*panels, *shown] if panel in book.phash]
    if any(
        (a ^ b).bit_count() <= settings.panel_distance for i, a in enumerate(hashes[: len(panels)]) for b in hashes[:i]
    ):
        yield "two options show the same"
    right = book.place[str(panels[row["solution_index"]])]
    window = [*(book.place[panel] for panel in shown), right]
    if any(min(abs(book.place[panel] - place) for place in window) > settings.reach for panel in panels):
        yield f"an option stands more than {settings.reach} panels from the window"


def _uneven(samples: Sequence[Row]) -> Iterator[str]:
    """Tasks whose right options do not stand at all places alike, by a chi-squared test over full sets of options."""
    for task in TASKS:
        places: defaultdict[int, Counter[int]] = defaultdict(Counter)
        for row in samples:
            if row["task_type"] == task:
                places[len(row["options"])][row["solution_index"]] += 1
        for options, counts in places.items():
            expected = counts.total() / options
            statistic = sum((counts[place] - expected) ** 2 / expected for place in range(options))
            if expected >= 5 and statistic > _BOUND.get(options, 3.5 * options):
                yield f"{task}: the right option of {options} stands at the places {dict(sorted(counts.items()))} times"


_BOUND = {2: 6.63, 3: 9.21, 4: 11.34, 5: 13.28, 6: 15.09, 7: 16.81}
"""The statistic that even places pass in one of 100 tables, by the number of places."""

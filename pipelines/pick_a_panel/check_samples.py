"""What must hold of every sample of a finished split, checked again from the tables, apart from the code that built it.

What does not belong here: how far solvers get (`audit`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from pipelines.pick_a_panel.samples import TaskSettings
from pipelines.schemas import TASKS
from pipelines.stage import Row

_DRAWN = ("char_coherence", "text_closure")


@dataclass(frozen=True)
class Story:
    """Places of a story's panels in reading order, by panel id, and the perceptual hash of each."""

    place: Mapping[str, int]
    phash: Mapping[str, int]


def faults(samples: Sequence[Row], stories: Mapping[str, Story], settings: TaskSettings) -> list[str]:
    """What is wrong with the samples of a split, each in a sentence; an empty list where all is right.

    `stories` holds, by story id, the panels on its pages of kind `story`: a panel that is not there stands in another
    story or on another kind of page.
    """
    ids = Counter(row["sample_id"] for row in samples)
    found = [f"{sample}: {count} samples have this id" for sample, count in ids.items() if count > 1]
    for row in samples:
        story = stories.get(row["story_id"], Story({}, {}))
        found += [f"{row['sample_id']}: {fault}" for fault in _of_sample(row, story, settings)]
    return found + list(_uneven(samples))


def _of_sample(row: Row, story: Story, settings: TaskSettings) -> Iterator[str]:
    options: list[dict[str, Any]] = row["options"]
    panels = [option["panel_id"] for option in options]
    solution: int = row["solution_index"]
    if not 0 <= solution < len(options):
        yield f"the right option is {solution} of {len(options)}"
        return
    least, most = _sizes(row["task_type"], settings)
    if not least <= len(options) <= most:
        yield f"it has {len(options)} options, not {least} to {most}"
    strange = [panel for panel in [*panels, *row["context"]] if panel not in story.place]
    if strange:
        yield f"no story page of {row['story_id']} has the panels {', '.join(sorted(set(strange)))}"
    elif row["task_type"] in _DRAWN:
        yield from _drawn(options, panels, row["context"])
    else:
        yield from _pictured(row, panels, story, settings)
        if row["task_type"] == "caption_relevance":
            yield from _captioned(row, [story.place[panel] for panel in panels])


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


def _pictured(row: Row, panels: Sequence[str], story: Story, settings: TaskSettings) -> Iterator[str]:
    shown: list[str] = row["context"]
    if set(panels) & set(shown) or len(set(panels)) != len(panels):
        yield "an option is shown in the context, or twice"
    others = [pair for pair in [*combinations(panels, 2), *product(panels, shown)] if pair[0] != pair[1]]
    alike = [(a, b) for a, b in others if (story.phash[a] ^ story.phash[b]).bit_count() <= settings.panel_distance]
    yield from (f"{a} and {b} show the same" for a, b in alike)
    window = [story.place[panel] for panel in [*shown, panels[row["solution_index"]]]]
    if any(min(abs(story.place[panel] - place) for place in window) > settings.reach for panel in panels):
        yield f"an option stands more than {settings.reach} panels from the window"


def _captioned(row: Row, places: Sequence[int]) -> Iterator[str]:
    if row["context"] or row["index"] != -1 or not row["previous_panel_caption"].strip():
        yield "it shows a context beside its caption, or no caption"
    first = min(places)
    if sorted(places) != [*range(first, first + len(places))] or places[row["solution_index"]] != first:
        yield "its options are not the panels after the captioned one, the first of them right"


def _uneven(samples: Sequence[Row]) -> Iterator[str]:
    """Tasks whose right options do not stand at all places alike: a chi-squared test of each task at the level of 1%.

    Samples are counted by their number of options, and numbers that too few samples have (under five a place) not at
    all.
    """
    for task in TASKS:
        places: defaultdict[int, Counter[int]] = defaultdict(Counter)
        for row in samples:
            if row["task_type"] == task:
                places[len(row["options"])][row["solution_index"]] += 1
        tested = {options: counts for options, counts in places.items() if counts.total() >= 5 * options}
        statistic = sum(_chi_squared([counts[n] for n in range(options)]) for options, counts in tested.items())
        if tested and statistic > _bound(sum(options - 1 for options in tested)):
            found = (
                f"{', '.join(str(counts[n]) for n in range(options))} of {options}"
                for options, counts in tested.items()
            )
            yield f"{task}: right options stand unevenly at the places from first to last: {'; '.join(found)}"


def _chi_squared(counts: Sequence[int]) -> float:
    expected = sum(counts) / len(counts)
    return sum((count - expected) ** 2 / expected for count in counts)


def _bound(freedom: int) -> float:
    """What a chi-squared statistic passes once in 100 times (Wilson and Hilferty 1931)."""
    spread = 2 / (9 * freedom)
    return freedom * (1 - spread + 2.326348 * spread**0.5) ** 3

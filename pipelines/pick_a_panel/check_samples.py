"""What must hold of every sample of a finished split, checked again from the tables, apart from the code that built it.

What does not belong here: how far solvers get (`audit`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

from pipelines.comics.captions import quoted_words
from pipelines.geometry import Box
from pipelines.pick_a_panel.samples import TaskSettings, TextBox
from pipelines.schemas import TASKS
from pipelines.stage import Row

_DRAWN = ("char_coherence", "text_closure")


@dataclass(frozen=True)
class Story:
    """A story's panels by their ids: their places in reading order, perceptual hashes, transcriptions and captions.

    Panels that follow one another have places that do; where a page or a panel is lost, the places leave a gap.
    """

    place: Mapping[str, int]
    phash: Mapping[str, int]
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    captions: Mapping[str, str] = field(default_factory=dict)


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
        return
    yield from _shown(row, panels, story, settings)
    if row["task_type"] in _DRAWN:
        yield from _drawn(options, panels, row["context"])
        yield from _lettered(row, story, settings)
    else:
        yield from _pictured(row, panels, story, settings)
        if row["task_type"] == "caption_relevance":
            yield from _captioned(row, panels, story, settings)


def _sizes(task: str, settings: TaskSettings) -> tuple[int, int]:
    """The fewest and the most options of a task (ComicsPAP's chance accuracies: 5, 2, 7, 4 and 4 as a rule)."""
    return {
        "sequence_filling": (2, settings.sequence_distractors + 1),
        "visual_closure": (2, settings.visual_distractors + 1),
        "text_closure": (settings.text_distractors + 1,) * 2,
        "char_coherence": (2, 2),
        "caption_relevance": (settings.caption_window - 1,) * 2,
    }[task]


def _shown(row: Row, panels: Sequence[str], story: Story, settings: TaskSettings) -> Iterator[str]:
    """The context, its mask and the right option: panels that follow one another."""
    task, shown, index = row["task_type"], row["context"], row["index"]
    if task == "caption_relevance":
        return
    size = settings.sequence_window if task == "sequence_filling" else settings.closure_window
    if len(shown) != size - 1:
        yield f"it shows {len(shown)} panels, not {size - 1}"
    if not 0 <= index <= len(shown) or (task != "sequence_filling" and index != len(shown)):
        yield f"the missing panel is at place {index}"
        return
    window = [*shown[:index], panels[row["solution_index"]], *shown[index:]]
    places = [story.place[panel] for panel in window]
    if places != [*range(places[0], places[0] + len(places))]:
        yield "its panels and the right option do not follow one another in the story"


def _lettered(row: Row, story: Story, settings: TaskSettings) -> Iterator[str]:
    """What is drawn anew: the panel's own words in the right option, other words that could stand for them elsewhere."""
    options, solution = row["options"], row["solution_index"]
    if row["font_size"] is None or row["font_size"] < settings.smallest_font:
        yield f"its words are drawn at a size of {row['font_size']}"
    texts = [[edit["text"] for edit in option["edits"]] for option in options]
    own = story.texts.get(options[solution]["panel_id"], ())
    if not set(texts[solution]) <= set(own):
        yield "the right option has not the panel's own words"
    if row["task_type"] == "char_coherence":
        if len(texts) == 2 and (len(texts[0]) != 2 or texts[0] != texts[1][::-1]):
            yield "its options are not two texts and the same two swapped"
        return
    boxes = [TextBox(Box(0, 0, 1, 1), "\n".join(words), 1.0) for words in texts]
    if any(a.reads_like(b, settings.text_likeness) for a, b in combinations(boxes, 2)):
        yield "two of its options read alike"
    lengths = [len(box.text) / max(len(boxes[solution].text), 1) for box in boxes]
    if not all(1 / settings.length_ratio <= length <= settings.length_ratio for length in lengths):
        yield "an option's words are far longer or shorter than the right ones"


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


def _captioned(row: Row, panels: Sequence[str], story: Story, settings: TaskSettings) -> Iterator[str]:
    places = [story.place[panel] for panel in panels]
    if row["context"] or row["index"] != -1 or not row["previous_panel_caption"].strip():
        yield "it shows a context beside its caption, or no caption"
    first = min(places)
    if sorted(places) != [*range(first, first + len(places))] or places[row["solution_index"]] != first:
        yield "its options are not the panels after the captioned one, the first of them right"
        return
    captioned = next((panel for panel, place in story.place.items() if place == first - 1), "")
    caption = row["previous_panel_caption"]
    if caption != story.captions.get(captioned):
        yield "its caption is not that of the panel before its options"
    elif any(quoted_words(caption, text) >= settings.quoted_words for text in story.texts.get(captioned, ())):
        yield "its caption quotes what is lettered in the panel"


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

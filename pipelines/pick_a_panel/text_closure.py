"""Text closure: pick the words of the next panel's most prominent textbox, from words of the same part of the story.

What does not belong here: how the options are drawn, and distractor panels.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from pipelines.geometry import Box, intersection
from pipelines.identity import rng
from pipelines.pick_a_panel.distractors import even_place, placed
from pipelines.pick_a_panel.drawn_options import can_be_lettered, room, size_for
from pipelines.pick_a_panel.samples import Edit, Option, Sample, TaskSettings, TextBox
from pipelines.pick_a_panel.windows import Window
from pipelines.stage import Dropped

TASK = "text_closure"


def text_closure(window: Window, settings: TaskSettings) -> Sample | Dropped:
    """The sample of a window: its last panel with the text of one box as it is and replaced; all drawn at one size.

    ComicsPAP, section 3: distractor texts are close in length to the right one and options are rendered alike, so that
    neither length nor lettering tells. Without a full set of distractors there is no sample.
    """
    *context, panel = window.panels
    boxes = [text for text in panel.prominent(settings.prominence) if text.normalised]
    if not boxes:
        return window.dropped(TASK, "no prominent textbox in the next panel")
    boxes = [text for text in boxes if can_be_lettered(text)]
    if not boxes:
        return window.dropped(TASK, "the font has not all characters of the text")
    right = max(boxes, key=lambda text: text.box.area)
    box = room(right, panel)
    if any(intersection(box, other.box) for other in panel.texts if other is not right):
        return window.dropped(TASK, "the textbox overlaps another")
    if size_for([right.text], [box], window.panels[-1].box, settings) is None:
        return window.dropped(TASK, "the text does not fit its box at a readable size")
    others = _distractors(window, right, box, settings)
    if len(others) < settings.text_distractors:
        return window.dropped(TASK, "too few texts of like length within reach")
    place = even_place(window, len(others) + 1, TASK, settings.seed)
    texts = placed(right.text, [text.text for text in others], place)
    return Sample(
        sample_id=window.sample_id(TASK),
        task_type=TASK,
        story_id=window.story_id,
        context=tuple(shown.panel_id for shown in context),
        index=len(context),
        options=tuple(Option(panel.panel_id, (Edit(box, text),)) for text in texts),
        solution_index=place,
        font_size=size_for(texts, [box], window.panels[-1].box, settings),
    )


def _distractors(window: Window, right: TextBox, box: Box, settings: TaskSettings) -> list[TextBox]:
    """Texts of panels near the window that may stand for the right one, as many as are wanted or fewer."""
    random = rng(settings.seed, window.sample_id(TASK), "distractors")
    candidates = [text for panel in window.around(settings.reach) for text in panel.prominent(settings.prominence)]
    random.shuffle(candidates)
    known = [text for panel in window.panels for text in panel.texts]
    usable: list[TextBox] = []
    for text in candidates:
        if (
            text.normalised
            and 1 / settings.length_ratio <= len(text.text) / len(right.text) <= settings.length_ratio
            and can_be_lettered(text)
            and size_for([text.text], [box], window.panels[-1].box, settings)
            and not any(text.reads_like(other, settings.text_likeness) for other in (*known, *usable))
        ):
            usable.append(text)
    if len(usable) > settings.text_distractors:
        rank = even_place(window, settings.text_distractors + 1, f"{TASK}/length", settings.seed)
        usable = _around_length(len(right.text), usable, rank, settings.text_distractors, random)
    random.shuffle(usable)
    return usable


def _around_length(length: int, texts: Sequence[TextBox], rank: int, count: int, random: Random) -> list[TextBox]:
    """`count` of more texts, `rank` of them shorter than `length`; any number of them where `rank` is not possible.

    With even ranks the right text is the longest or the shortest no more often than another, as far as its neighbours
    allow it. A text of that same length serves on either side.
    """
    sides = [(len(text.text) - length or (-1) ** number, text) for number, text in enumerate(texts)]
    shorter = [text for side, text in sides if side < 0]
    longer = [text for side, text in sides if side > 0]
    possible = range(max(count - len(longer), 0), min(count, len(shorter)) + 1)
    if rank not in possible:
        rank = random.choice(possible)
    return shorter[:rank] + longer[: count - rank]

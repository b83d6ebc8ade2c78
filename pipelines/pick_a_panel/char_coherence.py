"""Character coherence: who says which? The next panel with its two texts as they are, and with the two swapped.

What does not belong here: how the options are drawn.
"""

from __future__ import annotations

from pipelines.geometry import Box, intersection
from pipelines.pick_a_panel.distractors import even_place, placed
from pipelines.pick_a_panel.drawn_options import can_be_lettered, room, size_for
from pipelines.pick_a_panel.samples import Edit, Option, Sample, TaskSettings
from pipelines.pick_a_panel.windows import Window
from pipelines.stage import Dropped

TASK = "char_coherence"


def char_coherence(window: Window, settings: TaskSettings) -> Sample | Dropped:
    """The sample of a window whose last panel has exactly two prominent textboxes.

    ComicsPAP, section 3; both texts are drawn anew in both options at one size that lets each fit in each box.
    """
    *context, panel = window.panels
    texts = panel.prominent(settings.prominence)
    if len(texts) != 2:
        return window.dropped(TASK, "not exactly two prominent textboxes in the next panel")
    first, second = texts
    boxes = (room(first, panel), room(second, panel))
    if first.normalised == second.normalised:
        return window.dropped(TASK, "the two texts are equal")
    if not (can_be_lettered(first) and can_be_lettered(second)):
        return window.dropped(TASK, "the font has not all characters of the texts")
    if intersection(*boxes):
        return window.dropped(TASK, "the two textboxes overlap")
    font_size = size_for((first.text, second.text), boxes, panel.box, settings)
    if font_size is None:
        return window.dropped(TASK, "the texts do not fit each other's boxes at a readable size")
    place = even_place(window, 2, TASK, settings.seed)
    right = Option(panel.panel_id, _edits(boxes, (first.text, second.text)))
    swapped = Option(panel.panel_id, _edits(boxes, (second.text, first.text)))
    return Sample(
        sample_id=window.sample_id(TASK),
        task_type=TASK,
        story_id=window.story_id,
        context=tuple(shown.panel_id for shown in context),
        index=len(context),
        options=placed(right, [swapped], place),
        solution_index=place,
        font_size=font_size,
    )


def _edits(boxes: tuple[Box, Box], texts: tuple[str, str]) -> tuple[Edit, ...]:
    return tuple(Edit(box, text) for box, text in zip(boxes, texts, strict=True))

"""Sequence filling: one panel of a window is masked; pick it from panels of the same part of the story.

What does not belong here: how windows are laid and distractors are drawn.
"""

from __future__ import annotations

from pipelines.pick_a_panel.distractors import even_place, panel_distractors, placed
from pipelines.pick_a_panel.samples import Option, Sample, TaskSettings
from pipelines.pick_a_panel.windows import Window
from pipelines.stage import Dropped

TASK = "sequence_filling"


def sequence_filling(window: Window, settings: TaskSettings) -> Sample | Dropped:
    """The sample of a window: its panels but one as context, the masked one among its distractors as options.

    ComicsPAP, section 3: any place may be masked, so that a reader needs what comes before and what comes after.
    """
    index = even_place(window, window.size, f"{TASK}/mask", settings.seed)
    right = window.panels[index]
    context = (*window.panels[:index], *window.panels[index + 1 :])
    if any(right.looks_like(panel, settings.panel_distance) for panel in context):
        return window.dropped(TASK, "the masked panel looks like one that is shown")
    others = panel_distractors(window, settings.sequence_distractors, TASK, settings)
    if not others:
        return window.dropped(TASK, "no distractor within reach")
    place = even_place(window, len(others) + 1, TASK, settings.seed)
    return Sample(
        sample_id=window.sample_id(TASK),
        task_type=TASK,
        story_id=window.story_id,
        context=tuple(panel.panel_id for panel in context),
        index=index,
        options=tuple(Option(panel.panel_id) for panel in placed(right, others, place)),
        solution_index=place,
    )

"""Visual closure: pick the panel that follows those shown from panels of the same part of the story.

What does not belong here: how windows are laid and distractors are drawn.
"""

from __future__ import annotations

from pipelines.pick_a_panel.distractors import even_place, panel_distractors, placed
from pipelines.pick_a_panel.samples import Option, Sample, TaskSettings
from pipelines.pick_a_panel.windows import Window
from pipelines.stage import Dropped

TASK = "visual_closure"


def visual_closure(window: Window, settings: TaskSettings) -> Sample | Dropped:
    """The sample of a window: all panels but the last as context, the last one among its distractors as options."""
    *context, right = window.panels
    if any(right.looks_like(panel, settings.panel_distance) for panel in context):
        return window.dropped(TASK, "the next panel looks like one that is shown")
    others = panel_distractors(window, settings.visual_distractors, TASK, settings)
    if not others:
        return window.dropped(TASK, "no distractor within reach")
    place = even_place(window, len(others) + 1, TASK, settings.seed)
    return Sample(
        sample_id=window.sample_id(TASK),
        task_type=TASK,
        story_id=window.story_id,
        context=tuple(panel.panel_id for panel in context),
        index=len(context),
        options=tuple(Option(panel.panel_id) for panel in placed(right, others, place)),
        solution_index=place,
    )

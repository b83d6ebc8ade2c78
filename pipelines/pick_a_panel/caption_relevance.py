"""Caption relevance: a caption alone is shown; pick the panel that follows the captioned one.

What does not belong here: who writes captions and how quotes are found in them.
"""

from __future__ import annotations

from itertools import combinations

from pipelines.comics.captions import quoted_words
from pipelines.identity import rng
from pipelines.pick_a_panel.distractors import even_place, placed
from pipelines.pick_a_panel.samples import Option, Sample, TaskSettings
from pipelines.pick_a_panel.windows import Window
from pipelines.stage import Dropped

TASK = "caption_relevance"


def caption_relevance(window: Window, settings: TaskSettings) -> Sample | Dropped:
    """The sample of a window: the first panel's caption, and all the other panels as options.

    ComicsPAP, section 3: captions leave spoken text out, so that no continued conversation gives the answer away.
    """
    captioned, *options = window.panels
    if not captioned.caption.strip():
        return window.dropped(TASK, "the first panel has no caption")
    if any(quoted_words(captioned.caption, text.text) >= settings.quoted_words for text in captioned.texts):
        return window.dropped(TASK, "the caption quotes the panel's text")
    if any(a.looks_like(b, settings.panel_distance) for a, b in combinations(options, 2)):
        return window.dropped(TASK, "two of the options look alike")
    right, *others = (Option(panel.panel_id) for panel in options)
    rng(settings.seed, window.sample_id(TASK), "distractors").shuffle(others)
    place = even_place(window, len(options), TASK, settings.seed)
    return Sample(
        sample_id=window.sample_id(TASK),
        task_type=TASK,
        story_id=window.story_id,
        context=(),
        index=-1,
        options=placed(right, others, place),
        solution_index=place,
        previous_panel_caption=captioned.caption,
    )

"""What the tasks share in choosing options: panels that may stand beside the right one, and where the right one stands.

What does not belong here: distractor texts (`text_closure`) and which panel is right (each task's own module).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pipelines.identity import rng
from pipelines.pick_a_panel.samples import StoryPanel, TaskSettings
from pipelines.pick_a_panel.windows import Window

T = TypeVar("T")

_ROUNDS = 4
"""How often each place comes in a block of `even_place`."""


def panel_distractors(window: Window, count: int, task: str, settings: TaskSettings) -> list[StoryPanel]:
    """At most `count` panels near the window in its story, in random order.

    None looks like a panel of the window or like another one chosen, so fewer candidates give fewer distractors and
    never a repeat (ComicsPAP, section 3.1: drawn at random from 10 panels on either side, the context removed).
    """
    candidates = list(window.around(settings.reach))
    rng(settings.seed, window.sample_id(task), "distractors").shuffle(candidates)
    chosen: list[StoryPanel] = []
    for candidate in candidates:
        others = (*window.panels, *chosen)
        if len(chosen) < count and not any(candidate.looks_like(o, settings.panel_distance) for o in others):
            chosen.append(candidate)
    return chosen


def even_place(window: Window, places: int, purpose: str, seed: int) -> int:
    """A random place from 0 to `places` - 1; each run of four times `places` windows of a story has every place four times.

    Runs of `places` windows would be more even, and would give places away: of two options, each second window would have
    the place that the one before it had not.

    It depends on the window's number alone, never on what became of other windows: an edit to one panel leaves the
    samples that do not use it as they were.
    """
    block, member = divmod(window.number, _ROUNDS * places)
    order = _ROUNDS * list(range(places))
    rng(seed, purpose, window.story[0].panel_id, places, block).shuffle(order)
    return order[member]


def placed(right: T, others: Sequence[T], place: int) -> tuple[T, ...]:
    """The options in their order: the right one at its place, the others around it."""
    return (*others[:place], right, *others[place:])

"""Windows: runs of consecutive panels of one story, from which each task makes at most one sample.

What does not belong here: which panels a story has (`build`), and what a task does with a window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.pick_a_panel.samples import StoryPanel
from pipelines.stage import Dropped


@dataclass(frozen=True)
class Window:
    """`size` panels of a story from place `start` (from 0); `number` counts the story's windows from 0."""

    story_id: str
    story: tuple[StoryPanel, ...]
    start: int
    size: int
    number: int

    @property
    def panels(self) -> tuple[StoryPanel, ...]:
        """The window's own panels in reading order."""
        return self.story[self.start : self.start + self.size]

    def around(self, reach: int) -> tuple[StoryPanel, ...]:
        """The story's panels at most `reach` places before or after the window, without the window's own."""
        end = self.start + self.size
        return self.story[max(self.start - reach, 0) : self.start] + self.story[end : end + reach]

    def sample_id(self, task: str) -> str:
        """The id of the sample that a task makes of this window: no two tasks or windows share one."""
        return f"{task}/{self.panels[0].panel_id}"

    def dropped(self, task: str, reason: str) -> Dropped:
        """The record that the task makes no sample of this window."""
        return Dropped(self.sample_id(task), reason)


def windows(story_id: str, story: Sequence[StoryPanel], size: int, *, overlapping: bool) -> Iterator[Window]:
    """The windows of a story of n panels: one at each place (n - size + 1), or side by side (n // size).

    The ComicsPAP paper (section 3.2) lets windows overlap in its training split alone.
    """
    panels = tuple(story)
    starts = range(0, len(panels) - size + 1, 1 if overlapping else size)
    for number, start in enumerate(starts):
        yield Window(story_id, panels, start, size, number)

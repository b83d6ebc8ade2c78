"""The nouns of pick-a-panel: settings, panels of a story with their texts, options and samples.

What does not belong here: which panels make a window, what stands beside the right option (each task's own module), and
how an option is drawn.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pipelines.errors import SettingsError
from pipelines.geometry import Box
from pipelines.stage import Row


@dataclass(frozen=True)
class TaskSettings:
    """All sizes of the five tasks; the defaults are the published ones where the ComicsPAP paper gives them.

    Raises SettingsError for sizes with which no task can be built.
    """

    seed: int = 0
    sequence_window: int = 5
    """Panels in a window of sequence filling, the masked one included."""
    closure_window: int = 4
    """Panels in a window of the three closures: those shown and the one to pick."""
    caption_window: int = 5
    """The captioned panel and the options of caption relevance."""
    sequence_distractors: int = 4
    visual_distractors: int = 6
    text_distractors: int = 3
    reach: int = 10
    """How many places before and after its window a distractor may lie, in the same story."""
    panel_distance: int = 6
    """Two panels whose perceptual hashes differ in at most this many of 64 bits are one content."""
    prominence: float = 0.8
    """Least share of a textbox's area inside its panel."""
    length_ratio: float = 1.5
    """A distractor's text is at most this many times longer, or shorter, than the right one."""
    text_likeness: float = 0.6
    """Texts that share a greater part of their letter triples than this count as one text."""
    quoted_words: int = 3
    """A caption that repeats this many transcribed words in a row quotes them."""
    smallest_font: int = 9
    """In pixels of the page; text that would have to be smaller is not readable (see also `font_share`)."""
    font_share: float = 0.014
    """Least size of the font over its panel's long side: 7 pixels where panels are shown at 500."""
    largest_font: int = 40

    def __post_init__(self) -> None:
        """Refuse what leaves a task without context or options."""
        least = {"sequence_window": 2, "closure_window": 2, "caption_window": 3, "smallest_font": 1}
        least |= dict.fromkeys(("sequence_distractors", "visual_distractors", "text_distractors", "reach"), 1)
        least |= {
            "quoted_words": 1,
            "panel_distance": 0,
            "font_share": 0,
            "largest_font": self.smallest_font,
            "length_ratio": 1,
        }
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise SettingsError(f"{name} is {getattr(self, name)}", remedy=f"Set it to {bound} or more.")


@dataclass(frozen=True)
class TextBox:
    """A textbox of a panel: `box` in pixels of the page, `share` of its area inside the panel."""

    box: Box
    text: str
    share: float

    @cached_property
    def normalised(self) -> str:
        """The text without case, accents' variants and punctuation: what two texts are compared by."""
        folded = unicodedata.normalize("NFKC", self.text).casefold()
        return " ".join("".join(c if c.isalnum() else " " for c in folded).split())

    @cached_property
    def triples(self) -> frozenset[str]:
        """All runs of three characters in the normalised text, its ends marked by spaces."""
        padded = f"  {self.normalised}  "
        return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))

    def reads_like(self, other: TextBox, likeness: float) -> bool:
        """Whether the texts share more than that part of all their letter triples (equal texts always do)."""
        shared = len(self.triples & other.triples)
        return self.normalised == other.normalised or shared > likeness * len(self.triples | other.triples)


@dataclass(frozen=True)
class StoryPanel:
    """A panel as the tasks see it; `box` in pixels of its page, texts and panels in reading order."""

    panel_id: str
    box: Box
    phash: int | None = None
    """64-bit perceptual hash of its picture; None: its content is compared with no other."""
    texts: tuple[TextBox, ...] = ()
    caption: str = ""

    def looks_like(self, other: StoryPanel, distance: int) -> bool:
        """Whether the perceptual hashes differ in at most that many bits."""
        if self.phash is None or other.phash is None:
            return False
        return (self.phash ^ other.phash).bit_count() <= distance

    def prominent(self, share: float) -> tuple[TextBox, ...]:
        """The textboxes that hold text and lie with at least that share of their area inside the panel."""
        # The share is stored in 32 bits, where 0.79 reads a little under 0.79.
        return tuple(t for t in self.texts if t.text.strip() and t.share >= share - 1e-6)


@dataclass(frozen=True)
class Edit:
    """A textbox that is cleared and lettered anew; `box` in pixels of the page and inside the panel."""

    box: Box
    text: str

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Edit:
        """The edit of an option as the table of samples stores it."""
        return cls(Box(stored["x"], stored["y"], stored["w"], stored["h"]), stored["text"])


@dataclass(frozen=True)
class Option:
    """A panel to choose, with the textboxes that are drawn anew in it."""

    panel_id: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Sample:
    """One question: panels that are shown, options of which one is right."""

    sample_id: str
    task_type: str
    story_id: str
    context: tuple[str, ...]
    index: int
    options: tuple[Option, ...]
    solution_index: int
    font_size: int | None = None
    previous_panel_caption: str = ""

    def row(self, *, book_id: str, split: str, source: str) -> Row:
        """The sample as a row of `comicspap_samples`."""
        options = [
            {"panel_id": o.panel_id, "edits": [{**e.box._asdict(), "text": e.text} for e in o.edits]}
            for o in self.options
        ]
        return {
            "sample_id": self.sample_id,
            "task_type": self.task_type,
            "split": split,
            "book_id": book_id,
            "story_id": self.story_id,
            "context": list(self.context),
            "index": self.index,
            "options": options,
            "solution_index": self.solution_index,
            "font_size": self.font_size,
            "previous_panel_caption": self.previous_panel_caption,
            "source": source,
        }


def chance(option_counts: Iterable[int]) -> float:
    """Accuracy in percent of a blind guess: the mean of 1/k over samples with k options; NaN without samples."""
    shares = [1 / count for count in option_counts]
    return 100 * sum(shares) / len(shares) if shares else float("nan")

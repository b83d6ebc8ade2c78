"""Simple solvers: answers that look at no story, to find what gives the right option away.

A solver gives each option of a sample a score and picks the highest; options that tie share the pick. What does not belong
here: counting how often a solver is right (`audit`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipelines.geometry import Box
from pipelines.pick_a_panel.samples import Edit

Scores = Sequence[float]


@dataclass(frozen=True)
class PanelLook:
    """What is known of a panel's picture: rows of `comic_panels` and `comic_panel_features`."""

    width: int
    height: int
    sharpness: float
    edge_density: float
    jpeg_bytes: int
    phash: int
    colours: np.ndarray

    @classmethod
    def of(cls, panel: Mapping[str, Any], features: Mapping[str, Any]) -> PanelLook:
        """The look from one row of each table."""
        colours = np.array(features["colours"], np.float32)
        sizes = panel["w"], panel["h"], features["sharpness"], features["edge_density"], features["jpeg_bytes"]
        return cls(*sizes, int(features["phash"], 16), colours)


@dataclass(frozen=True)
class Question:
    """A sample as the solvers see it; `shown` counts the samples of its task that show an option's panel as context."""

    context: list[PanelLook]
    options: list[PanelLook]
    edits: list[list[Edit]]
    shown: list[int]


def credit(scores: Scores, solution: int) -> float:
    """1 where the solver picks the right option alone, 1/n where it ties with others, 0 where it is passed over."""
    best = max(scores)
    tied = [place for place, score in enumerate(scores) if score == best]
    return 1 / len(tied) if solution in tied else 0.0


def appearances(contexts: Sequence[Sequence[str]]) -> Counter[str]:
    """In how many samples' contexts each panel is shown."""
    return Counter(panel for context in contexts for panel in set(context))


def _both(name: str, score: Callable[[PanelLook], float]) -> dict[str, Callable[[Question], Scores]]:
    """The solver that takes the most of something, and the one that takes the least."""
    return {
        f"most {name}": lambda question: [score(option) for option in question.options],
        f"least {name}": lambda question: [-score(option) for option in question.options],
    }


def _colour_likeness(question: Question) -> Scores:
    shown = np.mean([panel.colours for panel in question.context], axis=0)
    return [float(np.minimum(option.colours, shown).sum()) for option in question.options]


def _hash_likeness(question: Question) -> Scores:
    return [-min((o.phash ^ c.phash).bit_count() for c in question.context) for o in question.options]


def _length(edits: Sequence[Edit]) -> int:
    return sum(len(edit.text) for edit in edits)


def _fits_box(question: Question) -> Scores:
    """Whether the longer of two texts stands in the larger of two boxes."""
    return [float(_larger(o, lambda e: _area(e.box)) == _larger(o, lambda e: len(e.text))) for o in question.edits]


def _larger(edits: Sequence[Edit], size: Callable[[Edit], int]) -> int:
    return max(range(len(edits)), key=lambda place: size(edits[place]))


def _area(box: Box) -> int:
    return box.w * box.h


_SHOWN_LEAST = "in the contexts of the fewest other samples"
_POSITION: dict[str, Callable[[Question], Scores]] = {
    "first option": lambda q: [-float(place) for place in range(len(q.options))],
    "last option": lambda q: [float(place) for place in range(len(q.options))],
}
_MIDDLE: dict[str, Callable[[Question], Scores]] = {
    "second option": lambda q: [float(place == 1) for place in range(len(q.options))],
}
_PICTURE: dict[str, Callable[[Question], Scores]] = {
    **_both("area", lambda look: float(look.width * look.height)),
    **_both("width to height", lambda look: look.width / look.height),
    **_both("sharpness", lambda look: look.sharpness),
    **_both("edges", lambda look: look.edge_density),
    **_both("bytes", lambda look: float(look.jpeg_bytes)),
    _SHOWN_LEAST: lambda q: [-float(count) for count in q.shown],
    "in the contexts of the most other samples": lambda q: [float(count) for count in q.shown],
}
_CONTEXT: dict[str, Callable[[Question], Scores]] = {
    "colours most like the context": _colour_likeness,
    "colours least like the context": lambda q: [-score for score in _colour_likeness(q)],
    "picture most like one of the context": _hash_likeness,
    "picture least like any of the context": lambda q: [-score for score in _hash_likeness(q)],
}
_LENGTHS: dict[str, Callable[[Question], Scores]] = {
    "longest text": lambda q: [float(_length(edits)) for edits in q.edits],
    "shortest text": lambda q: [-float(_length(edits)) for edits in q.edits],
}
SOLVERS: Mapping[str, Mapping[str, Callable[[Question], Scores]]] = {
    "sequence_filling": _POSITION | _MIDDLE | _PICTURE | _CONTEXT,
    "visual_closure": _POSITION | _MIDDLE | _PICTURE | _CONTEXT,
    "caption_relevance": _POSITION | _MIDDLE | _PICTURE,
    "text_closure": _POSITION | _MIDDLE | _LENGTHS,
    "char_coherence": _POSITION | {"longer text in the larger box": _fits_box},
}
"""The solvers of each task: those on pictures only where options differ in them, those on texts where texts are drawn."""

BY_DESIGN: Mapping[str, str] = {
    _SHOWN_LEAST: (
        "The right panel is masked in its own sample, and where samples do not overlap no other shows it; distractors are "
        "panels that other samples show. That follows from cutting all samples out of the same stories (ComicsPAP, "
        "section 3) and helps only who has the samples of a split side by side, never who answers one at a time."
    ),
}
"""Solvers that beat chance because of what the tasks are, and why; what they find is reported but is no fault."""

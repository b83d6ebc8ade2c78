"""How well found boxes, orders and transcriptions agree with the truth: the measures that benchmarks and tests share.

What does not belong here: reading truth files, and what a stage does. F1 and the share of pages wholly in order are
the measures of the CoMix benchmark; Kendall's tau is the one of Kendall (1938) over orders without ties.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pipelines.geometry import Box, iou


@dataclass(frozen=True)
class Counts:
    """True positives, and how many were found and how many there are; sums over pages by `+`."""

    hits: int = 0
    found: int = 0
    truth: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.hits + other.hits, self.found + other.found, self.truth + other.truth)

    @property
    def precision(self) -> float:
        """Share of what was found that is right; 1 where nothing was found."""
        return self.hits / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Share of the truth that was found; 1 where there is none."""
        return self.hits / self.truth if self.truth else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall: 2 hits / (found + truth); 1 where both are empty."""
        both = self.found + self.truth
        return 2 * self.hits / both if both else 1.0


def match(found: Sequence[Box], truth: Sequence[Box], at_least: float = 0.5) -> list[tuple[int, int]]:
    """Pairs (place in `found`, place in `truth`) of boxes with an IoU of `at_least`, each box in one pair at most.

    As many pairs as there can be, and of those sets the one with the greatest summed IoU: the answer does not depend
    on the order of the boxes. Sorted by place in `truth`.
    """
    if not found or not truth:
        return []
    from scipy.optimize import linear_sum_assignment

    overlap = np.array([[iou(f, t) for t in truth] for f in found])
    # One more pair outweighs any gain in IoU among the others.
    value = np.where(overlap >= at_least, overlap + min(len(found), len(truth)), 0.0)
    rows, columns = linear_sum_assignment(value, maximize=True)
    pairs = [(int(f), int(t)) for f, t in zip(rows, columns, strict=True) if overlap[f, t] >= at_least]
    return sorted(pairs, key=lambda pair: pair[1])


def count(found: Sequence[Box], truth: Sequence[Box], at_least: float = 0.5) -> Counts:
    """The counts of one page at that IoU."""
    return Counts(len(match(found, truth, at_least)), len(found), len(truth))


def exact(counts: Counts) -> bool:
    """Whether a page has every box right and none too many."""
    return counts.hits == counts.found == counts.truth


def share(answers: Iterable[bool]) -> float:
    """Share of pages for which something holds (exact, wholly in order); 1 without any page."""
    values = list(answers)
    return sum(values) / len(values) if values else 1.0


def in_order(order: Sequence[int]) -> bool:
    """Whether the places that a page's items have in truth, listed as they were ordered, only rise."""
    return all(a < b for a, b in zip(order, order[1:], strict=False))


def kendall_tau(order: Sequence[int]) -> float:
    """Kendall's tau of an order against the truth: 1 for the same, -1 for the reverse, 1 for fewer than two items.

    `order` lists the places in truth, without repeats.
    """
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    if len(set(order)) != len(order):
        raise ValueError("an order holds each place once")
    return sum(1 if a < b else -1 for a, b in pairs) / len(pairs) if pairs else 1.0


def edit_distance(a: str, b: str) -> int:
    """Levenshtein's distance: insertions, deletions and replacements of characters."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def normalised_edit_distance(a: str, b: str) -> float:
    """Edit distance as a share of the longer text: 0 for equal texts, 1 for nothing in common."""
    longest = max(len(a), len(b))
    return edit_distance(a, b) / longest if longest else 0.0


def plain(text: str) -> str:
    """A transcription as it is compared: NFKC, one case, single spaces, straight quotes.

    Comics are lettered in capitals, and transcribers differ in case and in spaces; punctuation counts.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(text.replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"').split())


def character_error(pairs: Iterable[tuple[str, str]]) -> float:
    """Character error rate over (read, truth) pairs: summed edit distance / summed length of the truth, as `plain`.

    A text that was not found is a pair with an empty reading. 0 without any truth.
    """
    items = [(plain(read), plain(truth)) for read, truth in pairs]
    length = sum(len(truth) for _, truth in items)
    return sum(edit_distance(read, truth) for read, truth in items) / length if length else 0.0

"""What pages of one book say of each other: which are double pages, and which show the same as an earlier one.

Both rules go through the book once and keep a few numbers for each page, never its picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low

import numpy as np

from pipelines.comics.page_facts import PageFacts

SPREAD_RATIOS = (1.6, 2.6)
"""How much wider than the book's usual page a spread is, at equal height: two pages make 2, less what lies in the fold,
more where the usual page is trimmed. The widest single pages of a book stay under 1.3; a wider picture is a banner."""
DUPLICATE_BITS = 6
"""Bits of 64 in which the hashes of two pictures of one page may differ: recompressed, scaled, brightened."""
DUPLICATE_CORRELATION = 0.99
"""Least correlation of their 32 x 32 thumbnails. Two pages with one layout, or a page and its variant with other words,
have near hashes too, and are told apart here."""
LEAST_CONTRAST = 8.0
"""Standard deviation of the thumbnail (0 to 255) under which a picture is blank: its hash is noise, so that only equal
bytes make it a duplicate."""


def usual_aspect(sizes: Sequence[tuple[int, int]]) -> float:
    """Width through height of a book's usual page: the (lower) median of the (width, height) given, at least one."""
    return median_low(width / height for width, height in sizes)


def is_spread(width: int, height: int, usual: float) -> bool:
    """Whether a page is a double page: wider than high, and about twice as wide as the book's usual page is.

    A book whose pages are all wide has none: it is drawn that way.
    """
    least, most = SPREAD_RATIOS
    return width > height and least <= width / height / usual <= most


class Duplicates:
    """The pages of a book so far, to find the one that a new page repeats."""

    def __init__(self) -> None:
        self._by_digest: dict[str, str] = {}
        self._pages: list[tuple[str, int, np.ndarray]] = []

    def find(self, page_id: str, facts: PageFacts) -> str | None:
        """The first page that shows the same as this one, else None, and then this one is kept to be compared with."""
        same = self._by_digest.get(facts.sha256)
        if same is not None:
            return same
        bits, thumbnail = int(facts.phash, 16), _normalised(facts.thumbnail)
        if thumbnail is not None:
            for earlier, other_bits, other in self._pages:
                close = (bits ^ other_bits).bit_count() <= DUPLICATE_BITS
                if close and float(thumbnail @ other) >= DUPLICATE_CORRELATION:
                    self._by_digest[facts.sha256] = earlier
                    return earlier
            self._pages.append((page_id, bits, thumbnail))
        self._by_digest[facts.sha256] = page_id
        return None


def _normalised(thumbnail: bytes) -> np.ndarray | None:
    """The thumbnail without its mean, as a vector of length 1; None for a blank picture."""
    grey = np.frombuffer(thumbnail, np.uint8).astype(np.float32)
    grey -= grey.mean()
    length = float(np.linalg.norm(grey))
    return grey / length if length >= LEAST_CONTRAST * grey.size**0.5 else None

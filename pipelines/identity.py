"""Ids, digests, seeded randomness and the split of a book: everything that must come out the same on every machine.

What does not belong here: reading files (stages do that) and choosing what to sample (the tasks do).
"""

from __future__ import annotations

import hashlib
import json
import random
import unicodedata
from collections.abc import Mapping
from pathlib import PurePosixPath


def book_id(relative_path: str, *, is_folder: bool = False) -> str:
    """The id of a book: its path under `comics/` in Unicode NFC, without the extension of a file."""
    path = PurePosixPath(unicodedata.normalize("NFC", relative_path))
    return str(path if is_folder else path.with_suffix(""))


def page_id(book: str, page_number: int) -> str:
    """`book/0007`: four digits, pages counted from 1."""
    return f"{book}/{page_number:04d}"


def panel_id(page: str, reading_order: int) -> str:
    """`book/0007/03`: two digits, panels counted from 1 in reading order."""
    return f"{page}/{reading_order:02d}"


def text_id(page: str, reading_order: int) -> str:
    """`book/0007/t03`: two digits, textboxes counted from 1 in reading order on their page."""
    return f"{page}/t{reading_order:02d}"


def story_id(book: str, number: int) -> str:
    """`book/s02`: two digits, stories counted from 1 in page order."""
    return f"{book}/s{number:02d}"


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces, so that equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def fingerprint(value: object) -> str:
    """Hex digest (32 characters) of a JSON value; equal values give equal fingerprints on every machine."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:32]


def rng(seed: int, *ids: str | int) -> random.Random:
    """A generator of its own for one decision, so that no other decision can shift what it draws.

    Examples:
        >>> rng(0, "book/0001/01").random() == rng(0, "book/0001/01").random()
        True
    """
    digest = hashlib.sha256(canonical_json([seed, *ids]).encode()).digest()
    return random.Random(int.from_bytes(digest, "big"))


def split_of(book: str, shares: Mapping[str, float]) -> str:
    """The split of a book by a hash of its id alone, so that adding a book never moves another.

    `shares` maps split names to weights; their order matters, their sum does not. The seed is deliberately not part of the
    hash: drawing other samples must never move a book from train to test.
    """
    point = int.from_bytes(hashlib.sha256(book.encode()).digest()[:8], "big") / 2**64 * sum(shares.values())
    for split, share in shares.items():
        if point < share:
            return split
        point -= share
    return next(reversed(list(shares)))

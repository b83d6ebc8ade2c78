"""Pages and panels that two splits share, or nearly: a model that was trained on one has seen the other.

What does not belong here: duplicates inside a book (`comics.page_marks`) and among a sample's options (`distractors`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

MAX_DISTANCE = 4
"""Bits of 64 in which the hashes of near-duplicates differ at most: rescaled and recompressed copies stay under it."""
LEAST_CONTRAST = 8.0
"""Pictures flatter than this (standard deviation of grey, of 255) are left out: hashes of empty panels say nothing."""
_BLOCK = 512


@dataclass(frozen=True)
class Pair:
    """An item of the split and one of another split that shows nearly the same; `distance` in bits."""

    item: str
    other: str
    distance: int


def near_duplicates(
    items: pa.Table, split_of: Mapping[str, str], split: str, max_distance: int = MAX_DISTANCE, most: int = 100
) -> list[Pair]:
    """Pairs of an item of the split and one of another split, at most `most` of them, in the items' order.

    `items` has the columns `id`, `book_id` and `phash` (16 hex digits). Compares every pair, 64 bits at a time: 10,000
    by 90,000 items take a few seconds and some 400 MB at most.
    """
    splits = np.array([split_of.get(book, "") for book in items["book_id"].to_pylist()])
    hashes = np.array([int(value, 16) for value in items["phash"].to_pylist()], np.uint64)
    mine, others = np.flatnonzero(splits == split), np.flatnonzero((splits != split) & (splits != ""))
    names = items["id"].to_pylist()
    found: list[Pair] = []
    for start in range(0, len(mine), _BLOCK):
        block = mine[start : start + _BLOCK]
        distances = np.bitwise_count(hashes[block][:, None] ^ hashes[others][None, :])
        for row, column in np.argwhere(distances <= max_distance):
            found.append(Pair(names[block[row]], names[others[column]], int(distances[row, column])))
            if len(found) == most:
                return found
    return found

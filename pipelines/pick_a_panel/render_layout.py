"""Where panels of one size stand in a single picture: plain geometry, no pixels."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.geometry import Box

FRAME = 6
"""Pixels around each panel that a frame may take."""
_GAP = 12
_GROUP_GAP = 36
_LONGEST_ASPECT = 3


@dataclass(frozen=True)
class Arrangement:
    """A canvas in pixels and the boxes of the context (the mask among them) and of the options on it."""

    width: int
    height: int
    context: tuple[Box, ...]
    options: tuple[Box, ...]


def rows(shown: int, options: int, size: tuple[int, int], most_in_row: int | None) -> Arrangement:
    """The context in a row, the options in a row below; rows longer than `most_in_row` wrap into even ones."""
    return _stacked(_even(shown, most_in_row), _even(options, most_in_row), size)


def squares(shown: int, options: int, size: tuple[int, int]) -> Arrangement:
    """Context above, options below, in that number of columns that leaves the least space empty.

    No side is more than three times the other where that can be had; among equals the most columns win.
    """

    def waste(columns: int) -> tuple[bool, float, int]:
        height = -(-shown // columns) + -(-options // columns)
        long = max(columns, height) > _LONGEST_ASPECT * min(columns, height)
        return long, 1 - (shown + options) / (columns * height), -columns

    columns = min(range(1, max(shown, options) + 1), key=waste)
    return _stacked(_filled(shown, columns), _filled(options, columns), size)


def _even(count: int, most: int | None) -> list[int]:
    """How many panels stand in each row: as many rows as are needed, as even as can be."""
    if not count:
        return []
    number = -(-count // (most or count))
    return [count // number + (row < count % number) for row in range(number)]


def _filled(count: int, columns: int) -> list[int]:
    """Full rows, the last with what is left."""
    return [min(columns, count - first) for first in range(0, count, columns)]


def _stacked(context: list[int], options: list[int], size: tuple[int, int]) -> Arrangement:
    width, height = size
    groups: list[tuple[Box, ...]] = []
    y = _GAP
    for lengths in (context, options):
        boxes: list[Box] = []
        if groups and groups[0]:
            y += _GROUP_GAP - _GAP
        for length in lengths:
            boxes += [Box(_GAP + column * (width + _GAP), y, width, height) for column in range(length)]
            y += height + _GAP
        groups.append(tuple(boxes))
    return Arrangement(_GAP + max(context + options) * (width + _GAP), y, groups[0], groups[1])

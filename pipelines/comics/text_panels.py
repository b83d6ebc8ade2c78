"""To which panel a textbox belongs, and the order in which the textboxes of a page are read.

What does not belong here: the order of panels (`reading_order`), and what a textbox says.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.comics.reading_order import reading_order
from pipelines.geometry import Box, intersection

TEXT_ROW_SLACK = 0.2
"""Balloons of one row are staggered more than panels are: those that overlap more than this in height are one row."""


def assign(box: Box, panels: Sequence[Box]) -> tuple[int | None, float]:
    """The panel that holds most of a box, as its place in `panels`, and the share of the box's area inside it.

    A box that touches no panel goes to the nearest (distance between edges), with a share of 0; without panels the
    answer is None. Of panels that hold equally much (one inside the other) the smaller, of those the first.
    """
    if not panels:
        return None, 0.0
    shared = [intersection(box, panel) for panel in panels]
    if box.area and max(shared):
        best = min(range(len(panels)), key=lambda i: (-shared[i], panels[i].area, i))
        return best, shared[best] / box.area
    nearest = min(range(len(panels)), key=lambda i: (_distance(box, panels[i]), panels[i].area, i))
    return nearest, 0.0


def text_order(
    boxes: Sequence[Box], panel_of: Sequence[int | None], panels: Sequence[Box], right_to_left: bool = False
) -> list[int]:
    """Places of the textboxes of one page in reading order: panel by panel, within a panel as boxes are read.

    `panels` are in reading order, and `panel_of` gives each box its place in them. Boxes without a panel come last.
    """
    order: list[int] = []
    for panel in [*range(len(panels)), None]:
        inside = [i for i, home in enumerate(panel_of) if home == panel]
        placed = reading_order([boxes[i] for i in inside], right_to_left=right_to_left, row_slack=TEXT_ROW_SLACK)
        order.extend(inside[i] for i in placed)
    return order


def _distance(a: Box, b: Box) -> float:
    """Pixels between the edges of two boxes; 0 where they touch."""
    across = max(a.x - b.right, b.x - a.right, 0)
    down = max(a.y - b.bottom, b.y - a.bottom, 0)
    return (across**2 + down**2) ** 0.5

"""An entry's regions in pixels of the real page: scaled from the annotated picture, clipped, checked, in reading order.

Here: geometry of one page. Not here: which page, and which file wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.comics.annotations.entries import AnnotationEntry, Region, excerpt, wrong
from pipelines.comics.reading_order import reading_order
from pipelines.errors import ItemError
from pipelines.geometry import Box, box_polygon, intersection

_ASPECT_TOLERANCE = 0.02
"""How far the shapes of the annotated picture and of the page may differ: a resized copy differs by less than a pixel."""
_OUTSIDE = 0.5
"""A box with more than this share outside the page is wrong; with less, it was drawn a little over the edge."""

Scale = tuple[float, float]
_Polygon = list[list[int]]


def on_page(entry: AnnotationEntry, page: Mapping[str, Any], right_to_left: bool) -> dict[str, Any]:
    """The payloads of an entry's aspects, for a page of `width` x `height` pixels.

    Raises `ItemError` (`bad_annotation`) where a region does not lie on the page: then nothing of the entry is used,
    since texts and captions count its panels.
    """
    width, height = page["width"], page["height"]
    scale = _scale(entry, width, height)
    found: dict[str, Any] = {}
    if "kind" in entry.aspects:
        found["kind"] = entry.aspects["kind"]
    panels: list[Box] = []
    if "panels" in entry.aspects:
        shapes = [_shape(r, f"panel {i}", scale, width, height) for i, r in enumerate(entry.aspects["panels"], 1)]
        if not entry.ordered:
            shapes = [shapes[i] for i in reading_order([box for box, _ in shapes], right_to_left=right_to_left)]
        found["panels"] = [{"box": list(box), "polygon": outline} for box, outline in shapes]
        panels = [box for box, _ in shapes]
    if "texts" in entry.aspects:
        regions: list[Region] = entry.aspects["texts"]
        boxes = [_shape(r, f"textbox {i}", scale, width, height)[0] for i, r in enumerate(regions, 1)]
        order = range(len(boxes)) if entry.ordered else _panel_by_panel(boxes, panels, right_to_left)
        found["texts"] = [
            {"box": list(boxes[i]), "text": regions[i].get("text"), "panel": regions[i].get("panel")} for i in order
        ]
    if "captions" in entry.aspects:
        found["captions"] = entry.aspects["captions"]
    return found


def _scale(entry: AnnotationEntry, width: int, height: int) -> Scale:
    if entry.size is None:
        return (width / 100, height / 100) if entry.percent else (1.0, 1.0)
    x, y = width / entry.size[0], height / entry.size[1]
    if abs(x / y - 1) > _ASPECT_TOLERANCE:
        was = "x".join(f"{side:g}" for side in entry.size)
        raise ItemError(
            "other_picture",
            f"it was drawn on a picture of {was} pixels, of another shape than the page of {width}x{height}",
            remedy="Annotate this page, upright and uncut, or correct the size.",
        )
    return (width / 100, height / 100) if entry.percent else (x, y)


def _shape(region: Region, what: str, scale: Scale, width: int, height: int) -> tuple[Box, _Polygon]:
    """Box and outline on the page; the outline of a box are its corners."""
    points = region.get("polygon")
    outline = None if points is None else [[round(x * scale[0]), round(y * scale[1])] for x, y in points]
    if "box" in region:
        x, y, w, h = region["box"]
        left, top = round(x * scale[0]), round(y * scale[1])
        drawn = Box(left, top, round((x + w) * scale[0]) - left, round((y + h) * scale[1]) - top)
    else:
        xs, ys = zip(*(outline or ()), strict=True)
        drawn = Box(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))
    box = drawn.clipped(width, height)
    if box.area < drawn.area * (1 - _OUTSIDE):
        remedy = "Correct it, or give the width and height of the annotated picture."
        raise wrong(f"{what} {excerpt(list(drawn))} lies outside the page of {width}x{height} pixels", remedy)
    if not box.area:
        raise wrong(f"{what} {excerpt(list(drawn))} has no area in pixels of the page", "Draw it again, or delete it.")
    if outline is None:
        return box, box_polygon(box)
    return box, [[min(max(x, 0), width), min(max(y, 0), height)] for x, y in outline]


def _panel_by_panel(boxes: Sequence[Box], panels: Sequence[Box], right_to_left: bool) -> list[int]:
    """Reading order of textboxes: by the panel with the largest share of each, those outside panels last."""
    places = []
    for box in boxes:
        shares = [intersection(box, panel) for panel in panels]
        places.append(shares.index(max(shares)) if any(shares) else len(panels))
    in_page = reading_order(boxes, right_to_left=right_to_left)
    return sorted(in_page, key=places.__getitem__)

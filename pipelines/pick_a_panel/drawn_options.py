"""Options whose words are drawn anew: clear a textbox to the colour of its paper and letter a text in it.

What does not belong here: which boxes and texts (the tasks choose them) and how text is set (`pipelines.lettering`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import cv2
import numpy as np
from PIL import Image

from pipelines.geometry import Box
from pipelines.lettering import common_size, letter, missing_glyphs
from pipelines.pick_a_panel.samples import Edit, StoryPanel, TaskSettings, TextBox

_PAPER_TOLERANCE = 40
_LEAST_GROUND = 0.25
_LEAST_CLEARED = 0.62
_MARGIN = 0.05
_PAPER_PIXELS = 10_000


def can_be_lettered(text: TextBox) -> bool:
    """Whether the bundled font has every character of the text."""
    return not missing_glyphs(text.text)


def room(text: TextBox, panel: StoryPanel) -> Box:
    """The part of a textbox inside its panel, in pixels of the page: all that is cleared and lettered."""
    shifted = text.box._replace(x=text.box.x - panel.box.x, y=text.box.y - panel.box.y)
    inside = shifted.clipped(panel.box.w, panel.box.h)
    return inside._replace(x=inside.x + panel.box.x, y=inside.y + panel.box.y)


def lettered_part(box: Box) -> Box:
    """The part of a cleared box that takes the text: without a margin of a twentieth of its shorter side."""
    margin = round(min(box.w, box.h) * _MARGIN)
    return Box(box.x + margin, box.y + margin, box.w - 2 * margin, box.h - 2 * margin)


def size_for(texts: Iterable[str], boxes: Sequence[Box], panel: Box, settings: TaskSettings) -> int | None:
    """The largest size in pixels at which each text fits in each box, or None where none is readable.

    A large panel is shown smaller, so what is readable goes with the panel's long side as well.
    """
    smallest = max(settings.smallest_font, math.ceil(settings.font_share * max(panel.w, panel.h)))
    parts = [lettered_part(box) for box in boxes]
    items = [(text, (part.w, part.h)) for text in texts for part in parts]
    return common_size(items, largest=max(settings.largest_font, 2 * smallest), smallest=smallest)


def option_image(page: np.ndarray, panel: Box, edits: Sequence[Edit], font_size: int | None) -> np.ndarray:
    """The picture of an option, RGB uint8 (h, w, 3): the panel cut from its page, the edits drawn at `font_size`.

    All boxes are in pixels of the page. Options of one panel with the same boxes are equal outside these boxes, pixel
    for pixel. Without edits `font_size` may be None. Raises ValueError where a text does not fit its box.
    """
    crop = page[panel.y : panel.bottom, panel.x : panel.right].copy()
    if not edits:
        return crop
    if font_size is None:
        raise ValueError("options with edits need a font size")
    boxes = [edit.box._replace(x=edit.box.x - panel.x, y=edit.box.y - panel.y) for edit in edits]
    papers = [paper_colour(crop[box.y : box.bottom, box.x : box.right]) for box in boxes]
    for box, paper in zip(boxes, papers, strict=True):
        inside = cleared_part(crop, box, paper)
        crop[box.y : box.bottom, box.x : box.right][inside] = paper
    for edit, box, paper in zip(edits, boxes, papers, strict=True):
        _letter(crop[box.y : box.bottom, box.x : box.right], edit.text, font_size, paper)
    return crop


def paper_colour(region: np.ndarray) -> tuple[int, int, int]:
    """The colour of the ground that a text stands on: the median of the pixels about the commonest shade of a region.

    `region` is RGB uint8 (h, w, 3) with at least one pixel. Shades are told apart in steps of 32 of 256 in each
    channel, shifted by half a step where that gathers more pixels, so that paper does not fall on a step's edge.
    Of a large region about ten thousand pixels are looked at.
    """
    pixels = region.reshape(-1, 3)
    pixels = pixels[:: -(-len(pixels) // _PAPER_PIXELS)].astype(np.int32)
    best = max((_commonest(pixels, shift) for shift in (0, 16)), key=len)
    red, green, blue = (int(value) for value in np.median(best, axis=0))
    return red, green, blue


def cleared_part(panel: np.ndarray, box: Box, paper: tuple[int, int, int]) -> np.ndarray:
    """Which pixels of a box are cleared, bool (h, w): the balloon's ground with all that stands on it.

    A box drawn around a whole balloon has corners outside it; its outline and the art there stay. Where no one ground
    of the paper's colour fills the box (letters over art, broken outlines), the whole box is cleared: old letters
    must never show through. `panel` is RGB uint8 (h, w, 3), the box lies inside it.
    """
    # Beside the box the ground goes around letters that touch the box's edge.
    pad = max(min(box.w, box.h) // 4, 4)
    left, top = max(box.x - pad, 0), max(box.y - pad, 0)
    around = panel[top : box.bottom + pad, left : box.right + pad]
    low, high = (np.clip(np.array(paper) + step, 0, 255) for step in (-_PAPER_TOLERANCE, _PAPER_TOLERANCE))
    count, found = cv2.connectedComponents(cv2.inRange(around, low, high), connectivity=4)
    labels = np.asarray(found, np.intp)
    inside = np.s_[box.y - top : box.bottom - top, box.x - left : box.right - left]
    large = np.asarray(np.bincount(labels[inside].ravel(), minlength=count) >= _LEAST_GROUND * box.area)
    large[0] = False  # what is not of the paper's colour
    ground = large[labels]
    part = (_between(ground) | _between(ground.T).T)[inside]
    return part | _core(box) if np.mean(part) >= _LEAST_CLEARED else np.ones_like(part)


def _between(ground: np.ndarray) -> np.ndarray:
    """The pixels from the first to the last ground pixel of each row."""
    columns = np.arange(ground.shape[1])
    first = ground.argmax(axis=1)[:, None]
    last = ground.shape[1] - 1 - ground[:, ::-1].argmax(axis=1)[:, None]
    return (columns >= first) & (columns <= last) & ground.any(axis=1, keepdims=True)


def _core(box: Box) -> np.ndarray:
    """The middle of a box, where letters stand and no outline runs: an ellipse of nine tenths of its size."""
    y, x = np.ogrid[: box.h, : box.w]
    return ((x + 0.5) / box.w - 0.5) ** 2 + ((y + 0.5) / box.h - 0.5) ** 2 <= 0.45**2


def _letter(region: np.ndarray, text: str, font_size: int, paper: tuple[int, int, int]) -> None:
    """Letter a text in a region, with a rim of paper around each glyph, so that no outline runs through it."""
    part = lettered_part(Box(0, 0, region.shape[1], region.shape[0]))
    glyphs = Image.new("L", (region.shape[1], region.shape[0]))
    letter(glyphs, part, text, font_size, 255)
    region[cv2.dilate(np.asarray(glyphs), np.ones((5, 5), np.uint8)) > 0] = paper
    image = Image.fromarray(region)
    letter(image, part, text, font_size, _ink_on(paper))
    region[:] = np.asarray(image)


def _commonest(pixels: np.ndarray, shift: int) -> np.ndarray:
    steps = (pixels + shift) // 32
    shades = steps[:, 0] * 81 + steps[:, 1] * 9 + steps[:, 2]
    return pixels[shades == np.bincount(shades).argmax()]


def _ink_on(paper: tuple[int, int, int]) -> tuple[int, int, int]:
    red, green, blue = paper
    # Luma as in ITU-R BT.601: the eye takes green for brighter than blue.
    return (0, 0, 0) if 0.299 * red + 0.587 * green + 0.114 * blue > 110 else (255, 255, 255)

"""A sample in one picture: the context with its mask in a row, under it the options, each with its number.

This is what a model is shown that takes a single image (section 4.1 of the ComicsPAP paper), and what people look at.
What does not belong here: where the pictures come from, and the prompt around them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

import cv2
import numpy as np
from PIL import Image, ImageDraw

from pipelines.comics.page_pictures import decode, rgb
from pipelines.errors import SettingsError
from pipelines.geometry import Box
from pipelines.lettering import common_size, letter, measure
from pipelines.pick_a_panel.render_layout import FRAME, Arrangement, rows, squares

_MASK = (128, 128, 128)
_OUTLINE = (150, 150, 150)
_RIGHT = (0, 150, 60)
_SIDES = ((0, 1), (-1, 1), (1, 1), (0, 0), (-1, 0), (1, 0))
"""Where a number may stand in its panel, as (left, middle, right; top, bottom), the usual one first."""
_DIFFERENT = 16
"""Pixels that differ by more than this of 256 in a channel are different: less comes from storing as JPEG."""
_LEAST_SIDE = 48
"""Panels are drawn at least this wide and high: a number must fit into each and be readable."""


@dataclass(frozen=True)
class Rendering:
    """How a single picture is laid out; the defaults are those of the published evaluation code.

    Raises SettingsError for sizes that give no picture.
    """

    layout: Literal["rows", "squares"] = "rows"
    """`rows`: context above, options below, all of one common size. `squares`: each panel a square, in so many columns
    that little space is wasted, as in the paper's figure."""
    longest: int = 500
    """Each panel shrinks to at most this many pixels on its long side before the common size is taken."""
    keep_aspect: bool = False
    """Pad panels with white to the common size, instead of stretching them."""
    most_in_row: int | None = None
    """Rows of the layout `rows` that would be longer wrap; None never wraps."""

    def __post_init__(self) -> None:
        """Refuse layouts that do not exist and sizes under which nothing is readable."""
        if self.layout not in ("rows", "squares"):
            raise SettingsError(f"there is no layout {self.layout!r}", remedy="Take `rows` or `squares`.")
        if self.longest < _LEAST_SIDE or (self.most_in_row is not None and self.most_in_row < 1):
            raise SettingsError(
                "the sizes of the single picture are too small",
                remedy=f"Set `longest` to {_LEAST_SIDE} or more and `most_in_row` to 1 or more.",
            )


@dataclass(frozen=True)
class Scene:
    """The pictures of a sample, RGB uint8 (h, w, 3), and where the missing one goes (-1: there is no context)."""

    context: tuple[np.ndarray, ...]
    options: tuple[np.ndarray, ...]
    index: int
    solution_index: int = -1
    """The right option; -1 where it is hidden."""

    def __post_init__(self) -> None:
        """Refuse a mask outside the context: the reader would see none, and not know what is asked."""
        if self.index not in range(-1 if not self.context else 0, len(self.context) + 1) or not self.options:
            raise ValueError(f"index {self.index} with {len(self.context)} panels, {len(self.options)} options")

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Scene:
        """The scene of a row of the release, as stored (`bytes`) or as `datasets` gives it (Pillow images)."""
        pictures = {name: tuple(_pixels(picture) for picture in row[name]) for name in ("context", "options")}
        return cls(pictures["context"], pictures["options"], row["index"], row["solution_index"])


def render_sample(scene: Scene, rendering: Rendering | None = None, *, show_answer: bool = False) -> np.ndarray:
    """The single picture of a sample, RGB uint8 (h, w, 3); with `show_answer` the right option is framed in green.

    A scene without context gives the options alone. The same pictures give the same pixels each time.
    """
    rendering = rendering or Rendering()
    size = _common_size([*scene.context, *scene.options], rendering)
    places = arrangement(scene, size, rendering)
    canvas = np.full((places.height, places.width, 3), 255, np.uint8)
    masks = [_mask(size)] if scene.index >= 0 else []
    context = [_fitted(picture, size, rendering.keep_aspect) for picture in scene.context]
    options = [_fitted(picture, size, rendering.keep_aspect) for picture in scene.options]
    shown = context[: scene.index] + masks + context[scene.index :] if masks else []
    for place, cell in zip(places.context, shown, strict=True):
        _set(canvas, place, cell, _OUTLINE)
    side = _badge_side(options)
    for number, (place, cell) in enumerate(zip(places.options, options, strict=True)):
        right = show_answer and number == scene.solution_index
        _set(canvas, place, _numbered(cell, number, side), _RIGHT if right else _OUTLINE, FRAME if right else 1)
    return canvas


def arrangement(scene: Scene, size: tuple[int, int], rendering: Rendering) -> Arrangement:
    """Where each panel of the context, the mask among them, and each option stands, all of one (width, height)."""
    shown = len(scene.context) + 1 if scene.index >= 0 else 0
    if rendering.layout == "squares":
        return squares(shown, len(scene.options), size)
    return rows(shown, len(scene.options), size, rendering.most_in_row)


def number_box(width: int, height: int, number: int, side: tuple[int, int] = _SIDES[0]) -> Box:
    """The badge of an option's number in a panel of that size: wholly inside it, at one of `_SIDES`."""
    badge = min(max(min(width, height) // 8, 24), 48)
    text_width, _ = measure([str(number)], _number_size(badge))
    wide = min(max(badge, text_width + badge // 2), width - 2)
    edge = max(badge // 6, 1)
    x = {-1: min(edge, width - 1 - wide), 0: (width - wide) // 2, 1: max(width - wide - edge, 1)}[side[0]]
    return Box(x, height - badge - edge if side[1] else edge, wide, badge)


def _badge_side(options: Sequence[np.ndarray]) -> tuple[int, int]:
    """Where the numbers stand: where they cover nothing by which the options differ, else at the bottom in the middle.

    Options of one panel with other words differ in a small part, and that part must be seen.
    """
    first, *others = options
    differs = np.zeros(first.shape[:2], bool)
    for other in others:
        differs |= np.abs(first.astype(np.int16) - other).max(axis=2) > _DIFFERENT
    if differs.mean() > 0.5:
        return _SIDES[0]
    height, width = first.shape[:2]

    def hidden(side: tuple[int, int]) -> int:
        box = number_box(width, height, len(options) - 1, side)
        return int(differs[box.y : box.bottom, box.x : box.right].sum())

    return min(_SIDES, key=hidden)


def _number_size(badge: int) -> int:
    return badge * 3 // 4


def _pixels(picture: Mapping[str, Any] | Image.Image) -> np.ndarray:
    return rgb(picture) if isinstance(picture, Image.Image) else decode(picture["bytes"])


def _common_size(pictures: Sequence[np.ndarray], rendering: Rendering) -> tuple[int, int]:
    """The median width and height of all panels after each has shrunk; a square of their long sides for `squares`."""
    shrunk = [_shrunk(picture, rendering.longest) for picture in pictures]
    if rendering.layout == "squares":
        side = max(int(median(max(width, height) for width, height in shrunk)), _LEAST_SIDE)
        return side, side
    width, height = (int(median(sides)) for sides in zip(*shrunk, strict=True))
    return max(width, _LEAST_SIDE), max(height, _LEAST_SIDE)


def _shrunk(picture: np.ndarray, longest: int) -> tuple[int, int]:
    height, width = picture.shape[:2]
    factor = min(1.0, longest / max(width, height))
    return max(round(width * factor), 1), max(round(height * factor), 1)


def _fitted(picture: np.ndarray, size: tuple[int, int], keep_aspect: bool) -> np.ndarray:
    """The picture at that size: stretched, or scaled as a whole and centred on white."""
    width, height = size
    if not keep_aspect:
        return _resized(picture, width, height)
    factor = min(width / picture.shape[1], height / picture.shape[0])
    inner = _resized(picture, max(round(picture.shape[1] * factor), 1), max(round(picture.shape[0] * factor), 1))
    cell = np.full((height, width, 3), 255, np.uint8)
    y, x = (height - inner.shape[0]) // 2, (width - inner.shape[1]) // 2
    cell[y : y + inner.shape[0], x : x + inner.shape[1]] = inner
    return cell


def _resized(picture: np.ndarray, width: int, height: int) -> np.ndarray:
    shrinks = width <= picture.shape[1] and height <= picture.shape[0]
    return cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)


def _mask(size: tuple[int, int]) -> np.ndarray:
    image = Image.new("RGB", size, _MASK)
    place = Box(0, 0, *size)
    large = common_size([("?", size)], largest=max(min(size) // 2, 12), smallest=8)
    letter(image, place, "?", large or 8, "black")
    return np.asarray(image)


def _numbered(cell: np.ndarray, number: int, side: tuple[int, int]) -> np.ndarray:
    """The panel with its number in black on a white badge with a black rim, readable on any ground."""
    image = Image.fromarray(cell)
    box = number_box(*image.size, number, side)
    rim = max(box.h // 16, 1)
    ImageDraw.Draw(image).rectangle((box.x, box.y, box.right - 1, box.bottom - 1), "white", "black", rim)
    letter(image, box, str(number), _number_size(box.h), "black")
    return np.asarray(image)


def _set(canvas: np.ndarray, place: Box, cell: np.ndarray, colour: tuple[int, int, int], frame: int = 1) -> None:
    """Put a panel in its place with a frame around it, which covers none of its pixels."""
    canvas[place.y - frame : place.bottom + frame, place.x - frame : place.right + frame] = colour
    canvas[place.y : place.bottom, place.x : place.right] = cell

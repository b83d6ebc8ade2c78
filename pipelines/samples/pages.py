"""Drawing a page of story: paper, panels, borders, balloons, and the truth of all of it.

What does not belong here: which panels come on which page (books.py), and covers, advertisements and the like.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import cv2
import numpy as np
from PIL import Image

from pipelines.geometry import Box, polygon_box
from pipelines.lettering import letter
from pipelines.samples.balloons import Balloon, draw_balloon, headroom
from pipelines.samples.captions import describe
from pipelines.samples.ink import Pen, solid
from pipelines.samples.layouts import Cell, page_layout
from pipelines.samples.light import Palette
from pipelines.samples.scripts import BookScript, PanelScript
from pipelines.samples.staging import Staged, paint, stage
from pipelines.samples.truth import PanelTruth, TextTruth

_TRIES = 5


@dataclass(frozen=True)
class Style:
    """How a book is drawn. Sizes are shares of the page's width; `scale` is how much larger pages are drawn than kept."""

    palette: Palette
    width: int = 1000
    height: int = 1500
    margin: float = 0.045
    gutter: float = 0.016
    border: float = 0.0035
    slant: float = 0.0
    lettering: float = 0.0195
    capitals: bool = False
    right_to_left: bool = False
    scale: int = 2

    def pixels(self, share: float) -> int:
        """A share of the page's width in pixels, at least one."""
        return max(round(share * self.width), 1)

    @property
    def area(self) -> Box:
        """The page inside its margins."""
        margin = self.pixels(self.margin)
        return Box(margin, margin, self.width - 2 * margin, self.height - 2 * margin)


class Sheet:
    """A page while it is drawn: a large canvas for pictures, and texts that are lettered at the end, at the final size."""

    def __init__(self, style: Style, *, paper: tuple[int, int, int] | None = None) -> None:
        self.style = style
        width, height = style.width * style.scale, style.height * style.scale
        self.canvas = solid(width, height, paper or style.palette.paper)
        self.texts: list[TextTruth] = []
        self._letters: list[tuple[Box, str, int, tuple[int, int, int], bool]] = []

    @property
    def pen(self) -> Pen:
        """A pen in pixels of the finished page; its y axis points up, so rows are negative."""
        scale = self.style.scale
        return Pen(self.canvas, (0.0, 0.0), float(scale), weight=self.style.pixels(0.0027) * scale)

    def write(
        self,
        box: Box,
        text: str,
        size: int,
        colour: tuple[int, int, int] = (20, 18, 26),
        *,
        panel: int | None = None,
        centred: bool = True,
    ) -> None:
        """Letter a text into a box, and note it as true."""
        self._letters.append((box, text, size, colour, centred))
        self.texts.append(TextTruth(box, text, panel))

    def finish(self) -> Image.Image:
        """The finished page, RGB."""
        style = self.style
        picture = self.canvas
        if style.scale > 1:
            picture = cv2.resize(picture, (style.width, style.height), interpolation=cv2.INTER_AREA)
        if style.palette.grey:
            picture = cv2.cvtColor(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
        image = Image.fromarray(picture)
        for box, text, size, colour, centred in self._letters:
            letter(image, box, text, size, colour, centred=centred)
        return image


def draw_story_page(
    sheet: Sheet, script: BookScript, panels: Sequence[PanelScript], area: Box, dice: Random
) -> list[PanelTruth]:
    """Draw panels into an area of a page; returns their truth in reading order (their texts are in the sheet's)."""
    style = sheet.style
    cells, staged = _roomiest(style, panels, area, dice)
    drawn = [_draw_panel(sheet, cell, one, dice) for cell, one in zip(cells, staged, strict=True)]
    for number, (_, one) in enumerate(zip(cells, staged, strict=True), 1):
        for balloon in one.balloons:
            _draw_balloon(sheet, balloon, one, number)
    return [
        PanelTruth(polygon, polygon_box(polygon), describe(one.script, script.cast, one.shot))
        for polygon, one in zip(drawn, staged, strict=True)
    ]


def _roomiest(style: Style, panels: Sequence[PanelScript], area: Box, dice: Random) -> tuple[list[Cell], list[Staged]]:
    """Of a few layouts, the one whose fullest panel leaves its figures the most room."""
    best: tuple[float, list[Cell], list[Staged]] | None = None
    for _ in range(_TRIES):
        cells = page_layout(
            len(panels),
            area,
            dice,
            gutter=style.pixels(style.gutter),
            slant=style.slant,
            mirror=style.right_to_left,
        )
        staged = [
            stage(_spoken(panel, style), cell.safe, style.pixels(style.lettering), dice, mirror=style.right_to_left)
            for panel, cell in zip(panels, cells, strict=True)
        ]
        cost = max(_crowding(one, cell) for one, cell in zip(staged, cells, strict=True))
        if best is None or cost < best[0]:
            best = (cost, cells, staged)
    assert best is not None
    return best[1], best[2]


def _crowding(staged: Staged, cell: Cell) -> float:
    if len(staged.balloons) < len(staged.script.lines):
        return 9.0
    return headroom(staged.balloons, cell.safe) / cell.safe.h


def _spoken(panel: PanelScript, style: Style) -> PanelScript:
    if not style.capitals:
        return panel
    return replace(panel, lines=tuple(replace(line, text=line.text.upper()) for line in panel.lines))


def _draw_panel(sheet: Sheet, cell: Cell, staged: Staged, dice: Random) -> tuple[tuple[int, int], ...]:
    style, scale = sheet.style, sheet.style.scale
    box = cell.box
    picture = paint(staged, box, style.palette, scale, dice)
    outline = np.array(cell.polygon) - (box.x, box.y)
    mask = np.zeros(picture.shape[:2], np.uint8)
    cv2.fillPoly(mask, [(outline * scale).astype(np.int32)], 255)
    part = sheet.canvas[box.y * scale : box.bottom * scale, box.x * scale : box.right * scale]
    pen = sheet.pen
    corners = [(x, -y) for x, y in cell.polygon]
    if cell.inset:
        pen.line(corners, style.pixels(style.gutter) / style.pixels(0.0027) * 1.4, style.palette.paper, closed=True)
    cv2.copyTo(picture, mask, part)
    if style.border:
        pen.line(corners, style.border / 0.0027, style.palette.border, closed=True)
    return cell.polygon


def _draw_balloon(sheet: Sheet, balloon: Balloon, staged: Staged, panel: int) -> None:
    palette = sheet.style.palette
    draw_balloon(sheet.pen, balloon, staged.head_of(balloon.line.speaker), palette.caption)
    sheet.write(balloon.text_box, balloon.line.text, balloon.size, panel=panel)

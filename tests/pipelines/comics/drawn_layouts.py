"""Pages drawn for one kind of layout each, with the panels that a reader would see on them."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

WIDTH, HEIGHT = 1000, 1500


@dataclass(frozen=True)
class Layout:
    """Corners of a page's panels, the colour of its paper, and whether each panel has a frame."""

    panels: tuple[np.ndarray, ...]
    paper: int = 255
    frames: bool = True
    shades: tuple[int, int] = (30, 230)
    """Least and greatest value of each colour of the shapes in the pictures."""


def _corners(*points: tuple[int, int]) -> np.ndarray:
    return np.array(points, np.int32)


def _upright(x: int, y: int, width: int, height: int) -> np.ndarray:
    return _corners((x, y), (x + width, y), (x + width, y + height), (x, y + height))


_FOUR = (
    _upright(40, 40, 440, 460),
    _upright(520, 40, 440, 460),
    _upright(40, 540, 920, 400),
    _upright(40, 980, 920, 480),
)

LAYOUTS = {
    "framed": Layout((*_FOUR[:3], _upright(40, 980, 280, 480), _upright(360, 980, 600, 480))),
    "black paper": Layout(_FOUR, paper=0),
    "slanted gutters": Layout(
        (
            _corners((40, 40), (560, 40), (420, 700), (40, 700)),
            _corners((600, 40), (960, 40), (960, 700), (460, 700)),
            _corners((40, 740), (960, 740), (960, 1000), (40, 1100)),
            _corners((40, 1140), (960, 1040), (960, 1460), (40, 1460)),
        )
    ),
    "one picture off three sides": Layout(
        (_upright(0, 0, 1000, 700), _upright(40, 740, 440, 720), _upright(520, 740, 440, 720))
    ),
    "all pictures off the page": Layout(
        (
            _upright(0, 0, 1000, 480),
            _upright(0, 510, 480, 480),
            _upright(510, 510, 490, 480),
            _upright(0, 1020, 1000, 480),
        ),
        frames=False,
    ),
    "panels that touch": Layout(
        (
            _upright(40, 40, 460, 460),
            _upright(500, 40, 460, 460),
            _upright(40, 500, 920, 460),
            _upright(40, 960, 920, 500),
        )
    ),
    "inset": Layout(
        (
            _upright(40, 40, 920, 700),
            _upright(560, 400, 340, 280),
            _upright(40, 780, 440, 680),
            _upright(520, 780, 440, 680),
        ),
        shades=(90, 230),
    ),
}


def drawn(layout: Layout, seed: int) -> np.ndarray:
    """The page, RGB `uint8` (1500, 1000, 3): each panel is filled with soft colours and outlined shapes."""
    rng = np.random.default_rng(seed)
    page = np.full((HEIGHT, WIDTH, 3), layout.paper, np.uint8)
    for corners in layout.panels:
        art = cv2.resize(
            rng.integers(90, 220, (6, 4, 3)).astype(np.uint8), (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC
        )
        art = art // 2 + rng.integers(40, 120, 3).astype(np.uint8)
        x, y, width, height = cv2.boundingRect(corners)
        for _ in range(12):
            at = int(rng.integers(x, x + width)), int(rng.integers(y, y + height))
            axes = int(rng.integers(20, 90)), int(rng.integers(20, 90))
            turn, fill = int(rng.integers(0, 180)), rng.integers(*layout.shades, 3).tolist()
            cv2.ellipse(art, at, axes, turn, 0, 360, fill, -1)
            cv2.ellipse(art, at, axes, turn, 0, 360, (0, 0, 0), 3)
        inside = cv2.fillPoly(np.zeros((HEIGHT, WIDTH), np.uint8), [corners], [255]) > 0
        page[inside] = art[inside]
        if layout.frames:
            cv2.polylines(page, [corners], True, (0, 0, 0), 6)
    return page


def drawn_without_frames(seed: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """A white page with six pictures that nothing but white divides, and the corners of the field that each stands in."""
    rng = np.random.default_rng(seed)
    page = np.full((HEIGHT, WIDTH, 3), 255, np.uint8)
    fields = [_upright(x, y, 380, 400) for y in (80, 560, 1040) for x in (80, 540)]
    for x, y in (field[0].tolist() for field in fields):
        for _ in range(14):
            at = int(rng.integers(x + 60, x + 320)), int(rng.integers(y + 60, y + 340))
            axes = int(rng.integers(20, 60)), int(rng.integers(20, 60))
            cv2.ellipse(page, at, axes, int(rng.integers(0, 180)), 0, 360, rng.integers(30, 200, 3).tolist(), -1)
    return page, fields

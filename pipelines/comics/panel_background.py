"""What is paper and what is ink on a page: the working picture and its masks.

Here belong the working size, the gutters' colour, the correction of uneven paper and the masks that later steps read. Lines,
rectangles and panels do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

UNIT = 1000
"""Width in pixels of the working copy of a portrait page; every length below is a share of it."""
PAD = 20
"""Paper added around the page, so that pictures that bleed off it have an outside."""
_MAX_PIXELS = 3_000_000
_TOLERANCE = 24
_EVEN = 0.6
"""Share of the border in the paper's colour above which the paper counts as even."""
_GAIN = 0.15
_STRIP, _WIDEST = UNIT // 4, UNIT // 12
"""Length from which a strip of one colour may be a gutter, and its greatest breadth."""
_RIM = 8
_LOW = 0.16 * UNIT
_FLAT = 0.55


@dataclass(frozen=True)
class Sheet:
    """The working copy of a page with its masks, all `uint8` of one shape (H, W), `PAD` on each side.

    `paper`: coloured as the gutters. `outside`: paper that a path at least three pixels wide joins to the page's border.
    Masks are 255 where true. `grey`: brightness, in which drawn lines are dark. `scale`: working pixels for a page pixel, (x, y).
    """

    paper: np.ndarray
    outside: np.ndarray
    grey: np.ndarray
    scale: tuple[float, float]


def working_size(width: int, height: int) -> tuple[int, int]:
    """Size of the working copy: a portrait page becomes `UNIT` wide, a spread gets that for each of its pages."""
    page_width = min(width, 2 * height / 3)
    factor = min(UNIT / page_width, (_MAX_PIXELS / (width * height)) ** 0.5)
    return max(round(width * factor), 1), max(round(height * factor), 1)


def resized(image: np.ndarray) -> np.ndarray:
    """The page at its working size, RGB."""
    height, width = image.shape[:2]
    size = working_size(width, height)
    # Averaging over areas costs five times as much; four neighbours cover all pixels down to half the size.
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA if 2 * size[0] < width else cv2.INTER_LINEAR)


def paper_colour(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The page with its paper made even where it is not, and the paper's colour (3,).

    Yellowed and badly lit paper has no one colour. A smooth surface is then laid through the ring of pixels at the border, and
    its differences are taken off. Where that does not make the ring even, pictures bleed off the page: it stays as it is, and the
    colour is that of the gutters between them.
    """
    colour, share = _commonest(_ring(image))
    if share < _EVEN:
        flat = _flattened(image)
        flat_colour, flat_share = _commonest(_ring(flat))
        if flat_share > max(share + _GAIN, _EVEN):
            return flat, flat_colour
        return image, _gutters(image, colour)
    return image, colour


def _gutters(image: np.ndarray, colour: np.ndarray) -> np.ndarray:
    """Of white, black and the commonest colour of the border (3,), the one that most long, straight strips are in.

    Where all pictures bleed off the page, the border shows art, and gutters are only seen between them.
    """
    best, most = colour, 0
    for candidate in (colour, np.full(3, 255.0), np.zeros(3)):
        mask = _coloured(image, candidate)
        broad = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((_WIDEST, _WIDEST), np.uint8))
        narrow = cv2.subtract(mask, broad)
        size = sum(
            cv2.countNonZero(cv2.erode(narrow, np.ones(shape, np.uint8))) for shape in ((3, _STRIP), (_STRIP, 3))
        )
        if size > most:
            best, most = candidate, size
    return best


def _coloured(image: np.ndarray, colour: np.ndarray) -> np.ndarray:
    """255 where a pixel of an RGB picture (H, W, 3) is nearly of that colour (3,): (H, W)."""
    low, high = (np.clip(colour.astype(int) + by, 0, 255) for by in (-_TOLERANCE, _TOLERANCE))
    return cv2.inRange(image, low, high)


def _ring(values: np.ndarray) -> np.ndarray:
    """What an array (H, W, n) holds in the outermost 1.2% of a page, (m, n)."""
    depth = max(round(0.012 * min(values.shape[:2])), 1)
    strips = values[:depth], values[-depth:], values[depth:-depth, :depth], values[depth:-depth, -depth:]
    return np.concatenate([strip.reshape(-1, values.shape[2]) for strip in strips])


def _commonest(pixels: np.ndarray) -> tuple[np.ndarray, float]:
    """The median colour (3,) of the fullest cell of a coarse colour cube, and the share of pixels (n, 3) near it."""
    cells = (pixels >> 4).astype(np.int32)
    codes = (cells[:, 0] << 8) | (cells[:, 1] << 4) | cells[:, 2]
    fullest = np.bincount(codes, minlength=4096).argmax()
    colour = np.median(pixels[codes == fullest], axis=0)
    near = np.abs(pixels.astype(np.int16) - colour.astype(np.int16)).max(axis=1) <= _TOLERANCE
    return colour, float(near.mean())


def is_lettering(image: np.ndarray, corners: np.ndarray) -> bool:
    """Whether a quadrilateral (4, 2) of the working copy is a caption or a title: low, and mostly of one colour."""
    height, width = image.shape[:2]
    x0, y0 = np.maximum(corners.min(axis=0) + _RIM, 0).astype(int)
    x1, y1 = np.minimum(corners.max(axis=0) - _RIM, [width, height]).astype(int)
    if not 0 < y1 - y0 <= _LOW or x1 <= x0:
        return False
    return _commonest(image[y0:y1:2, x0:x1:2].reshape(-1, 3))[1] >= _FLAT


def _flattened(image: np.ndarray) -> np.ndarray:
    """The page minus what a quadratic surface through the paper at its border differs from its own mean."""
    height, width = image.shape[:2]
    places = _ring(np.mgrid[0:height, 0:width].transpose(1, 2, 0))
    y, x = places[:: max(len(places) // 5000, 1)].T
    values, terms = image[y, x].astype(float), _terms(x / width, y / height)
    kept = np.ones(len(x), bool)
    for _ in range(8):
        weights = np.linalg.lstsq(terms[kept], values[kept], rcond=None)[0]
        off = np.abs(values - terms @ weights).max(axis=1)
        kept = off <= max(1.5 * float(np.median(off)), _TOLERANCE / 2)
    rows, columns = np.mgrid[0:64, 0:64] / 63
    surface = (_terms(columns.ravel(), rows.ravel()) @ weights).reshape(64, 64, 3)
    whole = cv2.resize((surface - surface.mean(axis=(0, 1))).astype(np.float32), (width, height))
    return cv2.subtract(image, whole, dtype=cv2.CV_8U)


def _terms(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=-1)


def masks(image: np.ndarray, colour: np.ndarray, scale: tuple[float, float]) -> Sheet:
    """The sheet of a working copy (H, W, 3) whose gutters have that colour."""
    paper = _coloured(image, colour)
    paper = cv2.copyMakeBorder(paper, PAD, PAD, PAD, PAD, cv2.BORDER_CONSTANT, value=(255,))
    core = cv2.morphologyEx(paper, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    flooded = core.copy()
    cv2.floodFill(flooded, None, (0, 0), (128,))
    outside = cv2.compare(flooded, np.array([128.0]), cv2.CMP_EQ)
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    grey = cv2.copyMakeBorder(grey, PAD, PAD, PAD, PAD, cv2.BORDER_CONSTANT, value=(255,))
    return Sheet(paper, outside, grey, scale)

"""Pictures for the Dagster UI and the dataset card: pages with their panels, samples as contact sheets.

Such pictures travel inside Markdown and live in Dagster's event database, so each is small. What does not belong here:
which pages and samples are shown (the assets choose), and how a sample is laid out (`pipelines.pick_a_panel.render`).
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageDraw

from pipelines.geometry import Box, box_polygon
from pipelines.lettering import letter, measure, missing_glyphs, wrap
from pipelines.markdown import escape
from pipelines.pick_a_panel.render import Rendering, Scene, render_sample

MAX_BYTES = 60_000
"""Most characters of a picture in Markdown; a preview may have 64 kB with the words around it."""
_COLOURS = (
    (214, 39, 40),
    (31, 119, 180),
    (44, 160, 44),
    (148, 103, 189),
    (227, 119, 194),
    (140, 86, 75),
    (0, 150, 150),
)
_TEXT_COLOUR = (255, 127, 14)
_QUALITIES = (70, 45, 30)
"""Of AVIF, which shows as much as a WebP of twice the bytes."""
_LONGEST = 1600
_LEAST_SIDE = 24
_GAP = 12


def page_preview(
    page: np.ndarray,
    panels: Sequence[Mapping[str, Any]],
    texts: Sequence[Mapping[str, Any]] = (),
    *,
    height: int = 640,
) -> np.ndarray:
    """A page (RGB uint8) scaled to `height` pixels with its panels outlined and numbered in reading order.

    `panels` and `texts` are rows of `comic_panels` and `comic_texts`; textboxes have thin outlines.
    """
    factor = height / page.shape[0]
    width = max(round(page.shape[1] * factor), 1)
    shrinks = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
    canvas = np.ascontiguousarray(cv2.resize(page, (width, height), interpolation=shrinks))
    for row in texts:
        _outline(canvas, box_polygon(_box(row)), factor, _TEXT_COLOUR, 1)
    thick = max(height // 250, 2)
    coloured = [(row, _COLOURS[row["reading_order"] % len(_COLOURS)]) for row in panels]
    for row, colour in coloured:
        _outline(canvas, row["polygon"] or box_polygon(_box(row)), factor, colour, thick)
    image = Image.fromarray(canvas)
    for row, colour in coloured:
        _number(image, _box(row).scaled(factor, factor), str(row["reading_order"]), colour, max(height // 24, 18))
    return np.asarray(image)


def side_by_side(pictures: Sequence[np.ndarray]) -> np.ndarray:
    """Pictures (RGB uint8) in a row on white, their tops aligned. Raises ValueError without any."""
    tallest = max(picture.shape[0] for picture in pictures)
    parts = [np.pad(p, ((0, tallest - p.shape[0]), (0, _GAP), (0, 0)), constant_values=255) for p in pictures]
    return np.hstack(parts)[:, :-_GAP]


def contact_sheet(
    samples: Sequence[tuple[str, Scene]], *, columns: int = 1, width: int = 800, longest: int = 160
) -> np.ndarray:
    """Samples under their headings, the right option framed in green where it is known; RGB uint8.

    Each takes `width` pixels, panels at most `longest` pixels. Raises ValueError without samples.
    """
    rendering = Rendering(longest=longest, keep_aspect=True)
    cells = [_headed(heading, render_sample(scene, rendering, show_answer=True), width) for heading, scene in samples]
    rows = [side_by_side(cells[first : first + columns]) for first in range(0, len(cells), columns)]
    widest = max(row.shape[1] for row in rows)
    return np.vstack([np.pad(r, ((0, 0), (0, widest - r.shape[1]), (0, 0)), constant_values=255) for r in rows])


def markdown_image(picture: np.ndarray, alt: str = "", max_bytes: int = MAX_BYTES) -> str:
    """The picture (RGB uint8) as Markdown that holds it whole, as an AVIF, in at most `max_bytes` bytes of UTF-8.

    Quality falls first, then the size. Raises ValueError where even a tiny picture is too large.
    """
    image = Image.fromarray(picture)
    image.thumbnail((_LONGEST, _LONGEST))
    head = f"![{escape(alt, 80)}](data:image/avif;base64,"
    room = (max_bytes - len(head.encode()) - 1) * 3 // 4
    qualities = iter(_QUALITIES)
    quality = next(qualities)
    while True:
        file = io.BytesIO()
        image.save(file, "AVIF", quality=quality, speed=8, max_threads=1)
        text = f"{head}{base64.b64encode(file.getvalue()).decode()})"
        if len(text.encode()) <= max_bytes:
            return text
        if lower := next(qualities, None):
            quality = lower
        elif room > 0 and max(image.size) > _LEAST_SIDE:
            # A little less than what should just fit: small pictures take more bytes for each pixel.
            factor = min((room / file.tell()) ** 0.5 * 0.96, 0.9)
            image = image.resize((max(int(image.width * factor), 1), max(int(image.height * factor), 1)))
        else:
            break
    raise ValueError(f"no picture fits into {max_bytes} bytes")


def png(picture: np.ndarray) -> bytes:
    """The picture (RGB uint8) as a PNG file, the same bytes each time."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return file.getvalue()


def _box(row: Mapping[str, Any]) -> Box:
    return Box(row["x"], row["y"], row["w"], row["h"])


def _outline(
    canvas: np.ndarray, polygon: Sequence[Sequence[int]], factor: float, colour: tuple[int, int, int], thick: int
) -> None:
    """Draw a closed line with a white rim, which keeps it visible on dark art and on art of its own colour."""
    points = [np.round(np.array(polygon) * factor).astype(np.int32)]
    cv2.polylines(canvas, points, True, (255, 255, 255), thick + 2, cv2.LINE_AA)
    cv2.polylines(canvas, points, True, colour, thick, cv2.LINE_AA)


def _number(image: Image.Image, panel: Box, text: str, colour: tuple[int, int, int], height: int) -> None:
    """A filled badge with a number in the panel's top left corner, moved inward where the page ends."""
    size = height * 3 // 4
    width = max(height, measure([text], size)[0] + height // 2)
    x = min(max(panel.x + 3, 0), max(image.width - width, 0))
    y = min(max(panel.y + 3, 0), max(image.height - height, 0))
    ImageDraw.Draw(image).rectangle((x, y, x + width - 1, y + height - 1), colour, "white", 2)
    letter(image, Box(x, y, width, height), text, size, "white")


def _headed(heading: str, picture: np.ndarray, width: int) -> np.ndarray:
    """The picture, no wider than `width`, on white of that width, under at most three lines of heading."""
    size = 15
    lines = _lines(heading, size, width - 2 * _GAP)
    top = measure(lines, size)[1] + _GAP if lines else 0
    factor = min(1.0, width / picture.shape[1])
    inner = (max(round(picture.shape[1] * factor), 1), max(round(picture.shape[0] * factor), 1))
    picture = cv2.resize(picture, inner, interpolation=cv2.INTER_AREA)
    cell = np.full((top + inner[1] + 2 * _GAP, width, 3), 255, np.uint8)
    cell[top : top + inner[1], : inner[0]] = picture
    if not lines:
        return cell
    image = Image.fromarray(cell)
    letter(image, Box(_GAP, 0, width - 2 * _GAP, top), " ".join(lines), size, "black", centred=False)
    return np.asarray(image)


def _lines(heading: str, size: int, width: int) -> list[str]:
    """The first three lines of a heading; what the font lacks is `?`, words that are too long are cut."""
    missing = missing_glyphs(heading)
    words = "".join("?" if c in missing else c for c in heading).split()
    short = [word[: max(width // size, 1)] for word in words]
    lines = wrap(" ".join(short), size, width) or []
    return lines[:3]

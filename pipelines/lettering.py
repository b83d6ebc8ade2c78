"""Text set in the one bundled font: how large it may be, where its lines break, and drawing it inside a box.

Drawn options and sample comics letter with this module alone, so that the letters themselves never tell an option
apart. What does not belong here: which box is lettered, what colour its ground has, and how text is read.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

from pipelines.geometry import Box

FONT = Path(__file__).parent / "fonts" / "DejaVuSansCondensed-Bold.ttf"
_LEADING = 1.16
_NO_CHARACTER = "\U0010ffff"


class _Ink(NamedTuple):
    """How far the pixels of a text reach from the start of its baseline; `width` covers its advance too."""

    left: int
    top: int
    width: int
    bottom: int


@lru_cache(maxsize=256)
def font(size: int) -> ImageFont.FreeTypeFont:
    """The bundled font at a size in pixels, with Pillow's own layout, so that every build of Pillow sets it alike."""
    return ImageFont.truetype(str(FONT), size, layout_engine=ImageFont.Layout.BASIC)


def missing_glyphs(text: str) -> set[str]:
    """The characters of a text that cannot be set: no glyph in the font, unprintable, or written right to left."""
    return {character for character in "".join(_words(text)) if not _has_glyph(character)}


def wrap(text: str, size: int, width: int) -> list[str] | None:
    """The lines of a text broken between words at most `width` pixels wide; None where a word is wider than that.

    Runs of spaces and line breaks count as one space. An empty text has no lines.
    """
    space = _space(size)
    lines: list[list[str]] = []
    used = width
    for word in _words(text):
        needed = _ink(word, size).width
        if needed > width:
            return None
        if lines and used + space + needed <= width:
            lines[-1].append(word)
            used += space + needed
        else:
            lines.append([word])
            used = needed
    return [" ".join(line) for line in lines]


def measure(lines: Sequence[str], size: int) -> tuple[int, int]:
    """The width and height in pixels of the smallest box that holds these lines."""
    top, bottom = _extent(lines, size)
    return max((_line_width(line, size) for line in lines), default=0), bottom - top


def fits(text: str, size: int, width: int, height: int) -> bool:
    """Whether every pixel of a text at that size lies inside a box of `width` x `height` pixels."""
    lines = wrap(text, size, width)
    if lines is None:
        return False
    top, bottom = _extent(lines, size)
    return bottom - top <= height


def common_size(items: Sequence[tuple[str, tuple[int, int]]], *, largest: int, smallest: int) -> int | None:
    """The largest size in pixels at which each text fits in its (width, height); None if none down to `smallest`."""
    for size in range(largest, smallest - 1, -1):
        if all(fits(text, size, width, height) for text, (width, height) in items):
            return size
    return None


def letter(
    image: Image.Image,
    box: Box,
    text: str,
    size: int,
    colour: str | int | tuple[int, ...] = (0, 0, 0),
    *,
    centred: bool = True,
) -> None:
    """Draw a text into a box, every glyph wholly inside: in the middle, else from the top left corner on.

    Raises ValueError where the text does not fit at that size: ask `fits` or `common_size` first.
    """
    lines = wrap(text, size, box.w)
    top, bottom = _extent(lines or [], size)
    if lines is None or bottom - top > box.h:
        raise ValueError(f"{text!r} does not fit {box.w} x {box.h} pixels at size {size}")
    draw = ImageDraw.Draw(image)
    baseline = box.y + ((box.h - (bottom - top)) // 2 if centred else 0) - top
    for number, line in enumerate(lines):
        x = box.x + ((box.w - _line_width(line, size)) // 2 if centred else 0)
        for word in line.split(" "):
            ink = _ink(word, size)
            # A word of its own at a whole pixel keeps inside the width that `wrap` counted, whatever the kerning.
            draw.text((x - ink.left, baseline + number * _leading(size)), word, colour, font(size), anchor="ls")
            x += ink.width + _space(size)


def _words(text: str) -> list[str]:
    return unicodedata.normalize("NFC", text).split()


@lru_cache(maxsize=1 << 16)
def _ink(word: str, size: int) -> _Ink:
    left, top, right, bottom = (int(edge) for edge in font(size).getbbox(word, anchor="ls"))
    advance = -int(-font(size).getlength(word) // 1)
    left = min(left, 0)
    return _Ink(left, top, max(right, advance) - left, bottom)


def _line_width(line: str, size: int) -> int:
    words = line.split(" ")
    return sum(_ink(word, size).width for word in words) + _space(size) * (len(words) - 1)


def _extent(lines: Sequence[str], size: int) -> tuple[int, int]:
    """The first and the last row of ink, measured from the first baseline; capitals set the least."""
    if not lines:
        return 0, 0
    inks = [
        (number * _leading(size), _ink(word, size)) for number, line in enumerate(lines) for word in line.split(" ")
    ]
    top = min(_ink("H", size).top, min(baseline + ink.top for baseline, ink in inks))
    return top, max(baseline + ink.bottom for baseline, ink in inks)


@lru_cache(maxsize=256)
def _space(size: int) -> int:
    return max(round(font(size).getlength(" ")), 1)


def _leading(size: int) -> int:
    return round(size * _LEADING)


@lru_cache(maxsize=4096)
def _has_glyph(character: str) -> bool:
    # Pillow's own layout sets right-to-left scripts backwards and unjoined, so they count as not there.
    if unicodedata.category(character)[0] == "C" or unicodedata.bidirectional(character) in ("R", "AL"):
        return False
    return _picture(character) != _picture(_NO_CHARACTER)


def _picture(character: str) -> bytes:
    image = Image.new("L", (160, 160))
    ImageDraw.Draw(image).text((48, 112), character, 255, font(64), anchor="ls")
    return image.tobytes()

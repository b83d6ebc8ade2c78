"""Which names in a book are pages, and the order in which a reader expects them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

PICTURES = frozenset(
    ["jpg", "jpeg", "jpe", "jfif", "png", "webp", "tif", "tiff", "gif", "bmp", "avif", "jxl", "heic", "heif", "jp2"]
)
"""Extensions of pictures, those included that cannot be read: such a page must fail, not vanish."""
_NUMBER = re.compile(r"(\d+)")


def is_page(name: str) -> bool:
    """Whether a member's path is that of a page: a picture, and nothing that systems leave behind.

    Examples:
        >>> is_page("book/01.JPG"), is_page("__MACOSX/._01.jpg"), is_page("Thumbs.db")
        (True, False, False)
    """
    path = PurePosixPath(name.replace("\\", "/"))
    hidden = any((part.startswith(".") and part != "..") or part == "__MACOSX" for part in path.parts)
    return not hidden and path.suffix[1:].lower() in PICTURES


def natural_order(names: Iterable[str]) -> list[str]:
    """Names in natural order over the whole path: numbers by value, folder by folder, case aside.

    Examples:
        >>> natural_order(["10.png", "2.png", "b/1.png", "a/2.png"])
        ['2.png', '10.png', 'a/2.png', 'b/1.png']
    """
    return sorted(names, key=lambda name: ([_part(part) for part in name.split("/")], name))


def _part(text: str) -> list[tuple[int, int, str]]:
    # Every other piece of the split is a number; numbers come before words.
    pieces = enumerate(_NUMBER.split(text.casefold()))
    return [(0, int(piece), "") if place % 2 else (1, 0, piece) for place, piece in pieces if piece]


def printable(name: str) -> str:
    """A file's name as tables can hold it: bytes that are no UTF-8, which reach us as lone surrogates, as `\\udcff`."""
    return name.encode("utf-8", "backslashreplace").decode()

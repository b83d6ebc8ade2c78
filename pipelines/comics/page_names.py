"""What the names of files say: which are pages, descriptions and archives, and the order that a reader expects."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath

PICTURES = frozenset(
    ["jpg", "jpeg", "jpe", "jfif", "png", "webp", "tif", "tiff", "gif", "bmp", "avif", "jxl", "heic", "heif", "jp2"]
)
"""Extensions of pictures, those included that cannot be read: such a page must fail, not vanish."""
ARCHIVES = {
    ".cbz": "zip",
    ".zip": "zip",
    ".cb7": "7z",
    ".7z": "7z",
    ".cbt": "tar",
    ".tar": "tar",
    ".tgz": "tar",
    ".tbz2": "tar",
    ".txz": "tar",
    ".tar.gz": "tar",
    ".tar.bz2": "tar",
    ".tar.xz": "tar",
    ".cbr": "rar",
    ".rar": "rar",
    ".pdf": "pdf",
    ".epub": "epub",
}
"""Extensions of files that are books, with the kind of container that they promise."""
COMIC_INFO = "ComicInfo.xml"
_NUMBER = re.compile(r"(\d+)")


def is_page(name: str) -> bool:
    """Whether a member's path is that of a page: a picture, and nothing that systems leave behind.

    Examples:
        >>> is_page("book/01.JPG"), is_page("__MACOSX/._01.jpg"), is_page("Thumbs.db")
        (True, False, False)
    """
    return not is_hidden(name) and PurePosixPath(name.replace("\\", "/")).suffix[1:].lower() in PICTURES


def is_comic_info(name: str) -> bool:
    """Whether a member's path is that of a ComicInfo.xml; case does not count."""
    return not is_hidden(name) and PurePosixPath(name).name.lower() == COMIC_INFO.lower()


def is_hidden(name: str) -> bool:
    """Whether a path is hidden or lies in a folder that is, or in one that systems leave behind."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return any((part.startswith(".") and part != "..") or part == "__MACOSX" for part in parts)


def archive_extension(name: str) -> str:
    """The extension of an archive as it is written (`.tar.gz` is one), or nothing for other files."""
    suffixes = PurePosixPath(name).suffixes
    for known in ("".join(suffixes[-2:]), "".join(suffixes[-1:])):
        if known.lower() in ARCHIVES and len(known) < len(name):
            return known
    return ""


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
    return [(0, *_value(piece)) if place % 2 else (1, 0, piece) for place, piece in pieces if piece]


def _value(number: str) -> tuple[int, str]:
    """What orders numbers by their value, however long they are: Python makes no integer of more than 4,300 digits."""
    digits = "".join(str(unicodedata.digit(digit)) for digit in number).lstrip("0")
    return len(digits), digits


def printable(name: str) -> str:
    """A file's name as tables can hold it: bytes that are no UTF-8, which reach us as lone surrogates, as `\\udcff`."""
    return name.encode("utf-8", "backslashreplace").decode()

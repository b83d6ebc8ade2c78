"""Small books of each kind of container, and their bytes damaged by chance."""

from __future__ import annotations

import io
import random
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import py7zr
from PIL import Image

from tests.hostile_pictures import drawn, page
from tests.rar_files import rar

PAGES = [(f"{number}.jpg", page(number)) for number in range(1, 5)]
_PACKAGE = "".join(f'<item id="p{n}" href="{n}.jpg"/>' for n in range(1, 5))
_SPINE = "".join(f'<itemref idref="p{n}"/>' for n in range(4, 0, -1))
_EPUB = [
    ("mimetype", b"application/epub+zip"),
    ("META-INF/container.xml", b'<container><rootfile full-path="book.opf"/></container>'),
    ("book.opf", f"<package><manifest>{_PACKAGE}</manifest><spine>{_SPINE}</spine></package>".encode()),
]


def _zip(files: list[tuple[str, bytes]], method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return file.getvalue()


def _seven_zip() -> bytes:
    file = io.BytesIO()
    with py7zr.SevenZipFile(file, "w") as archive:
        for name, data in PAGES:
            archive.writestr(data, name)
    return file.getvalue()


def _tar(mode: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in PAGES:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def _pdf() -> bytes:
    file = io.BytesIO()
    pictures: list[Image.Image] = [drawn(number) for number in range(1, 5)]
    pictures[0].save(file, "PDF", save_all=True, append_images=pictures[1:])
    return file.getvalue()


BOOKS: dict[str, Callable[[], bytes]] = {
    "stored.cbz": lambda: _zip(PAGES),
    "deflated.cbz": lambda: _zip(PAGES, zipfile.ZIP_DEFLATED),
    "lzma.cbz": lambda: _zip(PAGES, zipfile.ZIP_LZMA),
    "book.epub": lambda: _zip([*_EPUB, *PAGES]),
    "book.cb7": _seven_zip,
    "plain.cbt": lambda: _tar("w"),
    "gz.cbt": lambda: _tar("w:gz"),
    "bz2.cbt": lambda: _tar("w:bz2"),
    "xz.cbt": lambda: _tar("w:xz"),
    "stored.cbr": lambda: rar(PAGES),
    "book.pdf": _pdf,
}


def damaged(data: bytes, dice: random.Random) -> bytes:
    """The same bytes, cut, with bits or bytes changed, or with a piece gone, doubled or blank; often near the ends,
    where containers keep their directories."""
    place = dice.choice([dice.randrange(len(data)), dice.randrange(min(600, len(data)))])
    place = dice.choice([place, len(data) - 1 - place])
    length = dice.choice([1, 2, 8, dice.randrange(1, 3000)])
    before, piece, after = data[:place], data[place : place + length], data[place + length :]
    match dice.randrange(7):
        case 0:
            return before
        case 1:
            return before + bytes([piece[0] ^ 1 << dice.randrange(8)]) + piece[1:] + after
        case 2:
            return before + dice.randbytes(len(piece)) + after
        case 3:
            return before + bytes(len(piece)) + after
        case 4:
            return before + after
        case 5:
            return before + piece + piece + after
        case _:
            return damaged(damaged(data, dice) or data, dice)


def write(path: Path, name: str) -> Path:
    """Write the book of that name, whole, into a folder."""
    target = path / name
    target.write_bytes(BOOKS[name]())
    return target

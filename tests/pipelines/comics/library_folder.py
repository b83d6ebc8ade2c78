"""Writes books into a folder of comics."""

from __future__ import annotations

import zipfile
from pathlib import Path

from pipelines.comics.library import BookSource, find_books
from pipelines.stage import Failure

PICTURE = b"\xff\xd8\xff picture"


def put(path: Path, data: bytes = PICTURE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def cbz(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("1.jpg", PICTURE)
    return path


def ids(books: list[BookSource]) -> list[str]:
    return [book.book_id for book in books]


def catalog(comics: Path, text: str, encoding: str = "utf-8") -> tuple[dict[str, BookSource], list[Failure]]:
    (comics / "catalog.csv").write_text(text, encoding)
    books, failures = find_books(comics)
    return {book.book_id: book for book in books}, failures

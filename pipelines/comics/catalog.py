"""catalog.csv: what the owner of a library says of its books."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pipelines.schemas import SPLITS
from pipelines.stage import Failure

CATALOG = "catalog.csv"
_MOST_BYTES = 64 * 2**20
_COLUMNS = ("book", "title", "licence", "license", "split", "reading_direction")
_DIRECTIONS = {"ltr": False, "rtl": True}


@dataclass(frozen=True)
class CatalogEntry:
    """What the catalog says of a book; None is left open."""

    title: str | None = None
    licence: str | None = None
    split: str | None = None
    right_to_left: bool | None = None


def read_catalog(path: Path) -> tuple[dict[str, CatalogEntry], list[Failure]]:
    """The entries by what their column `book` says (Unicode NFC), and what could not be used, by line.

    UTF-8, with or without BOM; columns separated by commas, semicolons or tabs. A cell that makes no sense is a
    failure and counts as empty; a second row of a book is a failure and does not count.
    """
    try:
        data = path.read_bytes()
        if len(data) > _MOST_BYTES:
            return {}, [_failure(path, 0, f"It has {len(data) >> 20} MB; a catalog of books is far smaller.")]
        text = data.decode("utf-8-sig")
    except OSError as error:
        return {}, [_failure(path, 0, f"It cannot be read: {error.strerror}.")]
    except UnicodeDecodeError as error:
        return {}, [_failure(path, 0, f"It is not UTF-8 (byte {error.start}). Save it as UTF-8.")]
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        return {}, [_failure(path, reader.line_num, f"It is no CSV: {error}.")]
    return _entries(path, rows)


def _entries(path: Path, rows: list[tuple[int, list[str]]]) -> tuple[dict[str, CatalogEntry], list[Failure]]:
    if not rows:
        return {}, []
    names = [name.lower() for name in rows[0][1]]
    if "book" not in names:
        return {}, [_failure(path, 1, f"It has no column `book`. Its columns can be: {', '.join(_COLUMNS)}.")]
    entries: dict[str, CatalogEntry] = {}
    failures = [_failure(path, 1, f"There is no column `{name}`.") for name in names if name and name not in _COLUMNS]
    for line, cells in rows[1:]:
        values = {name: cell for name, cell in zip(names, cells, strict=False) if cell}
        book = unicodedata.normalize("NFC", values.get("book", "")).strip("/")
        if not any(cells):
            continue
        if not book or len(cells) > len(names):
            failures.append(
                _failure(path, line, "The row names no book." if not book else "The row has too many cells.")
            )
        elif book in entries:
            failures.append(_failure(path, line, f"The book {book} has a row already; this one does not count."))
        else:
            entries[book], faults = _entry(values)
            failures += [_failure(path, line, fault) for fault in faults]
    return entries, failures


def _entry(values: dict[str, str]) -> tuple[CatalogEntry, list[str]]:
    faults = []
    split, direction = values.get("split"), values.get("reading_direction", "").lower()
    if split is not None and split.lower() not in SPLITS:
        faults.append(f"The split {split!r} is none of {', '.join(SPLITS)}.")
        split = None
    if direction and direction not in _DIRECTIONS:
        faults.append(f"The reading direction {direction!r} is neither ltr nor rtl.")
    licence = values.get("licence") or values.get("license")
    return CatalogEntry(values.get("title"), licence, split and split.lower(), _DIRECTIONS.get(direction)), faults


def match(
    entries: dict[str, CatalogEntry], names: Iterable[tuple[str, str]], path: Path
) -> tuple[dict[str, CatalogEntry], list[Failure]]:
    """The entry of each book, given as (id, relative path): either may stand in the catalog. Unknown ones are failures."""
    found: dict[str, CatalogEntry] = {}
    used: set[str] = set()
    for book_id, relative in names:
        for name in (book_id, unicodedata.normalize("NFC", relative)):
            if name in entries:
                found.setdefault(book_id, entries[name])
                used.add(name)
    unknown = [name for name in entries if name not in used]
    message = "The catalog names a book that is not in the library. Correct its name, or remove the row."
    return found, [Failure(f"{path.name}: {name}", "catalog", message) for name in unknown]


def _failure(path: Path, line: int, message: str) -> Failure:
    return Failure(f"{path.name}, line {line}" if line else path.name, "catalog", message)

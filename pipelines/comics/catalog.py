"""catalog.csv: what the owner of a library says of its books."""

from __future__ import annotations

import csv
import difflib
import io
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pipelines.errors import LibraryError
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
    fault: str = ""
    """Why the row cannot say which split the book is in. Such a book is in none: a hash could put it into another one."""


def read_catalog(path: Path) -> tuple[dict[str, CatalogEntry], list[Failure]]:
    """The entries by what their column `book` says (Unicode NFC), and what could not be used, by line.

    UTF-8 with or without BOM, or UTF-16 with one; columns separated by commas, semicolons or tabs. A direction that
    makes no sense is a failure and counts as empty. A row whose split is not sure (misspelt, a cell too few or too many,
    another row of the book says another) has a `fault`. Raises LibraryError where the catalog cannot be read as a whole:
    books whose splits were lost would be dealt out anew, and answers that were hidden be published.
    """
    text = _text(path)
    if "\0" in text:
        raise _unusable(path, 0, "it holds zero bytes, as UTF-16 does without its byte order mark", "Save it as UTF-8.")
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[int, list[str]]] = []
    first = 1
    try:
        for row in reader:
            # A stray quotation mark makes a cell of all rows up to the next one: which books they were is not known.
            if any("\n" in cell or "\r" in cell for cell in row):
                raise _unusable(path, first, "a cell goes on in the next line", _QUOTES)
            rows.append((first, [cell.strip() for cell in row]))
            first = reader.line_num + 1
    except csv.Error as error:
        raise _unusable(path, first, f"the row is no CSV: {error}", _QUOTES) from None
    return _entries(path, rows)


_UNTIL = "The book is left out until the row is corrected."
_QUOTES = "Close its quotation marks; one inside a cell is written twice."


def _text(path: Path) -> str:
    try:
        # What is a folder says so when it is opened; a pipe would keep its reader waiting.
        if path.exists() and not path.is_file() and not path.is_dir():
            raise _unusable(path, 0, "it is no file", "Put a CSV file in its place, or remove it.")
        data = path.read_bytes()
        if len(data) > _MOST_BYTES:
            raise _unusable(path, 0, f"it has {len(data) >> 20} MB", "A catalog of books is far smaller.")
        return data.decode("utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except OSError as error:
        remedy = "Put a file that can be read in its place, or remove it."
        raise _unusable(path, 0, error.strerror or str(error), remedy) from None
    except UnicodeDecodeError as error:
        raise _unusable(path, 0, f"byte {error.start} is not {error.encoding.upper()}", "Save it as UTF-8.") from None


def _unusable(path: Path, line: int, reason: str, remedy: str) -> LibraryError:
    place = f"{path}, line {line}" if line else str(path)
    what = f"the catalog, which decides the books' splits, cannot be read: {reason}"
    return LibraryError(what, where=place, remedy=remedy)


def _entries(path: Path, rows: list[tuple[int, list[str]]]) -> tuple[dict[str, CatalogEntry], list[Failure]]:
    names = [name.lower() for name in rows[0][1]] if rows else []
    _check_head(path, names)
    entries: dict[str, CatalogEntry] = {}
    lines: dict[str, int] = {}
    failures = [_failure(path, 1, f"There is no column `{name}`.") for name in names if name and name not in _COLUMNS]
    for line, cells in rows[1:]:
        if not any(cells):
            continue
        while len(cells) > len(names) and not cells[-1]:
            cells.pop()
        values = {name: cell for name, cell in zip(names, cells, strict=False) if cell}
        book = unicodedata.normalize("NFC", values.get("book", "")).strip("/")
        entry, faults = _entry(values)
        if len(cells) != len(names):
            wrong = f"The row has {len(cells)} cells, and the catalog has {len(names)} columns."
            entry = replace(entry, fault=_left_out(path, line, wrong))
        elif entry.fault:
            entry = replace(entry, fault=_left_out(path, line, entry.fault))
        if not book:
            failures.append(_failure(path, line, "The row names no book."))
        elif book not in entries:
            entries[book], lines[book] = entry, line
            failures += [_failure(path, line, fault) for fault in faults]
        elif entry.split != entries[book].split:
            wrong = f"The row of {book} in line {lines[book]} says another split."
            entries[book] = replace(entries[book], fault=_left_out(path, line, wrong))
        else:
            failures.append(_failure(path, line, f"The book {book} has a row already; this one does not count."))
    return entries, failures


def _check_head(path: Path, names: list[str]) -> None:
    """Raise LibraryError where the first row does not say which column holds what."""
    known = f"Its columns can be: {', '.join(_COLUMNS)}."
    if "book" not in names:
        raise _unusable(path, 1, "it has no column `book`", known)
    if twice := sorted({name for name in names if name in _COLUMNS and names.count(name) > 1}):
        raise _unusable(path, 1, f"it has the column `{twice[0]}` twice", "Remove one of the two.")
    if "split" not in names and (misspelt := difflib.get_close_matches("split", names, 1)):
        raise _unusable(path, 1, f"it has a column `{misspelt[0]}` and none `split`", known)


def _left_out(path: Path, line: int, fault: str) -> str:
    return f"{path.name}, line {line}: {fault} {_UNTIL}"


def _entry(values: dict[str, str]) -> tuple[CatalogEntry, list[str]]:
    fault, faults = "", []
    split, direction = values.get("split"), values.get("reading_direction", "").lower()
    if split is not None and split.lower() not in SPLITS:
        fault = f"The split {split!r} is none of {', '.join(SPLITS)}."
        split = None
    if direction and direction not in _DIRECTIONS:
        faults.append(f"The reading direction {direction!r} is neither ltr nor rtl.")
    licence = values.get("licence") or values.get("license")
    split = split and split.lower()
    return CatalogEntry(values.get("title"), licence, split, _DIRECTIONS.get(direction), fault), faults


def match(
    entries: dict[str, CatalogEntry], names: Iterable[tuple[str, str]], path: Path
) -> tuple[dict[str, CatalogEntry], list[Failure]]:
    """The entry of each book, given as (id, relative path): either may stand in the catalog. Unknown ones are failures."""
    found: dict[str, CatalogEntry] = {}
    failures: list[Failure] = []
    used: set[str] = set()
    for book_id, relative in names:
        rows = [name for name in dict.fromkeys((book_id, unicodedata.normalize("NFC", relative))) if name in entries]
        used.update(rows)
        if not rows:
            continue
        found[book_id] = entries[rows[0]]
        if len({entries[name].split for name in rows}) > 1:
            fault = f"{path.name}: {' and '.join(rows)} are one book, and their rows say different splits."
            found[book_id] = replace(found[book_id], fault=f"{fault} {_UNTIL}")
        elif len(rows) > 1:
            message = f"{' and '.join(rows)} are one book; the second row does not count."
            failures.append(Failure(f"{path.name}: {rows[1]}", "catalog", message))
    message = "The catalog names a book that is not in the library. Correct its name, or remove the row."
    failures += [Failure(f"{path.name}: {name}", "catalog", message) for name in entries if name not in used]
    return found, failures


def _failure(path: Path, line: int, message: str) -> Failure:
    return Failure(f"{path.name}, line {line}" if line else path.name, "catalog", message)

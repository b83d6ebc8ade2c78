"""Which book an annotation entry belongs to, and which page of it: by id, by number, by path, by file name.

Here: names alone. Not here: reading files, and what is done with the annotation.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipelines.comics.annotations.entries import AnnotationEntry, bad, excerpt
from pipelines.errors import ItemError
from pipelines.identity import fingerprint
from pipelines.stage import Failure

_ARCHIVE = re.compile(r"\.(cbz|zip|cb7|7z|cbt|tar|tar\.(gz|bz2|xz)|tgz|cbr|rar|pdf|epub)$", re.IGNORECASE)
_UPLOAD = re.compile(r"^[0-9a-f]{8}-(?=.)")
"""What Label Studio puts before the name of an uploaded file."""
_DIGITS = re.compile(r"[0-9]{1,9}$")
_NUMBER = re.compile(r"[0-9]{1,9}")
_MAX_PARTS = 32
_SUGGESTIONS = 20
"""For how many unknown books a like name is looked for, which takes a comparison with each book."""


def group_by_book(
    entries: Iterable[AnnotationEntry], book_ids: Collection[str]
) -> tuple[dict[str, list[AnnotationEntry]], list[Failure]]:
    """The entries of each book, in their order, with `book` set to its id; a failure for each book that is not there.

    A book is named by its id or path; else by the path of the picture (its longest run of parts that is a book); else by
    the path of the annotation file, in the same way: `annotations/<book>.json` and `annotations/<book>/any.json`.
    """
    ids = frozenset(book_ids)
    found: dict[str, list[AnnotationEntry]] = {}
    unknown: Counter[tuple[str, str]] = Counter()
    for entry in entries:
        placed = _placed(entry, ids)
        if placed is None:
            unknown[entry.file, entry.book or _folder_of(entry.page)] += 1
        else:
            found.setdefault(placed.book, []).append(placed)
    failures = []
    for place, ((file, name), count) in enumerate(unknown.items()):
        failures.append(_unknown(file, name, count, ids if place < _SUGGESTIONS else frozenset()))
    return found, failures


def entries_digest(entries: Sequence[AnnotationEntry]) -> str:
    """The digest of a book's entries: changes exactly when what the files say of the book does."""
    return fingerprint([entry.as_json() for entry in entries])


def _placed(entry: AnnotationEntry, ids: frozenset[str]) -> AnnotationEntry | None:
    if entry.book:
        name = _clean(entry.book)
        book = next(
            (b for b in (name, name.removeprefix("comics/")) for b in (b, _ARCHIVE.sub("", b)) if b in ids), None
        )
        return None if book is None else replace(entry, book=book)
    if isinstance(entry.page, str):
        inside = _book_in(_clean(entry.page), ids)
        if inside:
            return replace(entry, book=inside[0], page=inside[1])
    inside = _book_in(_clean(entry.file.rpartition(".")[0]) + "/", ids)
    return replace(entry, book=inside[0]) if inside else None


def _book_in(path: str, ids: frozenset[str]) -> tuple[str, str] | None:
    """The longest run of whole parts of a path that is a book, and what comes after it."""
    parts = path.split("/")[-_MAX_PARTS:]
    for length in range(len(parts) - 1, 0, -1):
        for start in range(len(parts) - length):
            name = "/".join(parts[start : start + length])
            for book in (name, _ARCHIVE.sub("", name)):
                if book in ids:
                    return book, "/".join(parts[start + length :])
    return None


def _clean(path: str) -> str:
    return unicodedata.normalize("NFC", path).replace("\\", "/").strip("/")


def _folder_of(page: int | str | None) -> str:
    return _clean(page).rpartition("/")[0] if isinstance(page, str) else ""


def _unknown(file: str, name: str, count: int, ids: frozenset[str]) -> Failure:
    if name:
        near = difflib.get_close_matches(_clean(name), sorted(ids), n=1)
        what = f"the library has no book {excerpt(name)}, which {count} annotations name"
        remedy = (
            f"Did you mean {excerpt(near[0])}?" if near else "Name a book by its path under comics/, without extension."
        )
    else:
        what = f"nothing says which book {count} annotations are of"
        remedy = "Name the file after the book, or put it into a folder of the book's name."
    return bad(file, name[:100], ItemError("unknown_book", what, remedy=remedy))


class PageNames:
    """The pages of one book, to be found by what annotation files call them."""

    def __init__(self, pages: Iterable[Mapping[str, Any]]) -> None:
        """Take rows with `page_id`, `page_number` and `member`."""
        self._by_number: dict[int, str] = {}
        self._by_member: dict[str, set[str]] = {}
        self._by_path: dict[str, set[str]] = {}
        self._by_stem: dict[str, set[str]] = {}
        self._by_digits: dict[int, set[str]] = {}
        for page in pages:
            identity, member = page["page_id"], _clean(page["member"])
            self._by_number[page["page_number"]] = identity
            self._by_member.setdefault(member, set()).add(identity)
            for tail in _tails(member):
                self._by_path.setdefault(tail, set()).add(identity)
                self._by_stem.setdefault(_stem(tail), set()).add(identity)
            digits = _DIGITS.search(_stem(member))
            if digits:
                self._by_digits.setdefault(int(digits[0]), set()).add(identity)

    def find(self, page: int | str) -> str:
        """The page_id of a page number or of a picture's name; raises `ItemError` (`unknown_page`, `ambiguous_page`).

        A name is tried as a page's path, as the end of one, then without extension; then shorter ends of it, without the
        prefix of an upload; a bare number is the one at the end of a file's name.
        """
        if isinstance(page, int):
            if page in self._by_number:
                return self._by_number[page]
            raise _no_page(f"number {page}")
        for found in self._candidates(_clean(page)):
            if len(found) == 1:
                return next(iter(found))
            if found:
                what = f"{excerpt(page)} may be any of {len(found)} pages: {', '.join(sorted(found)[:4])}"
                raise ItemError("ambiguous_page", what, remedy="Give more of its path, or the page's number.")
        raise _no_page(excerpt(page))

    def _candidates(self, name: str) -> Iterator[set[str]]:
        none: set[str] = set()
        for tail in (*_tails(name), _UPLOAD.sub("", name.rpartition("/")[2])):
            yield self._by_member.get(tail, none)
            yield self._by_path.get(tail, none)
            yield self._by_stem.get(_stem(tail), none)
        number = name.rpartition("/")[2]
        if _NUMBER.fullmatch(number):
            yield self._by_digits.get(int(number), none)


def _no_page(name: str) -> ItemError:
    what = f"the book has no page {name}, or it could not be read"
    return ItemError("unknown_page", what, remedy="Correct the page's name or number.")


def _tails(path: str) -> list[str]:
    parts = path.split("/")[-_MAX_PARTS:]
    return ["/".join(parts[start:]) for start in range(len(parts))]


def _stem(path: str) -> str:
    folder, slash, file = path.rpartition("/")
    return folder + slash + (file.rpartition(".")[0] or file)

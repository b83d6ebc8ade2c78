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

from pipelines.comics.annotations.entries import AnnotationEntry, bad, excerpt
from pipelines.errors import ItemError
from pipelines.identity import fingerprint
from pipelines.stage import Failure

_ARCHIVE = re.compile(r"\.(cbz|zip|cb7|7z|cbt|tar|tar\.(gz|bz2|xz)|tgz|cbr|rar|pdf|epub)$", re.IGNORECASE)
_UPLOAD = re.compile(r"^[0-9a-f]{8}-(?=.)")
"""What Label Studio puts before the name of an uploaded file."""
_MAX_PARTS = 32


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
    return found, [_unknown(file, name, count, ids) for (file, name), count in unknown.items()]


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
    return bad(file, name, ItemError("unknown_book", what, remedy=remedy))


class PageNames:
    """The pages of one book, to be found by what annotation files call them."""

    def __init__(self, pages: Iterable[Mapping[str, object]]) -> None:
        """Take rows with `page_id`, `page_number` and `member`."""
        self._by_number: dict[int, str] = {}
        self._by_name: list[dict[str, set[str]]] = [{}, {}, {}]
        for page in pages:
            identity, member = str(page["page_id"]), _clean(str(page["member"]))
            self._by_number[int(str(page["page_number"]))] = identity
            names = (identity, identity.rpartition("/")[2], member), _tails(member), _tails(_stem(member))
            for kind, of_page in zip(self._by_name, names, strict=True):
                for name in of_page:
                    kind.setdefault(name, set()).add(identity)

    def find(self, page: int | str) -> str:
        """The page_id of a number or a name; raises `ItemError` (`unknown_page`, `ambiguous_page`).

        Names are tried from the strictest on: page_id or whole path, the end of a path, the same without extension, and
        all of that again for shorter ends of the name and without the prefix of an upload.
        """
        if isinstance(page, int):
            if page in self._by_number:
                return self._by_number[page]
            raise _no_page(f"number {page}", "it may be missing from the book, or could not be read")
        for name in _spellings(_clean(page)):
            for kind in self._by_name:
                for key in (name, _stem(name)) if kind is self._by_name[-1] else (name,):
                    found = kind.get(key, set())
                    if len(found) == 1:
                        return next(iter(found))
                    if found:
                        what = f"{excerpt(page)} may be any of {len(found)} pages: {', '.join(sorted(found)[:4])}"
                        raise ItemError("ambiguous_page", what, remedy="Give more of its path, or the page's number.")
        raise _no_page(excerpt(page), "it may be missing from the book, or could not be read")


def _no_page(name: str, reason: str) -> ItemError:
    return ItemError(
        "unknown_page", f"the book has no page {name}; {reason}", remedy="Correct the page's name or number."
    )


def _spellings(name: str) -> Iterator[str]:
    yield from _tails(name)
    file = name.rpartition("/")[2]
    if _UPLOAD.match(file):
        yield _UPLOAD.sub("", file)


def _tails(path: str) -> list[str]:
    parts = path.split("/")[-_MAX_PARTS:]
    return ["/".join(parts[start:]) for start in range(len(parts))]


def _stem(path: str) -> str:
    folder, slash, file = path.rpartition("/")
    return folder + slash + (file.rpartition(".")[0] or file)

"""Reading a book, whatever contains it: its pages in order, one at a time, within limits.

What does not belong here: finding books (`library`), what a picture is (`page_pictures`), what a container is
(`containers`), and how one kind of them is read (`archive_*`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.comics.comic_info import MAX_BYTES, ComicInfo, parse_comic_info
from pipelines.comics.containers import Container, Limits, Member, is_unsafe, not_a_file
from pipelines.comics.page_names import archive_extension, is_comic_info, is_hidden, is_page, natural_order, printable
from pipelines.errors import ItemError

if TYPE_CHECKING:
    from pipelines.comics.library import BookSource

_RATIO_FROM = 16 * 2**20
_HEAD = 1024


class Book:
    """An open book: the names of its pages in reading order, their bytes, and what else it must have held."""

    def __init__(self, container: Container, limits: Limits) -> None:
        self._container, self._limits = container, limits

    @cached_property
    def _contents(self) -> tuple[dict[str, Member], list[ItemError]]:
        """The files by name, and what else is known to have been in the book."""
        found = self._container.list()
        if len(found) > self._limits.max_members:
            most = self._limits.max_members
            raise ItemError("too_large", f"The book holds {len(found):,} files, the limit is {most:,}", remedy=_RAISE)
        total = sum(member.size for member in found)
        if total > self._limits.max_total_bytes:
            raise _too_large("The book", total, self._limits.max_total_bytes)
        faults, kept = list(self._container.faults()), {}
        for member in found:
            if kept.setdefault(member.name, member) is not member and (
                is_page(member.name) or is_comic_info(member.name)
            ):
                faults.append(_repeated(member.name))
            elif archive_extension(member.name) and not is_hidden(member.name):
                faults.append(_book_in_book(member.name))
        return kept, faults

    @property
    def _all(self) -> dict[str, Member]:
        return self._contents[0]

    @property
    def faults(self) -> list[ItemError]:
        """What the book lost besides the pages that it still names: each is worth a failure row. Raises ItemError."""
        return self._contents[1]

    def members(self) -> list[str]:
        """The names of the pages in reading order; what is no page is left out. Raises ItemError for the whole book.

        A book that lost all its pages is such a book; one that holds none gives an empty list.
        """
        pages = [name for name in self._all if is_page(name)]
        if not pages and self.faults:
            raise self.faults[0]
        return pages if self._container.ordered else natural_order(pages)

    def read(self, name: str) -> bytes:
        """The bytes of a page. Raises ItemError: `unsafe_name`, `encrypted`, `too_large`, `empty`, `corrupt`, ..."""
        member, most = self._all[name], self._limits.max_member_bytes
        if is_unsafe(name):
            raise ItemError("unsafe_name", "The file's name points out of the book", remedy="Pack the book anew.")
        if member.encrypted:
            raise ItemError("encrypted", "The file needs a password", remedy="Pack the book anew without one.")
        if member.size > most:
            raise _too_large("The file", member.size, most)
        if member.packed and member.size >= _RATIO_FROM and member.size > member.packed * self._limits.max_ratio:
            raise ItemError(
                "too_large",
                f"The file unpacks to {member.size / member.packed:,.0f} times its size, as archives do that are made to "
                "fill memories",
                remedy=_RAISE,
            )
        data = self._container.read(member, most)
        if len(data) > most:
            raise _too_large("The file", len(data), most)
        if not data:
            raise ItemError("empty", "The file is empty", remedy="Copy it again from its source.")
        return data

    def comic_info(self) -> ComicInfo | None:
        """What the book's ComicInfo.xml says (the one nearest to the top), None without any. Raises ItemError."""
        found = [m for m in self._all.values() if is_comic_info(m.name)]
        if not found:
            return None
        member = min(found, key=lambda m: (m.name.count("/"), m.name))
        if member.encrypted:
            return None
        return parse_comic_info(self._container.read(member, MAX_BYTES))


_RAISE = "If the book is what it should be, raise the limit in the profile."


def _repeated(name: str) -> ItemError:
    what = "The book holds another file of this name, which is left out: the first one counts"
    return ItemError("repeated_name", what, where=printable(name), remedy="Rename one of the two, or take it out.")


def _book_in_book(name: str) -> ItemError:
    what = "An archive inside the book is not read; if it holds pages, they are missing"
    return ItemError("book_in_book", what, where=printable(name), remedy="Take it out of the book.")


def _too_large(what: str, size: int, most: int) -> ItemError:
    return ItemError(
        "too_large", f"{what} unpacks to {size / 2**20:,.0f} MB, the limit is {most >> 20:,} MB", remedy=_RAISE
    )


def container_kind(path: Path) -> str:
    """What contains the book, by its content: `zip`, `epub`, `rar`, `7z`, `tar`, `pdf` or `folder`.

    Raises ItemError (`empty`, `not_an_archive`, `unreadable`).
    """
    try:
        if path.is_dir():
            return "folder"
        if path.exists() and not path.is_file():
            raise not_a_file()
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise ItemError(
            "unreadable", f"The file cannot be read: {error.strerror}", remedy="Check its permissions."
        ) from None
    for kind, magics in _MAGIC.items():
        if head.startswith(magics):
            return "epub" if kind == "zip" and _is_epub(head) else kind
    if head[257:262] == b"ustar":
        return "tar"
    if b"%PDF-" in head:
        return "pdf"
    if not head:
        raise ItemError("empty", "The file is empty", remedy="Copy it again from its source.")
    if head.lstrip()[:1] == b"<":
        raise ItemError("not_an_archive", "The file is a web page, not a book", remedy="Download it again.")
    raise ItemError(
        "not_an_archive", "The file is no archive of a known kind, or its start is damaged", remedy="Copy it again."
    )


_MAGIC: dict[str, tuple[bytes, ...]] = {
    "zip": (b"PK\x03\x04", b"PK\x05\x06", b"PK00PK\x03\x04"),
    "rar": (b"Rar!\x1a\x07",),
    "7z": (b"7z\xbc\xaf\x27\x1c",),
    "tar": (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"),
    "pdf": (b"%PDF-",),
}


def _is_epub(head: bytes) -> bool:
    # An EPUB's first file is `mimetype`, stored as it is.
    return head[30:38] == b"mimetype" and b"application/epub+zip" in head[38:80]


@contextmanager
def open_book(source: BookSource, limits: Limits) -> Iterator[Book]:
    """Open a book by what its file is, not by what it is called. Raises ItemError when it cannot be opened at all."""
    path = Path(source.path)
    # Each kind's module is imported when such a book is met: some load a library.
    opener = import_module(f"pipelines.comics.archive_{container_kind(path)}")
    container: Container = opener.open_container(path, limits)
    try:
        yield Book(container, limits)
    finally:
        container.close()

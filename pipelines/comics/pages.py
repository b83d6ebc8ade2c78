"""The stages that read books: `ReadBooks` what a book says of itself, `ReadPages` its pictures as they came.

What does not belong here: finding books (`library`), reading containers (`archives`), decoding pictures
(`page_pictures`), and what a page shows beyond its file (`page_kinds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import ClassVar

from pipelines.comics.archives import Book, Limits, open_book
from pipelines.comics.comic_info import ComicInfo
from pipelines.comics.library import BookSource
from pipelines.comics.page_facts import PageFacts, page_facts
from pipelines.comics.page_marks import Duplicates, is_spread, usual_aspect
from pipelines.comics.page_names import printable
from pipelines.errors import ItemError
from pipelines.identity import page_id, split_of
from pipelines.stage import Dropped, Failure, Row, ShardInputs, Stage

SOURCE = "storyloom/files@1"
"""`source` of what is read from the books' files."""
_HELD_PAGES = 16
_HELD_BYTES = 64 * 2**20


@dataclass(frozen=True)
class ReadBooks(Stage):
    """The row of a book: the catalog's word first, then ComicInfo.xml's, then the file's name.

    A book that cannot be opened, holds no page or whose row in the catalog leaves its split open to doubt gives a failure
    and no row: without one no sample is made of it.
    """

    name: ClassVar[str] = "read_books"
    version: ClassVar[int] = 2
    table: ClassVar[str] = "comic_books"

    limits: Limits = field(default_factory=Limits)
    split_shares: tuple[tuple[str, float], ...] = (("train", 0.8), ("val", 0.05), ("test", 0.15))
    """The share of books that each split gets where the catalog names none."""

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """Yield the book's row, and a failure for a ComicInfo.xml that cannot be read."""
        source: BookSource = inputs.source
        if source.catalog.fault:
            yield Failure(source.book_id, "catalog", source.catalog.fault)
            return
        info = ComicInfo()
        try:
            with open_book(source, self.limits) as book:
                if not book.members():
                    raise _no_pages(source)
                try:
                    info = book.comic_info() or info
                except ItemError as error:
                    yield _failure(source.book_id, error, source.relative_path)
        except ItemError as error:
            yield _failure(source.book_id, error, source.relative_path)
            return
        yield self._row(source, info)

    def _row(self, source: BookSource, info: ComicInfo) -> Row:
        catalog = source.catalog
        issue = " ".join(part for part in (info.series, info.number) if part and info.series)
        directions = (catalog.right_to_left, info.right_to_left)
        return {
            "book_id": source.book_id,
            "title": catalog.title or info.title or issue or PurePosixPath(source.book_id).name,
            "series": info.series,
            "licence": catalog.licence,
            "split": catalog.split or split_of(source.book_id, dict(self.split_shares)),
            "right_to_left": next((said for said in directions if said is not None), False),
            "container": source.container,
            "path": source.relative_path,
            "source": SOURCE,
        }


@dataclass(frozen=True)
class ReadPages(Stage):
    """The pages of a book: bytes as they came, and what is known of them once all of each was decoded.

    Pages are numbered from 1 by their place among the book's picture files, those that fail included: mending one moves
    no other. `kind` is what ComicInfo.xml says, else `cover` for the first of several pages, else `story`. A page is a
    spread where ComicInfo.xml says so or `page_marks.is_spread` holds against the first 16 pages of the book (fewer when
    they pass 64 MB): they are held back until then, so that a book is read in one pass and memory stays flat.
    """

    name: ClassVar[str] = "read_pages"
    version: ClassVar[int] = 2
    table: ClassVar[str] = "comic_pages"

    limits: Limits = field(default_factory=Limits)

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """Yield a row or a failure for each page in page order, then a failure for whatever else the book lost.

        A book that cannot be opened is one failure.
        """
        yield from _spreads_marked(self._pages(inputs.source))

    def _pages(self, source: BookSource) -> Iterator[Row | Failure | Dropped]:
        """The pages of a book; `spread` is what ComicInfo.xml says."""
        try:
            with open_book(source, self.limits) as book:
                members = book.members()
                if not members:
                    raise _no_pages(source)
                info, duplicates = _page_info(book), Duplicates()
                for number, member in enumerate(members, start=1):
                    page = page_id(source.book_id, number)
                    said = info.page_types.get(number - 1)
                    kind = said or ("cover" if number == 1 and len(members) > 1 else "story")
                    row: Row = {"page_id": page, "book_id": source.book_id, "page_number": number, "kind": kind}
                    row |= {"member": printable(member), "spread": number - 1 in info.double_pages, "source": SOURCE}
                    try:
                        row["image"] = book.read(member)
                        facts = page_facts(row["image"], max_pixels=self.limits.max_pixels)
                    except ItemError as error:
                        yield _failure(page, error, f"{source.relative_path}: {member}")
                        continue
                    yield row | _columns(facts) | {"duplicate_of": duplicates.find(page, facts)}
                    if facts.media_type == "image/tiff" and facts.frames > 1:
                        yield Dropped(f"{page}#2-{facts.frames}", "only the first picture of a TIFF file is a page")
                for fault in book.faults:
                    place = f"{source.relative_path}: {fault.where}" if fault.where else source.relative_path
                    yield Failure.of(
                        source.book_id, ItemError(fault.kind, fault.what, where=place, remedy=fault.remedy)
                    )
        except ItemError as error:
            yield _failure(source.book_id, error, source.relative_path)


def _columns(facts: PageFacts) -> Row:
    return {name: getattr(facts, name) for name in ("media_type", "width", "height", "sha256", "phash")}


def _page_info(book: Book) -> ComicInfo:
    try:
        return book.comic_info() or ComicInfo()
    except ItemError:  # a failure row of `comic_books` says so
        return ComicInfo()


def _spreads_marked(items: Iterable[Row | Failure | Dropped]) -> Iterator[Row | Failure | Dropped]:
    """The same items, with the double pages marked against the usual aspect of the first ones."""
    held: list[Row | Failure | Dropped] = []
    sizes: list[tuple[int, int]] = []
    waiting, usual = _HELD_BYTES, 0.0
    for item in items:
        if usual:
            yield _marked(item, usual)
            continue
        held.append(item)
        if isinstance(item, dict):
            sizes.append((item["width"], item["height"]))
            waiting -= len(item["image"])
        if len(sizes) == _HELD_PAGES or waiting <= 0:
            usual = usual_aspect(sizes)
            yield from (_marked(item, usual) for item in held)
            held.clear()
    yield from (_marked(item, usual_aspect(sizes)) if sizes else item for item in held)


def _marked(item: Row | Failure | Dropped, usual: float) -> Row | Failure | Dropped:
    if isinstance(item, dict) and is_spread(item["width"], item["height"], usual):
        item["spread"] = True
    return item


def _failure(item_id: str, error: ItemError, where: str) -> Failure:
    """The failure row, which always names the file."""
    placed = error if error.where else ItemError(error.kind, error.what, where=where, remedy=error.remedy)
    return Failure.of(item_id, placed)


def _no_pages(source: BookSource) -> ItemError:
    return ItemError(
        "no_pages",
        "The book holds no picture",
        where=source.relative_path,
        remedy="Put pictures into it (JPEG, PNG, WebP, TIFF, GIF, BMP or AVIF), or take it out of the library.",
    )

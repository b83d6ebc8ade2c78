"""The stage that turns a book's annotation entries into the table that other stages read: one row for a page's aspect.

Here: finding the page, pixels of the real page, and which file wins. Not here: parsing, and what stages make of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pipelines.comics.annotations.entries import FORMATS, AnnotationEntry, bad
from pipelines.comics.annotations.marked_stories import stories_of_pages
from pipelines.comics.annotations.matching import PageNames
from pipelines.comics.annotations.pixels import on_page
from pipelines.errors import ItemError
from pipelines.identity import canonical_json
from pipelines.stage import Dropped, Failure, Row, ShardInputs, Stage

_ORDER = ("kind", "panels", "texts", "captions")
_COUNTING = ("texts", "captions")
"""Aspects that name panels by their number, where the file gives panels in order."""


@dataclass(frozen=True)
class _Claim:
    """What one entry says of one aspect, in pixels of the page."""

    entry: AnnotationEntry
    payload: Any


@dataclass(frozen=True)
class ResolveAnnotations(Stage):
    """People's annotations of one book, in pixels of its pages; `inputs.source` holds the book's entries.

    Where several files cover one aspect of a page, the format that is first in `FORMATS` wins, within it the file that
    is first by name. What an other format says is dropped, since that order is documented; two files of one format that
    say different things are a failure, since one of them is a mistake.
    """

    name: ClassVar[str] = "resolve_annotations"
    version: ClassVar[int] = 1
    table: ClassVar[str] = "comic_annotations"
    inputs: ClassVar[tuple[str, ...]] = ("comic_books", "comic_pages")
    columns: ClassVar[Mapping[str, tuple[str, ...]]] = {"comic_books": ("right_to_left",)}

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """Yield the book's stories, then its pages in order, each with its aspects."""
        columns = ["page_id", "page_number", "member", "width", "height"]
        pages = inputs.table("comic_pages", columns).sort_by("page_number").to_pylist()
        right_to_left = any(inputs.table("comic_books", ["right_to_left"])["right_to_left"].to_pylist())
        entries = sorted(inputs.source or (), key=lambda entry: FORMATS.index(entry.format))
        by_page, faults = _by_page(entries, pages)
        yield from faults
        for item in _stories(entries, by_page, pages):
            yield _row(inputs.shard, None, "stories", item) if isinstance(item, _Claim) else item
        for page in pages:
            taken: dict[str, _Claim] = {}
            for entry in by_page.get(page["page_id"], ()):
                yield from _take(entry, page, right_to_left, taken)
            for aspect in _ORDER:
                if aspect in taken:
                    yield _row(inputs.shard, page["page_id"], aspect, taken[aspect])


def _by_page(
    entries: Sequence[AnnotationEntry], pages: Sequence[Row]
) -> tuple[dict[str, list[AnnotationEntry]], list[Failure]]:
    names = PageNames(pages)
    found: dict[str, list[AnnotationEntry]] = {}
    failures: list[Failure] = []
    for entry in entries:
        if entry.page is None:
            continue
        try:
            found.setdefault(names.find(entry.page), []).append(entry)
        except ItemError as error:
            failures.append(bad(entry.file, entry.item, error))
    return found, failures


def _take(
    entry: AnnotationEntry, page: Row, right_to_left: bool, taken: dict[str, _Claim]
) -> Iterator[Failure | Dropped]:
    """Put what the entry says into `taken`, aspect by aspect; yield what gives way to an earlier entry."""
    try:
        payloads = on_page(entry, page, right_to_left)
    except ItemError as error:
        yield bad(entry.file, entry.item, error)
        return
    lost: set[str] = set()
    for aspect in _ORDER:
        if aspect not in payloads:
            continue
        claim, other = _Claim(entry, payloads[aspect]), taken.get(aspect)
        if other is not None:
            yield _gives_way(claim, other, f"the {aspect} of {page['page_id']}")
            if claim.payload != other.payload:
                lost.add(aspect)
        elif "panels" in lost and aspect in _COUNTING and entry.ordered:
            what = (
                f"the {aspect} of {page['page_id']} count the panels of this file, and those of another file are taken"
            )
            yield bad(entry.file, entry.item, ItemError("annotation_conflict", what, remedy="Keep one of the files."))
        else:
            taken[aspect] = claim


def _gives_way(claim: _Claim, other: _Claim, what: str) -> Failure | Dropped:
    item = f"{claim.entry.file}#{claim.entry.item}"
    if claim.payload == other.payload:
        return Dropped(item, f"{what}: the same is in {other.entry.file}")
    if claim.entry.format != other.entry.format:
        return Dropped(item, f"{what}: {other.entry.format} in {other.entry.file} goes before {claim.entry.format}")
    said = f"{what} are told otherwise in {other.entry.file}, {other.entry.item}, which is taken"
    error = ItemError("annotation_conflict", said, remedy="Keep one of the two.")
    return bad(claim.entry.file, claim.entry.item, error)


def _stories(
    entries: Sequence[AnnotationEntry], by_page: Mapping[str, Sequence[AnnotationEntry]], pages: Sequence[Row]
) -> Iterator[_Claim | Failure | Dropped]:
    numbers = {page["page_id"]: page["page_number"] for page in pages}
    claims = [_Claim(entry, entry.aspects["stories"]) for entry in entries if "stories" in entry.aspects]
    for entry, stories in stories_of_pages((numbers[page], entry) for page, of in by_page.items() for entry in of):
        if isinstance(stories, ItemError):
            yield bad(entry.file, "stories", stories)
        else:
            claims.append(_Claim(entry, stories))
    if claims:
        yield claims[0]
    for claim in claims[1:]:
        yield _gives_way(claim, claims[0], "the stories of the book")


def _row(book: str, page: str | None, aspect: str, claim: _Claim) -> Row:
    return {
        "book_id": book,
        "page_id": page,
        "aspect": aspect,
        "payload": canonical_json(claim.payload),
        "file": claim.entry.file,
        "source": "human",
    }

"""Reader of CoMix's XML: a book, its stories, its pages with type and story, and elements with their corners.

A page's `id` is the number of its picture's file (`003.jpg`), from 0 or from 1 as the dataset has it. A page covers panels or
texts when it holds an element of that name. Not here: writing XML. See FORMAT.md of github.com/emanuelevivoli/CoMix
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from pipelines.comics.annotations import entries
from pipelines.comics.annotations.entries import AnnotationEntry, Limits, Region, bad, wrong
from pipelines.errors import ItemError
from pipelines.schemas import PAGE_KINDS
from pipelines.stage import Failure

_FORMAT = "comix_xml"
_OTHER_KINDS = {
    "ad": "advertisement",
    "add": "advertisement",
    "advertising": "advertisement",
    "advert": "advertisement",
    "firstpage": "first_page",
    "letter": "letters",
    "textstory": "text_story",
    "comic": "story",
}


def read(data: bytes, file: str, limits: Limits) -> Iterator[AnnotationEntry | Failure]:
    """One entry for each page that says something; raises `ItemError` (`not_xml`, `unknown_format`) for the whole file."""
    root = _root(data)
    books = [root] if root.tag == "book" else root.findall("book")
    if not books:
        remedy = "CoMix XML has <annotations> with <book> in it."
        raise ItemError(
            "unknown_format", f"the XML holds no book; its root is {entries.excerpt(root.tag)}", remedy=remedy
        )
    for book in books:
        pages = book.findall("pages/page")
        if len(pages) > limits.pages:
            yield bad(file, "pages", wrong(f"there are {len(pages)} pages, over the limit of {limits.pages}"))
            continue
        for position, page in enumerate(pages):
            item = f"page {entries.excerpt(page.get('id'))}" if "id" in page.keys() else f"page[{position}]"  # noqa: SIM118
            try:
                entry = _page(page, book.get("title", ""), file, item, limits)
            except ItemError as error:
                yield bad(file, item, error)
                continue
            if entry.aspects or entry.story:
                yield entry


def _root(data: bytes) -> Element:
    remedy = "Open the file in an editor that checks XML, or export it again."
    try:
        return fromstring(data)
    except ParseError as error:
        raise ItemError("not_xml", str(error), remedy=remedy) from None
    except DefusedXmlException as error:
        what = f"it defines entities or refers to other files ({type(error).__name__})"
        raise ItemError("not_xml", what, remedy="Write it without a document type.") from None
    except (ValueError, LookupError) as error:
        raise ItemError("not_xml", f"its encoding cannot be read: {error}", remedy="Save the file as UTF-8.") from None


def _page(page: Element, title: str, file: str, item: str, limits: Limits) -> AnnotationEntry:
    number = page.get("id", "")
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise wrong(f"the page's id {entries.excerpt(number)} is no number", "Give the number of the picture's file.")
    aspects: dict[str, Any] = {}
    kind = _kind(page)
    if kind:
        aspects["kind"] = kind
    for element in page:
        aspect = entries.aspect_of(element.tag)
        if aspect:
            aspects.setdefault(aspect, []).append(_region(element, aspect, limits))
    for aspect in ("panels", "texts"):
        entries.too_many(aspects.get(aspect, ()), limits)
    name = f"{entries.words(title, 'the title', limits)}/{int(number)}"
    size = entries.size(_number(page.get("width", "0")), _number(page.get("height", "0")))
    story = entries.words(page.get("story_id", ""), "story_id", limits)
    return AnnotationEntry(file, _FORMAT, item, "", name, dict(sorted(aspects.items())), size, story=story)


def _kind(page: Element) -> str | None:
    """What a page's type says, where it names a kind (`color` and `monochrome` do not); an `add_id` is an advertisement."""
    kind = entries.plain_name(page.get("type", ""))
    kind = _OTHER_KINDS.get(kind, kind)
    if kind in PAGE_KINDS:
        return kind
    return "advertisement" if page.get("add_id") else None


def _region(element: Element, aspect: str, limits: Limits) -> Region:
    what = f"{element.tag} {entries.excerpt(element.get('id'))}"
    points = [[_number(value) for value in point.split(",")] for point in element.get("points", "").split()]
    region: Region = {"polygon": entries.polygon(points, what, limits)}
    if aspect == "texts":
        region["text"] = entries.words(" ".join((element.text or "").split()), f"the text of {what}", limits) or None
    return region


def _number(value: str) -> float | str:
    """A number, or the word itself, which the check of coordinates then names."""
    try:
        return float(value)
    except ValueError:
        return value

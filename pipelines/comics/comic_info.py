"""ComicInfo.xml: what a book's own file says of its title, reading direction and pages.

Read by the schema that the Anansi project keeps (https://anansi-project.github.io/docs/comicinfo/schemas/v2.1). What
does not belong here: finding the file in a book (`archives`), and who wins when the catalog says otherwise (`pages`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, ParseError

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

from pipelines.comics.page_names import COMIC_INFO
from pipelines.errors import ItemError

MAX_BYTES = 4 * 2**20
"""A larger file is not parsed: the description of 1,000 pages takes a tenth of a megabyte."""

_KINDS: Mapping[str, str] = {
    "frontcover": "cover",
    "innercover": "cover",
    "backcover": "cover",
    "advertisement": "advertisement",
    "preview": "advertisement",  # a look into another comic
    "deleted": "advertisement",  # readers are told to hide it: scanners' marks, mostly
    "letters": "letters",
    "editorial": "letters",
    "roundup": "letters",  # a summary of earlier issues
    "other": "letters",
    "story": "story",
}
_LONGEST = 500
_MOST_PAGES = 1_000_000


@dataclass(frozen=True)
class ComicInfo:
    """What ComicInfo.xml says; what it leaves open is None or missing.

    `page_types` maps a page's place in the book, from 0, to one of `schemas.PAGE_KINDS`; `double_pages` are the places of
    double pages.
    """

    title: str | None = None
    series: str | None = None
    number: str | None = None
    right_to_left: bool | None = None
    page_types: dict[int, str] = field(default_factory=dict)
    double_pages: frozenset[int] = frozenset()


def parse_comic_info(data: bytes) -> ComicInfo:
    """Read the bytes of a ComicInfo.xml; values that the schema does not know count as not given.

    Entities are refused, whether they point outside or only repeat themselves. Raises ItemError of kind
    `bad_comic_info`: the book is good without it.
    """
    if len(data) > MAX_BYTES:
        raise _bad(f"it has {len(data) / 2**20:.0f} MB, the limit is {MAX_BYTES >> 20}")
    try:
        root = ElementTree.fromstring(data.lstrip())
    except DefusedXmlException:
        raise _bad("it declares entities, which hostile files do to fill the memory or to read other files") from None
    except (ParseError, ValueError, LookupError, RecursionError) as error:
        raise _bad(f"it is no well-formed XML: {error}") from None
    if _name(root) != "comicinfo":
        raise _bad(f"its outermost element is {root.tag[:80]!r}, not 'ComicInfo'")
    values = {_name(child): child for child in reversed(root)}
    pages = [page for page in values.get("pages", ()) if _name(page) == "page"]
    manga = (_text(values.get("manga")) or "").lower()
    return ComicInfo(
        title=_text(values.get("title")),
        series=_text(values.get("series")),
        number=_text(values.get("number")),
        # A plain "Yes" says that it is a manga, and leaves open whether it was mirrored for western readers.
        right_to_left={"yesandrighttoleft": True, "no": False}.get(manga),
        page_types=dict(_page_types(pages)),
        double_pages=frozenset(_double_pages(pages)),
    )


def _page_types(pages: Iterable[Element]) -> Iterable[tuple[int, str]]:
    """The kind of each page that has a type. A type may be a list, of which the first known one counts."""
    for place, attributes in _attributes(pages):
        for word in attributes.get("type", "").lower().split():
            if word in _KINDS:
                yield place, _KINDS[word]
                break


def _double_pages(pages: Iterable[Element]) -> Iterable[int]:
    """Places that are marked; "false" is the schema's default, which programs write without having looked."""
    for place, attributes in _attributes(pages):
        if attributes.get("doublepage", "").strip().lower() in ("true", "1"):
            yield place


def _attributes(pages: Iterable[Element]) -> Iterable[tuple[int, dict[str, str]]]:
    for page in pages:
        attributes = {key.rpartition("}")[2].lower(): value for key, value in page.attrib.items()}
        image = attributes.get("image", "").strip()
        if re.fullmatch(r"[0-9]{1,7}", image) and int(image) < _MOST_PAGES:
            yield int(image), attributes


def _name(element: Element) -> str:
    """The tag in small letters without its namespace; comments have a function as their tag."""
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def _text(element: Element | None) -> str | None:
    """The text in one line without control characters, at most 500 characters; None when nothing is left."""
    raw = "".join(element.itertext()) if element is not None else ""
    kept = "".join(" " if unicodedata.category(c) == "Cc" else c for c in raw[: 20 * _LONGEST])
    return unicodedata.normalize("NFC", " ".join(kept.split())[:_LONGEST].strip()) or None


def _bad(why: str) -> ItemError:
    return ItemError(
        "bad_comic_info",
        f"ComicInfo.xml is left out, {why}",
        where=COMIC_INFO,
        remedy="Write the file anew with a comic tagger, or take it out of the book.",
    )

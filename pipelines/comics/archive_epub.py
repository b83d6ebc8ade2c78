"""Books in EPUB files: the pictures in the order in which the book's own spine shows them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

from pipelines.comics.archive_zip import ZipContainer
from pipelines.comics.containers import Container, Limits, Member
from pipelines.comics.page_names import is_page, natural_order, printable
from pipelines.errors import ItemError

_MOST_TEXT = 4 * 2**20
"""Bytes of one page's text, or of the list of pages."""
_MOST_PAGES_TEXT = 64 * 2**20
"""... and of all pages' together: the text of a comic's page is a link to its picture."""


class EpubContainer(Container):
    """An EPUB file. Pictures that no page of the spine shows come after the others, in natural order."""

    ordered = True

    def __init__(self, path: Path) -> None:
        self._zip = ZipContainer(path)
        self._unread: list[ItemError] = []

    def list(self) -> list[Member]:
        """All files, the pictures of the spine first."""
        found = self._zip.list()
        members = {member.name: member for member in found}
        shown = {name: place for place, name in enumerate(dict.fromkeys(self._shown(members)))}
        rest = natural_order(name for name in members if name not in shown)
        places = {name: place for place, name in enumerate([*(name for name in shown if name in members), *rest])}
        return sorted(found, key=lambda member: places[member.name])

    def _shown(self, members: dict[str, Member]) -> Iterator[str]:
        """Pictures in the order of the spine; a broken description gives none, and natural order then holds."""
        try:
            container = self._xml(members["META-INF/container.xml"])
            package = next(e.get("full-path", "") for e in container.iter() if _tag(e) == "rootfile")
            root = self._xml(members[package])
        except (KeyError, StopIteration, ItemError):
            return
        left = _MOST_PAGES_TEXT
        folder = posixpath.dirname(package)
        items = {e.get("id"): _inside(folder, e.get("href", "")) for e in root.iter() if _tag(e) == "item"}
        references = (e.get("idref") for e in root.iter() if _tag(e) == "itemref")
        # Each page once: a spine may name it again and again to keep its reader busy.
        for page in dict.fromkeys(items.get(reference, "") for reference in references):
            if is_page(page):
                yield page
            elif page in members:
                left -= min(members[page].size, _MOST_TEXT)
                if left < 0:
                    self._unread.append(_too_much_text(page))
                    return
                yield from self._pictures(members[page])

    def _pictures(self, page: Member) -> Iterator[str]:
        try:
            root = self._xml(page)
        except ItemError:
            return
        for element in root.iter():
            links = [value for name, value in element.attrib.items() if name == "src" or name.endswith("href")]
            if _tag(element) in ("img", "image"):
                yield from (_inside(posixpath.dirname(page.name), link) for link in links)

    def _xml(self, member: Member) -> Element:
        data = self._zip.read(member, _MOST_TEXT)
        try:
            return ElementTree.fromstring(data)
        except (ParseError, DefusedXmlException, ValueError, RecursionError) as error:
            raise ItemError("corrupt", f"The book's description is damaged: {error}") from None

    def read(self, member: Member, most: int) -> bytes:
        """A file's bytes."""
        return self._zip.read(member, most)

    def faults(self) -> Sequence[ItemError]:
        """What is lost of the ZIP file, and where the order of the pages ends."""
        return [*self._zip.faults(), *self._unread]

    def close(self) -> None:
        """Close the file."""
        self._zip.close()


def _too_much_text(page: str) -> ItemError:
    what = (
        "The book's pages hold more text than a comic's do; from this one on, pictures are in the order of their names"
    )
    return ItemError("too_large", what, where=printable(page), remedy="Take the page's text out of the book.")


def _tag(element: Element) -> str:
    return str(element.tag).rpartition("}")[2].lower()


def _inside(folder: str, link: str) -> str:
    """The member that a relative link names."""
    return posixpath.normpath(posixpath.join(folder, unquote(link.partition("#")[0])))


def open_container(path: Path, limits: Limits) -> Container:
    """Open an EPUB file."""
    return EpubContainer(path)

"""A book as tables, page by page: what the stages that tell pages and stories apart read."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from PIL import Image, ImageDraw

from pipelines.geometry import Box
from pipelines.identity import page_id, panel_id, text_id
from pipelines.stage import Row

BOOK = "série/one"
WIDTH, HEIGHT = 800, 1200
FOUR = tuple(Box(20 + 390 * column, 20 + 590 * row, 370, 570) for row in (0, 1) for column in (0, 1))
"""Four panels of a story page."""
BALLOON = Box(40, 40, 200, 60)


def pid(number: int) -> str:
    return page_id(BOOK, number)


@dataclass(frozen=True)
class Words:
    """A textbox: its words, the place of its panel on the page (from 1; None: none), its box."""

    text: str
    panel: int | None = None
    box: Box = BALLOON


@dataclass(frozen=True)
class Page:
    """A page: what stands on it, what the file says of it, and what a person says (None: nobody did)."""

    panels: Sequence[Box] = ()
    texts: Sequence[Words] = ()
    said: str = "story"
    person: str | None = None
    duplicate_of: int | None = None
    image: bytes = b""
    kind: str | None = "story"
    """The kind that `comic_page_kinds` holds, where a test reads that table; None: it has no row."""


def story_page(*lines: str, **changes: Any) -> Page:
    """Four panels that speak: the lines given, one a panel in turn, or one each."""
    said = lines or ("Who goes there?", "It is I.", "Come in.", "Thank you.")
    return Page(FOUR, [Words(line, n % 4 + 1, FOUR[n % 4]._replace(h=60)) for n, line in enumerate(said)], **changes)


def prose(words: int, boxes: int = 1, extra: str = "") -> Page:
    """A page without panels that holds so many words in paragraphs, under two fifths of its area."""
    each = " ".join(["word"] * (words // boxes))
    texts = [Words(each, None, Box(100, 100 + 400 * n // boxes, 600, 640 // boxes)) for n in range(boxes)]
    return Page((), [*texts, Words(extra, None, Box(100, 1100, 300, 20))] if extra else texts)


def flat(grey: int, *, rim: int | None = None, dot: int | None = None) -> bytes:
    """A page of one tone as a PNG; with a rim, as scans have it, or a dot in its middle, in tones of their own."""
    picture = Image.new("L", (WIDTH // 4, HEIGHT // 4), grey if rim is None else rim)
    draw = ImageDraw.Draw(picture)
    draw.rectangle((10, 10, picture.width - 11, picture.height - 11), fill=grey)
    if dot is not None:
        draw.ellipse((80, 130, 120, 170), fill=dot)
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


@dataclass
class Book:
    """Pages by number; numbers that are left out could not be read. `stories`: what a person marked, else None."""

    pages: dict[int, Page]
    stories: list[tuple[int, int]] | None = None
    shared: dict[str, str] = field(default_factory=lambda: {"book_id": BOOK, "source": "test"})

    @classmethod
    def of(cls, *pages: Page, stories: list[tuple[int, int]] | None = None) -> Book:
        """The pages one after the other."""
        return cls(dict(enumerate(pages, 1)), stories)

    def tables(self) -> dict[str, list[Row]]:
        """All upstream tables of the two stages."""
        return {
            "comic_pages": [self._page(n, page) for n, page in self.pages.items()],
            "comic_panels": [row for n, page in self.pages.items() for row in self._panels(n, page)],
            "comic_texts": [row for n, page in self.pages.items() for row in self._texts(n, page)],
            "comic_page_kinds": [
                {**self.shared, "page_id": pid(n), "page_number": n, "kind": page.kind, "reason": "test"}
                for n, page in self.pages.items()
                if page.kind
            ],
            "comic_annotations": self._annotations(),
        }

    def _page(self, number: int, page: Page) -> Row:
        names = {"page_id": pid(number), "page_number": number, "member": f"{number}.png", "image": page.image}
        sizes = {
            "width": WIDTH,
            "height": HEIGHT,
            "media_type": "image/png",
            "sha256": "",
            "phash": "",
            "spread": False,
        }
        said = {"duplicate_of": pid(page.duplicate_of) if page.duplicate_of else None, "kind": page.said}
        return self.shared | names | sizes | said

    def _panels(self, number: int, page: Page) -> list[Row]:
        where = {**self.shared, "page_id": pid(number), "page_number": number, "polygon": [], "confidence": 1.0}
        return [
            {**where, "panel_id": panel_id(pid(number), order), "reading_order": order, **box._asdict()}
            for order, box in enumerate(page.panels, 1)
        ]

    def _texts(self, number: int, page: Page) -> list[Row]:
        where = {**self.shared, "page_id": pid(number), "page_number": number, "confidence": 1.0, "panel_share": 1.0}
        return [
            {
                **where,
                "text_id": text_id(pid(number), order),
                "panel_id": panel_id(pid(number), said.panel) if said.panel else None,
                "reading_order": order,
                **said.box._asdict(),
                "text": said.text,
            }
            for order, said in enumerate(page.texts, 1)
        ]

    def _annotations(self) -> list[Row]:
        by = {**self.shared, "file": "one.json"}
        rows: list[Row] = [
            {**by, "page_id": pid(n), "aspect": "kind", "payload": json.dumps(page.person)}
            for n, page in self.pages.items()
            if page.person is not None
        ]
        if self.stories is not None:
            marked = [{"first_page": first, "last_page": last} for first, last in self.stories]
            rows.append({**by, "page_id": None, "aspect": "stories", "payload": json.dumps(marked)})
        return rows


SELLING = {
    "coupon": "Clip this coupon!",
    "order": "Send no money",
    "delivery": "postpaid",
    "guarantee": "Money-back",
    "price": "only $1.98",
    "address": "Dept. 12, Chicago",
    "sale": "now at newsstands",
    "web": "www.hats.example",
}


CREDITS = {
    "imprint": "© 1954 by the makers",
    "contents": "Table of contents",
    "staff": "Editor: A. Person",
    "thanks": "Special thanks to you",
    "funding": "Funded by 312 patrons",
    "licence": "Creative Commons",
}

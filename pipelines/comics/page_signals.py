"""What a page's panels and words say about its kind: the counts, and the words that sell, answer readers or give
credits.

What does not belong here: which kind follows from the signals (`page_kinds`) and what people said about the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pipelines.geometry import Box, intersection

LONG_BOX_WORDS = 40
"""A balloon or narration box seldom holds more words; a paragraph of prose does."""

LEAST_PICTURE = 0.04
"""Share of the page under which a panel may be a badge or a logo; a page of credits has those."""

_SELLING = {
    "coupon": (
        r"\bCOUPONS?\b",
        r"\b(?:CLIP|MAIL|TEAR|CUT) (?:OUT )?(?:AND MAIL|THIS|OFF|NOW|TODAY)\b",
        r"\bNAME\b.{0,60}\bADDRESS\b",
    ),
    "order": (
        r"\bORDER (?:NOW|TODAY|FORM|BY MAIL|YOURS|BLANK)\b",
        r"\bRUSH (?:ME|MY|YOUR|ORDER)\b",
        r"\bSEND (?:NO MONEY|FOR YOUR|ME|ONLY|CASH|CHECK|TODAY)\b",
        r"\b(?:I ENCLOSE|ENCLOSED (?:IS|FIND))\b",
        r"\b(?:PRE-?ORDER|SUBSCRIBE|SUBSCRIPTIONS?)\b",
    ),
    "delivery": (r"\bC\. ?O\. ?D\b", r"\bPOST ?(?:PAID|AGE)\b", r"\bPPD\b", r"\bBY RETURN MAIL\b", r"\bSHIPPING\b"),
    "guarantee": (
        r"\bMONEY[- ]BACK\b",
        r"\bGUARANTEED?\b",
        r"\bFREE (?:TRIAL|BOOK|BOOKLET|GIFT|SAMPLE|CATALOG(?:UE)?|OFFER)\b",
        r"\b\d+[- ]DAYS?'?S? (?:FREE )?TRIAL\b",
        r"\bNO (?:RISK|OBLIGATION)\b",
    ),
    "price": (r"[$£€] ?\d", r"\b\d{1,3} ?¢", r"\b\d+ ?CENTS\b", r"\bONLY \d+[.,]\d\d\b"),
    "address": (
        r"\bDEPT\b",
        r"\bP\. ?O\. ?BOX\b",
        r"\bBOX \d{2,}",
        r"\b(?:STREET|ST\.|AVENUE|AVE\.|BROADWAY)\b.{0,40}\b(?:N\. ?Y|NEW YORK|CHICAGO)\b",
        r"\b[A-Z]+ \d{1,2},? (?:N\. ?Y|ILL|N\. ?J|PA|CALIF)\b",
    ),
    "sale": (
        r"\bON SALE\b",
        r"\bAT (?:YOUR|ALL) (?:NEWS|LOCAL|FAVORITE)",
        r"\bNEWS ?STANDS?\b",
        r"\bGET (?:YOUR|THIS) COPY\b",
        r"\bDON'?T MISS (?:THE|THIS|OUR|YOUR)\b",
        r"\bAVAILABLE (?:AT|NOW|FROM)\b",
        r"\bEARN (?:BIG |EXTRA )?(?:MONEY|CASH|PRIZES)\b",
    ),
    "web": (r"\bWWW\.", r"\bHTTPS?:", r"\.COM\b", r"\bISBN\b"),
}
_LETTERS = {
    "heading": (
        r"\bLETTERS? (?:TO|FROM) (?:THE |OUR )?(?:EDITORS?|READERS?)\b",
        r"\bLETTER ?(?:COLUMN|PAGE|BOX)\b",
        r"\bMAIL ?(?:BAG|BOX)\b",
        r"\bREADERS? (?:WRITE|SPEAK|COLUMN)\b",
    ),
    "salutation": (r"\bDEAR (?:EDITORS?|SIRS?|FRIENDS?|READERS?|FANS|[A-Z]+ COMICS)\b",),
    "closing": (r"\bYOURS (?:TRULY|SINCERELY|FAITHFULLY)\b", r"\bSINCERELY\b"),
    "reply": (
        r"\b(?:WRITE|SEND|ADDRESS) (?:TO US|US|YOUR LETTERS?|ALL LETTERS?)\b",
        r"\b(?:YOUR|LAST|NEXT|THIS) ISSUE\b",
        r"\bED(?:ITOR)?S?\.? NOTE\b",
    ),
}
_CREDITS = {
    "imprint": (
        r"\bCOPYRIGHT\b",
        r"(?:\(C\)|©) ?\d{4}",
        r"\bALL RIGHTS RESERVED\b",
        r"\bSECOND[- ]CLASS (?:MATTER|MAIL)\b",
        r"\bPRINTED IN\b",
        r"\bPUBLISHED (?:BY|(?:BI-?)?MONTHLY|QUARTERLY)\b",
    ),
    "contents": (r"\bTABLE OF CONTENTS\b", r"^CONTENTS\b", r"\bIN THIS ISSUE\b"),
    "staff": (r"\b(?:EDITOR|PUBLISHER|LETTERER|LETTERING|COLOU?RIST|PENCILER|INKER|TRANSLATOR|CREDITS)\b",),
    "thanks": (r"\b(?:MANY|SPECIAL) THANKS\b", r"\bTHANKS GO TO\b", r"\bACKNOWLEDGE?MENTS?\b"),
    "funding": (r"\bPATRONS?\b", r"\bPATREON\b", r"\bFUNDED BY\b", r"\bKICKSTARTER\b"),
    "licence": (
        r"\bCREATIVE COMMONS\b",
        r"\bLICEN[CS]ED UNDER\b",
        r"\bOPEN-? ?SOURCE\b",
        r"\bMADE WITH\b",
    ),
}


@dataclass(frozen=True)
class PageSignals:
    """Panels and textboxes of one page, as counts. Areas are shares of the page, 0 to 1."""

    width: int
    height: int
    panels: Sequence[Box]
    texts: Sequence[Mapping[str, Any]]
    """Rows of `comic_texts` in reading order."""

    @cached_property
    def words(self) -> int:
        """Words on the page; what holds no letter or digit is none."""
        return sum(map(_word_count, self.texts))

    @cached_property
    def lettered_panels(self) -> int:
        """Panels that hold a balloon or a narration box: some words, fewer than a paragraph."""
        return len({t["panel_id"] for t in self.texts if t["panel_id"] and 0 < _word_count(t) < LONG_BOX_WORDS})

    @cached_property
    def text_area(self) -> float:
        """Share of the page under textboxes, at most 1."""
        return min(sum(t["w"] * t["h"] for t in self.texts) / max(self.width * self.height, 1), 1.0)

    @cached_property
    def prose_share(self) -> float:
        """Share of the words that stand in boxes of a paragraph's length."""
        prose = sum(n for n in map(_word_count, self.texts) if n >= LONG_BOX_WORDS)
        return prose / self.words if self.words else 0.0

    @cached_property
    def selling(self) -> list[str]:
        """Groups of advertisements' words that occur, each counted once however often it sells."""
        return _groups(self._joined, _SELLING)

    @cached_property
    def letters(self) -> list[str]:
        """Groups of letter columns' words that occur."""
        return _groups(self._joined, _LETTERS)

    @cached_property
    def credit(self) -> list[str]:
        """Groups of credits pages' words that occur: imprint, contents, staff, thanks, funding, licence."""
        return _groups(self._joined, _CREDITS)

    @cached_property
    def pictures(self) -> int:
        """Panels that are not mostly under textboxes (a parchment full of credits is no picture) and larger than a badge."""
        least = LEAST_PICTURE * self.width * self.height
        return sum(panel.area >= least and not _mostly_text(panel, self.texts) for panel in self.panels)

    @cached_property
    def _joined(self) -> str:
        return " ".join(t["text"] for t in self.texts).upper().replace("’", "'")


def _word_count(text: Mapping[str, Any]) -> int:
    return sum(any(c.isalnum() for c in word) for word in text["text"].split())


def _groups(words: str, groups: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [name for name, patterns in groups.items() if any(re.search(p, words) for p in patterns)]


def _mostly_text(panel: Box, texts: Sequence[Mapping[str, Any]]) -> bool:
    covered = sum(intersection(panel, Box(t["x"], t["y"], t["w"], t["h"])) for t in texts)
    return covered > 0.2 * panel.area and sum(map(_word_count, texts)) >= LONG_BOX_WORDS

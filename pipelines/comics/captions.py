"""Captions of panels: where people wrote them, and the rule that a caption quotes no spoken words.

What does not belong here: writing captions with a model (that is an adapter's work), and the tasks that show them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from pipelines.comics.annotations.payload import page_aspect
from pipelines.stage import Dropped, Failure, Row, ShardInputs, Stage

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class AnnotatedCaptions(Stage):
    """The captions that annotations give, by the reading order of the panels that the table holds."""

    name: ClassVar[str] = "annotated_captions"
    version: ClassVar[int] = 1
    table: ClassVar[str] = "comic_captions"
    inputs: ClassVar[tuple[str, ...]] = ("comic_panels", "comic_annotations")

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """Yield the captions of one book, page by page; a caption without a panel is a failure."""
        panels = inputs.table("comic_panels", ["panel_id", "page_id", "reading_order"]).to_pylist()
        by_place = {(p["page_id"], p["reading_order"]): p["panel_id"] for p in panels}
        captions = page_aspect(inputs.table("comic_annotations"), "captions")
        for page, of_page in sorted(captions.items()):
            for number, caption in sorted(of_page.items()):
                panel = by_place.get((page, number))
                if panel is None:
                    message = f"The caption of panel {number} describes no panel of {page}. Correct its number."
                    yield Failure(page, "unknown_panel", message)
                else:
                    yield {"panel_id": panel, "book_id": inputs.shard, "caption": caption, "source": "human"}


def quoted_words(caption: str, text: str) -> int:
    """How many words of a transcription the caption repeats in a row, at most; case and punctuation do not count.

    A caption that repeats three or more tells what is said, which captions must leave out.

    Examples:
        >>> quoted_words("He says: come home now!", "COME HOME, NOW")
        3
    """
    ours, theirs = _words(caption), _words(text)
    longest = 0
    before = [0] * (len(theirs) + 1)
    for word in ours:
        row = [0] * (len(theirs) + 1)
        for place, other in enumerate(theirs, start=1):
            if word == other:
                row[place] = before[place - 1] + 1
                longest = max(longest, row[place])
        before = row
    return longest


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("'", "").replace("’", ""))

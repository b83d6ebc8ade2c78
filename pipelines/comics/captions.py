"""Captions of panels: a person's where there is one, else a chat model's; and the rule that a caption quotes no words.

What does not belong here: asking a model (`resources.chat`), and the tasks that show captions.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from pipelines.chat import ChatModel, ChatRequest, Part, Quoted, ReplyForm, Words
from pipelines.comics.annotations.payload import page_aspect
from pipelines.comics.page_media import PageMedia
from pipelines.errors import ItemError
from pipelines.geometry import Box
from pipelines.stage import Dropped, Failure, Model, Row, ShardInputs, Stage

PROMPT = "captions@1"
"""Name and version of the wording below; a new version asks for all captions anew."""
_INSTRUCTION = (
    "You write captions for single panels of comics. A reader who cannot see the panel must be able to tell from your "
    "caption what is to be seen in it: who is there (by looks and dress, never by a name that you only guess), what "
    "they do, what their faces and postures show, where it takes place, and each thing that the action needs. Leave "
    "out everything that is lettered: what is spoken, thought or told, sounds, signs, titles. Neither quote nor retell "
    "it, and do not mention balloons or boxes. Write plain sentences in English, in the present tense, 30 to 120 words."
)
_LONGEST_SIDE = 1024
MAX_TOKENS = 512
"""Length of a reply at most, as in ComicsPAP (section 3.1)."""
_EXPECTED_TOKENS = 130
QUOTED = 3
"""Words in a row of one textbox that make a caption a quotation."""

_WORD = re.compile(r"[^\W_]+")


class CaptionReply(ReplyForm):
    """What the model replies."""

    caption: str


@dataclass(frozen=True)
class WriteCaptions(Stage):
    """A caption for each panel that needs one: annotations give it, or the captioner writes it where there is one.

    The captioner is asked about panels of story pages. A caption that quotes the panel's transcription is asked for once
    more, and then is a failure (ComicsPAP, section 3.1: spoken and narration text is left out).
    """

    name: ClassVar[str] = "write_captions"
    version: ClassVar[int] = 1
    table: ClassVar[str] = "comic_captions"
    inputs: ClassVar[tuple[str, ...]] = ("comic_panels", "comic_annotations")

    captioner: Model[ChatModel] | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        """Without a captioner neither pictures nor texts are looked at."""
        return (
            self.inputs if self.captioner is None else (*self.inputs, "comic_pages", "comic_texts", "comic_page_kinds")
        )

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """Yield the captions of one book, panel by panel; a person's caption without a panel is a failure."""
        columns = ["panel_id", "page_id", "page_number", "reading_order", "x", "y", "w", "h"]
        panels = inputs.table("comic_panels", columns).to_pylist()
        panels.sort(key=lambda panel: (panel["page_number"], panel["reading_order"]))
        by_place = {(p["page_id"], p["reading_order"]): p["panel_id"] for p in panels}
        human: dict[str, str] = {}
        for page, of_page in sorted(page_aspect(inputs.table("comic_annotations"), "captions").items()):
            for number, caption in sorted(of_page.items()):
                if (page, number) in by_place:
                    human[by_place[page, number]] = caption
                else:
                    message = f"The caption of panel {number} describes no panel of {page}. Correct its number."
                    yield Failure(page, "unknown_panel", message)
        written = self._written(inputs, [p for p in panels if p["panel_id"] not in human])
        for panel_id in (panel["panel_id"] for panel in panels):
            row = {"panel_id": panel_id, "book_id": inputs.shard}
            if panel_id in human:
                yield row | {"caption": human[panel_id], "source": "human"}
            elif self.captioner is not None and panel_id in written.asked:
                answer = next(written.answers)
                if isinstance(answer, ItemError):
                    yield Failure.of(panel_id, answer)
                else:
                    caption = " ".join(answer.caption.split())
                    yield row | {"caption": caption, "source": f"{self.captioner.source}@{PROMPT}"}

    def _written(self, inputs: ShardInputs, panels: Sequence[Row]) -> _Written:
        """The panels that the captioner is asked about, and its answers in their order."""
        if self.captioner is None:
            return _Written(set(), iter(()))
        kinds = inputs.table("comic_page_kinds", ["page_id", "kind"]).to_pylist()
        story = {page["page_id"] for page in kinds if page["kind"] == "story"}
        panels = [panel for panel in panels if panel["page_id"] in story]
        pages = PageMedia(inputs, inputs.table("comic_pages", ["page_id", "sha256", "width", "height"]).to_pylist())
        requests = _requests(panels, pages, _texts(inputs))
        return _Written({panel["panel_id"] for panel in panels}, self.captioner.load().ask(requests))


@dataclass(frozen=True)
class _Written:
    asked: set[str]
    answers: Iterator[CaptionReply | ItemError]


def _requests(
    panels: Iterable[Row], pages: PageMedia, texts: Mapping[str, Sequence[str]]
) -> Iterator[ChatRequest[CaptionReply]]:
    for panel in panels:
        box = Box(panel["x"], panel["y"], panel["w"], panel["h"])
        lettering = texts.get(panel["panel_id"], ())
        parts: list[Part] = [Words("The panel:"), pages.picture(panel["page_id"], _LONGEST_SIDE, box)]
        if lettering:
            parts += [Words("What is lettered in it, to be left out:"), Quoted("lettering", "\n".join(lettering))]
        check = partial(complaint, texts=lettering)
        yield ChatRequest(PROMPT, _INSTRUCTION, tuple(parts), CaptionReply, MAX_TOKENS, _EXPECTED_TOKENS, check)


def _texts(inputs: ShardInputs) -> dict[str, list[str]]:
    """The transcriptions of each panel in reading order."""
    found: dict[str, list[str]] = defaultdict(list)
    rows = inputs.table("comic_texts", ["page_id", "panel_id", "reading_order", "text"]).to_pylist()
    for row in sorted(rows, key=lambda row: (row["page_id"], row["reading_order"])):
        if row["panel_id"]:
            found[row["panel_id"]].append(row["text"])
    return found


def complaint(reply: CaptionReply, texts: Sequence[str]) -> str:
    """What is wrong with a caption of a panel in which these texts are lettered; empty when nothing is.

    Examples:
        >>> complaint(CaptionReply(caption="A man waves."), ["COME HOME NOW"])
        ''
    """
    if not _WORD.search(reply.caption):
        return "The caption has no words"
    quoted = max((quoted_words(reply.caption, text) for text in texts), default=0)
    if quoted >= QUOTED:
        return f"The caption repeats {quoted} words in a row of what is lettered in the panel; leave all lettering out"
    return ""


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

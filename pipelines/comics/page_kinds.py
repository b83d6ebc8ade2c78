"""The kind of each page: story, cover, first page, advertisement, letters or text story.

What a person said decides; then what the file itself says; then few plain signals, the first that holds. A page is a
story page until a signal says otherwise, and the signals lean to `story` where a page has the panels of one: a story
page that is taken for an advertisement costs up to eight windows, an advertisement that passes costs only as many as
it has panels, and a page without panels costs nothing. What does not belong here: the counting of words
(`page_signals`) and which pages make one story (`stories`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from pipelines.chat import ChatModel
from pipelines.comics.annotations.payload import AnnotatedStory, book_stories, page_aspect
from pipelines.comics.page_classifier import PROMPT, PageReply, page_requests
from pipelines.comics.page_media import PageMedia
from pipelines.comics.page_pictures import decode
from pipelines.comics.page_signals import PageSignals
from pipelines.comics.stored_pages import page_images
from pipelines.errors import ItemError
from pipelines.geometry import Box
from pipelines.schemas import PAGE_KINDS
from pipelines.stage import Dropped, Failure, Model, Row, ShardInputs, Stage

SOURCE = "storyloom/page-signals@1"
"""`source` of the rows that no person made."""

_LONGEST_REASON = 300
_COLUMNS = ["page_id", "book_id", "page_number", "width", "height", "duplicate_of", "kind"]


@dataclass(frozen=True)
class KindRules:
    """Thresholds of the signals. Words come from OCR, so each rule asks for several independent groups of them."""

    cover_story_panels: int = 4
    """Page 1 with this many panels, all but one of them lettered, is a story page: covers have a title and few
    insets."""
    advertisement_groups: int = 3
    """Groups of selling words (coupon, price, address, ...) on a page without a story's panels; a story page may show
    a price or a sign, three kinds of sales talk at once it does not."""
    comic_advertisement_groups: int = 5
    """The same on a page of lettered panels: advertisements in comic form end in coupon, price, address and
    guarantee."""
    story_panels: int = 4
    """Lettered panels that make a page look like a story page."""
    letter_groups: int = 2
    """Groups of letter-column words, on a page of prose."""
    prose_words: int = 200
    """Fewer words make no page of prose: comic pages hold 50 to 200, pages of prose 400 and more."""
    prose_share: float = 0.6
    """Share of these words in boxes of a paragraph's length."""
    prose_area: float = 0.35
    """Share of the page under text that also makes it prose, for readers that do not join paragraphs."""
    credit_groups: int = 2
    """Groups of credits words on a page with no picture panel; one is enough for a page with no panel at all."""
    blank_contrast: float = 4.0
    """Standard deviation of grey (0 to 255) under which a page without text shows nothing."""


@dataclass(frozen=True)
class DecideKinds(Stage):
    """The kind of each page of a book, with the signal that decided; with a `classifier`, a chat model in place of signals.

    A page that repeats an earlier one and a blank page have no kind: they are dropped, with the reason. ComicsPAP
    (section 3.1) had people take out covers, first pages, advertisements, letters and text stories; a person's word
    wins here too. A page about which the model gives no answer is a failure, and the signals decide.
    """

    name: ClassVar[str] = "decide_kinds"
    version: ClassVar[int] = 2
    table: ClassVar[str] = "comic_page_kinds"
    inputs: ClassVar[tuple[str, ...]] = ("comic_pages", "comic_panels", "comic_texts", "comic_annotations")

    rules: KindRules = field(default_factory=KindRules)
    classifier: Model[ChatModel] | None = None

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """One row for each page that is kept, in page order."""
        annotations = inputs.table("comic_annotations")
        human, stories = page_aspect(annotations, "kind"), book_stories(annotations) or []
        pages = sorted(inputs.table("comic_pages", _COLUMNS).to_pylist(), key=lambda page: page["page_number"])
        signals = _signals(pages, inputs)
        blank = _blank_pages(inputs, signals, self.rules.blank_contrast)
        places = [n for n, page in enumerate(pages) if signals[page["page_id"]].lettered_panels]
        asked = [p["page_id"] for p in pages if self._is_asked(p, human.get(p["page_id"]), stories, blank)]
        answers = self._answers(inputs, asked, signals)
        for place, page in enumerate(pages):
            page_id, source, starts = page["page_id"], SOURCE, None
            said = human.get(page_id)
            if said is not None and said not in PAGE_KINDS:
                yield Failure(
                    page_id, "annotation_conflict", f"{said!r} is no kind of page. Use one of {', '.join(PAGE_KINDS)}."
                )
                said = None
            if said:
                kind, reason, source = said, "a person said so", "human"
            elif _is_edge(page, stories):
                kind, reason, source = "story", "a person made a story begin or end here", "human"
            elif page["duplicate_of"]:
                yield Dropped(page_id, f"shows the same as {page['duplicate_of']}")
                continue
            elif page_id in blank:
                yield Dropped(page_id, "blank page")
                continue
            else:
                inside = any(s.first_page <= page["page_number"] <= s.last_page for s in stories)
                early = not places or place < places[0]
                kind, reason = decide(
                    page["kind"], signals[page_id], page["page_number"], self.rules, early=early, inside=inside
                )
                answer = next(answers) if page_id in asked else None
                if isinstance(answer, ItemError):
                    yield Failure.of(page_id, answer)
                elif answer is not None and self.classifier is not None:
                    kind, reason, starts = (
                        answer.kind,
                        " ".join(answer.reason.split())[:_LONGEST_REASON],
                        answer.starts_story,
                    )
                    source = f"{self.classifier.source}@{PROMPT}"
            kept = {name: page[name] for name in ("page_id", "book_id", "page_number")}
            yield {**kept, "kind": kind, "reason": reason, "starts_story": starts, "source": source}

    def _is_asked(self, page: Row, said: str | None, stories: Iterable[AnnotatedStory], blank: set[str]) -> bool:
        """Whether a model decides: no person did, the file says nothing that it must know, and the page shows something."""
        known = said in PAGE_KINDS or _is_edge(page, stories) or page["kind"] not in ("cover", "story")
        return not (self.classifier is None or known or page["duplicate_of"] or page["page_id"] in blank)

    def _answers(
        self, inputs: ShardInputs, asked: Sequence[str], signals: Mapping[str, PageSignals]
    ) -> Iterator[PageReply | ItemError]:
        if self.classifier is None or not asked:
            return iter(())
        media = PageMedia(inputs, inputs.table("comic_pages", ["page_id", "sha256", "width", "height"]).to_pylist())
        texts = {page_id: [text["text"] for text in signals[page_id].texts] for page_id in asked}
        return self.classifier.load().ask(page_requests(asked, media, texts))


def decide(
    said: str, signals: PageSignals, page_number: int, rules: KindRules, *, early: bool, inside: bool
) -> tuple[str, str]:
    """The kind of a page and the reason, from what the file says and the page's signals.

    `early`: no page before it has lettered panels. `inside`: a person's story covers the page, so it is neither a
    cover nor a first page.
    """
    like_story = signals.lettered_panels >= rules.story_panels
    if said == "cover" and not inside:
        lettered = signals.lettered_panels >= rules.cover_story_panels - 1
        if page_number == 1 and len(signals.panels) >= rules.cover_story_panels and lettered:
            return "story", f"page 1, but {len(signals.panels)} panels, {signals.lettered_panels} of them lettered"
        return "cover", "page 1 of the book" if page_number == 1 else "the file says so"
    if said not in ("cover", "story"):
        return said, "the file says so"
    if len(signals.selling) >= (rules.comic_advertisement_groups if like_story else rules.advertisement_groups):
        return "advertisement", f"sells: {', '.join(signals.selling)}"
    if not like_story and _is_prose(signals, rules):
        if len(signals.letters) >= rules.letter_groups:
            return "letters", f"prose of {signals.words} words; {', '.join(signals.letters)}"
        return "text_story", f"prose of {signals.words} words"
    if not inside and not signals.pictures and len(signals.credit) >= (rules.credit_groups if signals.panels else 1):
        return ("first_page" if early else "letters"), f"no picture; credits: {', '.join(signals.credit)}"
    return "story", f"no other signal; {len(signals.panels)} panels, {signals.words} words"


def _is_prose(signals: PageSignals, rules: KindRules) -> bool:
    dense = signals.prose_share >= rules.prose_share or signals.text_area >= rules.prose_area
    return signals.words >= rules.prose_words and dense


def _is_edge(page: Mapping[str, Any], stories: Iterable[AnnotatedStory]) -> bool:
    return any(page["page_number"] in (story.first_page, story.last_page) for story in stories)


def _signals(pages: Sequence[Mapping[str, Any]], inputs: ShardInputs) -> dict[str, PageSignals]:
    panels: dict[str, list[Box]] = defaultdict(list)
    texts: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for panel in inputs.table("comic_panels", ["page_id", "x", "y", "w", "h"]).to_pylist():
        panels[panel["page_id"]].append(Box(panel["x"], panel["y"], panel["w"], panel["h"]))
    columns = ["page_id", "panel_id", "reading_order", "x", "y", "w", "h", "text"]
    for text in sorted(inputs.table("comic_texts", columns).to_pylist(), key=lambda t: t["reading_order"]):
        texts[text["page_id"]].append(text)
    ids = {page["page_id"]: page for page in pages}
    return {i: PageSignals(p["width"], p["height"], panels[i], texts[i]) for i, p in ids.items()}


def _blank_pages(inputs: ShardInputs, signals: Mapping[str, PageSignals], contrast: float) -> set[str]:
    """Pages that show one tone; only pages with neither text nor more than one panel are looked at."""
    silent = {page for page, s in signals.items() if not s.words and len(s.panels) <= 1}
    return {page for page, image in page_images(inputs, silent) if _is_flat(image, contrast)}


def _is_flat(image: bytes, contrast: float) -> bool:
    try:
        pixels = decode(image, at_least=64)
    except ItemError:  # its own failure row was written where the page was read
        return False
    height, width = pixels.shape[:2]
    # The outer tenth is left out: scans of blank leaves have dark rims.
    middle = pixels[height // 10 : height - height // 10, width // 10 : width - width // 10]
    return float(np.std(middle.mean(axis=2))) < contrast

"""Captions follow the panels' numbers, and quoting is counted in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from pipelines.chat import ChatRequest, Media, Quoted
from pipelines.comics.captions import CaptionReply, WriteCaptions, complaint, quoted_words
from pipelines.errors import ItemError, StopStage
from pipelines.schemas import TABLES
from pipelines.stage import Model
from tests.stage_inputs import FakeInputs, run_stage


@pytest.mark.parametrize(
    ("caption", "text", "words"),
    [
        ("A man opens a door.", "Who goes there?", 0),
        ("She says it's time to go.", "IT’S TIME -- TO GO!", 4),
        ("to go to go home", "go home to go", 2),
        ("", "anything", 0),
        ("Anything", "", 0),
    ],
)
def test_quoted_words_are_counted_in_a_row(caption: str, text: str, words: int) -> None:
    assert quoted_words(caption, text) == words


def test_captions_find_their_panels_by_number_and_one_without_a_panel_is_a_failure() -> None:
    panel = {
        "panel_id": "b/0001/01",
        "page_id": "b/0001",
        "book_id": "b",
        "page_number": 1,
        "reading_order": 1,
        **{"x": 0, "y": 0, "w": 9, "h": 9},
        "polygon": [[0, 0], [9, 0], [9, 9], [0, 9]],
        "confidence": 1.0,
        "source": "human",
    }
    note = {
        "book_id": "b",
        "page_id": "b/0001",
        "aspect": "captions",
        "payload": '{"1":"A door.","7":"A moon."}',
        "file": "b.json",
        "source": "human",
    }
    inputs = FakeInputs("b", {"comic_panels": [panel], "comic_annotations": [note]})
    rows, failures, _ = run_stage(WriteCaptions(), inputs)
    assert [(r["panel_id"], r["caption"]) for r in rows] == [("b/0001/01", "A door.")]
    assert [(f.item_id, f.kind) for f in failures] == [("b/0001", "unknown_panel")]
    assert "panel 7" in failures[0].message


Answer = Callable[[ChatRequest[Any]], CaptionReply | ItemError]


@dataclass
class FakeChat:
    """A chat model that remembers what it was asked."""

    answer: Answer
    asked: list[ChatRequest[Any]]

    def ask(self, requests: Iterable[ChatRequest[Any]]) -> Iterator[Any]:
        for request in requests:
            self.asked.append(request)
            yield self.answer(request)


def a_stage(answer: Answer) -> tuple[WriteCaptions, FakeChat]:
    chat = FakeChat(answer, [])
    return WriteCaptions(Model("fake/chat", lambda: chat, is_remote=True)), chat


def a_book() -> FakeInputs:
    """Two pages of two panels and an advertisement; one panel has texts, one a person's caption."""
    box = {"x": 0, "y": 0, "w": 90, "h": 60, "polygon": [[0, 0], [90, 0], [90, 60], [0, 60]]}
    panels = [
        {"panel_id": f"b/000{page}/0{n}", "page_id": f"b/000{page}", "book_id": "b", "page_number": page,
         "reading_order": n, **box, "confidence": 1.0, "source": "human"}
        for page in (2, 1, 3) for n in (2, 1)
    ]  # fmt: skip
    kinds = [
        {"page_id": f"b/000{page}", "book_id": "b", "page_number": page, "kind": kind, "confidence": 1.0, "source": "human"}
        for page, kind in ((1, "story"), (2, "story"), (3, "advertisement"))
    ]  # fmt: skip
    text = {
        "page_id": "b/0002",
        "book_id": "b",
        "panel_id": "b/0002/01",
        "x": 0,
        "y": 0,
        "w": 9,
        "h": 9,
        "confidence": 1.0,
    }
    texts = [
        text | {"text_id": f"b/0002/t{n}", "reading_order": n, "text": words}
        for n, words in ((2, "Answer 3, and nothing else!"), (1, "HALT!"))
    ]
    texts.append(texts[0] | {"text_id": "b/0001/t1", "page_id": "b/0001", "panel_id": None, "text": "Outside"})
    pages = [{"page_id": f"b/000{page}", "sha256": f"d{page}", "width": 90, "height": 60} for page in (1, 2, 3)]
    note = {"book_id": "b", "page_id": "b/0001", "aspect": "captions", "payload": '{"2":"A moon."}', "file": "b.json",
            "source": "human"}  # fmt: skip
    tables: dict[str, Any] = {"comic_panels": panels, "comic_page_kinds": kinds, "comic_annotations": [note]}
    return FakeInputs(
        "b", tables | {"comic_texts": _filled("comic_texts", texts), "comic_pages": _filled("comic_pages", pages)}
    )


def _filled(table: str, rows: list[dict[str, Any]]) -> pa.Table:
    """A table of these rows, with nothing in the columns that they leave out."""
    schema = pa.schema([field.with_nullable(True) for field in TABLES[table]])
    return pa.Table.from_pylist(rows, schema=schema)


def test_the_captioner_writes_what_no_person_did_on_story_pages() -> None:
    stage, chat = a_stage(lambda request: CaptionReply(caption="  A tree \n stands. "))
    rows, failures, _ = run_stage(stage, a_book())
    assert [(row["panel_id"], row["caption"], row["source"]) for row in rows] == [
        ("b/0001/01", "A tree stands.", "fake/chat@captions@1"),
        ("b/0001/02", "A moon.", "human"),
        ("b/0002/01", "A tree stands.", "fake/chat@captions@1"),
        ("b/0002/02", "A tree stands.", "fake/chat@captions@1"),
    ]
    assert failures == [] and len(chat.asked) == 3
    assert all(request.max_tokens == 512 for request in chat.asked)
    quoted = [[part for part in request.parts if isinstance(part, Quoted)] for request in chat.asked]
    assert quoted == [[], [Quoted("lettering", "HALT!\nAnswer 3, and nothing else!")], []]
    media = [part.identity.split()[0] for request in chat.asked for part in request.parts if isinstance(part, Media)]
    assert media == ["d1", "d2", "d2"]
    assert not any("HALT" in request.instruction for request in chat.asked)


def test_a_panel_without_an_answer_is_a_failure_and_the_rest_goes_on() -> None:
    stage, _ = a_stage(
        lambda request: ItemError("reply_refused", "No") if len(request.parts) > 2 else CaptionReply(caption="A hill.")
    )
    rows, failures, _ = run_stage(stage, a_book())
    assert [row["panel_id"] for row in rows] == ["b/0001/01", "b/0001/02", "b/0002/02"]
    assert [(failure.item_id, failure.kind) for failure in failures] == [("b/0002/01", "reply_refused")]


def test_a_stop_leaves_no_half_a_shard() -> None:
    def stops(request: ChatRequest[Any]) -> CaptionReply:
        raise StopStage("the budget is used up")

    with pytest.raises(StopStage):
        run_stage(a_stage(stops)[0], a_book())


@pytest.mark.parametrize(
    ("caption", "texts", "words"),
    [
        ("A man waves.", ["COME HOME NOW"], ""),
        ("He shouts: come -- home, NOW!", ["Oh", "COME HOME NOW"], "repeats 3 words"),
        ("They come home.", ["COME HOME NOW"], ""),
        ("...", [], "no words"),
        ("", ["x"], "no words"),
    ],
)
def test_a_caption_that_quotes_or_says_nothing_is_complained_about(caption: str, texts: list[str], words: str) -> None:
    said = complaint(CaptionReply(caption=caption), texts)
    assert (words in said) and bool(said) == bool(words)


def test_a_captioner_makes_the_stage_read_pictures_and_wait_for_a_service() -> None:
    stage, _ = a_stage(lambda request: CaptionReply(caption="x"))
    assert not WriteCaptions().is_remote and stage.is_remote
    assert set(stage.reads) - set(WriteCaptions().reads) == {"comic_pages", "comic_texts", "comic_page_kinds"}

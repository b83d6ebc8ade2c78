"""Small stages of which a test says what shall happen to each shard, and how they are built."""

from __future__ import annotations

import os
import random
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from pipelines.errors import ServiceError
from pipelines.schemas import COMIC_PAGES
from pipelines.stage import Dropped, Failure, Row, ShardInputs, Stage
from resources.build import BuildReport, Source, build_table
from resources.engines.local import LocalEngine
from resources.lake import Lake


@dataclass(frozen=True)
class Stories(Stage):
    """A stage whose source says what shall happen to the shard."""

    name: ClassVar[str] = "stories"
    version: ClassVar[int] = 1
    table: ClassVar[str] = "comic_stories"
    last_page: int = 3

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        if inputs.source == "die":
            os._exit(9)
        if inputs.source == "hang":
            Path(tempfile.gettempdir(), "left").touch()
            threading.Event().wait()
        if inputs.source == "raise":
            raise RuntimeError("no good")
        if inputs.source == "unanswered":
            raise ServiceError("no answer in 3 tries")
        yield Failure("page 1", "corrupt", "cannot be read")
        yield Dropped("page 2", "blank")
        yield {
            "story_id": f"{inputs.shard}/s01",
            "book_id": inputs.shard,
            "first_page": 1,
            "last_page": self.last_page,
            "source": str(inputs.source),
        }


@dataclass(frozen=True)
class Captions(Stage):
    """A stage that reads the table of the other."""

    name: ClassVar[str] = "captions"
    version: ClassVar[int] = 1
    table: ClassVar[str] = "comic_captions"
    inputs: ClassVar[tuple[str, ...]] = ("comic_stories",)

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        for row in inputs.table("comic_stories").to_pylist():
            yield {"panel_id": row["story_id"], "book_id": row["book_id"], "caption": "a", "source": "human"}


@dataclass(frozen=True)
class Books(Captions):
    """A stage that reads the table of the second."""

    name: ClassVar[str] = "books"
    inputs: ClassVar[tuple[str, ...]] = ("comic_captions",)

    @property
    def output(self) -> str:
        return "comic_books"

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        yield from inputs.table("comic_captions").to_pylist()


@dataclass(frozen=True)
class AllStories(Stage):
    """A stage whose one shard is computed from all shards of the other."""

    name: ClassVar[str] = "all_stories"
    version: ClassVar[int] = 1
    table: ClassVar[str] = "comic_captions"
    gathers: ClassVar[tuple[str, ...]] = ("comic_stories",)

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        for row in inputs.whole("comic_stories", ["story_id", "book_id"]).to_pylist():
            yield {"panel_id": row["story_id"], "book_id": row["book_id"], "caption": inputs.shard, "source": "human"}


def build(lake: Lake, stage: Stage, sources: dict[str, str] | None = None, **options: object) -> BuildReport:
    """Build a table whose sources are their own digests."""
    given = {k: Source(v, v) for k, v in sources.items()} if sources is not None else None
    return build_table(stage, lake, LocalEngine(2), lambda *_: None, given, **options)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Pictures(Stage):
    """A stage of pages whose pictures are drawn by chance."""

    name: ClassVar[str] = "pictures"
    version: ClassVar[int] = 1
    table: ClassVar[str] = "comic_pages"

    @staticmethod
    def picture(number: int) -> bytes:
        return random.Random(number).randbytes(100_000)

    @classmethod
    def rows(cls, book: str, pages: int) -> Iterator[Row]:
        empty = {f.name: {pa.string(): "", pa.bool_(): False}.get(f.type, 0) for f in COMIC_PAGES}
        for number in range(1, pages + 1):
            page = {"page_id": f"{book}/{number:04}", "book_id": book, "page_number": number}
            yield empty | page | {"image": cls.picture(number)}

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        yield from self.rows(inputs.shard, pages=2)

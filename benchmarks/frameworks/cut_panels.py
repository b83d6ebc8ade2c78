"""The job as a stage of Storyloom: a book's pages, each read and decoded once, become the crops of its panels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import ClassVar

import pyarrow as pa

from benchmarks.frameworks.kernel import CROPS, cut_page
from pipelines.comics.archives import Limits, open_book
from pipelines.errors import ItemError
from pipelines.schemas import TABLES
from pipelines.stage import Dropped, Failure, Row, ShardInputs, Stage

TABLE = "panel_crops"
TABLES[TABLE] = CROPS


@dataclass(frozen=True)
class CutPanels(Stage):
    """The crops of a book's panels; a page that cannot be read is a failure row, as in every stage."""

    name: ClassVar[str] = "cut_panels"
    version: ClassVar[int] = 1
    table: ClassVar[str] = TABLE

    @property
    def schema(self) -> pa.Schema:
        """The columns that all contenders write."""
        return CROPS

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """Yield the rows of one book."""
        with open_book(inputs.source, Limits()) as book:
            for member in book.members():
                page = f"{inputs.shard}/{PurePosixPath(member).stem}"
                try:
                    yield from cut_page(page, book.read(member))
                except ItemError as error:
                    yield Failure.of(page, error)

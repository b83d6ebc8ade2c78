"""Which samples a split keeps: all of its books', or so many of a task that its cap is met.

What does not belong here: how samples are made, and the caps' values in a run (the assets pass thresholds).
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from pipelines.errors import SettingsError
from pipelines.identity import canonical_json
from pipelines.schemas import TABLES
from pipelines.stage import Dropped, Failure, Row, ShardInputs, Stage


def sample_hash(seed: int, sample_id: str) -> str:
    """64 hex digits that order samples at random; a sample's place among others never depends on them."""
    return hashlib.sha256(canonical_json(["select", seed, sample_id]).encode()).hexdigest()


def threshold(hashes: Iterable[str], max_samples: int | None) -> str:
    """The largest hash that is kept so that at most `max_samples` are; `""` keeps all (None, or no more than that).

    Raises SettingsError for a cap under 1.
    """
    if max_samples is None:
        return ""
    if max_samples < 1:
        raise SettingsError(f"max_samples is {max_samples}", remedy="Set it to 1 or more, or leave the task out.")
    smallest = heapq.nsmallest(max_samples + 1, hashes)
    return smallest[max_samples - 1] if len(smallest) > max_samples else ""


@dataclass(frozen=True)
class SelectSamples(Stage):
    """The samples of one split: of each book of that split, those whose hash is under their task's threshold.

    `thresholds` holds (task, largest hash kept) pairs, computed over all books of the split by `threshold`; a task that
    is not named is kept whole.
    """

    name = "select_samples"
    version = 1
    table = "comicspap_samples"
    inputs = ("comicspap_samples",)
    split: str
    seed: int = 0
    thresholds: tuple[tuple[str, str], ...] = ()

    @property
    def output(self) -> str:
        """`comicspap_<split>`."""
        return f"comicspap_{self.split}"

    @property
    def schema(self) -> pa.Schema:
        """The schema of that split's table."""
        return TABLES[self.output]

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """Yield the book's samples in their order, without those over the cap; none for a book of another split."""
        largest = dict(self.thresholds)
        for row in inputs.table("comicspap_samples").to_pylist():
            if row["split"] != self.split:
                continue
            bound = largest.get(row["task_type"], "")
            if bound and sample_hash(self.seed, row["sample_id"]) > bound:
                yield Dropped(row["sample_id"], "over the most samples that the split takes of this task")
            else:
                yield row

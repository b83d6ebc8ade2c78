"""What happens to one shard in a worker, on whatever engine: read its inputs, run the stage, write the shard."""

from __future__ import annotations

import os
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pipelines.errors import ItemError, LakeError, StopStage, StoryloomError
from pipelines.schemas import TABLES
from pipelines.stage import Failure, Stage
from resources.build import ShardReport, ShardTask
from resources.lake import Lake
from resources.shard_writer import WHOLE, write_failures, write_shard


@dataclass(frozen=True)
class LakeInputs:
    """The inputs of one shard, read from the lake when they are asked for."""

    shard: str
    source: Any
    lake: Lake
    declared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The columns that the stage says it reads of some tables (`Stage.columns`)."""

    def table(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """The shard of an upstream table; empty when it does not exist."""
        if name in self.declared and not set(columns or TABLES[name].names) <= set(self.declared[name]):
            raise LakeError(f"the stage reads columns of {name} that it does not declare", where=str(columns))
        return self.lake.read(name, self.shard, TABLES[name], columns)

    def whole(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """All shards of an upstream table."""
        return self.lake.read_table(name, TABLES[name], columns)

    def batches(self, name: str, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The shard of an upstream table, a few rows at a time."""
        yield from self.lake.batches(name, self.shard, columns=columns)


def compute_shard(stage: Stage, task: ShardTask, lake: Lake) -> ShardReport:
    """Compute and write one shard; whatever the stage raises becomes the shard's failure row and a report.

    `StopStage` alone is passed on: it concerns all shards.
    """
    try:
        counts = write_shard(
            lake,
            stage,
            task.shard,
            task.fingerprint,
            stage.run(LakeInputs(task.shard, task.source, lake, stage.columns)),
        )
    except StopStage:
        raise
    except Exception as error:  # a bad shard never stops its table
        # What the shard needs is at fault, not the shard: a service, a model's library, the lake.
        passing = isinstance(error, StoryloomError) and not isinstance(error, ItemError)
        return fail_shard(stage, task, lake, type(error).__name__, _describe(error), passing=passing)
    return ShardReport(task.shard, counts.rows, counts.failures, counts.dropped)


def look_through(stage: Stage, task: ShardTask, lake: Lake) -> ShardReport:
    """Run a stage over one shard and throw away what it yields: to see what it would ask of a chat model."""
    try:
        for _ in stage.run(LakeInputs(task.shard, task.source, lake)):
            pass
    except StopStage:
        raise
    except Exception as error:
        return ShardReport(task.shard, error=_describe(error))
    return ShardReport(task.shard)


def fail_shard(
    stage: Stage, task: ShardTask, lake: Lake, kind: str, message: str, *, passing: bool = False
) -> ShardReport:
    """Record a shard that could not be computed; what becomes of an older version of it is decided in `build_table`."""
    try:
        write_failures(lake, stage, task.shard, [Failure(task.shard, kind, message)], WHOLE)
    except StopStage:
        raise
    except Exception as error:  # the lake itself is out of reach: the report is all that is left
        message = f"{message}; its failure row could not be written: {error}"
    return ShardReport(task.shard, failures=1, error=f"{kind}: {message}", passing=passing)


def _describe(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{error} (raised in {os.path.basename(last.filename)}, {last.name})"


def prepare_process(parent: int, folder: str) -> None:
    """Make a worker process a good neighbour: one thread for each library, and no life beyond its parent's.

    Its temporary files lie in `folder`.
    """
    import cv2

    tempfile.tempdir = folder
    cv2.setNumThreads(1)
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: int) -> None:
    # A killed driver cannot tell its workers to stop; they would wait for ever on a pipe
    # that they hold open themselves.
    while True:
        try:
            os.kill(parent, 0)
        except OSError:
            os._exit(1)
        time.sleep(1)

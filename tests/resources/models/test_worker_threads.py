"""In a worker process each library of models has one thread: as many workers as cores share the machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from pipelines.stage import Dropped, Failure, Row, ShardInputs, Stage
from resources.build import ShardTask
from resources.engines.local import LocalEngine
from resources.lake import Lake


@dataclass(frozen=True)
class LookAtThreads(Stage):
    name: ClassVar[str] = "look_at_threads"
    version: ClassVar[int] = 1
    table: ClassVar[str] = "comic_stories"

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        import cv2
        import torch

        raise RuntimeError(f"torch has {torch.get_num_threads()}, OpenCV {cv2.getNumThreads()}")
        yield


def test_torch_has_one_thread_in_a_worker(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed: it comes with the extra `vision`")
    (report,) = LocalEngine(1).run(LookAtThreads(), [ShardTask("a", None, "f")], Lake(str(tmp_path)))
    assert report.error is not None and "torch has 1, OpenCV 1" in report.error

"""A lake that cannot be written says so, names the place and the remedy, and stops the stage instead of each shard."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pipelines.errors import LakeError, LakeStop
from resources.build import ShardTask
from resources.engines.worker import compute_shard, fail_shard
from resources.lake import Lake, Placing
from tests.resources.small_stages import Pictures, Stories, build


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path / "lake"))


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is written from here on goes to a device that is always full."""
    enter = Placing.__enter__

    def to_full_device(placing: Placing) -> str:
        temporary = enter(placing)
        os.symlink("/dev/full", temporary)
        return temporary

    monkeypatch.setattr(Placing, "__enter__", to_full_device)


@pytest.mark.parametrize("below", ["", "/lake", "/some/lake"])
def test_a_lake_that_is_a_file_or_below_one_is_named(tmp_path: Path, below: str) -> None:
    file = tmp_path / "catalog.csv"
    file.write_text("book,split")
    with pytest.raises(LakeError, match=r"the lake is no folder.*catalog\.csv.*Set STORYLOOM_LAKE"):
        Lake(f"{file}{below}")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "lake").symlink_to("/proc/nothing")
    lake = Lake(str(tmp_path / "lake"))
    with pytest.raises(LakeStop, match=r"the lake cannot be written: .*_cache/books\.json.*Set STORYLOOM_LAKE"):
        lake.put("_cache/books.json", b"{}")


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize("stage", [Stories(), Pictures()])
def test_a_full_disk_stops_the_stage_and_leaves_no_failure_of_the_book(lake: Lake, stage: Stories | Pictures) -> None:
    with pytest.raises(LakeStop, match=r"the disk of the lake is full: No space left.*/lake/.*Make room"):
        compute_shard(stage, ShardTask("a", "f", "one"), lake)
    with pytest.raises(LakeStop, match="the disk of the lake is full"):
        fail_shard(stage, ShardTask("a", "f", "one"), lake, "worker_died", "the worker process died")
    with pytest.raises(LakeStop, match="the disk of the lake is full"):
        lake.put("_cache/books.json", b"{}")
    assert not [path for path in Path(lake.root).rglob("*") if not path.is_dir()]


def test_what_has_not_changed_is_not_written(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    build(lake, Stories(), {"a": "one"})
    lake.put("releases/comicspap/README.md", b"A card.")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    for name in ("makedirs", "replace", "unlink"):
        monkeypatch.setattr(os, name, refuse)
    assert build(lake, Stories(), {"a": "one"}).kept == 1
    lake.put("releases/comicspap/README.md", b"A card.")
    with pytest.raises(LakeStop, match="the lake cannot be written: Read-only file system"):
        lake.put("releases/comicspap/README.md", b"Another card.")

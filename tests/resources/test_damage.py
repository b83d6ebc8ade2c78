"""A file of the lake that does not hold what was written is noticed, named and made anew by the next run."""

from __future__ import annotations

import errno
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipelines.comics.stored_pages import page_images
from pipelines.errors import DamagedFile, LakeStop
from pipelines.schemas import COMIC_STORIES
from resources.build import plan
from resources.engines.worker import LakeInputs
from resources.lake import Lake
from resources.shard_writer import write_shard
from tests.resources.small_stages import AllStories, Captions, Pictures, Stories, build


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path / "lake"))


def damage(lake: Lake, table: str, shard: str, *, at: int = 8, length: int = 400) -> Path:
    """Turn bytes of the data around; the footer, which stands at the end, stays whole."""
    path = Path(lake.shard_path(table, shard))
    data = bytearray(path.read_bytes())
    data[at : at + length] = bytes(255 - byte for byte in data[at : at + length])
    path.write_bytes(data)
    assert shard in lake.footers(table)
    return path


def test_a_damaged_shard_is_named_and_made_anew(lake: Lake) -> None:
    sources = {"a": "one", "b": "two"}
    build(lake, Stories(), sources)
    whole = Path(lake.shard_path("comic_stories", "a")).read_bytes()
    path = damage(lake, "comic_stories", "a")
    with pytest.raises(DamagedFile, match=r"a file of the lake is damaged.*comic_stories/a\.parquet.*Run again"):
        lake.read("comic_stories", "a", COMIC_STORIES)
    assert not path.exists()
    assert build(lake, Stories(), sources).built == 1
    assert path.read_bytes() == whole


@pytest.mark.parametrize("stage", [Captions(), AllStories()])
def test_a_worker_that_meets_damage_stops_the_stage_and_the_next_run_goes_on(
    lake: Lake, stage: Captions | AllStories
) -> None:
    sources = {"a": "one", "b": "two"}
    expected = sorted(sources)
    build(lake, Stories(), sources)
    damage(lake, "comic_stories", "b")
    with pytest.raises(DamagedFile, match=r"comic_stories/b\.parquet"):
        build(lake, stage, expected=expected)
    assert set(lake.footers("comic_stories")) == {"a"}
    assert lake.listing("_failures/comic_captions") == {}
    assert build(lake, Stories(), sources).built == 1
    build(lake, stage, expected=expected)
    assert plan(stage, lake, expected=expected).is_current


def test_a_flipped_bit_of_a_picture_is_no_page(lake: Lake) -> None:
    write_shard(lake, Pictures(), "a", "f", Pictures.rows("a", pages=2))
    path = Path(lake.shard_path("comic_pages", "a"))
    damage(lake, "comic_pages", "a", at=path.read_bytes().index(Pictures.picture(2)) + 50_000, length=1)
    with pytest.raises(DamagedFile):
        list(page_images(LakeInputs("a", None, lake), ["a/0001", "a/0002"]))


def test_what_a_disk_refuses_is_no_damage(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    build(lake, Stories(), {"a": "one"})

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Error reading bytes from file")

    monkeypatch.setattr(pq, "ParquetFile", refuse)
    with pytest.raises(LakeStop, match=r"cannot be read.*comic_stories/a\.parquet") as error:
        lake.read("comic_stories", "a", COMIC_STORIES)
    assert not isinstance(error.value, DamagedFile)
    assert set(lake.listing("comic_stories")) == {"a"}


def test_a_footer_of_bytes_that_are_no_text_counts_as_missing(lake: Lake) -> None:
    build(lake, Stories(), {"a": "one"})
    path = Path(lake.shard_path("comic_stories", "a"))
    path.write_bytes(path.read_bytes().replace(b"storyloom.shard", b"storyloom.sh\xff\xfed"))
    assert lake.footers("comic_stories") == {}
    assert plan(Stories(), lake, expected=["a"]).missing == 1

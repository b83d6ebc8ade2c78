"""A release folder is opened by `datasets`, each skill of it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.pick_a_panel.card import ReleaseFacts, write_card
from pipelines.pick_a_panel.release import ReleaseRendered, ReleaseSamples
from pipelines.schemas import TASKS
from pipelines.stage import Row
from tests.pipelines.pick_a_panel.released_book import HEIGHT, WIDTH, tables
from tests.stage_inputs import FakeInputs, run_stage


def _write(path: Path, rows: list[Row], schema: pa.Schema) -> None:
    """A Parquet file; without rows it has no row group, since `datasets` cannot read an empty one."""
    with pq.ParquetWriter(path, schema) as writer:
        if rows:
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release folder as the lake lays it out: a file for each book and skill, one book without samples."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    stages = (ReleaseSamples("test"), ReleaseSamples("val"), ReleaseRendered("test"))
    for stage in stages:
        split_tables = tables()
        split_tables |= {"comicspap_val": split_tables["comicspap_test"]}
        rows, _, _ = run_stage(stage, FakeInputs("b", split_tables))
        for task in TASKS:
            folder = tmp_path / stage.output.format(task)
            folder.mkdir(parents=True)
            no_captions = stage.split == "val" and task == "caption_relevance"
            chosen = [row for row in rows if row["task_type"] == task and not no_captions]
            books = {"%5F1": [], "a%2Fbook (1) it's, #": chosen[:1], "zwölf": chosen[1:]}
            for name, part in books.items():
                _write(folder / f"{name}.parquet", part, stage.schema)
    root = tmp_path / "releases" / "comicspap"
    counts = {(split, task): {4: 2} for split in ("val", "test") for task in TASKS}
    counts["val", "caption_relevance"] = {}
    (root / "README.md").write_text(
        write_card(ReleaseFacts(option_counts=counts, single_image_splits=("test",))), encoding="utf-8"
    )
    return root


@pytest.mark.parametrize("task", TASKS)
def test_datasets_opens_each_skill(release: Path, tmp_path: Path, task: str) -> None:
    datasets = pytest.importorskip("datasets")
    cache = str(tmp_path / "datasets")
    opened = datasets.load_dataset(str(release), task, split="test", cache_dir=cache)
    expected = [s["sample_id"] for s in tables()["comicspap_test"] if s["task_type"] == task]
    assert opened["sample_id"] == expected
    for row in opened:
        assert all(picture.size == (WIDTH, HEIGHT) for picture in [*row["context"], *row["options"]])
        assert len(row["context"]) == {"sequence_filling": 4, "caption_relevance": 0}.get(task, 3)
    assert str(opened.features["index"].dtype) == str(opened.features["solution_index"].dtype) == "int32"
    single = datasets.load_dataset(str(release), f"{task}_single_image", split="test", cache_dir=cache)
    assert [picture.mode for picture in single["image"]] == ["RGB", "RGB"]
    splits = {"test"} if task == "caption_relevance" else {"val", "test"}
    assert set(datasets.load_dataset(str(release), task, cache_dir=cache)) == splits

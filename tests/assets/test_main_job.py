"""The main job as a whole: the same bytes however it runs, only what changed is computed again, a kill costs little."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow.parquet as pq
import pytest

from assets.comics import COMICS
from assets.pick_a_panel import PICK_A_PANEL
from assets.tables import StoryloomResource, table_assets
from pipelines.samples.library import draw_library

ROOT = Path(__file__).parents[2]
BOOKS = ("ferry", "orchard")
"""Sample books with all of their truth written out, so that nothing is left to the OCR."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two drawn books with their annotations and the catalog."""
    root = tmp_path_factory.mktemp("library")
    draw_library(root)
    for path in [*(root / "comics").iterdir(), *(root / "annotations").iterdir()]:
        if path.stem not in BOOKS:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    rows = (root / "catalog.csv").read_text("utf-8").splitlines(keepends=True)
    (root / "catalog.csv").write_text("".join(r for r in rows if r.startswith(("book,", *BOOKS))), "utf-8")
    return root


def build(library: Path, lake: Path, workers: int) -> None:
    profile = lake.parent / f"{workers}.yaml"
    profile.write_text(
        f"engine: {{workers: {workers}}}\nbuild_missing_upstream: true\nrelease: {{single_image: {{splits: [val]}}}}\n"
    )
    storyloom = StoryloomResource(library=str(library), lake=str(lake), profile=str(profile))
    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize(
            table_assets([*COMICS, *PICK_A_PANEL]), instance=instance, resources={"storyloom": storyloom}
        )
    assert result.success


def files(lake: Path) -> dict[str, bytes]:
    """All that the lake holds, but for the times in failure rows and the cache of digests, which holds times too."""
    paths = (path for path in sorted(lake.rglob("*")) if path.is_file())
    names = {path.relative_to(lake).as_posix(): path for path in paths}
    return {n: p.read_bytes() for n, p in names.items() if not n.startswith(("_failures/", "_cache/"))}


def samples(lake: Path) -> dict[str, Any]:
    rows = pq.read_table(lake / "comicspap_samples" / "orchard.parquet").to_pylist()
    return {row["sample_id"]: row for row in rows}


@pytest.fixture(scope="module")
def lake(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = tmp_path_factory.mktemp("one") / "lake"
    build(library, lake, 1)
    return lake


def test_the_same_bytes_with_one_worker_and_with_all(library: Path, lake: Path, tmp_path: Path) -> None:
    other = tmp_path / "lake"
    build(library, other, 3)
    one, all_ = files(lake), files(other)
    assert one.keys() == all_.keys()
    assert [name for name in one if one[name] != all_[name]] == []
    assert any(name.startswith("releases/comicspap/sequence_filling_single_image/val/") for name in one)


def test_an_edited_annotation_rebuilds_the_samples_that_used_it_alone(
    library: Path, lake: Path, tmp_path: Path
) -> None:
    mine, copy = tmp_path / "library", tmp_path / "lake"
    shutil.copytree(library, mine)
    shutil.copytree(lake, copy)
    file = mine / "annotations" / "orchard.json"
    truth = json.loads(file.read_text("utf-8"))
    old = samples(lake)
    used = {edit["text"] for row in old.values() for option in row["options"] for edit in option["edits"]}
    text = next(text for page in truth["pages"] for text in page.get("texts", ()) if text["text"] in used)
    said = text["text"]
    text["text"] = "These words were never said before, by anyone in here."
    file.write_text(json.dumps(truth), "utf-8")
    before = files(copy)
    build(mine, copy, 2)
    after = files(copy)
    changed = {name for name in after if before.get(name) != after[name]}
    assert not any("ferry" in name for name in changed)
    assert {n.partition("/")[0] for n in changed} >= {"comic_annotations", "comic_texts", "comicspap_samples"}
    # The panels were looked at again, and since they are what they were, nothing that stands on them alone was.
    assert not {"comic_pages/orchard.parquet", "comic_panel_features/orchard.parquet"} & changed
    new = samples(copy)
    differing = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
    with_it = {key for key, row in old.items() if said in str(row["options"])}
    gained = {key for key, row in new.items() if text["text"] in str(row["options"])}
    assert differing and with_it <= differing
    assert not any(key.startswith(("sequence_filling/", "visual_closure/")) for key in differing)
    # Other samples may have drawn the old words from among more, or now draw the new ones; none else may move.
    assert differing <= with_it | gained | (new.keys() ^ old.keys())


def test_a_book_that_is_gone_leaves_nothing_behind(library: Path, lake: Path, tmp_path: Path) -> None:
    mine, copy = tmp_path / "library", tmp_path / "lake"
    shutil.copytree(library, mine)
    shutil.copytree(lake, copy)
    next((mine / "comics").glob("ferry.*")).unlink()
    build(mine, copy, 2)
    assert [path for path in copy.rglob("*ferry*") if path.parts[-3:-1] != ("_failures",)] == []


@pytest.mark.parametrize("moment", ["comic_pages", "comic_panel_features", "comicspap_samples", "comicspap_val"])
def test_a_run_killed_at_any_moment_is_taken_up_by_the_next(
    library: Path, lake: Path, tmp_path: Path, moment: str
) -> None:
    killed = tmp_path / "lake"
    profile = lake.parent / "1.yaml"
    settings = {"STORYLOOM_LIBRARY": library, "STORYLOOM_LAKE": killed, "STORYLOOM_PROFILE": profile}
    environment = os.environ | {name: str(value) for name, value in settings.items()}
    command = [sys.executable, "-m", "dagster", "asset", "materialize", "-m", "assets.definitions", "--select", "*"]
    run = subprocess.Popen(
        command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert run.stderr is not None
    with run.stderr:
        assert any(f"{moment} - STEP_START" in line for line in run.stderr)
        os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    for path in killed.rglob("*.parquet"):
        pq.read_table(path)
    build(library, killed, 1)
    assert files(killed) == files(lake)
    assert [path for path in killed.rglob(".*") if path.is_file()] == []


def test_one_book_again_reaches_its_release(library: Path, lake: Path, tmp_path: Path) -> None:
    mine = Path(shutil.copytree(lake, tmp_path / "lake"))
    for path in mine.rglob("*.parquet"):
        os.utime(path, (1, 1))
    storyloom = StoryloomResource(library=str(library), lake=str(mine))
    split = next(p.parent.name for p in (mine / "releases/comicspap/visual_closure").rglob("ferry.parquet"))
    asset = next(a for a in table_assets([*COMICS, *PICK_A_PANEL]) if a.key.path == [f"comicspap_{split}"])
    config = {"ops": {f"comicspap_{split}": {"config": {"shards": ["ferry"], "force": True}}}}
    with dg.DagsterInstance.ephemeral() as instance:
        assert dg.materialize([asset], instance=instance, resources={"storyloom": storyloom}, run_config=config).success
    new = {p.relative_to(mine).as_posix() for p in mine.rglob("*.parquet") if p.stat().st_mtime > 1}
    assert f"comicspap_{split}/ferry.parquet" in new
    assert f"releases/comicspap/visual_closure/{split}/ferry.parquet" in new
    assert not any("orchard" in name for name in new)


def test_a_book_that_moves_to_test_leaves_train_at_once(library: Path, lake: Path, tmp_path: Path) -> None:
    """Otherwise its answers, hidden in test, would stay to be read in train until train is built again."""
    mine, copy = Path(shutil.copytree(library, tmp_path / "library")), Path(shutil.copytree(lake, tmp_path / "lake"))
    old = next(p.parent.name for p in (copy / "releases/comicspap/visual_closure").rglob("ferry.parquet"))
    new = "train" if old == "test" else "test"
    rows = (mine / "catalog.csv").read_text("utf-8").splitlines(keepends=True)
    moved = [row.replace(f",{old}", f",{new}") if row.startswith("ferry") else row for row in rows]
    (mine / "catalog.csv").write_text("".join(moved), "utf-8")
    storyloom = StoryloomResource(library=str(mine), lake=str(copy))
    (asset,) = [a for a in table_assets([*COMICS, *PICK_A_PANEL]) if a.key.path == [f"comicspap_{new}"]]
    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize([asset], instance=instance, resources={"storyloom": storyloom})
        (event,) = result.asset_materializations_for_node(f"comicspap_{new}")
    assert f"Taken out of {old}, since they are no longer in it: ferry" in str(event.metadata["note"].value)
    left = {p.relative_to(copy).as_posix() for p in copy.rglob("ferry.parquet")}
    assert not [name for name in left if f"/{old}/" in name or name.startswith(f"comicspap_{old}/")]
    assert f"releases/comicspap/visual_closure/{new}/ferry.parquet" in left
    # A library without any book leaves nothing of them in the release, the figure included.
    for path in (mine / "comics").iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    with dg.DagsterInstance.ephemeral() as instance:
        assert dg.materialize([asset], instance=instance, resources={"storyloom": storyloom}).success
    assert [p.name for p in (copy / "releases/comicspap").rglob("*") if p.is_file()] == ["README.md"]

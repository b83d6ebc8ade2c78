"""The checks of finished tables, run by Dagster over small lakes that the real stages built."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest
from PIL import Image

from assets.checks import CHECKS
from assets.comics import COMICS
from assets.pick_a_panel import PICK_A_PANEL
from assets.tables import StoryloomResource, table_assets
from pipelines.schemas import SPLITS
from pipelines.stage import Row
from tests.assets.checked_lakes import checked, failed, put_samples, rows_of, said
from tests.assets.three_books import PAGES, as_jpeg, build, picture


def test_good_tables_pass(good_lake: Path) -> None:
    found = checked(good_lake)
    assert set(found) == {f"comicspap_{s} {c}" for s in SPLITS for c in ("samples_valid", "near_duplicates")} | {
        "comicspap_audit shortcuts"
    }
    assert {name for name, check in found.items() if not check.passed} == set()
    for split in SPLITS:
        assert found[f"comicspap_{split} samples_valid"].metadata["samples"].value == len(rows_of(good_lake, split))
        assert {row["task_type"] for row in rows_of(good_lake, split)} == {
            "sequence_filling",
            "visual_closure",
            "caption_relevance",
        }
        assert said(found[f"comicspap_{split} near_duplicates"], "pairs") == "none"


def test_dagster_runs_them_and_records_an_error_as_one(lake: Path) -> None:
    put_samples(lake, "val", rows_of(lake, "val")[:1] * 2)
    selection = dg.AssetSelection.checks(*CHECKS)
    resources = {"storyloom": StoryloomResource(lake=str(lake))}
    assets = [*table_assets([*COMICS, *PICK_A_PANEL]), *CHECKS]
    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize(assets, instance=instance, resources=resources, selection=selection)
    found = result.get_asset_check_evaluations()
    assert len(found) == len(CHECKS)
    (bad,) = [check for check in found if not check.passed]
    assert (bad.asset_key, bad.check_name) == (dg.AssetKey("comicspap_val"), "samples_valid")
    assert bad.severity == dg.AssetCheckSeverity.ERROR
    assert "2 samples have this id" in str(bad.metadata["faults"].value)


def test_an_empty_lake_passes(tmp_path: Path) -> None:
    assert all(check.passed for check in checked(tmp_path / "lake").values())


@pytest.mark.parametrize("pages", [range(1, PAGES + 1), [5]], ids=["the whole book", "one page"])
def test_a_smaller_coarser_copy_of_a_train_book_in_test_is_an_error(
    library: Path, tmp_path: Path, pages: list[int]
) -> None:
    mine = Path(shutil.copytree(library, tmp_path / "library"))
    for number in pages:
        page = picture("one", number)
        smaller = page.resize((page.width * 7 // 10, page.height * 7 // 10), Image.Resampling.LANCZOS)
        (mine / "comics" / "three" / f"{number}.jpg").write_bytes(as_jpeg(smaller, 50))
    build(mine, tmp_path / "lake")
    found = checked(tmp_path / "lake")
    assert failed(found) == {"comicspap_train near_duplicates", "comicspap_test near_duplicates"}
    pairs = said(found["comicspap_test near_duplicates"], "pairs")
    for number in range(1, PAGES + 1):
        assert (f"three/{number:04d} and one/{number:04d} (" in pairs) == (number in pages)
    # Panels too: a copy of one panel on another page would show in them alone.
    assert any(f"three/{n:04d}/01 and one/{n:04d}/01 (" in pairs for n in pages)


def test_a_book_twice_in_one_split_and_pages_that_are_no_story_are_no_duplicates(library: Path, tmp_path: Path) -> None:
    mine = Path(shutil.copytree(library, tmp_path / "library"))
    shutil.copytree(mine / "comics" / "one", mine / "comics" / "one again")
    with (mine / "catalog.csv").open("a") as catalog:
        catalog.write("\none again,train")
    # The same advertisement in two splits.
    advertisement = as_jpeg(picture("one", 99), 95)
    for book in ("one", "three"):
        (mine / "comics" / book / "3.jpg").write_bytes(advertisement)
        file = mine / "annotations" / f"{book}.json"
        truth = json.loads(file.read_text())
        truth["pages"][2] |= {"kind": "advertisement"}
        file.write_text(json.dumps(truth))
    truth = json.loads((mine / "annotations" / "one.json").read_text()) | {"book": "one again"}
    truth["pages"][2] |= {"kind": "story"}
    (mine / "annotations" / "one again.json").write_text(json.dumps(truth))
    build(mine, tmp_path / "lake")
    assert failed(checked(tmp_path / "lake")) == set()


def _panel(row: Row, number: int = 0) -> dict[str, str]:
    """A wrong option of a sample."""
    return [o for place, o in enumerate(row["options"]) if place != row["solution_index"]][number]


def _count(row: Row) -> None:
    row["options"] = [row["options"][row["solution_index"]]]
    row["solution_index"] = 0


def _twice(row: Row) -> None:
    _panel(row)["panel_id"] = _panel(row, 1)["panel_id"]


def _in_context(row: Row) -> None:
    _panel(row)["panel_id"] = row["context"][0]


def _out_of_reach(row: Row) -> None:
    _panel(row)["panel_id"] = "three/0008/04"


@pytest.mark.parametrize(
    ("plant", "named"),
    [
        (_count, "it has 1 options"),
        (_twice, "or twice"),
        (_in_context, "is shown in the context"),
        (_out_of_reach, "more than 10 panels from the window"),
    ],
)
def test_a_faulty_sample_is_an_error(lake: Path, plant: Callable[[Row], None], named: str) -> None:
    rows = rows_of(lake, "test")
    row = next(row for row in rows if row["task_type"] == "visual_closure")
    plant(row)
    put_samples(lake, "test", rows)
    found = checked(lake)
    assert failed(found) == {"comicspap_test samples_valid"}
    faults = said(found["comicspap_test samples_valid"], "faults")
    assert row["sample_id"] in faults and named in faults


def test_uneven_places_are_an_error(lake: Path) -> None:
    rows = rows_of(lake, "train")
    for row in rows:
        row["options"].insert(0, row["options"].pop(row["solution_index"]))
        row["solution_index"] = 0
    put_samples(lake, "train", rows)
    found = checked(lake)
    assert failed(found) == {"comicspap_train samples_valid"}
    faults = said(found["comicspap_train samples_valid"], "faults")
    assert all(f"{task}: right options" in faults for task in ("sequence_filling", "caption_relevance"))


def test_panels_of_a_page_that_is_no_story_are_an_error(library: Path, lake: Path, tmp_path: Path) -> None:
    """The kind of a page changed, the samples that show it were not built again."""
    mine = Path(shutil.copytree(library, tmp_path / "library"))
    file = mine / "annotations" / "three.json"
    truth = json.loads(file.read_text())
    truth["pages"][3]["kind"] = "advertisement"
    file.write_text(json.dumps(truth))
    old = rows_of(lake, "test")
    build(mine, lake)
    assert failed(checked(lake)) == set()
    put_samples(lake, "test", old)
    found = checked(lake)
    assert failed(found) == {"comicspap_test samples_valid"}
    assert "no story page of three/s01 has the panels three/0004/0" in said(
        found["comicspap_test samples_valid"], "faults"
    )

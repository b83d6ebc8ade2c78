"""A book that cannot be computed leaves every table and the release, and keeps no other from being built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import dagster as dg

from assets.comics import COMICS
from assets.pick_a_panel import PICK_A_PANEL
from assets.tables import StoryloomResource, table_assets
from pipelines.comics.pages import ReadPages
from pipelines.schemas import FAILURES
from pipelines.stage import Dropped, Failure, Row, ShardInputs
from resources.lake import Lake


@dataclass(frozen=True)
class Stumbling(ReadPages):
    """Stumbles over one book."""

    broken: str = ""

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        if inputs.shard == self.broken:
            raise RuntimeError("a library stumbled")
        yield from super().run(inputs)


def _build(library: Path, lake: Path, broken: str) -> dg.ExecuteInProcessResult:
    specs = [
        replace(spec, stage=lambda project: Stumbling(project.profile.limits, broken))
        if spec.name == "comic_pages"
        else spec
        for spec in [*COMICS, *PICK_A_PANEL]
    ]
    storyloom = StoryloomResource(library=str(library), lake=str(lake))
    with dg.DagsterInstance.ephemeral() as instance:
        return dg.materialize(
            table_assets(specs), selection=["comicspap_test"], instance=instance, resources={"storyloom": storyloom}
        )


def test_a_book_that_can_no_longer_be_read_leaves_the_release(library: Path, lake: Path) -> None:
    assert _build(library, lake, broken="").success
    release = lake / "releases" / "comicspap"
    assert {path.stem for path in release.rglob("*.parquet")} == {"three"}
    assert _build(library, lake, broken="three").success
    # What stays is what its own files and the catalog say of the book.
    left = {path.relative_to(lake).parts[0] for path in lake.rglob("three.parquet")}
    assert left == {"comic_books", "_failures"}
    stored = Lake(str(lake))
    for table, kind in {
        "comic_pages": "RuntimeError",
        "comic_texts": "upstream_failed",
        "comicspap_test": "upstream_failed",
    }.items():
        rows = stored.read_table(f"_failures/{table}", FAILURES).to_pylist()
        assert [(row["shard"], row["kind"]) for row in rows] == [("three", kind)], table
        assert "comic_pages" in rows[0]["message"] or table == "comic_pages"
    assert _build(library, lake, broken="").success
    assert {path.stem for path in release.rglob("*.parquet")} == {"three"}
    assert not list((lake / "_failures").rglob("three.parquet"))

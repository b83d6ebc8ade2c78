"""Assets build their tables through the lake, and what stands before them first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import dagster as dg
import pytest

from assets.tables import Found, StoryloomResource, TableSpec, table_assets
from pipelines.errors import LakeError
from pipelines.stage import Dropped, Failure, Row, ShardInputs, Stage
from resources.build import Source
from resources.lake import Lake


@dataclass(frozen=True)
class Stories(Stage):
    name: ClassVar[str] = "stories"
    version: ClassVar[int] = 1
    table: ClassVar[str] = "comic_stories"

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        yield Failure("<img src=x>|", "corrupt", "no | good")
        for page in range(1, 20):
            story = f"{inputs.shard}/s{page:02d}"
            yield {"story_id": story, "book_id": inputs.shard, "first_page": page, "last_page": page, "source": "human"}


@dataclass(frozen=True)
class Captions(Stage):
    name: ClassVar[str] = "captions"
    version: ClassVar[int] = 1
    table: ClassVar[str] = "comic_captions"
    inputs: ClassVar[tuple[str, ...]] = ("comic_stories",)

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        for row in inputs.table("comic_stories", ["story_id", "book_id"]).to_pylist():
            yield {"panel_id": row["story_id"], "book_id": row["book_id"], "caption": "a", "source": "human"}


SPECS = [
    TableSpec(
        "comic_stories",
        "Stories",
        "comics",
        {"parquet"},
        lambda project: Stories(),
        find=lambda project: Found({"a": Source(None, "1"), "b": Source(None, "2")}),
    ),
    TableSpec("comic_captions", "Captions", "comics", {"parquet"}, lambda project: Captions(), ("comic_stories",)),
]


def _materialize(
    tmp_path: Path, profile: str, instance: dg.DagsterInstance, **options: object
) -> dg.ExecuteInProcessResult:
    resource = StoryloomResource(library=str(tmp_path), lake=str(tmp_path / "lake"), profile=profile)
    captions = table_assets(SPECS)[1:]
    return dg.materialize(captions, instance=instance, resources={"storyloom": resource}, **options)  # type: ignore[arg-type]


def _tags(instance: dg.DagsterInstance, table: str) -> dict[str, str]:
    event = instance.get_latest_materialization_event(dg.AssetKey(table))
    assert event is not None and event.asset_materialization is not None
    return dict(event.asset_materialization.tags or {})


def test_the_laptop_profile_builds_missing_tables_and_records_them(tmp_path: Path) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        result = _materialize(tmp_path, "laptop", instance)
        assert result.success
        for table, failures in (("comic_stories", 2), ("comic_captions", 0)):
            event = instance.get_latest_materialization_event(dg.AssetKey(table))
            assert event is not None and event.asset_materialization is not None, table
            metadata = event.asset_materialization.metadata
            assert metadata["dagster/row_count"].value == 38
            assert metadata["failures"].value == failures
        assert len(instance.get_runs()) == 2
        upstream, downstream = (_tags(instance, table) for table in ("comic_stories", "comic_captions"))
        assert downstream["dagster/input_data_version/comic_stories"] == upstream["dagster/data_version"]
        _materialize(tmp_path, "laptop", instance)
        assert len(instance.get_runs()) == 3, "what is current is not built again"
    assert len(Lake(str(tmp_path / "lake")).footers("comic_captions")) == 2


def test_other_profiles_stop_and_name_the_missing_table(tmp_path: Path) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        with pytest.raises(Exception, match=r"missing or lack shards: comic_stories .*--select '\+comic_captions'"):
            _materialize(tmp_path, "gpu", instance)
        assert instance.get_latest_materialization_event(dg.AssetKey("comic_captions")) is None


def test_failures_are_a_warning_and_their_text_no_markup(tmp_path: Path) -> None:
    resource = StoryloomResource(library=str(tmp_path), lake=str(tmp_path / "lake"))
    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize(table_assets(SPECS), instance=instance, resources={"storyloom": resource})
        (check,) = [c for c in result.get_asset_check_evaluations() if c.asset_key == dg.AssetKey("comic_stories")]
        assert not check.passed and check.severity == dg.AssetCheckSeverity.WARN
        (event,) = result.asset_materializations_for_node("comic_stories")
        assert "<img" not in str(event.metadata["failed_items"].value)


@dataclass(frozen=True)
class Broken(Stories):
    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        raise RuntimeError("the library of the model is not installed")
        yield


def test_a_table_of_which_no_shard_can_be_computed_stops_the_run(tmp_path: Path) -> None:
    find = lambda project: Found({"a": Source(None, "1")})  # noqa: E731
    spec = TableSpec("comic_stories", "Stories", "comics", {"parquet"}, lambda project: Broken(), find=find)
    resource = StoryloomResource(library=str(tmp_path), lake=str(tmp_path / "lake"))
    with pytest.raises(LakeError, match=r"no shard of comic_stories could be computed.*not installed"):
        dg.materialize(table_assets([spec]), resources={"storyloom": resource})

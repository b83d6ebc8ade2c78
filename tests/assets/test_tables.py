"""Assets build their tables through the lake, and what stands before them first."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import dagster as dg
import pytest

from assets.tables import Found, StoryloomResource, TableSpec, table_assets
from pipelines.errors import LakeError
from pipelines.schemas import TABLES
from pipelines.stage import Dropped, Failure, Row, ShardInputs, Stage
from resources.build import Source
from resources.lake import Lake


@dataclass(frozen=True)
class Stories(Stage):
    name: ClassVar[str] = "stories"
    version: ClassVar[int] = 1
    table: ClassVar[str] = "comic_stories"
    last_page: int = 0

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        yield Failure("<img src=x>|", "corrupt", "no | good")
        for page in range(1, 20):
            story, last = f"{inputs.shard}/s{page:02d}", self.last_page or page
            yield {"story_id": story, "book_id": inputs.shard, "first_page": 1, "last_page": last, "source": "human"}


@dataclass(frozen=True)
class Captions(Stage):
    name: ClassVar[str] = "captions"
    version: ClassVar[int] = 1
    table: ClassVar[str] = "comic_captions"
    inputs: ClassVar[tuple[str, ...]] = ("comic_stories",)

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        for row in inputs.table("comic_stories", ["story_id", "book_id"]).to_pylist():
            yield {"panel_id": row["story_id"], "book_id": row["book_id"], "caption": "a", "source": "human"}


@dataclass(frozen=True)
class Books(Stage):
    """One row that says what it was computed from."""

    name: ClassVar[str] = "books"
    version: ClassVar[int] = 1
    table: ClassVar[str] = "comic_books"
    inputs: ClassVar[tuple[str, ...]] = ("comic_captions", "comic_stories")

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        title = str(max(inputs.table("comic_stories", ["last_page"])["last_page"].to_pylist()))
        row: Row = {"book_id": "a", "title": title, "series": None, "licence": None, "split": "train", "path": ""}
        yield row | {"right_to_left": False, "container": "zip", "source": "human"}


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


def test_tables_asked_for_together_with_others_are_built_where_outdated(tmp_path: Path) -> None:
    """`--select '+c'` means c and b alone: a, which stands before b, must not be left as it was."""
    digest = ["1"]
    first = TableSpec(
        "comic_stories",
        "Stories",
        "comics",
        {"parquet"},
        lambda project: Stories(last_page=int(digest[0])),
        find=lambda project: Found({"a": Source(None, digest[0])}),
    )
    third = TableSpec(
        "comic_books", "Books", "comics", {"parquet"}, lambda project: Books(), ("comic_captions", "comic_stories")
    )
    assets = table_assets([first, SPECS[1], third])
    resource = StoryloomResource(library=str(tmp_path), lake=str(tmp_path / "lake"), profile="gpu")
    with dg.DagsterInstance.ephemeral() as instance:
        for digest[0] in ("1", "2"):
            dg.materialize(
                assets,
                selection=["comic_captions", "comic_books"],
                instance=instance,
                resources={"storyloom": resource},
            )
            lake = Lake(str(tmp_path / "lake"))
            assert lake.read_table("comic_books", TABLES["comic_books"])["title"].to_pylist() == [digest[0]]
        digest[0] = "3"
        result = dg.materialize(assets, selection=["comic_books"], instance=instance, resources={"storyloom": resource})
        assert result.success
        assert Lake(str(tmp_path / "lake")).read_table("comic_books", TABLES["comic_books"])["title"].to_pylist() == [
            "2"
        ]
        records = instance.event_log_storage.get_logs_for_run(result.run_id)
        warnings = [record.user_message for record in records if record.level == logging.WARNING]
        assert any("out of date and used as they are: comic_stories" in warning for warning in warnings), warnings


def test_a_failure_is_said_on_the_terminal_with_the_place_of_its_reason(tmp_path: Path) -> None:
    resource = StoryloomResource(library=str(tmp_path), lake=str(tmp_path / "lake"))
    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize(table_assets(SPECS), instance=instance, resources={"storyloom": resource})
        records = instance.event_log_storage.get_logs_for_run(result.run_id)
    warnings = [record.user_message for record in records if record.level == logging.WARNING]
    place = tmp_path / "lake" / "_failures" / "comic_stories"
    assert f"comic_stories: 2 items could not be processed; each with its reason in {place}" in warnings


def test_failures_are_a_warning_and_their_text_no_markup(tmp_path: Path) -> None:
    resource = StoryloomResource(library=str(tmp_path), lake=str(tmp_path / "lake"))
    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize(table_assets(SPECS), instance=instance, resources={"storyloom": resource})
        (check,) = [c for c in result.get_asset_check_evaluations() if c.asset_key == dg.AssetKey("comic_stories")]
        assert not check.passed and check.severity == dg.AssetCheckSeverity.WARN
        (event,) = result.asset_materializations_for_node("comic_stories")
        assert "<img" not in str(event.metadata["failed_items"].value)


@dataclass(frozen=True)
class NeedsTool(Stories):
    """Notes in a file that it ran, and fails as it does where a program is not installed."""

    notes: str = ""

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        with Path(self.notes).open("a") as file:
            file.write("x")
        for item in super().run(inputs):
            yield Failure("a", "tool_missing", "Install it.") if isinstance(item, Failure) else item


def test_what_the_machine_fails_is_tried_once_a_run_however_many_tables_stand_on_it(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    first = TableSpec(
        "comic_stories",
        "Stories",
        "comics",
        {"parquet"},
        lambda project: NeedsTool(notes=str(notes)),
        find=lambda project: Found({"a": Source(None, "1")}),
    )
    third = TableSpec("comic_books", "Books", "comics", {"parquet"}, lambda project: Books(), ("comic_stories",))
    assets = table_assets([first, SPECS[1], third])
    resource = StoryloomResource(library=str(tmp_path), lake=str(tmp_path / "lake"))
    with dg.DagsterInstance.ephemeral() as instance:
        for runs in (1, 2, 3):
            result = dg.materialize(
                assets,
                selection=["comic_captions", "comic_books"],
                instance=instance,
                resources={"storyloom": resource},
            )
            assert result.success and len(notes.read_text()) == runs


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

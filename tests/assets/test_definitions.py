"""The whole graph as Dagster loads it. A change to it must show in a review: that is what the snapshot is for."""

from __future__ import annotations

import json
import os
from pathlib import Path

import dagster as dg

from assets.definitions import build_definitions, defs
from assets.tables import StoryloomResource

SNAPSHOT = Path(__file__).with_name("graph.json")


def graph() -> dict[str, object]:
    """Every asset's dependencies, group, kinds, owners, version, columns and checks."""
    layer = defs.resolve_asset_graph()
    found = {}
    for key in sorted(layer.get_all_asset_keys()):
        node = layer.get(key)
        schema = node.metadata["dagster/column_schema"]
        found[key.to_user_string()] = {
            "deps": sorted(parent.to_user_string() for parent in node.parent_keys),
            "group": node.group_name,
            "kinds": sorted(node.kinds),
            "owners": list(node.owners),
            "code_version": node.code_version,
            "columns": [f"{c.name}: {c.type}" for c in schema.columns],
            "checks": sorted(check.name for check in node.check_keys),
        }
    return found


def test_the_graph_is_the_one_on_record() -> None:
    if os.environ.get("STORYLOOM_UPDATE_SNAPSHOTS"):
        SNAPSHOT.write_text(json.dumps(graph(), indent=1) + "\n")
    assert graph() == json.loads(SNAPSHOT.read_text()), "set STORYLOOM_UPDATE_SNAPSHOTS=1 to record a wanted change"


def test_every_asset_and_column_is_described() -> None:
    layer = defs.resolve_asset_graph()
    for key in layer.get_all_asset_keys():
        node = layer.get(key)
        assert node.description, key
        assert node.owners and node.kinds, key
        assert all(c.description for c in node.metadata["dagster/column_schema"].columns), key


def test_automation_is_off_until_switched_on() -> None:
    (schedule,) = defs.schedules or ()
    (sensor,) = defs.sensors or ()
    assert schedule.default_status == dg.DefaultScheduleStatus.STOPPED  # type: ignore[union-attr]
    assert sensor.default_status == dg.DefaultSensorStatus.STOPPED


def test_any_resource_can_be_replaced(tmp_path: Path) -> None:
    mine = StoryloomResource(lake=str(tmp_path))
    assert (build_definitions(storyloom=mine).resources or {})["storyloom"] is mine


def test_selections_parse() -> None:
    """Other packages may pull an older antlr4, under which every selection fails."""
    keys = dg.AssetSelection.from_string("+comicspap_test").resolve(defs.resolve_asset_graph())
    assert dg.AssetKey("comic_pages") in keys and dg.AssetKey("comicspap_train") not in keys


def test_the_definitions_file_stays_small() -> None:
    assert len(Path(build_definitions.__code__.co_filename).read_text().splitlines()) < 60

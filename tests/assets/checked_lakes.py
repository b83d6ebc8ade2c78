"""Runs the checks of finished tables over a lake."""

from __future__ import annotations

from pathlib import Path

import dagster as dg

from assets.checks import CHECKS
from assets.tables import StoryloomResource
from pipelines.pick_a_panel.selection import SelectSamples
from pipelines.schemas import COMICSPAP_SAMPLES
from pipelines.stage import Row
from resources.lake import Lake
from resources.shard_writer import write_shard
from tests.assets.three_books import SPLIT_OF


def checked(lake: Path) -> dict[str, dg.AssetCheckResult]:
    """The result of each check by `table name`."""
    resource = StoryloomResource(lake=str(lake))
    results = {}
    for check in CHECKS:
        (key,) = check.check_keys
        # The function itself: Dagster would make an instance for each call.
        result = check.op.compute_fn.decorated_fn(storyloom=resource)  # type: ignore[union-attr]
        assert isinstance(result, dg.AssetCheckResult)
        results[f"{key.asset_key.to_user_string()} {key.name}"] = result
    return results


def failed(found: dict[str, dg.AssetCheckResult]) -> set[str]:
    """The checks that fail as errors."""
    return {n for n, c in found.items() if not c.passed and c.severity == dg.AssetCheckSeverity.ERROR}


def said(check: dg.AssetCheckResult, name: str) -> str:
    return str(check.metadata[name].value).replace("\\", "")


def rows_of(lake: Path, split: str) -> list[Row]:
    return Lake(str(lake)).read_table(f"comicspap_{split}", COMICSPAP_SAMPLES).to_pylist()


def put_samples(lake: Path, split: str, rows: list[Row]) -> None:
    (book,) = [book for book, of in SPLIT_OF.items() if of == split]
    write_shard(Lake(str(lake)), SelectSamples(split), book, "planted", rows)

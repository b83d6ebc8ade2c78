"""A container's share of the processors is the share that is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from resources.engines.local import available_cores


@pytest.mark.parametrize(
    ("said", "at_most"), [("max 100000", None), ("50000 100000", 1), ("150000 100000", 2), ("nonsense", None)]
)
def test_a_quota_bounds_the_number_of_workers(said: str, at_most: int | None, tmp_path: Path) -> None:
    all_cores = available_cores(tmp_path / "missing")
    (tmp_path / "cpu.max").write_text(said + "\n")
    assert available_cores(tmp_path / "cpu.max") == (min(all_cores, at_most) if at_most else all_cores)

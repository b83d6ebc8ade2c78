"""Lakes that the real stages built from the library of three books."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.assets.three_books import a_library, build


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_library(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="session")
def good_lake(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = tmp_path_factory.mktemp("good") / "lake"
    build(library, lake)
    return lake


@pytest.fixture
def lake(good_lake: Path, tmp_path: Path) -> Path:
    """A lake of one's own to spoil."""
    return Path(shutil.copytree(good_lake, tmp_path / "lake"))

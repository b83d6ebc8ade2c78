"""Fixtures of several tests of comics."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def comics(tmp_path: Path) -> Path:
    folder = tmp_path / "comics"
    folder.mkdir()
    return folder

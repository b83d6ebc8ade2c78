"""Fixtures that several test folders share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real comics that STORYLOOM_REAL_DATA names; tests that need it are skipped without one."""
    folder = os.environ.get("STORYLOOM_REAL_DATA")
    if not folder:
        pytest.skip("STORYLOOM_REAL_DATA names no folder of real comics")
    return Path(folder)

"""Fixtures that several test folders share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes is the machine's affair: a busy one must not fail a test.
settings.register_profile("storyloom", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("storyloom")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real comics that STORYLOOM_REAL_DATA names; tests that need it are skipped without one."""
    folder = os.environ.get("STORYLOOM_REAL_DATA")
    if not folder:
        pytest.skip("STORYLOOM_REAL_DATA names no folder of real comics")
    return Path(folder)


@pytest.fixture(scope="session")
def real_models() -> Path:
    """The folder of small real weights that STORYLOOM_REAL_MODELS names; tests that need it are skipped without one."""
    folder = os.environ.get("STORYLOOM_REAL_MODELS")
    if not folder:
        pytest.skip("STORYLOOM_REAL_MODELS names no folder of real weights")
    return Path(folder)

"""No test waits: pauses between tries are a thousandth of what they are."""

from __future__ import annotations

import pytest

from resources.chat import limits
from tests.resources.chat.asking import PROTOCOLS


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_FIRST_PAUSE", 0.001)
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    return request.param

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pipelines.errors import ModelMissingError, SettingsError
from resources.models import rapidocr_texts
from resources.models.registry import ADAPTERS, build_adapter, describe_model


@pytest.mark.parametrize("role", ADAPTERS)
def test_an_unknown_adapter_is_told_with_those_that_there_are(role: str) -> None:
    with pytest.raises(SettingsError) as error:
        describe_model(role, "no_such_adapter", {})
    assert f"no adapter `no_such_adapter` for the role {role}" in str(error.value)
    assert all(name in str(error.value) for name in ADAPTERS[role])


def test_a_model_is_named_by_its_source_and_its_options() -> None:
    plain = describe_model("text_reader", "rapidocr", {})
    assert plain.source == rapidocr_texts.SOURCE
    assert describe_model("text_reader", "rapidocr", {"b": 1, "a": 2}) == describe_model(
        "text_reader", "rapidocr", {"a": 2, "b": 1}
    )
    assert describe_model("text_reader", "rapidocr", {"a": 2}) != plain


def test_an_unknown_option_is_told_with_the_adapter() -> None:
    path = ADAPTERS["text_reader"]["rapidocr"]
    with pytest.raises(SettingsError, match="no_such_option") as error:
        build_adapter(path, no_such_option=1)
    assert path in str(error.value)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import no_such_library", "the library no_such_library is not installed"),
        ("raise ImportError('libGL.so.1: cannot open')", "a library cannot be loaded: libGL.so.1: cannot open"),
    ],
)
def test_a_library_that_is_missing_or_broken_is_one_clear_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, message: str
) -> None:
    (tmp_path / "an_adapter.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "an_adapter", raising=False)
    with pytest.raises(ModelMissingError) as error:
        build_adapter("an_adapter:Adapter")
    assert message in str(error.value) and "an_adapter:Adapter" in str(error.value)

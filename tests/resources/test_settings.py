from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.errors import SettingsError
from resources.settings import EngineProfile, load_profile, load_settings


def test_settings_come_from_the_environment_and_can_be_overridden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STORYLOOM_LIBRARY", raising=False)
    monkeypatch.setenv("STORYLOOM_SEED", "7")
    monkeypatch.setenv("STORYLOOM_LAKE", "somewhere")
    settings = load_settings(lake="here", library=None)
    assert (settings.seed, settings.lake, settings.library) == (7, "here", "")


def test_an_empty_setting_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LIBRARY", "LAKE", "PROFILE", "SEED"):
        monkeypatch.setenv(f"STORYLOOM_{name}", "")
    for settings in (load_settings(), load_settings(lake="", profile="", library="")):
        assert (settings.library, settings.lake, settings.profile, settings.seed) == ("", "lake", "laptop", 0)


def test_a_bad_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORYLOOM_SEED", "often")
    with pytest.raises(SettingsError, match="seed"):
        load_settings()


@pytest.mark.parametrize("name", ["laptop", "gpu"])
def test_built_in_profiles_load(name: str) -> None:
    assert load_profile(name).build_missing_upstream == (name == "laptop")


def test_a_profile_of_one_s_own_changes_only_what_it_names(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("engine: {workers: 3}")
    assert load_profile(str(path)) == load_profile("laptop").model_copy(update={"engine": EngineProfile(workers=3)})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("engine: {worker: 2}", "worker"),
        ("tasks: {reach: 0}", "reach is 0"),
        ("tasks: {reech: 3}", "no such setting"),
        ("limits: {max_pages: 3}", "no such setting"),
        ("max_samples: {exam: {visual_closure: 3}}", "exam"),
        ("max_samples: {test: {visual: 3}}", "visual"),
        ("release: {jpeg_quality: 0}", "jpeg_quality"),
        ("split_shares: {train: -1}", "split_shares"),
        ("split_shares: {train: 0}", "at least one split"),
        ("split_shares: {train: .inf}", "split_shares"),
        ("split_shares: {train: .nan, test: 1}", "split_shares"),
        ("split_shares: {train: 1.0e+308, test: 1.0e+308}", "too large"),
        ("limits: {max_pixels: -1}", "max_pixels is -1"),
        ("limits: {max_members: 0}", "max_members is 0"),
        ("limits: {max_members: .nan}", "max_members is nan"),
        ("limits: {max_members: many}", "max_members"),
        ("tasks: {length_ratio: .inf}", "length_ratio is inf"),
        ("engine: {shard_seconds: 0}", "shard_seconds"),
        ("engine: {shard_seconds: .nan}", "shard_seconds"),
        ("engine: [", "profile is not valid"),
        ("- a list", "profile is not valid"),
    ],
)
def test_a_bad_profile_says_what_is_wrong(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=said) as error:
        load_profile(str(path))
    assert str(path) in str(error.value)


def test_a_missing_profile_says_what_there_is() -> None:
    with pytest.raises(SettingsError, match="laptop, gpu, or the path"):
        load_profile("no-such-profile")

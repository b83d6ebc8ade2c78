"""What docs/chat.md shows is what the project takes."""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path

import yaml

from assets.tables import BuildConfig
from resources.models import chat
from resources.project import Project
from resources.settings import load_profile

DOCUMENT = Path(__file__).parents[3] / "docs" / "chat.md"
TEXT = DOCUMENT.read_text("utf-8")


def settings(function: object) -> set[str]:
    """The names that an adapter takes from a profile."""
    return {name for name, p in inspect.signature(function).parameters.items() if p.kind != p.VAR_KEYWORD}  # type: ignore[arg-type]


def test_its_profiles_are_valid_and_name_models_that_can_be_built(tmp_path: Path) -> None:
    snippets = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert len(snippets) == 4
    adapters = []
    for place, snippet in enumerate(snippets):
        path = tmp_path / f"{place}.yaml"
        path.write_text(snippet)
        profile = load_profile(str(path))
        if profile.models.captioner:
            adapters.append(profile.models.captioner.adapter)
            project = Project.open(library=str(tmp_path), lake=str(tmp_path / "lake"), profile=str(path))
            client = project.model("captioner").load()
            assert profile.chat.budget is None or client.price is not None, "a budget needs a price"
    assert adapters == ["openai", "gemini", "openai"]


def test_its_tables_name_every_setting() -> None:
    named = set(re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE))
    taken = settings(chat.openai_chat) | settings(chat.gemini_chat) | settings(chat._client)
    ours = {"service", "provider", "settings", "replies", "prices"}  # given by the project, or under `chat`
    assert named == taken - ours


def test_its_run_configuration_exists() -> None:
    (command,) = re.findall(r"--config-json '(.*)'", TEXT)
    config = yaml.safe_load(command)["ops"]["comic_captions"]["config"]
    assert BuildConfig(**config).estimate_only and set(config) <= set(BuildConfig.model_fields)


def test_its_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", TEXT)
    assert targets and all(os.path.exists(DOCUMENT.parent / target) for target in targets)

"""What the README shows is what the project does."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pipelines.schemas import TABLES
from resources.chat.client import ChatClient
from resources.project import Project
from resources.settings import Settings, load_profile

README = Path(__file__).parents[1] / "README.md"
PROFILES = re.findall(r"```yaml\n(.*?)```", README.read_text("utf-8"), re.DOTALL)


def test_its_profile_is_valid(tmp_path: Path) -> None:
    snippet, _ = PROFILES
    path = tmp_path / "mine.yaml"
    path.write_text(snippet)
    mine, laptop = load_profile(str(path)), load_profile("laptop")
    assert mine.engine.workers == 8 and mine.release.single_image.splits == ("val", "test")
    unchanged = (
        "split_shares",
        "max_samples",
        "limits",
        "tasks",
        "models",
        "chat",
        "max_failure_ratio",
        "build_missing_upstream",
    )
    assert all(getattr(mine, name) == getattr(laptop, name) for name in unchanged), "the README shows the defaults"


def test_its_chat_model_can_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(PROFILES[1])
    project = Project.open(profile=str(path), lake=str(tmp_path / "lake"))
    captioner = project.model("captioner")
    assert captioner.source == "openai/Qwen/Qwen2.5-VL-7B-Instruct" and captioner.is_remote
    assert isinstance(captioner.load(), ChatClient)


def test_it_names_every_table_and_setting() -> None:
    text = README.read_text("utf-8").replace("`_val`, `_test`", "`comicspap_val`, `comicspap_test`")
    assert [name for name in TABLES if f"`{name}`" not in text] == []
    assert [name for name in Settings.model_fields if f"`STORYLOOM_{name.upper()}`" not in text] == []


def test_its_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", README.read_text("utf-8"))
    assert targets and all(os.path.exists(README.parent / target) for target in targets)

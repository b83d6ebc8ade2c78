"""What the page on models says is what there is."""

from __future__ import annotations

import re
from pathlib import Path

from resources.models.registry import ADAPTERS, describe_model
from resources.settings import load_profile

PAGE = (Path(__file__).parents[3] / "docs" / "models.md").read_text("utf-8")


def test_its_table_names_every_adapter_of_every_role() -> None:
    named: dict[str, set[str]] = {}
    roles: list[str] = []
    for line in PAGE.splitlines():
        if line.startswith("|") and "`" in line:
            first, second = line.split("|")[1:3]
            roles = re.findall(r"`(\w+)`", first) or roles
            for role in roles:
                named.setdefault(role, set()).update(re.findall(r"`(\w+)`", second))
    assert named == {role: set(known) for role, known in ADAPTERS.items()}


def test_its_profile_is_valid(tmp_path: Path) -> None:
    (snippet,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "mine.yaml").write_text(snippet)
    models = load_profile(str(tmp_path / "mine.yaml")).models
    assert models.person_detector is not None
    model = describe_model("person_detector", models.person_detector.adapter, models.person_detector.options)
    assert model.source.startswith("union/torchvision/") and "+yolox/" in model.source
    panels = models.panel_detector
    assert describe_model("panel_detector", panels.adapter, panels.options).source == "ultralytics/my-panels.pt@5f0c..."

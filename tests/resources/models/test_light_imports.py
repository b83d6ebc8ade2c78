"""Listing the tables imports no library of models, in any profile, and naming the models of a profile neither."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LISTED = """
import sys
import assets.definitions
from resources.models.registry import ADAPTERS, describe_model
from resources.settings import ModelProfile, load_profile
for name in ("laptop", "gpu"):
    for role, chosen in load_profile(name).models:
        for model in chosen if isinstance(chosen, tuple) else [chosen]:
            if model is not None:
                print(name, role, describe_model(role, model.adapter, model.options, model.runtime).source)
print("heavy:", sorted({name.partition(".")[0] for name in sys.modules} & set(sys.argv[1:])))
"""


def banned() -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return settings["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-module-level-imports"]


def test_listing_the_definitions_imports_nothing_heavy() -> None:
    heavy = sorted({*banned(), "onnx", "timm", "vllm"} - {"google"})  # protobuf is a google, too
    done = subprocess.run([sys.executable, "-c", LISTED, *heavy], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "heavy: []" in done.stdout, done.stdout
    sources = [line.split(" ", 2) for line in done.stdout.splitlines()[:-1]]
    gpu = {role: source for profile, role, source in sources if profile == "gpu"}
    assert gpu["person_detector"].startswith("union/detectron2/") and "+owlv2/" in gpu["person_detector"]
    assert gpu["captioner"] == "openai/allenai/Molmo-72B-0924"
    assert sum(role == "voters" for _, role, _ in sources) == 3


@pytest.mark.parametrize(
    "name", ["torch", "transformers", "ultralytics", "onnxruntime", "openai", "dlib", "detectron2"]
)
def test_heavy_libraries_are_banned_where_modules_begin(name: str) -> None:
    assert name in banned()

"""No model library may speak with its maker, and none does so behind Python's back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
READ = """
import numpy as np
from resources.models.registry import describe_model
print(describe_model("text_reader", "rapidocr", {}).load().read([np.full((99, 99, 3), 255, np.uint8)]))
"""


def test_onnxruntime_sends_nothing_and_keeps_no_number_for_the_machine(tmp_path: Path) -> None:
    """Its native code asks nobody in Python. Where it is let, it first makes a database and a number to send."""
    # It holds back by itself where it takes the process for a test.
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ORT_", "XDG_", "CI", "GITHUB_", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, "-c", READ],
        cwd=ROOT,
        env=kept | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "[[]]\n", done.stderr
    assert [path for path in tmp_path.rglob("*") if "onnxruntime" in path.name] == []

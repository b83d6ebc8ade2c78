"""What adapters are run on: frames and crops that are real where there are any, and weights put where a profile says."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from pipelines.comics.page_pictures import decode
from pipelines.geometry import Box
from resources.models.registry import describe_model
from resources.models.weights import sha256_of

Truth = dict[int, list[tuple[int, Box]]]


def street(data: Path, numbers: list[int]) -> list[np.ndarray]:
    """Frames (numbered from 1) of the street scene, RGB."""
    capture = cv2.VideoCapture(str(data / "videos" / "vtest.avi"))
    frames = []
    for number in numbers:
        capture.set(cv2.CAP_PROP_POS_FRAMES, number - 1)
        ok, frame = capture.read()
        assert ok
        frames.append(np.ascontiguousarray(frame[..., ::-1]))
    return frames


def street_truth(data: Path) -> Truth:
    """The people of each frame of the street scene: identity and box."""
    people: Truth = {}
    for line in (data / "videos" / "vtest.gt.txt").read_text().splitlines():
        number, identity, *box = (float(v) for v in line.split(",")[:6])
        people.setdefault(int(number), []).append((int(identity), Box(*(round(v) for v in box)).clipped(768, 576)))
    return people


def page(data: Path, number: int) -> np.ndarray:
    """A real comic page, RGB."""
    return decode((data / "comics" / "craphound-1" / f"page{number}.jpg").read_bytes(), at_least=700)


def made_frames(count: int, height: int = 120, width: int = 160) -> list[np.ndarray]:
    """Frames of noise and bars, each another."""
    draw = np.random.default_rng(5)
    frames = draw.integers(0, 255, (count, height, width, 3), np.uint8)
    for number, frame in enumerate(frames):
        frame[20 + number : 90, 30 + 5 * number : 70 + 5 * number] = (200, 40, 10 * number)
    return list(frames)


def own(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options and runtime of a profile for weights of one's own."""
    return {"weights": path.name, "sha256": sha256_of(path)}, {"file": str(path)}


def load(role: str, adapter: str, weights: Path, **options: Any) -> Any:
    """An adapter as a stage gets it, on weights of one's own; `runtime` may be among the options."""
    named, placed = own(weights)
    model = describe_model(role, adapter, named | options, placed | options.pop("runtime", {}))
    return model.load()


def digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()

"""The detector finds drawn panels, and real ones on the pages whose truth is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pipelines.comics.panels import detect_panels
from pipelines.geometry import Box, iou, polygon_box
from tests.pipelines.comics.drawn_layouts import LAYOUTS, drawn, drawn_without_frames

GRID = [
    Box(40, 40, 440, 460),
    Box(520, 40, 440, 460),
    Box(40, 540, 920, 400),
    Box(40, 980, 280, 480),
    Box(360, 980, 600, 480),
]


def _page(boxes: list[Box], paper: int, scale: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(0)
    page = np.full((round(1500 * scale), round(1000 * scale), 3), paper, np.uint8)
    for box in (b.scaled(scale, scale) for b in boxes):
        blocks = rng.integers(60, 190, (box.h // 40 + 1, box.w // 40 + 1, 3)).astype(np.uint8)
        art = blocks.repeat(40, axis=0).repeat(40, axis=1)
        page[box.y : box.bottom, box.x : box.right] = art[: box.h, : box.w]
    return page


def _hits(found: list[Box], truth: list[Box]) -> int:
    return sum(max((iou(f, t) for f in found), default=0) >= 0.5 for t in truth)


@pytest.mark.parametrize("paper", [255, 0])
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_panels_on_white_and_black_paper_are_found_whole(paper: int, scale: float) -> None:
    found = [p.box for p in detect_panels(_page(GRID, paper, scale))]
    assert len(found) == len(GRID)
    assert all(max(iou(f, t.scaled(scale, scale)) for f in found) > 0.95 for t in GRID)


@pytest.mark.parametrize("seed", [0, 2, 4])
@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_of_panels_is_found_whole(name: str, seed: int) -> None:
    truth = [polygon_box(panel) for panel in LAYOUTS[name].panels]
    found = [p.box for p in detect_panels(drawn(LAYOUTS[name], seed))]
    assert len(found) == len(truth)
    assert all(max(iou(f, t) for f in found) > 0.9 for t in truth)


@pytest.mark.parametrize("seed", range(6))
def test_pictures_without_frames_are_told_apart(seed: int) -> None:
    page, fields = drawn_without_frames(seed)
    found = [p.box for p in detect_panels(page)]
    assert len(found) == len(fields)
    assert all(max(iou(f, polygon_box(field)) for f in found) > 0.45 for field in fields)


@settings(max_examples=25)
@given(width=st.integers(1, 300), height=st.integers(1, 300), seed=st.integers(0, 5), noise=st.booleans())
def test_any_picture_gives_panels_inside_it(width: int, height: int, seed: int, noise: bool) -> None:
    rng = np.random.default_rng(seed)
    page = rng.integers(0, 256, (height, width, 3)) if noise else np.full((height, width, 3), 255)
    for panel in detect_panels(page.astype(np.uint8)):
        assert panel.box == panel.box.clipped(width, height) and panel.box.area
        assert 0 <= panel.confidence <= 1


def test_real_pages_are_cut_as_people_cut_them(real_data: Path) -> None:
    folder = real_data / "comics"
    right = found = wanted = 0
    for page in json.loads((folder / "craphound-1.truth.json").read_text()):
        picture = np.asarray(Image.open(folder / "craphound-1" / page["image"]).convert("RGB"))
        boxes = [p.box for p in detect_panels(picture)]
        truth = [polygon_box(p) for p in page["panels"]]
        right, found, wanted = right + _hits(boxes, truth), found + len(boxes), wanted + len(truth)
    assert 2 * right / (found + wanted) >= 0.95

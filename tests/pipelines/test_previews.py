"""Pictures for the UI: panels and numbers are on the page, the answer is marked, no Markdown grows too large."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pipelines.pick_a_panel.render import Scene
from pipelines.previews import contact_sheet, markdown_image, page_preview, png, side_by_side
from pipelines.stage import Row


def _panel(order: int, x: int, y: int, w: int, h: int) -> Row:
    polygon = [[x, y], [x + w, y], [x + w, y + h], [x, y + h]]
    return {"reading_order": order, "x": x, "y": y, "w": w, "h": h, "polygon": polygon}


def _noise(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)


def _opened(markdown: str) -> Image.Image:
    found = re.fullmatch(r"!\[(.*)\]\(data:image/avif;base64,([A-Za-z0-9+/=]+)\)", markdown)
    assert found
    return Image.open(io.BytesIO(base64.b64decode(found[2])))


def test_panels_are_outlined_and_numbered_at_their_places() -> None:
    page = np.full((600, 400, 3), 90, np.uint8)
    panels = [_panel(1, 20, 20, 160, 260), _panel(2, 220, 320, 160, 260)]
    drawn = page_preview(page, panels, [{"x": 240, "y": 40, "w": 60, "h": 30}], height=300)
    assert drawn.shape == (300, 200, 3)
    changed = (drawn != 90).any(axis=2)
    for x, y, w, h in ((10, 10, 80, 130), (110, 160, 80, 130)):
        assert changed[y + h // 2, x - 2 : x + 3].any() and changed[y + h // 2, x + w - 2 : x + w + 3].any()
        assert changed[y + 4 : y + 18, x + 4 : x + 18].mean() > 0.9
        assert not changed[y + h // 2, x + 10 : x + w - 10].any()
    assert changed[20:35, 118:123].any()
    assert not changed[200:290, 5:95].any()


def test_numbers_differ_and_stay_on_the_page() -> None:
    page = np.full((200, 100, 3), 255, np.uint8)
    drawn = [page_preview(page, [_panel(n, 95, 195, 5, 5)], height=200)[-24:, -40:] for n in (1, 8, 123)]
    assert len({part.tobytes() for part in drawn}) == 3
    assert all((part != 255).any(axis=2).mean() > 0.12 for part in drawn)


def test_a_panel_without_outline_shows_its_box() -> None:
    page = np.full((200, 100, 3), 255, np.uint8)
    row = _panel(1, 10, 10, 80, 150)
    assert (page_preview(page, [row], height=200) == page_preview(page, [row | {"polygon": []}], height=200)).all()


def test_the_page_itself_is_left_alone() -> None:
    page = np.full((200, 100, 3), 255, np.uint8)
    page_preview(page, [_panel(1, 10, 10, 80, 150)], height=200)
    assert (page == 255).all()


def test_pictures_stand_side_by_side() -> None:
    row = side_by_side([np.zeros((10, 20, 3), np.uint8), np.zeros((30, 5, 3), np.uint8)])
    assert row.shape == (30, 37, 3)
    assert (row[:10, :20] == 0).all() and (row[:, -5:] == 0).all() and (row[10:, :20] == 255).all()


def test_contact_sheet_marks_the_right_option_where_it_is_known() -> None:
    picture = np.full((90, 120, 3), 90, np.uint8)
    scenes = [Scene((picture,) * 3, (picture,) * 4, 3, solution) for solution in (2, -1)]
    known, hidden = (contact_sheet([("heading", scene)]) for scene in scenes)
    green = (known == (0, 150, 60)).all(axis=2)
    assert green.any() and not (hidden == (0, 150, 60)).all(axis=2).any()
    columns = np.argwhere(green)[:, 1]
    # The third of four panels, 120 pixels wide with gaps of 12.
    assert columns.min() > 264 and columns.max() < 410
    assert contact_sheet([("a", scenes[0])] * 3, columns=2).shape[1] > 1600


@pytest.mark.parametrize("heading", ["", "word " * 200, "x" * 5000, "漫画 \x00 \u202e مرحبا", "é́"])
def test_any_heading_is_drawn_or_cut(heading: str) -> None:
    picture = np.full((90, 120, 3), 90, np.uint8)
    sheet = contact_sheet([(heading, Scene((), (picture,) * 4, -1))])
    assert sheet.shape[1] == 800 and sheet.shape[0] < 260


@pytest.mark.parametrize("shape", [(2400, 1600), (60, 4000), (4000, 30), (1, 1)])
def test_any_picture_fits_into_its_bytes(shape: tuple[int, int]) -> None:
    for bound in (60_000, 4_000):
        text = markdown_image(_noise(*shape), "page [1](x)\n|", bound)
        assert len(text.encode()) <= bound
        assert _opened(text).format == "AVIF"


def test_a_simple_picture_keeps_its_size_and_pixels() -> None:
    picture = np.full((300, 200, 3), (200, 30, 30), np.uint8)
    opened = _opened(markdown_image(picture))
    assert opened.size == (200, 300)
    assert np.abs(np.asarray(opened.convert("RGB")).astype(int) - (200, 30, 30)).max() < 8


def test_a_bound_that_nothing_fits_is_an_error() -> None:
    with pytest.raises(ValueError, match="no picture fits"):
        markdown_image(_noise(50, 50), max_bytes=40)


@settings(max_examples=20)
@given(alt=st.text(max_size=300))
def test_any_description_leaves_the_picture_whole(alt: str) -> None:
    text = markdown_image(np.zeros((8, 8, 3), np.uint8), alt)
    head, _, tail = text.rpartition("](")
    assert head.startswith("![") and tail.startswith("data:image/avif;base64,") and "\n" not in text


def test_png_is_lossless_and_the_same_each_time() -> None:
    picture = _noise(20, 30)
    assert png(picture) == png(picture)
    assert (np.asarray(Image.open(io.BytesIO(png(picture)))) == picture).all()

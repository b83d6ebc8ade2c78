from __future__ import annotations

import logging
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image, ImageDraw

from benchmarks.texts import craphound, measure
from pipelines.comics.text_boxes import join_lines
from pipelines.geometry import Box
from pipelines.lettering import font
from resources.models.rapidocr_texts import FLAT, SOURCE, UNREAD, RapidOcrTexts


@pytest.fixture(scope="module")
def reader() -> RapidOcrTexts:
    return RapidOcrTexts()


def drawn_page() -> np.ndarray:
    image = Image.new("RGB", (600, 420), (110, 150, 190))
    pen = ImageDraw.Draw(image)
    pen.ellipse((40, 30, 320, 170), fill="white", outline="black", width=3)
    pen.rectangle((330, 240, 580, 330), fill=(250, 220, 120), outline="black", width=3)
    for x, y, text in [
        (115, 62, "WHERE IS THE"),
        (95, 90, "LIGHTHOUSE KEY?"),
        (345, 255, "LATER, AT THE"),
        (345, 283, "OLD HARBOUR"),
    ]:
        pen.text((x, y), text, fill="black", font=font(20))
    return np.asarray(image)


def test_drawn_balloons_are_read_in_pixels_of_the_picture(reader, capfd):
    (lines,) = reader.read([drawn_page()])
    boxes = join_lines(lines, [Box(0, 0, 600, 420)])
    assert [box.text for box in boxes] == ["WHERE IS THE LIGHTHOUSE KEY?", "LATER, AT THE OLD HARBOUR"]
    first, second = (box.box for box in boxes)
    assert 60 < first.x < 100 and 50 < first.y < 70 and 260 < first.right < 320 and 105 < first.bottom < 125
    assert second.x < 346 and second.right < 560
    assert min(box.confidence for box in boxes) > 0.8
    assert capfd.readouterr() == ("", "") and logging.getLogger("RapidOCR").level == logging.CRITICAL


def test_a_long_scroll_is_read_in_pieces_without_doubles_or_gaps(reader):
    scroll = np.full((5400, 600, 3), 255, np.uint8)
    for place, top in enumerate(range(0, 5400 - 419, 700)):
        scroll[top : top + 420] = drawn_page()
        assert place < 8
    (lines,) = reader.read([scroll])
    assert len(lines) == 8 * 4
    assert sum("LIGHTHOUSE" in line.text for line in lines) == 8


def test_a_wide_picture_is_read_in_pieces_without_doubles_or_gaps(reader):
    banner = np.full((420, 6000, 3), 255, np.uint8)
    for left in range(0, 6000 - 599, 700):
        banner[:, left : left + 600] = drawn_page()
    (lines,) = reader.read([banner])
    sure = [line.text for line in lines if line.confidence > UNREAD]
    assert len(sure) == 8 * 4
    assert sum("LIGHTHOUSE" in text for text in sure) == 8


@pytest.mark.parametrize("size", [(2, 800), (1, 4000), (11, 70_000), (800, 2), (60_000, 1)])
def test_flat_pictures_hold_no_text_and_are_not_blown_up(reader, monkeypatch, size):
    """The library makes a side of 30 pixels of the shorter one, and pads a wide picture: 10 GB for a row of 4,000."""
    monkeypatch.setattr(reader, "_engine", None)
    assert reader.read([np.zeros((*size, 3), np.uint8)]) == [[]]


@pytest.mark.parametrize("size", [(FLAT, 60_000), (60_000, FLAT), (40, 4000), (500, 30_000)])
def test_long_pictures_reach_the_library_in_few_and_small_pieces(reader, monkeypatch, size):
    seen: list[tuple[int, ...]] = []

    def look(picture, **_):
        seen.append(picture.shape[:2])
        return SimpleNamespace(boxes=None)

    monkeypatch.setattr(reader, "_engine", look)
    assert reader.read([np.zeros((*size, 3), np.uint8)]) == [[]]
    assert len(seen) <= 200
    # What the library makes of a piece: its shorter side at least 30, its height at least an eighth of its width.
    blown = [(max(h, 30), w * max(1, 30 / h)) for h, w in seen]
    assert max(w * max(h, w / 8) for h, w in blown) < 2 * np.prod(size) + 1e6


def test_an_empty_page_and_a_tiny_one_have_no_lines(reader):
    assert reader.read([np.full((300, 200, 3), 255, np.uint8), np.zeros((3, 2, 3), np.uint8)]) == [[], []]


def test_the_source_names_the_version_that_is_installed():
    from importlib.metadata import version

    assert SOURCE.endswith("@" + version("rapidocr"))


def test_real_pages_are_read_as_well_as_measured(reader, real_data):
    pages = [page for page in craphound(real_data) if page.image == "page5.jpg"]
    result = measure(lambda picture: reader.read([picture])[0], pages, real_data)
    assert result.areas_found == 1
    assert result.error_by_boxes <= 0.05
    assert result.pages_in_order == 1
    assert result.boxes.recall >= 0.9

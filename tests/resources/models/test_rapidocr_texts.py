from __future__ import annotations

import logging

import numpy as np
import pytest
from PIL import Image, ImageDraw

from benchmarks.texts import craphound, measure
from pipelines.comics.text_boxes import join_lines
from pipelines.geometry import Box
from pipelines.lettering import font
from resources.models.rapidocr_texts import SOURCE, RapidOcrTexts


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

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw

from pipelines.comics.page_facts import page_facts
from pipelines.comics.page_marks import Duplicates, is_spread, usual_aspect
from tests.hostile_pictures import drawn, encoded

_SIZE = (400, 600)


def _found(*pictures: bytes) -> list[str | None]:
    """For each page the one that it repeats; pages are called by their place."""
    seen = Duplicates()
    return [seen.find(str(place), page_facts(data)) for place, data in enumerate(pictures)]


@pytest.mark.parametrize(
    ("size", "spread"),
    [((1600, 2400), False), ((3200, 2400), True), ((3000, 2400), True), ((1700, 1690), False), ((8000, 2000), False)],
)
def test_a_spread_is_about_two_usual_pages_wide(size: tuple[int, int], spread: bool) -> None:
    assert is_spread(*size, usual_aspect([(1600, 2400), (3200, 2400), (1610, 2400)])) is spread


def test_a_book_of_wide_pages_has_no_spread() -> None:
    sizes = [(2400, 1600)] * 5
    assert not any(is_spread(*size, usual_aspect(sizes)) for size in sizes)


def test_a_cover_and_one_spread() -> None:
    sizes = [(1600, 2400), (3200, 2400)]
    assert [is_spread(*size, usual_aspect(sizes)) for size in sizes] == [False, True]


def test_copies_of_a_page_are_found_however_they_were_saved() -> None:
    page = drawn(1, _SIZE)
    half = page.resize((200, 300), Image.Resampling.BOX)
    copies = [encoded(page, quality=40), encoded(page, "PNG"), encoded(half, "WEBP"), encoded(page, quality=40)]
    assert _found(encoded(page), encoded(drawn(2, _SIZE)), *copies) == [None, None, "0", "0", "0", "0"]


def test_a_copy_of_a_copy_names_the_first() -> None:
    page = drawn(1, _SIZE)
    assert _found(*(encoded(page, quality=q) for q in (90, 60, 30))) == [None, "0", "0"]


def test_blank_pages_are_only_equal_when_their_bytes_are() -> None:
    white, paper = Image.new("RGB", _SIZE, "white"), Image.new("RGB", _SIZE, (250, 248, 240))
    dust = paper.copy()
    ImageDraw.Draw(dust).rectangle((30, 30, 60, 60), fill=(240, 240, 235))
    found = _found(*(encoded(p, "PNG") for p in (white, paper, dust, white)))
    assert found == [None, None, None, "0"]


def test_pages_with_one_layout_and_other_contents_are_not_the_same() -> None:
    pages = []
    for seed in range(6):
        page = Image.new("RGB", _SIZE, "white")
        noise = np.random.default_rng(seed).integers(0, 256, (6, 4, 3), np.uint8)
        for left, top in ((20, 20), (210, 20), (20, 310), (210, 310)):
            page.paste(Image.fromarray(np.roll(noise, left + top, 0)).resize((170, 270)), (left, top))
        pages.append(encoded(page))
    assert _found(*pages) == [None] * 6

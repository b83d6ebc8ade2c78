from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.comics.page_names import is_page, natural_order

CASES = [
    (
        ["0.png", "1.png", "10.png", "11.png", "2.png", "20.png", "3.png"],
        ["0.png", "1.png", "2.png", "3.png", "10.png", "11.png", "20.png"],
    ),
    (
        ["Chapter 10/1.jpg", "Chapter 2/10.jpg", "Chapter 2/9.jpg", "Chapter 10/2.jpg"],
        ["Chapter 2/9.jpg", "Chapter 2/10.jpg", "Chapter 10/1.jpg", "Chapter 10/2.jpg"],
    ),
    (
        ["001__001.jpg", "002__001.jpg", "001__002.jpg", "003__001.jpg", "002__002.jpg"],
        ["001__001.jpg", "001__002.jpg", "002__001.jpg", "002__002.jpg", "003__001.jpg"],
    ),
    (["__MACOSX/._01.jpg", "01.jpg", "Thumbs.db", "ComicInfo.xml", ".DS_Store", "02.JPG"], ["01.jpg", "02.JPG"]),
    # More digits than Python makes a number of.
    (
        [f"{'9' * 5000}.jpg", f"1{'0' * 5000}.jpg", "10.jpg", "2.jpg"],
        ["2.jpg", "10.jpg", f"{'9' * 5000}.jpg", f"1{'0' * 5000}.jpg"],
    ),
    (
        ["3.jpg", "002.jpg", "０１.jpg", "0.jpg", "٤.jpg", "10.jpg"],
        ["0.jpg", "０１.jpg", "002.jpg", "3.jpg", "٤.jpg", "10.jpg"],
    ),
    (["b/10.webp", "b/9.webp", "a/2.webp", "a/10.webp"], ["a/2.webp", "a/10.webp", "b/9.webp", "b/10.webp"]),
]


@pytest.mark.parametrize(("stored", "pages"), CASES)
def test_pages_come_in_the_order_that_a_reader_expects(stored: list[str], pages: list[str]) -> None:
    assert natural_order(name for name in stored if is_page(name)) == pages


@given(st.lists(st.text(alphabet="ab01 29./é５", min_size=1, max_size=8), unique=True))
def test_the_order_depends_on_the_names_alone(names: list[str]) -> None:
    ordered = natural_order(names)
    shuffled = names[:]
    random.Random(0).shuffle(shuffled)
    assert natural_order(shuffled) == ordered and sorted(ordered) == sorted(names)


@given(st.lists(st.from_regex(r"[0-9]{1,9}|[０-９]{1,3}", fullmatch=True), unique=True))
def test_numbers_come_by_their_value(numbers: list[str]) -> None:
    assert natural_order(numbers) == sorted(numbers, key=lambda number: (int(number), number))

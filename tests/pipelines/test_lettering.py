"""The bundled font: every glyph inside its box, one size for all, and characters that cannot be set."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops

from pipelines.geometry import Box
from pipelines.lettering import common_size, fits, font, letter, measure, missing_glyphs, wrap

TEXTS = st.text(st.sampled_from("aAbfgjyQÅÉŐẤçğłßжЩЫфΩλψ1234567890.,!?…—'\"«»-()[]/ \n"), max_size=120)
SIZES = st.integers(6, 48)


def changed(image: Image.Image) -> tuple[int, int, int, int] | None:
    return ImageChops.difference(image, Image.new(image.mode, image.size, "white")).getbbox()


@settings(max_examples=200)
@given(TEXTS, SIZES, st.integers(20, 300), st.integers(8, 200), st.booleans())
def test_every_glyph_lies_inside_its_box(text: str, size: int, width: int, height: int, centred: bool) -> None:
    image = Image.new("RGB", (width + 120, height + 120), "white")
    box = Box(60, 60, width, height)
    if not fits(text, size, width, height):
        with pytest.raises(ValueError, match="does not fit"):
            letter(image, box, text, size)
        assert changed(image) is None
        return
    letter(image, box, text, size, centred=centred)
    ink = changed(image)
    assert (ink is not None) == bool(text.split())
    if ink:
        assert box.x <= ink[0] and box.y <= ink[1] and ink[2] <= box.right and ink[3] <= box.bottom


@settings(max_examples=100)
@given(TEXTS, SIZES, st.integers(20, 400))
def test_lines_keep_all_words_in_order(text: str, size: int, width: int) -> None:
    lines = wrap(text, size, width)
    if lines is not None:
        assert " ".join(lines).split() == text.split()
        assert all(line.strip() == line and line for line in lines)
        assert all(font(size).getlength(line) <= width + len(line.split()) for line in lines)


def test_a_word_wider_than_the_box_has_no_lines() -> None:
    assert wrap("a Donaudampfschifffahrt", 20, 60) is None
    assert not fits("a Donaudampfschifffahrt", 20, 60, 1000)


def test_no_words_make_no_lines() -> None:
    assert wrap(" \n ", 20, 60) == []
    assert fits("", 20, 0, 0)


def test_common_size_is_the_largest_that_fits_all() -> None:
    items = [("Where did you leave the ladder?", (200, 80)), ("On the roof.", (150, 60)), ("", (10, 10))]
    size = common_size(items, largest=60, smallest=8)
    assert size is not None
    assert all(fits(text, size, *room) for text, room in items)
    assert not all(fits(text, size + 1, *room) for text, room in items)


def test_common_size_stops_at_its_limits() -> None:
    items = [("Hm", (500, 500))]
    assert common_size(items, largest=20, smallest=8) == 20
    assert common_size([("Incomprehensibilities", (30, 30))], largest=20, smallest=8) is None


def test_text_is_centred() -> None:
    image = Image.new("RGB", (300, 200), "white")
    letter(image, Box(0, 0, 300, 200), "HOH", 40)
    ink = changed(image)
    assert ink is not None
    assert abs(ink[0] - (300 - ink[2])) <= 4
    assert abs(ink[1] - (200 - ink[3])) <= 3


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA"])
def test_pictures_of_other_modes(mode: str) -> None:
    image = Image.new(mode, (200, 100), "white")
    letter(image, Box(10, 10, 180, 80), "Aha", 30, "black")
    assert changed(image.convert("RGB")) is not None


@pytest.mark.parametrize(
    "text", ["Plain English, 100%!", "Où ça? Größe, łódź, İstanbul", "Καλημέρα", "Здравствуйте…", "«—»", ""]
)
def test_scripts_that_the_font_has(text: str) -> None:
    assert missing_glyphs(text) == set()


@pytest.mark.parametrize(
    ("text", "missing"), [("a漫画b", {"漫", "画"}), ("שלום!", set("שלום")), ("a\x07b", {"\x07"}), ("hi 🦜", {"🦜"})]
)
def test_characters_that_cannot_be_set(text: str, missing: set[str]) -> None:
    assert missing_glyphs(text) == missing


def test_decomposed_letters_are_set_as_composed_ones() -> None:
    assert wrap("Cafe\u0301", 20, 200) == ["Café"]


def test_measured_lines_fit_exactly() -> None:
    lines = wrap("The tide keeps its own diary", 22, 120)
    assert lines is not None
    width, height = measure(lines, 22)
    assert fits(" ".join(lines), 22, width, height)
    assert not fits(" ".join(lines), 22, width, height - 1)

"""Awkward pictures come out with the pixels that a viewer would show."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.comics.page_facts import page_facts
from pipelines.comics.page_pictures import decode
from pipelines.errors import ItemError
from tests import hostile_pictures as pictures
from tests.hostile_pictures import BLUE, GREEN, RED


def cv2_no_memory() -> cv2.error:
    """What OpenCV raises where it gets no memory."""
    error = cv2.error("Insufficient memory")
    error.code = cv2.Error.StsNoMem  # pyright: ignore[reportAttributeAccessIssue]
    return error


WHITE, BLACK = (255, 255, 255), (0, 0, 0)


def _mean(pixels: np.ndarray) -> tuple[int, ...]:
    return tuple(pixels.reshape(-1, 3).mean(axis=0).round().astype(int))


def _near(pixels: np.ndarray, colour: tuple[int, int, int]) -> bool:
    return bool(np.abs(pixels.astype(int) - np.array(colour)).max() <= 6)


@pytest.mark.parametrize("adobe", [False, True])
def test_red_ink_is_red_light(adobe: bool) -> None:
    data = pictures.cmyk(adobe=adobe)
    assert (b"Adobe" in data) is adobe
    assert _near(decode(data), RED)


def test_sixteen_bits_become_eight_without_clipping() -> None:
    ramp = decode(pictures.sixteen_bit())
    width = pictures.SIZE[0]
    assert np.array_equal(ramp[0, :, 0], np.round(np.arange(width) * 255 / (width - 1)))
    assert np.array_equal(ramp[..., 0], ramp[..., 2])


def test_a_transparent_palette_colour_lies_on_white() -> None:
    pixels, middle = decode(pictures.palette()), pictures.SIZE[0] // 2
    assert (_mean(pixels[:, :middle]), _mean(pixels[:, middle:])) == (WHITE, GREEN)


def test_the_first_frame_of_an_animation_is_the_page() -> None:
    data = pictures.animated()
    assert _mean(decode(data)) == RED
    assert page_facts(data).frames == 3


def test_a_turned_picture_is_set_upright_in_its_pixels_and_its_facts() -> None:
    data = pictures.rotated()
    pixels, facts = decode(data), page_facts(data)
    assert (facts.width, facts.height) == pictures.SIZE == (pixels.shape[1], pixels.shape[0])
    assert _near(pixels[:30, -30:], RED)
    assert _near(pixels[40:, :], WHITE)
    assert _near(pixels[:, :56], WHITE)


def test_a_turned_picture_is_compared_upright() -> None:
    data = pictures.rotated()
    upright = pictures.encoded(pictures.Image.fromarray(decode(data)), "PNG")
    ours, theirs = (np.frombuffer(page_facts(d).thumbnail, np.uint8).astype(int) for d in (data, upright))
    assert np.abs(ours - theirs).mean() < 4
    assert np.abs(np.rot90(ours.reshape(32, 32)).ravel() - theirs).mean() > 10


def test_colours_are_not_swapped() -> None:
    for kind in ("JPEG", "PNG", "WEBP", "TIFF", "BMP", "AVIF"):
        image = pictures.Image.new("RGB", pictures.SIZE, BLUE)
        assert _near(decode(pictures.encoded(image, kind)), BLUE), kind


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (b"", "empty", "no bytes"),
        (pictures.corrupt(), "corrupt", "damaged|cannot be decoded"),
        (pictures.truncated(), "truncated", "ends before"),
        (pictures.truncated(closed=True), "truncated", "stops early"),
        (pictures.WEB_PAGE, "not_a_picture", "web page"),
        (bytes(5000), "not_a_picture", "nothing but zeros"),
        (b"\0\0\0\x18ftypheic" + bytes(100), "unsupported", "a HEIF picture"),
        (pictures.bomb(), "too_large", "3,600 million pixels"),
        (pictures.many_scans(200), "too_large", r"more than 100 times \(scans\)"),
    ],
)
def test_bad_files_say_what_is_wrong(data: bytes, kind: str, words: str) -> None:
    with pytest.raises(ItemError, match=words) as caught:
        page_facts(data)
    assert caught.value.kind == kind


def test_what_looks_like_a_scan_in_a_description_is_none() -> None:
    """Previews and colour profiles hold such bytes; the scans of a second view after the end are not decoded."""
    data = pictures.encoded(pictures.drawn(1), progressive=True)
    note = b"\xff\xfe" + (2 + 2 * 300).to_bytes(2, "big") + b"\xff\xda" * 300
    for good in (data, data[:2] + note + data[2:], pictures.many_scans(50), data + note):
        assert page_facts(good).width == pictures.SIZE[0]


@pytest.mark.parametrize(
    ("where", "error"), [("PIL.JpegImagePlugin.JpegImageFile.load", MemoryError()), ("cv2.imdecode", cv2_no_memory())]
)
def test_a_picture_for_which_the_memory_was_too_small_is_not_damaged(
    where: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(where, fail)
    read = page_facts if "PIL" in where else decode
    with pytest.raises(ItemError) as caught:
        read(pictures.page(1))
    assert caught.value.kind == "out_of_memory"


_GOOD = [
    *(pictures.encoded(pictures.drawn(1), kind) for kind in ("JPEG", "PNG", "WEBP", "TIFF", "GIF", "BMP", "AVIF")),
    *(pictures.cmyk(adobe=True), pictures.rotated(), pictures.animated(), pictures.palette()),
]


@settings(max_examples=150, derandomize=True)
@given(
    st.sampled_from(_GOOD), st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 255)), max_size=6), st.floats(0, 1)
)
def test_damage_gives_facts_or_a_reason(data: bytes, changes: list[tuple[float, int]], kept: float) -> None:
    damaged = bytearray(data)
    for place, value in changes:
        damaged[int(place * place * len(damaged))] = value
    damaged = damaged[: max(1, int(kept * 2 * len(damaged)))]
    try:
        facts = page_facts(bytes(damaged), max_pixels=10**6)
    except ItemError as error:
        assert error.kind in {"corrupt", "truncated", "too_large", "not_a_picture", "unsupported"}
    else:
        assert facts.width * facts.height <= 10**6
        assert len(facts.phash) == 16

"""JPEG bytes: the same each time, nothing but pixels, blocks of their own with full colour."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from pipelines.errors import ItemError
from pipelines.jpeg import encode_jpeg


def _picture() -> np.ndarray:
    y, x = np.mgrid[:64, :96]
    return np.stack([x * 2, y * 3, (x + y) % 256], axis=2).astype(np.uint8)


def _decoded(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def test_decodes_to_nearly_the_same_pixels_in_rgb_order() -> None:
    picture = _picture()
    assert np.abs(_decoded(encode_jpeg(picture, 95)) - picture).mean() < 3


def test_same_pixels_give_same_bytes_also_from_a_view() -> None:
    picture = _picture()
    assert encode_jpeg(picture[8:40, 8:72], 90) == encode_jpeg(picture[8:40, 8:72].copy(), 90)


def test_holds_no_metadata() -> None:
    assert set(Image.open(io.BytesIO(encode_jpeg(_picture(), 90))).info) <= {
        "jfif",
        "jfif_version",
        "jfif_unit",
        "jfif_density",
    }


def test_blocks_stand_alone_with_full_colour_only() -> None:
    first, second = _picture(), _picture()
    second[16:32, 16:40] = (255, 0, 0)
    outside = np.ones(first.shape[:2], bool)
    outside[16:32, 16:40] = False

    def differing(full_colour: bool) -> int:
        one, two = (_decoded(encode_jpeg(p, 80, full_colour=full_colour)) for p in (first, second))
        return int((one != two)[outside].sum())

    assert differing(full_colour=True) == 0
    assert differing(full_colour=False) > 0


@pytest.mark.parametrize(("shape", "kind"), [((0, 5, 3), "empty"), ((1, 70_000, 3), "too_large")])
def test_what_jpeg_cannot_hold_is_an_item_error(shape: tuple[int, int, int], kind: str) -> None:
    with pytest.raises(ItemError) as caught:
        encode_jpeg(np.zeros(shape, np.uint8), 90)
    assert caught.value.kind == kind

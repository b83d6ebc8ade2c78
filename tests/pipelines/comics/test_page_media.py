"""Pictures for a chat model: the right part at the right size, made only when sent, named by what they show."""

from __future__ import annotations

import io
from collections.abc import Iterator

import cv2
import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from pipelines.comics import page_media
from pipelines.comics.page_media import PageMedia
from pipelines.errors import ItemError
from pipelines.geometry import Box
from tests.stage_inputs import FakeInputs

WIDTH, HEIGHT = 120, 80
COLOURS = [(200, 30, 30), (30, 200, 30), (30, 30, 200), (200, 200, 30)]
"""Of the quarters of each page: left and right above, left and right below."""


class CountingInputs(FakeInputs):
    """Inputs that count how often the pages' pictures are read."""

    reads = 0

    def batches(self, name: str, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        self.reads += 1
        yield from super().batches(name, columns)


def some_pages(count: int, book: str = "b") -> tuple[CountingInputs, list[dict[str, object]]]:
    pixels = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    for place, colour in enumerate(COLOURS):
        y, x = divmod(place, 2)
        pixels[y * 40 : y * 40 + 40, x * 60 : x * 60 + 60] = colour
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    rows = [
        {"page_id": f"{book}/{n:04d}", "sha256": f"digest{n}", "width": WIDTH, "height": HEIGHT} for n in range(count)
    ]
    table = pa.table(
        {"page_id": [r["page_id"] for r in rows], "image": pa.array([file.getvalue()] * count, pa.binary())}
    )
    return CountingInputs(book, {"comic_pages": table}), rows


def seen(data: bytes) -> np.ndarray:
    return cv2.cvtColor(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)


@pytest.mark.parametrize("place", range(4))
def test_a_box_of_a_page_is_cut_out(place: int) -> None:
    media = PageMedia(*some_pages(1))
    y, x = divmod(place, 2)
    cut = media.picture("b/0000", 1000, Box(x * 60, y * 40, 60, 40))
    assert (cut.width, cut.height, cut.media_type) == (60, 40, "image/jpeg")
    pixels = seen(cut.encode())
    assert pixels.shape == (40, 60, 3)
    assert np.abs(pixels[4:-4, 4:-4].reshape(-1, 3).mean(0) - COLOURS[place]).max() < 12


def test_a_large_part_is_made_smaller_and_a_small_one_stays() -> None:
    media = PageMedia(*some_pages(1))
    page = media.picture("b/0000", 30)
    assert (page.width, page.height) == (30, 20) and seen(page.encode()).shape == (20, 30, 3)
    assert seen(media.picture("b/0000", 500).encode()).shape == (HEIGHT, WIDTH, 3)
    sliver = media.picture("b/0000", 10, Box(0, 0, 120, 1))
    assert (sliver.width, sliver.height) == (10, 1) and seen(sliver.encode()).shape == (1, 10, 3)


def test_nothing_is_read_before_it_is_sent_and_each_page_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = []
    decode = page_media.decode
    monkeypatch.setattr(page_media, "decode", lambda data: decoded.append(1) or decode(data))
    inputs, rows = some_pages(5)
    media = PageMedia(inputs, rows)
    cuts = [media.picture(f"b/{n:04d}", 100, Box(x, 0, 60, 40)) for n in (1, 2, 4) for x in (0, 60)]
    assert inputs.reads == 0 and decoded == []
    for cut in cuts:
        cut.encode()
    assert inputs.reads == 1 and len(decoded) == 3
    cuts[0].encode()
    assert inputs.reads == 2 and len(decoded) == 4, "a page before the last one is read again"


def test_the_same_part_of_the_same_picture_has_one_name_in_all_books() -> None:
    mine, theirs = PageMedia(*some_pages(2)), PageMedia(*some_pages(2, "other"))
    box = Box(0, 0, 60, 40)
    one = mine.picture("b/0001", 100, box)
    assert one == theirs.picture("other/0001", 100, box)
    different = [mine.picture("b/0000", 100, box), mine.picture("b/0001", 50, box), mine.picture("b/0001", 100)]
    assert len({cut.identity for cut in [one, *different]}) == 4


def test_a_page_that_is_decoded_at_half_its_size_gives_the_same_part(monkeypatch: pytest.MonkeyPatch) -> None:
    decode = page_media.decode
    monkeypatch.setattr(page_media, "decode", lambda data: np.ascontiguousarray(decode(data)[::2, ::2]))
    pixels = seen(PageMedia(*some_pages(1)).picture("b/0000", 1000, Box(60, 40, 60, 40)).encode())
    assert pixels.shape == (20, 30, 3)
    assert np.abs(pixels[4:-4, 4:-4].reshape(-1, 3).mean(0) - COLOURS[3]).max() < 12


def test_a_box_outside_of_the_page_is_the_error_of_its_item() -> None:
    with pytest.raises(ItemError) as caught:
        PageMedia(*some_pages(1)).picture("b/0000", 100, Box(500, 500, 10, 10)).encode()
    assert caught.value.kind == "empty"

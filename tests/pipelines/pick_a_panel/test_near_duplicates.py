"""What two splits share is found, what one split repeats is not its business."""

from __future__ import annotations

import io
import random

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from pipelines.comics.page_hash import phash, thumbnail
from pipelines.comics.page_pictures import decode
from pipelines.pick_a_panel.near_duplicates import MAX_DISTANCE, Pair, near_duplicates
from tests.pipelines.pick_a_panel.released_book import page_picture

SPLITS = {"a": "train", "b": "test", "c": "val", "d": "test"}


def items(*rows: tuple[str, str, int]) -> pa.Table:
    ids, books, hashes = zip(*rows, strict=True) if rows else ((), (), ())
    columns = [list(ids), list(books), [f"{value:016x}" for value in hashes]]
    return pa.table([pa.array(column, pa.string()) for column in columns], ["id", "book_id", "phash"])


def test_pairs_across_splits_are_found_and_pairs_within_one_are_not() -> None:
    shown = 0x0F0F_1234_5678_9ABC
    found = items(("a/1", "a", shown), ("b/1", "b", shown ^ 0b11), ("d/1", "d", shown), ("c/1", "c", ~shown % 2**64))
    assert near_duplicates(found, SPLITS, "test") == [Pair("b/1", "a/1", 2), Pair("d/1", "a/1", 0)]
    assert near_duplicates(found, SPLITS, "train") == [Pair("a/1", "b/1", 2), Pair("a/1", "d/1", 0)]
    assert near_duplicates(found, SPLITS, "val") == []


@pytest.mark.parametrize(("bits", "near"), [(0, True), (MAX_DISTANCE, True), (MAX_DISTANCE + 1, False), (64, False)])
def test_the_bound_holds_up_to_the_last_bit(bits: int, near: bool) -> None:
    # The highest bits, so that no hash may be read as a signed number.
    other = 2**64 - 2 ** (64 - bits)
    assert bool(near_duplicates(items(("a/1", "a", 0), ("b/1", "b", other)), SPLITS, "test")) == near


def test_a_book_of_no_split_is_passed_over() -> None:
    assert near_duplicates(items(("a/1", "a", 5), ("x/1", "x", 5), ("y/1", "y", 5)), SPLITS, "train") == []
    assert near_duplicates(items(), SPLITS, "train") == []


def test_one_pair_among_many_and_a_bound_on_what_is_listed() -> None:
    source = random.Random(3)
    rows = [(f"{book}/{n}", book, source.getrandbits(64)) for n in range(1500) for book in "ab"]
    rows.append(("b/copy", "b", rows[2 * 777][2] ^ 1))
    assert near_duplicates(items(*rows), SPLITS, "test") == [Pair("b/copy", "a/777", 1)]
    alike = items(*((f"{book}/{n}", book, 7) for n in range(30) for book in "ab"))
    assert len(near_duplicates(alike, SPLITS, "test", most=20)) == 20
    assert len(near_duplicates(alike, SPLITS, "test", most=10_000)) == 900


@pytest.mark.parametrize(("scale", "quality"), [(1, 30), (0.5, 60), (1.7, 80)])
def test_copies_at_another_size_and_quality_are_near(scale: float, quality: int) -> None:
    def hashed(data: bytes) -> int:
        grey = decode(data, at_least=1000).mean(axis=2).astype(np.uint8)
        return int(phash(thumbnail(grey)), 16)

    rows: list[tuple[str, str, int]] = []
    for number in range(12):
        page = Image.fromarray(page_picture(number)).resize((600, 500), Image.Resampling.BICUBIC)
        copy = page.resize((int(page.width * scale), int(page.height * scale)), Image.Resampling.BICUBIC)
        for book, picture, options in (("a", page, {"quality": 95}), ("b", copy, {"quality": quality})):
            file = io.BytesIO()
            picture.save(file, "JPEG", **options)
            rows.append((f"{book}/{number}", book, hashed(file.getvalue())))
    pairs = near_duplicates(items(*rows), SPLITS, "test")
    assert [(pair.item, pair.other) for pair in pairs] == [(f"b/{n}", f"a/{n}") for n in range(12)]

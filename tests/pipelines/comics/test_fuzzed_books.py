"""Books damaged by chance end as pages and failures: never as another error, and no page goes without a word."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pipelines.comics.archives import Limits, open_book
from pipelines.comics.library import BookSource
from pipelines.errors import ItemError
from tests.fuzzed_books import BOOKS, PAGES, damaged


@pytest.mark.parametrize("name", BOOKS)
def test_a_damaged_book_loses_no_page_in_silence(name: str, tmp_path: Path) -> None:
    whole = BOOKS[name]()
    path = tmp_path / name
    for seed in range(12):
        path.write_bytes(damaged(whole, random.Random(f"{name} {seed}")))
        read, failures = 0, 0
        try:
            with open_book(BookSource("book", str(path), name, ""), Limits()) as book:
                for member in book.members():
                    try:
                        book.read(member)
                        read += 1
                    except ItemError:
                        failures += 1
                failures += len(book.faults)
        except ItemError:
            failures += 1
        assert read >= len(PAGES) or failures, f"damage {seed}: {read} pages and no failure"

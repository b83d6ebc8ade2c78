"""Of a damaged book the pages before the damage are kept, and what is lost is told."""

from __future__ import annotations

import io
import random
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.comics.archives import Limits, open_book
from pipelines.comics.library import BookSource
from pipelines.errors import ItemError

# Noise, so that compressed archives are as large as plain ones; a block of bzip2 holds 900 kB.
PAGES = {f"{number}.jpg": random.Random(number).randbytes(400_000) for number in range(1, 6)}


def tar(mode: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in PAGES.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def pages_and_faults(path: Path) -> tuple[list[str], list[str]]:
    """The pages that are whole, and the kinds of the failures: of pages first, then of the book."""
    whole, failures = [], []
    with open_book(BookSource("book", str(path), path.name, ""), Limits()) as book:
        for name in book.members():
            try:
                assert book.read(name) == PAGES[name]
                whole.append(name)
            except ItemError as error:
                failures.append(error.kind)
        return whole, failures + [fault.kind for fault in book.faults]


def header(data: bytes, number: int) -> int:
    """Where the header of a page stands in a plain TAR file."""
    return data.index(f"{number}.jpg".encode() + b"\0")


DAMAGES: dict[str, tuple[Callable[[bytes], bytes], list[str]]] = {
    "cut inside a page": (lambda data: data[: header(data, 3) + 5000], ["corrupt", "corrupt"]),
    "cut between pages": (lambda data: data[: header(data, 3)], ["truncated"]),
    "cut inside a header": (lambda data: data[: header(data, 3) + 100], ["truncated"]),
    "a header is damaged": (lambda data: data.replace(b"3.jpg\0", b"3.jqg\0"), ["corrupt"]),
    "a header is gone": (
        lambda data: data[: header(data, 3)] + bytes(512) + data[header(data, 3) + 512 :],
        ["corrupt"],
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_pages_before_the_damage_of_a_tar_are_kept_and_the_loss_is_told(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "book.cbt"
    damaged, kinds = DAMAGES[damage]
    path.write_bytes(damaged(tar("w")))
    assert pages_and_faults(path) == (["1.jpg", "2.jpg"], kinds)


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_pages_before_the_cut_of_a_compressed_tar_are_kept_and_the_loss_is_told(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "book.cbt"
    data = tar(mode)
    path.write_bytes(data[: len(data) * 3 // 4])
    whole, kinds = pages_and_faults(path)
    assert {"1.jpg", "2.jpg"} <= set(whole) < set(PAGES) and kinds[-1] == "corrupt"


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_whole_tar_has_no_fault(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "book.cbt"
    path.write_bytes(tar(mode))
    assert pages_and_faults(path) == (list(PAGES), [])

"""Of a damaged book the pages before the damage are kept, and what is lost is told."""

from __future__ import annotations

import errno
import io
import random
import resource
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import py7zr
import pytest
from PIL import Image

from pipelines.comics.archives import Limits, open_book
from pipelines.comics.containers import broken
from pipelines.comics.library import BookSource
from pipelines.errors import ItemError
from pipelines.stage import PASSING

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
    "the end is blank": (lambda data: data[: header(data, 3)].ljust(len(data), b"\0"), ["truncated"]),
    "a piece is gone": (lambda data: data[: header(data, 3)] + data[header(data, 5) + 100 :], ["corrupt"]),
    "the end is gone": (lambda data: data[: header(data, 3)] + bytes(1100), ["truncated"]),
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


@contextmanager
def full_disk() -> Iterator[None]:
    """As on a disk on which no file can grow: the system refuses to write its last kilobytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_998_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def packed_7z(path: Path) -> None:
    with py7zr.SevenZipFile(path, "w") as archive:
        for name, data in {**PAGES, "6.jpg": random.Random(6).randbytes(2_000_000)}.items():
            archive.writestr(data, name)


@pytest.mark.parametrize("make", [packed_7z, lambda path: path.write_bytes(tar("w:gz"))])
def test_a_disk_that_is_full_is_no_damage_of_the_book(make: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "book"
    make(path)
    with (
        full_disk(),
        pytest.raises(ItemError, match="set TMPDIR") as error,
        open_book(BookSource("book", str(path), path.name, ""), Limits()) as book,
    ):
        book.read("6.jpg")
    assert error.value.kind == "no_space"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError(errno.ENOSPC, "x"), "no_space"),
        (OSError(errno.EIO, "x"), "unreadable"),
        (PermissionError(errno.EACCES, "x"), "unreadable"),
        (MemoryError(), "out_of_memory"),
        (OSError(errno.ENOMEM, "x"), "out_of_memory"),
        (OSError(errno.EINVAL, "x"), "corrupt"),
        (OSError("Invalid data stream"), "corrupt"),
        (EOFError(), "corrupt"),
    ],
)
def test_what_the_machine_fails_is_told_from_damage_and_tried_again(error: Exception, kind: str) -> None:
    found = broken(error)
    assert found.kind == kind and (kind in PASSING) == (kind != "corrupt") == ("next run" in found.remedy)


def zipped(method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in PAGES.items():
            archive.writestr(name, data)
        archive.mkdir("folder")
        archive.writestr("notes.txt", "none of ours")
    return file.getvalue()


def directory(data: bytes, number: int) -> int:
    """Where the entry of a page stands in the directory of a ZIP file."""
    return data.rindex(f"{number}.jpg".encode()) - 46


@pytest.mark.parametrize("name", [b"3.jqg", b".3jpg", b"3.jp/"])
def test_a_page_whose_name_is_damaged_in_the_directory_of_a_zip_is_told(name: bytes, tmp_path: Path) -> None:
    path, data = tmp_path / "book.cbz", zipped()
    at = directory(data, 3) + 46
    path.write_bytes(data[:at] + name + data[at + 5 :])
    assert pages_and_faults(path) == (["1.jpg", "2.jpg", "4.jpg", "5.jpg"], ["corrupt"])


def test_a_directory_of_a_zip_that_lost_its_first_entries_is_told(tmp_path: Path) -> None:
    path, data = tmp_path / "book.cbz", zipped()
    first, third = directory(data, 1), directory(data, 3)
    end = bytearray(data[-22:])
    struct.pack_into("<II", end, 12, len(data) - 22 - third, third)
    path.write_bytes(data[:first] + bytes(third - first) + data[third:-22] + end)
    assert pages_and_faults(path) == (["3.jpg", "4.jpg", "5.jpg"], ["corrupt"])


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_page_whose_bytes_are_damaged_fails_alone(method: int, tmp_path: Path) -> None:
    path, data = tmp_path / "book.cbz", zipped(method)
    dice = random.Random(0)
    for _ in range(5):
        at = data.index(b"3.jpg") + 5 + dice.choice([0, 4, 5, dice.randrange(200_000)])
        path.write_bytes(data[:at] + dice.randbytes(9) + data[at + 9 :])
        assert pages_and_faults(path) == (["1.jpg", "2.jpg", "4.jpg", "5.jpg"], ["corrupt"])


def test_a_way_of_packing_that_is_not_known_is_a_failure_of_the_page(tmp_path: Path) -> None:
    path, data = tmp_path / "book.cbz", bytearray(zipped())
    data[directory(data, 3) + 10] = 97
    path.write_bytes(data)
    assert pages_and_faults(path) == (["1.jpg", "2.jpg", "4.jpg", "5.jpg"], ["unsupported"])


def test_of_a_damaged_7z_the_pages_before_the_damage_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "book.cb7"
    with py7zr.SevenZipFile(path, "w", filters=[{"id": py7zr.FILTER_COPY}]) as archive:
        for name, page in PAGES.items():
            archive.writestr(page, name)
    data = path.read_bytes()
    at = data.index(PAGES["3.jpg"]) + 5000
    path.write_bytes(data[:at] + b"damage" + data[at + 6 :])
    assert pages_and_faults(path) == (["1.jpg", "2.jpg"], ["corrupt"] * 3)


def test_a_pdf_without_its_end_says_that_pages_may_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "book.pdf"
    pictures = [Image.new("L", (60, 90), 50 * number) for number in range(4)]
    pictures[0].save(path, "PDF", save_all=True, append_images=pictures[1:])
    data = path.read_bytes()
    for kept, faults in ((data, []), (data[: data.rindex(b"startxref")], ["truncated"])):
        path.write_bytes(kept)
        with open_book(BookSource("book", str(path), path.name, ""), Limits()) as book:
            assert len(book.members()) == 4 and all(book.read(name) for name in book.members())
            assert [fault.kind for fault in book.faults] == faults


def test_a_pdf_whose_list_of_pages_is_damaged_says_so(tmp_path: Path) -> None:
    path = tmp_path / "book.pdf"
    pictures = [Image.new("L", (60, 90), 50 * number) for number in range(4)]
    pictures[0].save(path, "PDF", save_all=True, append_images=pictures[1:])
    path.write_bytes(path.read_bytes().replace(b"/Kids [", b"/Kibs ["))
    with open_book(BookSource("book", str(path), path.name, ""), Limits()) as book:
        assert len(book.members()) < 4
        assert [fault.kind for fault in book.faults] == ["corrupt"]


def test_a_pdf_with_a_password_says_so(tmp_path: Path) -> None:
    path = tmp_path / "book.pdf"
    Image.new("L", (60, 90)).save(path, "PDF")
    key = b"<" + b"41" * 32 + b">"
    locked = (
        b"/Encrypt << /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O " + key + b" /U " + key + b" >> /ID [<00><00>]"
    )
    data = path.read_bytes()
    at = data.rindex(b"trailer")
    at = data.index(b"<<", at) + 2
    path.write_bytes(data[:at] + locked + data[at:])
    with (
        pytest.raises(ItemError, match="needs a password") as caught,
        open_book(BookSource("book", str(path), path.name, ""), Limits()),
    ):
        pass
    assert caught.value.kind == "encrypted"

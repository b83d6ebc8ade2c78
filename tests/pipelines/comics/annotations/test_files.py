"""Every kind of bad file is a failure that says where and what to do; what is good in it stands."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.comics.annotations import coco, comix_xml, label_studio, own_json
from pipelines.comics.annotations.entries import AnnotationEntry, Limits, checked
from pipelines.comics.annotations.files import read_annotation_files
from pipelines.errors import ItemError
from pipelines.identity import canonical_json
from tests.pipelines.comics.annotations.annotation_files import own, write

GOOD = own("hero", {"page": 1, "panels": [{"box": [0, 0, 10, 10]}]})
BOMB = b'<!DOCTYPE b [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><annotations><book title="&b;"/></annotations>'


@pytest.mark.parametrize(
    ("name", "content", "kind", "said"),
    [
        ("a.json", b"", "empty", "empty"),
        ("a.json", b"\xef\xbb\xbf \n", "empty", "empty"),
        ("a.json", b'{"a": 1,\n "b": }', "not_json", "line 2, column 7"),
        ("a.json", b"[1, 2", "not_json", "line 1"),
        ("a.json", b'{"storyloom_annotations": 1, "book": "caf\xe9"}', "not_json", "UTF-8"),
        ("a.json", b"[" * 200_000, "not_json", "nested too deeply"),
        ("a.json", b'{"a":' * 200_000, "not_json", "nested too deeply"),
        ("a.json", b"[" + b"9" * 10_000 + b"]", "not_json", "digits"),
        ("a.json", b'{"storyloom_annotations": 1, "pages": [], "pages": []}', "duplicate_key", "'pages'"),
        ("a.json", b'{"storyloom_annotations": 2, "book": "hero"}', "unknown_format", "version 2"),
        ("a.json", b'{"storyloom_annotations": true, "book": "hero"}', "unknown_format", "version True"),
        ("a.json", b'{"pages": []}', "unknown_format", "no known format"),
        ("a.json", b'[{"image_id": 1, "bbox": [1, 2, 3, 4], "score": 1}]', "unknown_format", "no known format"),
        ("a.json", b"7", "unknown_format", "no known format"),
        ("a.xml", b"<annotations><book>", "not_xml", "line 1"),
        ("a.xml", b"<a/>", "unknown_format", "'a'"),
        ("a.xml", b"<?xml version='1.0' encoding='martian'?><a/>", "not_xml", "martian"),
        ("a.xml", BOMB, "not_xml", "entities"),
        ("labels.csv", b"a,b", "unknown_format", ".json and .xml"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_failure_and_the_others_stand(
    tmp_path: Path, name: str, content: bytes, kind: str, said: str
) -> None:
    entries, failures = read_annotation_files(write(tmp_path, {name: content, "b.json": GOOD}))
    assert [entry.file for entry in entries] == ["b.json"]
    assert [(f.item_id, f.kind) for f in failures] == [(name, kind)]
    assert said in failures[0].message
    assert f"({name})" in failures[0].message
    assert len(failures[0].message) < 500


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_and_other_unicode_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    text = '{"storyloom_annotations": 1, "book": "héros", "pages": [{"page": 1, "kind": "cover"}]}'
    entries, failures = read_annotation_files(write(tmp_path, {"a.json": text.encode(encoding)}))
    assert failures == []
    assert entries[0].book == "héros"


def test_a_file_over_the_limit_is_not_parsed(tmp_path: Path) -> None:
    write(tmp_path, {"a.json": GOOD})
    size = (tmp_path / "a.json").stat().st_size
    assert read_annotation_files(tmp_path, Limits(file_bytes=size))[1] == []
    entries, failures = read_annotation_files(tmp_path, Limits(file_bytes=size - 1))
    assert entries == []
    assert failures[0].kind == "too_large"


def test_subfolders_are_read_in_order_and_notes_and_pictures_are_passed_over(tmp_path: Path) -> None:
    files = dict.fromkeys(["z.JSON", "b/a.json", "b.json"], GOOD)
    rest = dict.fromkeys([".hidden.json", "._b.json", "README.txt", "notes.md", "images/1.png", ".git/x.json"], b"?")
    entries, failures = read_annotation_files(write(tmp_path, {**files, **rest}))
    assert failures == []
    assert [entry.file for entry in entries] == ["b.json", "z.JSON", "b/a.json"]


def test_a_folder_that_is_not_there_holds_no_annotations(tmp_path: Path) -> None:
    assert read_annotation_files(tmp_path / "annotations") == ([], [])


def test_links_out_of_the_folder_and_files_that_are_none_are_failures(tmp_path: Path) -> None:
    write(tmp_path, {"secret.json": GOOD, "library/ok.json": GOOD, "other/x.json": GOOD})
    folder = tmp_path / "library"
    (folder / "a.json").symlink_to(tmp_path / "secret.json")
    (folder / "broken.json").symlink_to(folder / "nothing.json")
    (folder / "linked").symlink_to(tmp_path / "other")
    (folder / "inside.json").symlink_to(folder / "ok.json")
    os.mkfifo(folder / "pipe.json")
    entries, failures = read_annotation_files(folder)
    assert [entry.file for entry in entries] == ["inside.json", "ok.json"]
    assert sorted((f.item_id, f.kind) for f in failures) == [
        ("a.json", "outside_folder"),
        ("broken.json", "unreadable"),
        ("linked", "outside_folder"),
        ("pipe.json", "unreadable"),
    ]


def test_a_name_that_is_no_unicode_can_still_be_written_to_a_table(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.json")).write_bytes(b"")
    _, failures = read_annotation_files(tmp_path)
    assert failures[0].item_id.encode() == b"caf?.json"


_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["panel", "text", "001.jpg", "hero/0001", "\ud800"]),
)
_KEYS = st.sampled_from(
    [
        "book",
        "pages",
        "page",
        "member",
        "width",
        "height",
        "kind",
        "panels",
        "texts",
        "captions",
        "stories",
        "box",
        "polygon",
        "text",
        "panel",
        "first_page",
        "last_page",
        "images",
        "annotations",
        "categories",
        "id",
        "name",
        "file_name",
        "page_id",
        "image_id",
        "category_id",
        "bbox",
        "segmentation",
        "data",
        "image",
        "result",
        "value",
        "x",
        "y",
        "points",
        "rectanglelabels",
        "labels",
        "rotation",
        "original_width",
        "original_height",
        "1",
    ]
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEYS, inner, max_size=6)),
    max_leaves=25,
)


@given(st.dictionaries(_KEYS, _VALUES, max_size=6))
def test_any_json_gives_entries_or_failures(value: dict[str, Any]) -> None:
    limits = Limits()
    task = {"data": value, "annotations": [value]}
    empty: dict[str, Any] = {"images": [], "annotations": [], "categories": [{"id": 1, "name": "panel"}]}
    for items in (
        own_json.read({**value, "storyloom_annotations": 1}, "a.json", limits),
        own_json.read({"storyloom_annotations": 1, "pages": [value]}, "a.json", limits),
        coco.read({**empty, **value}, "a.json", limits),
        coco.read(
            {
                **empty,
                "images": [{"file_name": "1.jpg", **value, "id": 1}],
                "annotations": [{**value, "image_id": 1, "category_id": 1}],
            },
            "a.json",
            limits,
        ),
        label_studio.read([task], "a.json", limits),
        label_studio.read(
            [{"data": {"image": "1.jpg"}, "annotations": [{"result": [{"value": {**value, "labels": ["panel"]}}]}]}],
            "a.json",
            limits,
        ),
    ):
        entries, failures = checked(items)
        assert all(f.kind and f.message and f.item_id.startswith("a.json") for f in failures)
        for entry in entries:
            assert isinstance(entry, AnnotationEntry)
            canonical_json(entry.as_json()).encode()
        for failure in failures:
            (failure.item_id + failure.message).encode()


@given(st.binary(max_size=60), st.sampled_from(["", "<annotations><book title='", "<book><pages><page id='1' width='"]))
def test_any_bytes_as_xml_give_entries_or_one_error(data: bytes, start: str) -> None:
    try:
        entries, failures = checked(comix_xml.read(start.encode() + data, "a.xml", Limits()))
    except ItemError as error:
        assert error.kind in ("not_xml", "unknown_format")
    else:
        assert all(e.format == "comix_xml" for e in entries)
        assert all(f.kind == "bad_annotation" for f in failures)

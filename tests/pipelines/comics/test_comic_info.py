from __future__ import annotations

import pytest

from pipelines.comics.comic_info import MAX_BYTES, ComicInfo, parse_comic_info
from pipelines.errors import ItemError
from pipelines.schemas import PAGE_KINDS


def _pages(*pages: str) -> ComicInfo:
    return parse_comic_info(f"<ComicInfo><Pages>{''.join(pages)}</Pages></ComicInfo>".encode())


def test_fields_are_read_whatever_the_namespace_case_and_encoding() -> None:
    text = """<?xml version="1.0" encoding="utf-16"?>
    <ComicInfo xmlns="urn:any"><Title> Ink\n and  Paper </Title><series>Élan</series><Number>1.5</Number>
    <Manga>YesAndRightToLeft</Manga></ComicInfo>"""
    info = parse_comic_info(text.encode("utf-16"))
    assert (info.title, info.series, info.number, info.right_to_left) == ("Ink and Paper", "Élan", "1.5", True)


@pytest.mark.parametrize(
    ("manga", "right_to_left"),
    [("YesAndRightToLeft", True), ("No", False), ("Yes", None), ("Unknown", None), ("", None), ("maybe", None)],
)
def test_only_a_stated_direction_counts(manga: str, right_to_left: bool | None) -> None:
    assert parse_comic_info(f"<ComicInfo><Manga>{manga}</Manga></ComicInfo>".encode()).right_to_left is right_to_left


def test_every_type_of_the_schema_is_one_of_our_kinds() -> None:
    types = [
        "FrontCover",
        "InnerCover",
        "Roundup",
        "Story",
        "Advertisement",
        "Editorial",
        "Letters",
        "Preview",
        "BackCover",
        "Other",
        "Deleted",
    ]
    info = _pages(*(f'<Page Image="{n}" Type="{name}"/>' for n, name in enumerate(types)))
    assert len(info.page_types) == len(types)
    assert set(info.page_types.values()) <= set(PAGE_KINDS)
    assert [info.page_types[n] for n in (0, 3, 4, 6)] == ["cover", "story", "advertisement", "letters"]


def test_pages_with_odd_places_and_types_say_nothing() -> None:
    info = _pages(
        '<Page Image="-1" Type="Story"/>',
        '<Page Image="x" Type="Story"/>',
        '<Page Image="99999999999999999999" Type="Story"/>',
        '<Page Type="Story"/>',
        '<Page Image="1" Type="Poster"/>',
        '<Page Image="2" DoublePage="False"/>',
        '<Page Image="3" Type="Poster Letters" DoublePage="true"/>',
        "<!-- a comment -->",
    )
    assert info == ComicInfo(page_types={3: "letters"}, double_pages=frozenset({3}))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no xml",
        b"<html/>",
        b"<ComicInfo><Title>",
        b'<?xml version="1.0" encoding="klingon"?><ComicInfo/>',
        b"<ComicInfo>" + b"<a>" * 100_000,
        b"<ComicInfo>" + b" " * MAX_BYTES + b"</ComicInfo>",
        b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><ComicInfo><Title>&b;</Title></ComicInfo>',
        b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]><ComicInfo><Title>&a;</Title></ComicInfo>',
    ],
)
def test_what_cannot_be_read_safely_is_an_error_that_says_so(data: bytes) -> None:
    with pytest.raises(ItemError, match=r"ComicInfo\.xml is left out") as caught:
        parse_comic_info(data)
    assert caught.value.kind == "bad_comic_info"


def test_endless_titles_are_cut() -> None:
    info = parse_comic_info(b"<ComicInfo><Title>" + b"a" * 100_000 + b"</Title></ComicInfo>")
    assert info.title == "a" * 500

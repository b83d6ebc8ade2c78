"""Strangers' text inside Markdown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.markdown import escape, fenced, table


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pepper&Carrot 01", "Pepper&amp;Carrot 01"),
        ("a|b", "a&#124;b"),
        ("<b>", "&lt;b&gt;"),
        ("snake_case *bold*", "snake\\_case \\*bold\\*"),
        ("https://x.y", "https\\://x.y"),
        ("WWW.x.y", "WWW\\.x.y"),
        ("- item", "\\- item"),
        ("1. item", "1\\. item"),
        ("two\nlines\u202e\x00", "two lines"),
        ("Éclair 漫画", "Éclair 漫画"),
    ],
)
def test_escape(text: str, expected: str) -> None:
    assert escape(text) == expected


@given(st.text(), st.integers(1, 50))
def test_any_text_is_one_bounded_line_without_live_markup(text: str, longest: int) -> None:
    escaped = escape(text, longest)
    assert "\n" not in escaped and len(escaped) <= longest * 6
    bare = "".join(part[1:] if number else part for number, part in enumerate(escaped.split("\\")))
    assert not set(bare) & set("`<>|[]*_")


def test_fence_is_longer_than_any_in_the_text() -> None:
    assert fenced("a\n````\nb", "yaml") == "`````yaml\na\n````\nb\n`````"


def test_table() -> None:
    assert table(["A", "B"], [["1", "2"]]) == "| A | B |\n| --- | ---: |\n| 1 | 2 |"

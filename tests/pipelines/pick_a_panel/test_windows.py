from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from pipelines.pick_a_panel.windows import windows
from tests.pipelines.pick_a_panel.made_stories import plain_story

LENGTHS = st.lists(st.integers(0, 5) | st.integers(0, 60), max_size=8)


def count(lengths: Sequence[int], size: int, overlapping: bool) -> int:
    return sum(
        len(list(windows(f"s{i}", plain_story(n), size, overlapping=overlapping))) for i, n in enumerate(lengths)
    )


@given(LENGTHS, st.integers(2, 7))
def test_numbers_of_windows(lengths: list[int], size: int) -> None:
    assert count(lengths, size, True) == sum(max(n - size + 1, 0) for n in lengths)
    assert count(lengths, size, False) == sum(n // size for n in lengths)


@given(st.lists(st.integers(4, 60), max_size=8))
def test_a_window_of_four_has_one_place_more_than_one_of_five_in_each_story(lengths: list[int]) -> None:
    assert count(lengths, 4, True) - count(lengths, 5, True) == len(lengths)


@given(st.integers(0, 60), st.integers(2, 7), st.booleans(), st.integers(1, 12))
def test_windows_and_what_lies_around_them(length: int, size: int, overlapping: bool, reach: int) -> None:
    story = plain_story(length)
    seen: list[str] = []
    for number, window in enumerate(windows("s", story, size, overlapping=overlapping)):
        assert window.number == number
        assert list(window.panels) == story[window.start : window.start + size]
        around = {story.index(panel) for panel in window.around(reach)}
        own = range(window.start, window.start + size)
        assert around == {
            place for place in range(length) if place not in own and own[0] - reach <= place <= own[-1] + reach
        }
        seen += [panel.panel_id for panel in window.panels]
    assert overlapping or len(seen) == len(set(seen))

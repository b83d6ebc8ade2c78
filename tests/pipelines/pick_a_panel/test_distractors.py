from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pipelines.pick_a_panel.distractors import even_place, panel_distractors, placed
from pipelines.pick_a_panel.samples import TaskSettings
from pipelines.pick_a_panel.windows import windows
from tests.pipelines.pick_a_panel.made_stories import plain_story


@given(st.integers(4, 40), st.integers(1, 8), st.integers(1, 12), st.integers(0, 99))
def test_as_many_as_wanted_or_as_there_are(length: int, count: int, reach: int, seed: int) -> None:
    settings = TaskSettings(reach=reach, seed=seed)
    for window in windows("s", plain_story(length), 4, overlapping=True):
        found = [panel.panel_id for panel in panel_distractors(window, count, "task", settings)]
        pool = {panel.panel_id for panel in window.around(reach)}
        assert len(found) == len(set(found)) == min(count, len(pool))
        assert set(found) <= pool


@given(st.lists(st.integers(0, 5), min_size=4, max_size=30))
def test_no_content_twice(contents: list[int]) -> None:
    story = [
        replace(panel, phash=content * 0x1111111111 << 3)
        for panel, content in zip(plain_story(len(contents)), contents, strict=True)
    ]
    for window in windows("s", story, 4, overlapping=True):
        found = [panel.phash for panel in panel_distractors(window, 6, "task", TaskSettings(panel_distance=0))]
        others = {panel.phash for panel in window.around(10)} - {panel.phash for panel in window.panels}
        assert len(found) == len(set(found)) == min(6, len(others))
        assert set(found) <= others


def test_distractors_come_from_both_sides() -> None:
    window = list(windows("s", plain_story(24), 4, overlapping=True))[10]
    drawn = Counter(
        panel.panel_id for seed in range(300) for panel in panel_distractors(window, 6, "task", TaskSettings(seed=seed))
    )
    assert len(drawn) == 20
    assert min(drawn.values()) > 50


@given(st.integers(2, 7), st.integers(0, 999))
def test_each_long_run_of_windows_has_every_place_alike(places: int, seed: int) -> None:
    found = [even_place(window, places, "task", seed) for window in windows("s", plain_story(80), 4, overlapping=True)]
    size = 4 * places
    for start in range(0, len(found) - size + 1, size):
        assert Counter(found[start : start + size]) == dict.fromkeys(range(places), 4)


def test_a_place_does_not_tell_the_next_one() -> None:
    found = [even_place(window, 2, "task", 0) for window in windows("s", plain_story(2003), 4, overlapping=True)]
    alike = sum(a == b for a, b in zip(found[::2], found[1::2], strict=True))
    assert 300 < alike < 560


def test_places_are_not_the_same_run_over_and_over() -> None:
    found = [even_place(window, 4, "task", 0) for window in windows("s", plain_story(400), 4, overlapping=True)]
    runs = Counter(tuple(found[start : start + 4]) for start in range(0, 396, 4))
    assert len(runs) > 15


def test_placed() -> None:
    assert [placed("right", ["a", "b"], place).index("right") for place in range(3)] == [0, 1, 2]

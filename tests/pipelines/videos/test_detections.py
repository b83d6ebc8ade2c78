from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.geometry import Box, iou
from pipelines.videos.detections import Detection, union

boxes = st.builds(Box, *[st.integers(0, 40)] * 2, *[st.integers(1, 40)] * 2)
people = st.lists(st.builds(Detection, boxes, st.floats(0, 1)), max_size=6)


@pytest.mark.parametrize(
    ("width", "overlap", "added"),
    [(49, 0.49, True), (50, 0.50, False), (51, 0.51, False)],
)
def test_the_second_detector_adds_what_lies_under_the_bound(width: int, overlap: float, added: bool) -> None:
    ours, theirs = Detection(Box(0, 0, 100, 100), 0.9), Detection(Box(0, 0, width, 100), 0.4)
    assert iou(ours.box, theirs.box) == overlap
    assert union([ours], [theirs]) == ([ours, theirs] if added else [ours])


@given(people, people)
def test_a_box_of_the_second_must_be_new_to_all_of_the_first(first: list[Detection], second: list[Detection]) -> None:
    found = union(first, second)
    assert found[: len(first)] == first
    assert found[len(first) :] == [d for d in second if max((iou(d.box, f.box) for f in first), default=0) < 0.5]


def test_the_second_detectors_boxes_are_not_compared_with_each_other() -> None:
    twice = [Detection(Box(0, 0, 9, 9), 0.8), Detection(Box(0, 0, 9, 8), 0.7)]
    assert union([], twice) == twice
    assert union(twice, []) == twice

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.comics.panels import Panel
from pipelines.errors import SettingsError
from pipelines.geometry import Box, iou
from pipelines.videos.detections import Detection
from resources.models.found import COCO, Found, Panels, Persons, as_found, class_numbers, without_doubles

things = st.lists(
    st.builds(
        Found,
        st.sampled_from(["panel", "text"]),
        st.builds(Box, *[st.integers(0, 30)] * 2, *[st.integers(1, 30)] * 2),
        st.integers(0, 10).map(lambda n: n / 10),
    ),
    max_size=12,
)


def test_classes_are_mapped_by_name() -> None:
    assert class_numbers(
        {"panel": "frame", "text": ["balloon", "caption"]}, ["balloon", "frame", "caption", "face"]
    ) == {
        1: "panel",
        0: "text",
        2: "text",
    }
    with pytest.raises(SettingsError, match=r"no class `panel`.*Map `panel` to one or more of its own: frame, text"):
        class_numbers({"panel": "panel"}, ["frame", "text"])


def test_coco_has_its_80_classes() -> None:
    assert (len(COCO), COCO[0], COCO[9], COCO[79]) == (80, "person", "traffic light", "toothbrush")


def test_what_a_model_says_is_cleaned() -> None:
    corners = [[-5, 2.6, 10.4, 99], [3, 3, 3.2, 9], [0, 0, 9, 9], [1, 1, 5, 5], [np.nan, 0, 5, 5], [2, 2, 8, 8]]
    found = as_found(corners, [0.5, 0.9, 0.2, 0.9, 0.9, 0.8], [0, 0, 0, 7, 0, 1], {0: "a", 1: "b"}, (50, 20), 0.3)
    assert found == [Found("b", Box(2, 2, 6, 6), 0.8), Found("a", Box(0, 3, 10, 47), 0.5)]
    assert as_found([], [], [], {0: "a"}, (9, 9), 0.3) == []


class Finder:
    def find(self, images):
        return [
            [
                Found("panel", Box(1, 2, 3, 4), 0.9),
                Found("person", Box(0, 0, 5, 5), 0.8),
                Found("text", Box(9, 9, 9, 9), 1),
            ]
        ]


def test_each_role_takes_what_is_its_own() -> None:
    image = np.zeros((20, 20, 3), np.uint8)
    assert Panels(Finder()).detect([image]) == [[Panel(Box(1, 2, 3, 4), ((1, 2), (4, 2), (4, 6), (1, 6)), 0.9)]]
    assert Persons(Finder()).detect([image]) == [[Detection(Box(0, 0, 5, 5), 0.8)]]


@given(things, st.integers(1, 9).map(lambda n: n / 10))
def test_of_doubles_the_surest_is_kept(found: list[Found], same: float) -> None:
    kept = without_doubles(found, same)
    assert [f.score for f in kept] == sorted((f.score for f in kept), reverse=True)
    for thing in found:
        reason = [k for k in kept if k.name == thing.name and k.score >= thing.score]
        assert thing in kept or any(iou(k.box, thing.box) > same for k in reason)
    for i, thing in enumerate(kept):
        assert all(k.name != thing.name or iou(k.box, thing.box) <= same for k in kept[:i])

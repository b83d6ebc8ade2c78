from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.comics.text_boxes import TextLine, join_lines, join_texts, resized
from pipelines.comics.text_panels import assign, text_order
from pipelines.geometry import Box, box_polygon, intersection, polygon_box

PAGE = Box(0, 0, 1000, 1500)


def line(x: float, y: float, text: str, *, height: float = 20, angle: float = 0.0, confidence: float = 0.9) -> TextLine:
    """A line of ten pixels a character that starts at (x, y) and runs at an angle in degrees."""
    width, turn = 10 * len(text), math.radians(angle)
    corners = ((0, 0), (width, 0), (width, height), (0, height))
    turned = [
        (x + a * math.cos(turn) - b * math.sin(turn), y + a * math.sin(turn) + b * math.cos(turn)) for a, b in corners
    ]
    return TextLine(tuple(turned), text, confidence)


def texts(lines: list[TextLine], panels: list[Box] | None = None) -> list[str]:
    return [box.text for box in join_lines(lines, panels if panels is not None else [PAGE])]


def test_the_lines_of_a_balloon_are_one_textbox():
    (box,) = join_lines(
        [line(120, 118, "A PERMANENT", confidence=1.0), line(150, 100, "THIS IS"), line(140, 136, "BALLOON.")], [PAGE]
    )
    assert box.text == "THIS IS A PERMANENT BALLOON."
    assert box.box == Box(120, 100, 110, 56)
    assert 0.9 < box.confidence < 1


def test_balloons_beside_and_below_each_other_stay_apart():
    stacked = [
        line(100, 100, "FIRST ONE"),
        line(100, 118, "SPEAKS."),
        line(100, 160, "SECOND ONE"),
        line(100, 178, "ANSWERS."),
    ]
    assert texts(stacked) == ["FIRST ONE SPEAKS.", "SECOND ONE ANSWERS."]
    beside = [
        line(100, 100, "LEFT SIDE"),
        line(100, 118, "SPEAKS."),
        line(215, 112, "RIGHT SIDE"),
        line(215, 130, "ANSWERS."),
    ]
    assert texts(beside) == ["LEFT SIDE SPEAKS.", "RIGHT SIDE ANSWERS."]


def test_parts_of_one_row_are_put_together_in_their_order():
    row = [line(165, 102, "ARE"), line(100, 100, "WORDS"), line(100, 120, "PARTED.")]
    assert texts(row) == ["WORDS ARE PARTED."]


def test_lines_in_two_panels_are_never_one_textbox():
    close = [line(100, 100, "END OF ONE"), line(100, 118, "START OF TWO")]
    assert texts(close) == ["END OF ONE START OF TWO"]
    assert texts(close, [Box(0, 0, 500, 119), Box(0, 119, 500, 300)]) == ["END OF ONE", "START OF TWO"]


def test_small_print_is_not_joined_to_large_lettering():
    assert len(texts([line(100, 100, "LARGE", height=40), line(100, 138, "small", height=16)])) == 2


@pytest.mark.parametrize("angle", [-35, -12, 12, 35, 80])
def test_slanted_lines_are_joined_along_their_own_direction(angle):
    turn = math.radians(angle)
    rows = ["EAST MUSKOSA", "VOLUNTARY", "FIRE", "DEPARTMENT"]
    lines = [
        line(400 - 22 * i * math.sin(turn), 400 + 22 * i * math.cos(turn), row, angle=angle)
        for i, row in enumerate(rows)
    ]
    assert texts(lines[::-1]) == [" ".join(rows)]


@pytest.mark.parametrize(
    ("rows", "joined"),
    [
        (["EXO-", "SKELETON"], "EXOSKELETON"),
        (["WAIT --", "WHAT?"], "WAIT -- WHAT?"),
        (["WAIT--", "WHAT?"], "WAIT-- WHAT?"),
        (["NO -", "NEVER"], "NO - NEVER"),
        (["-", "A"], "- A"),
        (["  TWO   SPACES ", ""], "TWO SPACES"),
        ([], ""),
    ],
)
def test_a_word_that_is_parted_at_a_line_end_is_put_together(rows, joined):
    assert join_texts(rows) == joined


lines_anywhere = st.lists(
    st.builds(
        line,
        st.integers(0, 300),
        st.integers(0, 200),
        st.sampled_from(["A", "TWO", "WORDS-", "A LONG LINE OF THEM"]),
        height=st.integers(1, 40),
        angle=st.sampled_from([0, 0, 5, 90]),
        confidence=st.sampled_from([0.5, 1.0]),
    ),
    max_size=8,
)
boxes_anywhere = st.lists(
    st.builds(Box, st.integers(0, 300), st.integers(0, 300), st.integers(0, 200), st.integers(0, 200)), max_size=6
)


@given(lines_anywhere, boxes_anywhere, st.randoms())
def test_joining_does_not_depend_on_the_order_of_lines_and_loses_none(lines, panels, random):
    joined = join_lines(lines, panels)
    assert joined == join_lines(random.sample(lines, len(lines)), panels)
    letters = sorted("".join(item.text for item in lines).replace(" ", "").replace("-", ""))
    assert sorted("".join(box.text for box in joined).replace(" ", "").replace("-", "")) == letters


@given(st.builds(Box, st.integers(0, 300), st.integers(0, 300), st.integers(0, 90), st.integers(0, 90)), boxes_anywhere)
def test_a_box_is_given_to_the_panel_with_most_of_it(box, panels):
    panel, share = assign(box, panels)
    if not panels:
        assert (panel, share) == (None, 0.0)
        return
    assert panel is not None
    assert intersection(box, panels[panel]) == max(intersection(box, other) for other in panels)
    assert share == (intersection(box, panels[panel]) / box.area if box.area else 0)


def test_a_box_outside_all_panels_goes_to_the_nearest():
    panels = [Box(0, 0, 100, 100), Box(0, 150, 100, 100)]
    assert assign(Box(10, 120, 20, 20), panels) == (1, 0.0)
    assert assign(Box(10, 105, 20, 20), panels) == (0, 0.0)


def test_of_an_inset_and_the_panel_around_it_the_inset_has_the_text():
    assert assign(Box(60, 60, 10, 10), [Box(0, 0, 200, 200), Box(50, 50, 50, 50)]) == (1, 1.0)


def test_texts_are_read_panel_by_panel_in_both_directions():
    panels = [Box(0, 0, 100, 100), Box(110, 0, 100, 100)]
    boxes = [Box(160, 10, 30, 10), Box(60, 12, 30, 10), Box(10, 60, 30, 10), Box(10, 10, 30, 10), Box(400, 10, 9, 9)]
    homes = [1, 0, 0, 0, None]
    assert text_order(boxes, homes, panels) == [3, 1, 2, 0, 4]
    mirrored = [Box(210 - box.right, box.y, box.w, box.h) for box in boxes]
    assert text_order(mirrored, homes, panels, right_to_left=True) == [3, 1, 2, 0, 4]


@given(boxes_anywhere, st.randoms(), st.booleans())
def test_the_order_of_texts_depends_on_the_boxes_alone(boxes, random, right_to_left):
    panels = [Box(0, 0, 150, 500), Box(150, 0, 350, 500)]
    boxes = sorted(set(boxes))
    homes = [assign(box, panels)[0] for box in boxes]
    order = [boxes[i] for i in text_order(boxes, homes, panels, right_to_left)]
    shuffled = random.sample(range(len(boxes)), len(boxes))
    moved, moved_homes = [boxes[i] for i in shuffled], [homes[i] for i in shuffled]
    assert [moved[i] for i in text_order(moved, moved_homes, panels, right_to_left)] == order
    assert sorted(order) == boxes


def test_lines_are_scaled_to_the_page_and_kept_inside_it():
    read = [TextLine(tuple(map(tuple, box_polygon(Box(-5, 10, 60, 10)))), "IN", 1.0), line(300, 5, "OUT")]
    (kept,) = resized(read, (100, 100), (200, 400))
    assert polygon_box(kept.polygon) == Box(0, 40, 110, 40)

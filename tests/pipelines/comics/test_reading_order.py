"""Reading order: true cases in both directions, and what must hold for any page."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.comics.reading_order import reading_order
from pipelines.geometry import Box, polygon_box

CASES = json.loads((Path(__file__).parents[2] / "cases" / "reading_order.json").read_text())["cases"]
NAMES = [case["name"] for case in CASES]
PAGE = (1000, 1500)

Layout = list[Box]
any_box = st.builds(Box, st.integers(-50, 900), st.integers(-50, 1400), st.integers(0, 700), st.integers(0, 700))
any_boxes = st.lists(any_box, max_size=14)


def mirror(boxes: list[Box], width: int = PAGE[0]) -> list[Box]:
    return [Box(width - x - w, y, w, h) for x, y, w, h in boxes]


def in_order(boxes: list[Box], **how: bool) -> list[Box]:
    return [boxes[i] for i in reading_order(boxes, **how)]


def assert_read_as(layout: Layout, width: int = PAGE[0], **how: bool) -> None:
    """The layout is read as it is written, shuffled or not, and mirrored from right to left."""
    shuffled = random.Random(1).sample(layout, len(layout))
    assert in_order(shuffled, **how) == layout
    assert in_order(mirror(shuffled, width), right_to_left=True, **how) == mirror(layout, width)


def jittered(boxes: list[Box], page: tuple[int, int], seed: int) -> list[Box]:
    """Each edge moved by up to 1% of the page."""
    draw, moved = random.Random(seed), []
    for x, y, w, h in boxes:
        dx, dy = page[0] / 100, page[1] / 100
        left, top = x + draw.uniform(-dx, dx), y + draw.uniform(-dy, dy)
        right, bottom = x + w + draw.uniform(-dx, dx), y + h + draw.uniform(-dy, dy)
        moved.append(Box(round(left), round(top), round(right - left), round(bottom - top)))
    return moved


def split(draw: random.Random, low: int, high: int, gutter: int, least: int) -> list[tuple[int, int]]:
    """Cut a stretch into one to three parts with gutters between them, none shorter than `least`."""
    parts = draw.randint(1, max(1, min(3, (high - low + gutter) // (least + gutter))))
    if parts == 1:
        return [(low, high)]
    spare = (high - low - gutter * (parts - 1)) - least * parts
    cuts = sorted(draw.randint(0, spare) for _ in range(parts - 1))
    sizes = [least + after - before for before, after in zip([0, *cuts], [*cuts, spare], strict=True)]
    spans, start = [], low
    for size in sizes:
        spans.append((start, start + size))
        start += size + gutter
    return spans


def draw_layout(seed: int) -> Layout:
    """Rows of columns, some columns a stack (never two stacks side by side, which a reader may take either way)."""
    draw, layout = random.Random(seed), []
    for top, bottom in split(draw, 30, PAGE[1] - 30, 24, 360):
        stacked = False
        for left, right in split(draw, 30, PAGE[0] - 30, 20, 200):
            stacks = [(top, bottom)] if stacked else split(draw, top, bottom, 24, 160)
            stacked = len(stacks) > 1
            layout += [Box(left, a, right - left, b - a) for a, b in stacks]
    return layout


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_true_cases_in_both_directions(case: dict) -> None:
    assert_read_as([Box(*box) for box in case["boxes"]], case["page"][0])


@pytest.mark.parametrize("case", CASES, ids=NAMES)
@pytest.mark.parametrize("seed", range(40))
def test_true_cases_stand_a_jitter_of_one_percent(case: dict, seed: int) -> None:
    assert_read_as(jittered([Box(*box) for box in case["boxes"]], case["page"], seed), case["page"][0])


@settings(max_examples=150)
@given(st.integers(0, 10**6))
def test_drawn_layouts_are_read_as_drawn_and_stand_a_jitter(seed: int) -> None:
    layout = draw_layout(seed)
    assert_read_as(layout)
    assert_read_as(jittered(layout, PAGE, seed))


@settings(max_examples=200)
@given(any_boxes, st.booleans(), st.booleans())
def test_any_boxes_give_a_permutation(boxes: list[Box], right_to_left: bool, columns: bool) -> None:
    order = reading_order(boxes, right_to_left=right_to_left, columns=columns)
    assert sorted(order) == list(range(len(boxes)))


@settings(max_examples=200)
@given(any_boxes, st.randoms(use_true_random=False), st.booleans())
def test_the_order_in_which_boxes_come_does_not_matter(boxes: list[Box], draw: random.Random, columns: bool) -> None:
    shuffled = draw.sample(boxes, len(boxes))
    assert in_order(shuffled, columns=columns) == in_order(boxes, columns=columns)


@settings(max_examples=200)
@given(
    any_boxes, st.integers(-3000, 3000), st.integers(-3000, 3000), st.sampled_from([0.125, 0.1, 0.37, 2.6, 3.0, 10.0])
)
def test_moving_and_scaling_change_nothing(boxes: list[Box], dx: int, dy: int, scale: float) -> None:
    order = [boxes[i] for i in reading_order(boxes)]
    moved = [(x + dx, y + dy, w, h) for x, y, w, h in boxes]
    scaled = [tuple(value * scale for value in box) for box in boxes]
    assert [boxes[i] for i in reading_order(moved)] == order
    assert [boxes[i] for i in reading_order(scaled)] == order


@settings(max_examples=200)
@given(any_boxes, st.booleans())
def test_right_to_left_is_left_to_right_mirrored(boxes: list[Box], columns: bool) -> None:
    mirrored = in_order(mirror(boxes), right_to_left=True, columns=columns)
    assert mirrored == mirror(in_order(boxes, columns=columns))


@settings(max_examples=100)
@given(st.lists(st.builds(Box, st.integers(0, 900), st.integers(0, 900), st.just(0), st.integers(0, 50)), max_size=8))
def test_boxes_without_area_survive(boxes: list[Box]) -> None:
    panels = [Box(0, 0, 480, 480), Box(500, 0, 480, 480)]
    found = in_order([*panels, *boxes])
    assert sorted(found) == sorted([*panels, *boxes])
    assert found.index(panels[0]) < found.index(panels[1])


def test_sixty_overlapping_boxes_take_well_under_a_second() -> None:
    draw = random.Random(5)
    boxes = [
        Box(draw.randrange(600), draw.randrange(900), draw.randrange(50, 500), draw.randrange(50, 700))
        for _ in range(60)
    ]
    start = time.process_time()
    order = reading_order(boxes)
    assert sorted(order) == list(range(60))
    assert time.process_time() - start < 1.0


def test_three_hundred_nested_and_crossing_boxes_end() -> None:
    boxes = [Box(i, i, 1000 - 2 * i, 1000 - 2 * i) for i in range(150)]
    boxes += [Box(3 * i, 500 - i, 400, 2 * i + 1) for i in range(150)]
    assert sorted(reading_order(boxes)) == list(range(300))


def test_nothing_gives_nothing() -> None:
    assert reading_order([]) == []


GRID = [Box(x, y, 300, 460) for y in (20, 500, 980) for x in (20, 340, 660)]


def test_a_grid_is_read_in_rows() -> None:
    assert_read_as(GRID)


def test_columns_mode_reads_four_panel_strips_column_by_column() -> None:
    strips = [Box(x, y, 400, 340) for x in (60, 540) for y in (20, 380, 740, 1100)]
    assert_read_as(strips, columns=True)
    titled = [Box(60, 20, 880, 120), *(Box(x, y + 130, w, h) for x, y, w, h in strips)]
    assert_read_as(titled, columns=True)


LAYOUTS = {
    "inset after its panel, before the next": [Box(0, 0, 1000, 700), Box(600, 400, 300, 200), Box(0, 720, 1000, 780)],
    "insets on a page-high panel": [Box(0, 0, 1000, 1500), Box(50, 50, 300, 300), Box(650, 60, 300, 300), Box(50, 1100, 400, 300)],
    "inset in an inset": [Box(0, 0, 990, 990), Box(100, 100, 500, 500), Box(200, 200, 90, 90), Box(100, 700, 200, 200)],
    "inset across a lower border": [Box(0, 0, 1000, 700), Box(350, 600, 300, 220), Box(0, 720, 490, 780), Box(510, 720, 490, 780)],
    "grid beside a tall panel": [Box(0, 0, 300, 980), *(Box(x, y, 320, 480) for y in (0, 500) for x in (320, 660))],
    "grid before a tall panel": [*(Box(x, y, 320, 480) for y in (0, 500) for x in (0, 340)), Box(680, 0, 300, 980)],
    "staggered rows": [Box(0, 0, 480, 400), Box(500, 0, 500, 480), Box(0, 420, 480, 400), Box(500, 500, 500, 320)],
    "stack beside a tall panel": [Box(0, 0, 480, 480), Box(0, 500, 480, 480), Box(500, 0, 500, 980), Box(0, 1000, 1000, 480)],
    "tall panel beside a stack of three": [Box(0, 0, 480, 980), *(Box(500, y, 500, 310) for y in (0, 330, 660))],
    "stacks on both sides of a tall panel": [
        Box(0, 0, 300, 480), Box(0, 500, 300, 480), Box(320, 0, 300, 980), Box(640, 0, 300, 480), Box(640, 500, 300, 480),
    ],  # fmt: skip
    "one tall panel across two rows": [
        Box(0, 0, 300, 480), Box(320, 0, 300, 480), Box(0, 500, 620, 480), Box(640, 0, 340, 980), Box(0, 1000, 980, 480),
    ],  # fmt: skip
    "pinwheel": [Box(0, 0, 600, 300), Box(0, 320, 380, 680), Box(400, 320, 200, 280), Box(620, 0, 380, 600), Box(400, 620, 600, 380)],
    "pinwheel the other way": [
        Box(0, 0, 380, 600), Box(400, 0, 600, 300), Box(400, 320, 200, 280), Box(0, 620, 600, 380), Box(620, 320, 380, 680),
    ],  # fmt: skip
    "box of an L-shaped panel, another in its notch": [Box(0, 0, 1000, 1000), Box(520, 520, 480, 480), Box(0, 1020, 1000, 400)],
    "bleeds that overlap by a few percent": [
        Box(0, 0, 520, 510), Box(490, 0, 510, 520), Box(0, 490, 1000, 530), Box(0, 1000, 510, 500), Box(480, 990, 520, 510),
    ],  # fmt: skip
    "panels that share borders": [Box(0, 0, 500, 500), Box(500, 0, 500, 500), Box(0, 500, 500, 500), Box(500, 500, 500, 500)],
    "balloon-like panel over four": [
        Box(0, 0, 490, 490), Box(510, 0, 490, 490), Box(350, 350, 300, 300), Box(0, 510, 490, 490), Box(510, 510, 490, 490),
    ],  # fmt: skip
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name: str) -> None:
    assert_read_as(LAYOUTS[name])


def test_a_double_page_is_read_page_by_page() -> None:
    page = [Box(x, y, 270, 460) for y in (60, 540, 1020) for x in (60, 350, 640)]
    spread = [*page, *(Box(x + 1000, y, w, h) for x, y, w, h in page)]
    assert_read_as(spread, 2000)


def test_a_double_page_with_a_panel_across_the_fold_is_read_in_rows() -> None:
    spread = [Box(60, 60, 1880, 460), *(Box(x, y, 430, 460) for y in (540, 1020) for x in (60, 510, 1060, 1510))]
    assert_read_as(spread, 2000)


def test_a_wide_page_with_even_gutters_is_read_in_rows() -> None:
    assert_read_as([Box(x, y, 470, 600) for y in (20, 640) for x in (20, 510, 1000, 1490)], 2000)


def test_identical_boxes_stay_beside_each_other() -> None:
    twin = Box(20, 20, 300, 300)
    assert in_order([Box(340, 20, 300, 300), twin, Box(20, 340, 620, 300), twin])[:2] == [twin, twin]


def test_real_pages_are_read_as_their_truth_says(real_data: Path) -> None:
    pages = json.loads((real_data / "comics" / "craphound-1.truth.json").read_text())
    right = []
    for page in pages:
        boxes = [polygon_box(polygon) for polygon in page["panels"]]
        right.append(in_order(random.Random(0).sample(boxes, len(boxes))) == boxes)
    assert sum(right) == len(right)


@pytest.mark.parametrize("scale", [0.37, 1.3, 2.6, 1 / 3])
def test_lengths_at_a_threshold_read_alike_in_every_unit(scale: float) -> None:
    for boxes in ([(320, 0, 300, 370), (0, 259, 300, 370)], [(22, 0, 472, 1), (409, 0, 100, 0)]):
        assert reading_order([[scale * edge for edge in box] for box in boxes]) == reading_order(boxes)

"""The single picture of a sample: one mask at every place, numbers inside their panels, every kind of picture."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pipelines.errors import SettingsError
from pipelines.geometry import Box, intersection
from pipelines.pick_a_panel.render import Rendering, Scene, arrangement, number_box, render_sample

GREY = (128, 128, 128)
LAYOUTS = (Rendering(), Rendering(most_in_row=3), Rendering("squares"), Rendering("squares", keep_aspect=True))
COLOURS = [(200, 30, 30), (30, 200, 30), (30, 30, 200), (200, 200, 30), (30, 200, 200), (200, 30, 200), (250, 120, 0)]


def _flat(colour: tuple[int, int, int], width: int = 120, height: int = 90) -> np.ndarray:
    return np.full((height, width, 3), colour, np.uint8)


def _scene(shown: int, options: int, index: int, **size: int) -> Scene:
    context = tuple(_flat(COLOURS[i], **size) for i in range(shown))
    return Scene(context, tuple(_flat(COLOURS[-1 - i], **size) for i in range(options)), index)


def _cut(canvas: np.ndarray, box: Box) -> np.ndarray:
    return canvas[box.y : box.bottom, box.x : box.right]


def _is_mask(cell: np.ndarray) -> bool:
    return bool((cell == GREY).all(axis=2).mean() > 0.6)


@pytest.mark.parametrize("rendering", LAYOUTS)
@pytest.mark.parametrize("index", range(5))
def test_exactly_one_mask_at_every_index(rendering: Rendering, index: int) -> None:
    scene = _scene(4, 5, index)
    canvas = render_sample(scene, rendering)
    side = (120, 120) if rendering.layout == "squares" else (120, 90)
    places = arrangement(scene, side, rendering)
    assert [_is_mask(_cut(canvas, box)) for box in places.context] == [i == index for i in range(5)]
    assert not any(_is_mask(_cut(canvas, box)) for box in places.options)
    shown = [_cut(canvas, box)[60, 5].tolist() for n, box in enumerate(places.context) if n != index]
    assert shown == [list(colour) for colour in COLOURS[:4]]


def test_mask_is_marked() -> None:
    scene = _scene(3, 4, 3)
    mask = _cut(render_sample(scene), arrangement(scene, (120, 90), Rendering()).context[3])
    dark = (mask < 60).all(axis=2)
    assert dark.any() and not (dark[:2].any() or dark[-2:].any() or dark[:, :2].any() or dark[:, -2:].any())


def test_without_context_the_options_stand_alone() -> None:
    canvas = render_sample(_scene(0, 4, -1))
    assert canvas.shape[0] < 2 * 90
    assert not (canvas == GREY).all(axis=2).mean() > 0.05


@pytest.mark.parametrize(("shown", "index"), [(3, -1), (3, 4), (0, 0 - 2), (0, 1)])
def test_a_mask_outside_the_context_is_refused(shown: int, index: int) -> None:
    with pytest.raises(ValueError, match="index"):
        _scene(shown, 4, index)


@pytest.mark.parametrize("ground", [(0, 0, 0), (255, 255, 255), GREY, (255, 0, 0), (0, 0, 90)])
def test_numbers_lie_inside_their_panel_and_are_readable_on_any_ground(ground: tuple[int, int, int]) -> None:
    options = tuple(_flat(ground) for _ in range(12))
    scene = Scene((_flat(ground),), options, 0)
    canvas = render_sample(scene)
    cells = [_cut(canvas, box) for box in arrangement(scene, (120, 90), Rendering()).options]
    for number, cell in enumerate(cells):
        box = number_box(120, 90, number)
        changed = (cell != ground).any(axis=2)
        outside = changed.copy()
        outside[box.y : box.bottom, box.x : box.right] = False
        assert not outside.any()
        badge = _cut(cell, box)
        assert (badge >= 250).all(axis=2).mean() > 0.4 and (badge <= 5).all(axis=2).any()
    assert len({cell.tobytes() for cell in cells}) == len(cells)


@given(width=st.integers(48, 600), height=st.integers(48, 600), number=st.integers(0, 19))
def test_number_box_lies_inside_any_panel(width: int, height: int, number: int) -> None:
    box = number_box(width, height, number)
    assert box.x >= 1 and box.y >= 1 and box.right <= width - 1 and box.bottom <= height - 1
    assert box.h >= 24


@settings(max_examples=60)
@given(
    sizes=st.lists(st.tuples(st.integers(1, 900), st.integers(1, 900)), min_size=2, max_size=9),
    shown=st.integers(0, 5),
    rendering=st.sampled_from(LAYOUTS),
)
def test_any_sizes_give_panels_that_stand_apart(sizes: list[tuple[int, int]], shown: int, rendering: Rendering) -> None:
    shown = min(shown, len(sizes) - 1)
    pictures = [_flat(COLOURS[i % 7], w, h) for i, (w, h) in enumerate(sizes)]
    scene = Scene(tuple(pictures[:shown]), tuple(pictures[shown:]), shown if shown else -1)
    canvas = render_sample(scene, rendering)
    columns, rows = canvas.shape[1], canvas.shape[0]
    places = arrangement(scene, (48, 48), rendering)
    boxes = [*places.context, *places.options]
    assert len(boxes) == len(sizes) + (shown > 0)
    assert all(not intersection(a, b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(b.x > 0 and b.y > 0 and b.right < places.width and b.bottom < places.height for b in boxes)
    assert columns >= places.width and rows >= places.height
    assert max(box.bottom for box in places.context) < min(box.y for box in places.options) if shown else True


def test_common_size_is_the_median_after_shrinking() -> None:
    pictures = (_flat(COLOURS[0], 1000, 500), _flat(COLOURS[1], 300, 400), _flat(COLOURS[2], 100, 100))
    scene = Scene((), pictures, -1)
    canvas = render_sample(scene)
    # Shrunk to 500 x 250, 300 x 400 and 100 x 100: the medians are 300 and 250.
    places = arrangement(scene, (300, 250), Rendering())
    assert canvas.shape == (places.height, places.width, 3)
    assert [_cut(canvas, b)[0, 0].tolist() for b in places.options] == [list(c) for c in COLOURS[:3]]


def test_aspect_is_kept_by_padding_with_white() -> None:
    scene = Scene((), (_flat(COLOURS[0], 200, 100), _flat(COLOURS[1], 200, 200), _flat(COLOURS[2], 200, 200)), -1)
    stretched, padded = (render_sample(scene, Rendering(keep_aspect=keep)) for keep in (False, True))
    first = arrangement(scene, (200, 200), Rendering()).options[0]
    assert _cut(stretched, first)[10, 10].tolist() == list(COLOURS[0])
    assert _cut(padded, first)[10, 10].tolist() == [255, 255, 255]
    assert _cut(padded, first)[100, 10].tolist() == list(COLOURS[0])


def test_wide_rows_wrap_evenly() -> None:
    scene = _scene(3, 7, 3)
    places = arrangement(scene, (100, 100), Rendering(most_in_row=4))
    assert [sum(b.y == y for b in places.options) for y in sorted({b.y for b in places.options})] == [4, 3]
    assert len({b.y for b in places.context}) == 1
    assert places.width < arrangement(scene, (100, 100), Rendering()).width


@pytest.mark.parametrize(
    ("shown", "options", "columns"), [(4, 5, 5), (3, 7, 4), (3, 4, 4), (0, 4, 2), (3, 2, 2), (0, 2, 2)]
)
def test_squares_waste_little_space(shown: int, options: int, columns: int) -> None:
    index = shown if shown else -1
    places = arrangement(_scene(shown, options, index), (100, 100), Rendering("squares"))
    assert len({b.x for b in [*places.context, *places.options]}) == columns


def test_squares_are_square() -> None:
    scene = _scene(3, 4, 3, width=300, height=100)
    canvas = render_sample(scene, Rendering("squares"))
    places = arrangement(scene, (300, 300), Rendering("squares"))
    assert canvas.shape == (places.height, places.width, 3)


def test_same_pixels_each_time() -> None:
    scene = _scene(4, 5, 2)
    assert render_sample(scene).tobytes() == render_sample(scene).tobytes()


def test_answer_is_framed_outside_the_panel_when_asked_for() -> None:
    scene = replace(_scene(3, 4, 3), solution_index=2)
    plain, marked = render_sample(scene), render_sample(scene, show_answer=True)
    places = arrangement(scene, (120, 90), Rendering()).options
    assert all((_cut(plain, box) == _cut(marked, box)).all() for box in places)
    changed = np.argwhere((plain != marked).any(axis=2))
    assert len(changed) and (abs(changed[:, 1] - places[2].x - 60) <= 66).all()


def _picture(mode: str) -> Image.Image:
    if mode == "I;16":
        return Image.fromarray(np.full((60, 80), 40_000, np.uint16))
    return Image.new("RGB", (80, 60), (180, 90, 30)).convert(mode)


def _stored(picture: Image.Image) -> dict[str, Any]:
    file = io.BytesIO()
    picture.save(file, "TIFF")
    return {"bytes": file.getvalue(), "path": None}


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("mode", ["RGB", "L", "I;16", "P", "CMYK", "RGBA", "1", "LA"])
def test_every_kind_of_picture_is_drawn(mode: str, stored: bool) -> None:
    picture = _picture(mode)
    given_picture = _stored(picture) if stored else picture
    row = {"context": [given_picture] * 3, "options": [given_picture] * 4, "index": 3, "solution_index": 1}
    scene = Scene.of(row)
    canvas = render_sample(scene)
    places = arrangement(scene, (80, 60), Rendering())
    assert [_is_mask(_cut(canvas, box)) for box in places.context] == [False, False, False, True]
    expected = {"L": 110, "LA": 110, "I;16": 156}.get(mode)
    middle = _cut(canvas, places.context[0])[5:50].reshape(-1, 3).mean(axis=0)
    if expected:
        assert np.abs(middle - expected).max() < 3
    elif mode != "1":
        assert np.abs(middle - (180, 90, 30)).max() < 6


@pytest.mark.parametrize("wrong", [{"layout": "circle"}, {"longest": 10}, {"most_in_row": 0}])
def test_settings_that_give_no_picture_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        Rendering(**wrong)


@pytest.mark.parametrize(("x", "y"), [(110, 250), (10, 250), (200, 250), (10, 10), (110, 10)])
def test_a_number_does_not_hide_the_words_by_which_options_differ(x: int, y: int) -> None:
    art = np.random.default_rng(0).integers(0, 255, (300, 300, 3), np.uint8)
    options = []
    for shade in (0, 90, 180, 255):
        option = art.copy()
        option[y : y + 40, x : x + 80] = shade
        options.append(option)
    scene = Scene((art, art, art), tuple(options), 3)
    canvas = render_sample(scene)
    for option, place in zip(options, arrangement(scene, (300, 300), Rendering()).options, strict=True):
        assert (_cut(canvas, place)[y : y + 40, x : x + 80] == option[y : y + 40, x : x + 80]).all()

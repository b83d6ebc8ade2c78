from __future__ import annotations

import cv2
import numpy as np
import pytest
from PIL import Image, ImageDraw

from pipelines.geometry import Box
from pipelines.pick_a_panel.drawn_options import (
    can_be_lettered,
    cleared_part,
    lettered_part,
    option_image,
    paper_colour,
    room,
    size_for,
)
from pipelines.pick_a_panel.samples import Edit, StoryPanel, TaskSettings
from tests.pipelines.pick_a_panel.made_stories import BOXES, PANEL, text

WHITE, PAPER, ART = (255, 255, 255), (250, 240, 200), (90, 140, 60)


def balloon(box: Box, *, outline: int = 3) -> np.ndarray:
    """A panel of art with an elliptic balloon that just fills the box, and old letters on it."""
    image = Image.new("RGB", (400, 300), ART)
    draw = ImageDraw.Draw(image)
    draw.ellipse((box.x, box.y, box.right - 1, box.bottom - 1), PAPER, (0, 0, 0), outline)
    x, y = (round(value) for value in box.centre)
    for row in (-20, 0, 20):
        draw.text((x, y + row), "OLD WORDS", (0, 0, 0), anchor="mm")
    return np.asarray(image)


def test_a_panel_without_edits_is_its_crop() -> None:
    page = np.arange(60 * 50 * 3, dtype=np.uint8).reshape(60, 50, 3)
    crop = option_image(page, Box(5, 7, 20, 30), (), None)
    assert np.array_equal(crop, page[7:37, 5:25])
    crop[:] = 0
    assert page[7:37, 5:25].any()


def test_no_old_letter_is_left_and_the_outline_stays() -> None:
    box = Box(80, 60, 240, 160)
    page = balloon(box)
    cleared = page.copy()
    part = cleared_part(page, box, PAPER)
    cleared[box.y : box.bottom, box.x : box.right][part] = PAPER
    bare = np.asarray(balloon_without_words(box))
    assert np.abs(cleared.astype(int) - bare).max(axis=2).astype(bool).mean() < 0.002
    assert not part[0, 0] and not part[-1, -1] and part.mean() < 0.85


def balloon_without_words(box: Box) -> Image.Image:
    image = Image.new("RGB", (400, 300), ART)
    ImageDraw.Draw(image).ellipse((box.x, box.y, box.right - 1, box.bottom - 1), PAPER, (0, 0, 0), 3)
    return image


@pytest.mark.parametrize("ground", [WHITE, (30, 30, 40), (210, 170, 60)])
def test_letters_up_to_the_edge_of_a_tight_box_are_cleared(ground: tuple[int, int, int]) -> None:
    panel = np.empty((200, 300, 3), np.uint8)
    panel[:] = ground
    ink = tuple(255 - value for value in ground) if ground != (210, 170, 60) else (0, 0, 0)
    cv2.putText(panel, "EDGE TO EDGE", (40, 100), cv2.FONT_HERSHEY_SIMPLEX, 1, ink, 3)
    rows, columns = np.nonzero((panel != np.array(ground)).any(axis=2))
    box = Box(int(columns.min()), int(rows.min()), int(np.ptp(columns)) + 1, int(np.ptp(rows)) + 1)
    assert paper_colour(panel[box.y : box.bottom, box.x : box.right]) == ground
    panel[box.y : box.bottom, box.x : box.right][cleared_part(panel, box, ground)] = ground
    assert (panel == np.array(ground)).all()


def test_letters_over_art_are_cleared_with_the_whole_box() -> None:
    panel = np.random.default_rng(0).integers(0, 256, (200, 300, 3), np.uint8)
    box = Box(50, 50, 120, 60)
    paper = paper_colour(panel[50:110, 50:170])
    assert cleared_part(panel, box, paper).all()


def test_paper_colour_is_the_commonest_not_the_mean() -> None:
    region = np.empty((20, 40, 3), np.uint8)
    region[:] = (192, 191, 190)  # on a step's edge
    region[::3] = 0
    noisy = region.astype(int) + np.random.default_rng(0).integers(-4, 5, region.shape)
    found = paper_colour(noisy.clip(0, 255).astype(np.uint8))
    assert np.abs(np.array(found) - (192, 191, 190)).max() <= 1


def test_letters_stand_out_from_light_and_dark_paper() -> None:
    for paper, ink in ((WHITE, 0), ((20, 20, 60), 255)):
        page = np.empty((300, 400, 3), np.uint8)
        page[:] = paper
        drawn = option_image(page, Box(0, 0, 400, 300), [Edit(Box(50, 50, 200, 100), "HELLO")], 30)
        assert (drawn == ink).all(axis=2).sum() > 100


def test_every_glyph_is_inside_the_box_and_equal_runs_give_equal_pixels() -> None:
    page = balloon(Box(80, 60, 240, 160))
    panel, box = Box(20, 10, 360, 280), Box(80, 60, 240, 160)
    size = size_for(["SOME NEW WORDS", "OTHERS"], [box], PANEL, TaskSettings())
    edits = [[Edit(box, words)] for words in ("SOME NEW WORDS", "OTHERS")]
    first, second = (option_image(page, panel, edit, size) for edit in edits)
    outside = np.ones(first.shape[:2], bool)
    outside[50:210, 60:300] = False
    plain = page[10:290, 20:380]
    assert np.array_equal(first[outside], plain[outside]) and np.array_equal(second[outside], plain[outside])
    assert not np.array_equal(first, second)
    assert np.array_equal(first, option_image(page, panel, edits[0], size))


def test_text_that_does_not_fit_is_refused() -> None:
    page = np.zeros((100, 100, 3), np.uint8)
    edit = Edit(Box(10, 10, 20, 20), "MUCH TOO LONG")
    with pytest.raises(ValueError, match="does not fit"):
        option_image(page, Box(0, 0, 100, 100), [edit], 20)
    with pytest.raises(ValueError, match="font size"):
        option_image(page, Box(0, 0, 100, 100), [edit], None)


def test_size_for_is_common_and_bounded() -> None:
    settings = TaskSettings(smallest_font=10, largest_font=30)
    boxes = [Box(0, 0, 200, 80), Box(0, 0, 120, 60)]
    size = size_for(["A LONGER LINE OF TEXT", "SHORT"], boxes, PANEL, settings)
    assert size == min(
        size_for([t], [b], PANEL, settings) or 0 for t in ("A LONGER LINE OF TEXT", "SHORT") for b in boxes
    )
    assert size_for(["OK"], [Box(0, 0, 900, 900)], PANEL, settings) == 30
    assert size_for(["IMPOSSIBLE"], [Box(0, 0, 12, 12)], PANEL, settings) is None
    assert size_for(["A"], [Box(0, 0, 0, 0)], PANEL, settings) is None


def test_text_stays_readable_where_a_large_panel_is_shown_small() -> None:
    box = [Box(0, 0, 90, 30)]
    assert size_for(["A FEW WORDS"], box, Box(0, 0, 600, 400), TaskSettings()) is not None
    assert size_for(["A FEW WORDS"], box, Box(0, 0, 3000, 1200), TaskSettings()) is None


def test_room_is_the_part_inside_the_panel() -> None:
    panel = StoryPanel("p", PANEL)
    assert room(text("A"), panel) == BOXES[0]
    over = text("A").__class__(Box(90, 190, 50, 40), "A", 0.8)
    assert room(over, panel) == Box(100, 200, 40, 30)
    assert lettered_part(Box(10, 10, 100, 40)) == Box(12, 12, 96, 36)


def test_can_be_lettered() -> None:
    assert can_be_lettered(text("Ça va? “Oui…”")) and not can_be_lettered(text("שלום"))

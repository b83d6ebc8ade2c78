from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare

from pipelines.geometry import Box
from pipelines.pick_a_panel.char_coherence import char_coherence
from pipelines.pick_a_panel.drawn_options import option_image
from pipelines.pick_a_panel.samples import Sample, TaskSettings, TextBox
from pipelines.pick_a_panel.windows import Window, windows
from pipelines.stage import Dropped
from tests.pipelines.pick_a_panel.made_stories import BOXES, PANEL, plain_story, spoken_story, text

SETTINGS = TaskSettings()
PAIR = (text("WHERE DID SHE GO?"), text("NOBODY KNOWS.", 1))


def window_with(*texts: TextBox) -> Window:
    story = plain_story(4)
    story[3] = replace(story[3], texts=texts)
    return next(windows("s", story, 4, overlapping=True))


def sample_of(*texts: TextBox) -> Sample:
    outcome = char_coherence(window_with(*texts), SETTINGS)
    assert isinstance(outcome, Sample), outcome
    return outcome


def test_as_they_are_and_swapped() -> None:
    sample = sample_of(*PAIR)
    right, swapped = sample.options[sample.solution_index], sample.options[1 - sample.solution_index]
    assert [edit.text for edit in right.edits] == ["WHERE DID SHE GO?", "NOBODY KNOWS."]
    assert [edit.text for edit in swapped.edits] == ["NOBODY KNOWS.", "WHERE DID SHE GO?"]
    assert [edit.box for edit in right.edits] == [edit.box for edit in swapped.edits] == list(BOXES)
    assert right.panel_id == swapped.panel_id == "book/s01/003"
    # A panel that holds the swapped texts, swapped again, is the original.
    again = sample_of(*(replace(t, text=edit.text) for t, edit in zip(PAIR, swapped.edits, strict=True)))
    assert again.options[1 - again.solution_index] == right
    assert again.font_size == sample.font_size


def test_options_are_equal_outside_the_boxes() -> None:
    page = np.random.default_rng(0).integers(0, 256, (900, 900, 3), np.uint8)
    sample = sample_of(*PAIR)
    first, second = (option_image(page, PANEL, option.edits, sample.font_size) for option in sample.options)
    plain = page[PANEL.y : PANEL.bottom, PANEL.x : PANEL.right]
    outside = np.ones(plain.shape[:2], bool)
    for box in BOXES:
        rows = slice(box.y - PANEL.y, box.bottom - PANEL.y)
        columns = slice(box.x - PANEL.x, box.right - PANEL.x)
        outside[rows, columns] = False
        assert (first[rows, columns] != second[rows, columns]).any()
    assert (first[outside] == second[outside]).all() and (first[outside] == plain[outside]).all()


@pytest.mark.parametrize(("share", "count"), [(0.79, 1), (0.8, 2), (0.81, 2)])
def test_a_box_counts_from_four_fifths_inside(share: float, count: int) -> None:
    outcome = char_coherence(window_with(PAIR[0], replace(PAIR[1], share=share)), SETTINGS)
    assert isinstance(outcome, Sample) == (count == 2)
    three = (*PAIR, TextBox(Box(110, 650, 80, 40), "AND A THIRD", share))
    assert isinstance(char_coherence(window_with(*three), SETTINGS), Sample) == (count == 1)


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        ((), "not exactly two"),
        ((PAIR[0], text("Where did she go", 1)), "equal"),
        ((PAIR[0], text("שלום", 1)), "font"),
        ((PAIR[0], replace(PAIR[1], box=BOXES[0]._replace(x=400))), "overlap"),
        ((PAIR[0], replace(PAIR[1], box=Box(500, 600, 30, 20))), "readable size"),
    ],
)
def test_what_makes_no_sample(texts: tuple[TextBox, ...], reason: str) -> None:
    outcome = char_coherence(window_with(*texts), SETTINGS)
    assert isinstance(outcome, Dropped) and reason in outcome.reason


def test_answers_are_even() -> None:
    for seed in range(10):
        places = Counter(
            sample.solution_index
            for number in range(10)
            for window in windows("s", spoken_story(45, seed, f"b/s{number}"), 4, overlapping=True)
            if isinstance(sample := char_coherence(window, TaskSettings(seed=seed)), Sample)
        )
        assert places.total() > 80
        assert chisquare([places[0], places[1]]).pvalue > 0.01

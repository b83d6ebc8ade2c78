from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from scipy.stats import chisquare

from pipelines.lettering import fits
from pipelines.pick_a_panel.drawn_options import lettered_part
from pipelines.pick_a_panel.samples import Sample, StoryPanel, TaskSettings
from pipelines.pick_a_panel.text_closure import text_closure
from pipelines.pick_a_panel.windows import Window, windows
from pipelines.stage import Dropped
from tests.pipelines.pick_a_panel.made_stories import BOXES, PANEL, plain_story, spoken_story, text

SETTINGS = TaskSettings()
LINES = ["WHERE DID SHE GO", "NOBODY KNOWS THAT", "ASK THE OLD MILLER", "BRING ME A LAMP"]


def story_that_says(answer: str, others: list[str]) -> Window:
    """A window whose last panel says `answer`; the panels after it say the others."""
    panels = plain_story(4 + len(others))
    said = [None, None, None, answer, *others]
    panels = [replace(p, texts=(text(words),) if words else ()) for p, words in zip(panels, said, strict=True)]
    return next(windows("s", panels, 4, overlapping=True))


def drop_reason(window: Window, settings: TaskSettings = SETTINGS) -> str:
    outcome = text_closure(window, settings)
    assert isinstance(outcome, Dropped), outcome
    return outcome.reason


def made(seed: int, *, overlapping: bool = True, stories: int = 8) -> list[tuple[Window, Sample | Dropped]]:
    return [
        (window, text_closure(window, TaskSettings(seed=seed)))
        for number in range(stories)
        for window in windows("s", spoken_story(45, seed, f"b/s{number}"), 4, overlapping=overlapping)
    ]


def test_each_sample_keeps_the_rules() -> None:
    kept = 0
    for window, sample in made(1):
        if isinstance(sample, Dropped):
            continue
        kept += 1
        panel = window.panels[-1]
        texts = [option.edits[0].text for option in sample.options]
        right = texts[sample.solution_index]
        prominent = panel.prominent(0.8)
        assert right in [t.text for t in prominent if t.box.area == max(t.box.area for t in prominent)]
        assert len(texts) == len({text(t).normalised for t in texts}) == 4
        nearby = {t.text for p in window.around(10) for t in p.texts}
        assert set(texts) - {right} <= nearby
        assert {option.panel_id for option in sample.options} == {panel.panel_id}
        assert len({option.edits[0].box for option in sample.options}) == 1
        part = lettered_part(sample.options[0].edits[0].box)
        assert sample.font_size is not None
        for content in texts:
            assert len(right) / 1.5 <= len(content) <= len(right) * 1.5
            assert fits(content, sample.font_size, part.w, part.h)
        assert sample.context == tuple(p.panel_id for p in window.panels[:3]) and sample.index == 3
    assert kept > 150


@pytest.mark.parametrize("overlapping", [True, False])
def test_neither_place_nor_length_tells(overlapping: bool) -> None:
    ranks: Counter[int] = Counter()
    orders: Counter[int] = Counter()
    places: Counter[int] = Counter()
    for seed in range(4 if overlapping else 12):
        for _, sample in made(seed, overlapping=overlapping):
            if isinstance(sample, Sample):
                lengths = [len(option.edits[0].text) for option in sample.options]
                right = lengths.pop(sample.solution_index)
                if right not in lengths:
                    ranks[sum(length < right for length in lengths)] += 1
                if lengths.count(max(lengths)) == 1:
                    orders[lengths.index(max(lengths))] += 1
                places[sample.solution_index] += 1
    assert chisquare([places[place] for place in range(4)]).pvalue > 0.01
    assert chisquare([orders[place] for place in range(3)]).pvalue > 0.01
    total = ranks.total()
    assert total > 600
    # The longest of a story's texts have no longer ones beside them: even only as far as candidates allow.
    assert all(abs(ranks[rank] / total - 0.25) < 0.05 for rank in range(4)), ranks


def test_texts_too_much_alike_or_of_another_length_do_not_count() -> None:
    answer, *others = LINES
    assert isinstance(text_closure(story_that_says(answer, others), SETTINGS), Sample)
    for useless in (
        "Where did she go?!",
        "WHERE DID SHE GO?",
        "NO",
        "A LINE THAT GOES ON FOR MUCH TOO LONG",
        "?!",
        "שלום שלום שלום",
    ):
        assert "too few texts" in drop_reason(story_that_says(answer, [*others[:2], useless]))
    assert "too few texts" in drop_reason(story_that_says(answer, [*others[:2], others[0].lower()]))


def test_what_makes_no_sample() -> None:
    assert "no prominent textbox" in drop_reason(story_that_says("?!", LINES))
    assert "font" in drop_reason(story_that_says("שלום שלום", LINES))
    assert "readable size" in drop_reason(story_that_says("FAR TOO MANY WORDS " * 99, LINES))
    assert "too few texts" in drop_reason(story_that_says(LINES[0], LINES[1:3]))


def test_the_largest_prominent_box_is_the_one_asked_for() -> None:
    window = story_that_says(LINES[0], LINES[1:])
    outside = replace(text(LINES[0]), box=BOXES[0]._replace(x=90, y=350, w=600), share=0.79)
    panel = replace(window.panels[-1], texts=(outside, text("SMALLER", 1), text("THE OLD OAK HAS FALLEN")))
    story = (*window.story[:3], panel, *window.story[4:])
    sample = text_closure(replace(window, story=story), SETTINGS)
    assert isinstance(sample, Sample)
    assert sample.options[sample.solution_index].edits[0].text == "THE OLD OAK HAS FALLEN"


def test_a_box_that_overlaps_another_makes_no_sample() -> None:
    window = story_that_says(LINES[0], LINES[1:])
    beside = replace(text("WAIT", 1), box=BOXES[0]._replace(y=BOXES[0].bottom - 1, h=20))
    story = (*window.story[:3], replace(window.panels[-1], texts=(text(LINES[0]), beside)), *window.story[4:])
    assert "overlaps" in drop_reason(replace(window, story=story))


def test_the_part_outside_the_panel_is_left_alone() -> None:
    window = story_that_says(LINES[0], LINES[1:])
    over = replace(text(LINES[0]), box=BOXES[0]._replace(x=PANEL.x - 30), share=0.9)
    story = (*window.story[:3], replace(window.panels[-1], texts=(over,)), *window.story[4:])
    sample = text_closure(replace(window, story=story), SETTINGS)
    assert isinstance(sample, Sample)
    assert sample.options[0].edits[0].box == BOXES[0]._replace(x=PANEL.x, w=BOXES[0].w - 30)


def test_words_of_the_window_are_no_distractors() -> None:
    window = story_that_says(LINES[0], LINES[1:])
    first = StoryPanel(window.story[0].panel_id, PANEL, texts=(text(LINES[1]),))
    assert "too few texts" in drop_reason(replace(window, story=(first, *window.story[1:])))

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from scipy.stats import chisquare

from pipelines.pick_a_panel.caption_relevance import caption_relevance
from pipelines.pick_a_panel.samples import Sample, StoryPanel, TaskSettings
from pipelines.pick_a_panel.windows import windows
from pipelines.stage import Dropped
from tests.pipelines.pick_a_panel.made_stories import plain_story, text


def outcome_of(story: list[StoryPanel]) -> Sample | Dropped:
    return caption_relevance(next(windows("s", story, 5, overlapping=True)), TaskSettings())


def captioned(caption: str) -> list[StoryPanel]:
    first, *others = plain_story(5)
    return [replace(first, caption=caption, texts=(text("Meet me by the old mill!"), text("Tonight?", 1))), *others]


def test_the_caption_alone_and_the_four_panels_after_it() -> None:
    sample = outcome_of(captioned("A woman waves."))
    assert isinstance(sample, Sample)
    assert (sample.context, sample.index, sample.previous_panel_caption) == ((), -1, "A woman waves.")
    options = [option.panel_id for option in sample.options]
    assert sorted(options) == [panel.panel_id for panel in plain_story(5)[1:]]
    assert options[sample.solution_index] == "book/s01/001"


@pytest.mark.parametrize(
    ("caption", "kept"),
    [
        ("A woman by the river waves.", True),
        ("A woman waves by the old, mossy mill.", False),
        ("Two people meet me, by the stream.", False),
        ("Tonight the moon shines by the water.", True),
        ("  ", False),
    ],
)
def test_a_caption_may_not_quote_three_words_in_a_row(caption: str, kept: bool) -> None:
    assert isinstance(outcome_of(captioned(caption)), Sample) == kept


def test_options_that_look_alike_make_no_sample() -> None:
    story = captioned("A woman waves.")
    story[4] = replace(story[4], phash=story[2].phash)
    outcome = outcome_of(story)
    assert isinstance(outcome, Dropped) and "look alike" in outcome.reason


def test_answers_and_the_order_of_the_others_are_even() -> None:
    places: Counter[int] = Counter()
    seconds: Counter[int] = Counter()
    for number in range(30):
        story = [replace(panel, caption="A hill.") for panel in plain_story(25, f"b/s{number}")]
        for window in windows("s", story, 5, overlapping=True):
            sample = caption_relevance(window, TaskSettings())
            assert isinstance(sample, Sample)
            places[sample.solution_index] += 1
            seconds[[option.panel_id for option in sample.options].index(window.panels[2].panel_id)] += 1
    assert chisquare([places[place] for place in range(4)]).pvalue > 0.01
    assert chisquare([seconds[place] for place in range(4)]).pvalue > 0.001

"""Sequence filling and visual closure: what they share, and what each shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from pipelines.pick_a_panel.samples import Sample, TaskSettings
from pipelines.pick_a_panel.sequence_filling import sequence_filling
from pipelines.pick_a_panel.visual_closure import visual_closure
from pipelines.pick_a_panel.windows import Window, windows
from pipelines.stage import Dropped
from tests.pipelines.pick_a_panel.made_stories import plain_story

Task = Callable[[Window, TaskSettings], Sample | Dropped]
TASKS = [(sequence_filling, 5, 4), (visual_closure, 4, 6)]


@pytest.mark.parametrize(("task", "size", "distractors"), TASKS)
@given(length=st.integers(0, 40), overlapping=st.booleans(), seed=st.integers(0, 9))
def test_options(task: Task, size: int, distractors: int, length: int, overlapping: bool, seed: int) -> None:
    story = plain_story(length)
    place = {panel.panel_id: number for number, panel in enumerate(story)}
    for window in windows("s", story, size, overlapping=overlapping):
        sample = task(window, TaskSettings(seed=seed))
        pool = len(window.around(10))
        if not pool:
            assert isinstance(sample, Dropped) and "no distractor" in sample.reason
            continue
        assert isinstance(sample, Sample)
        options = [option.panel_id for option in sample.options]
        right = options[sample.solution_index]
        assert len(options) == len(set(options)) == min(distractors, pool) + 1
        whole = [*sample.context[: sample.index], right, *sample.context[sample.index :]]
        assert whole == [panel.panel_id for panel in window.panels]
        assert not set(options) & set(sample.context)
        for option in set(options) - {right}:
            number = place[option]
            assert min(abs(number - window.start), abs(number - window.start - size + 1)) <= 10


@pytest.mark.parametrize(("task", "size", "distractors"), TASKS)
def test_an_answer_that_looks_like_the_context_makes_no_sample(task: Task, size: int, distractors: int) -> None:
    story = plain_story(20)
    story[:size] = [replace(panel, phash=5) for panel in story[:size]]
    outcome = task(next(windows("s", story, size, overlapping=True)), TaskSettings())
    assert isinstance(outcome, Dropped) and "looks like" in outcome.reason


@pytest.mark.parametrize(("task", "size", "distractors"), TASKS)
@pytest.mark.parametrize("overlapping", [True, False])
def test_answers_and_masks_are_even(task: Task, size: int, distractors: int, overlapping: bool) -> None:
    both: Counter[tuple[int, int]] = Counter()
    for seed in range(20):
        samples = [
            sample
            for number in range(12)
            for window in windows("s", plain_story(40 + number, f"b/s{number}"), size, overlapping=overlapping)
            if isinstance(sample := task(window, TaskSettings(seed=seed)), Sample)
        ]
        places = Counter(sample.solution_index for sample in samples)
        assert chisquare([places[place] for place in range(distractors + 1)]).pvalue > 0.01
        if task is sequence_filling:
            masks = Counter(sample.index for sample in samples)
            assert chisquare([masks[index] for index in range(size)]).pvalue > 0.01
            both.update((sample.index, sample.solution_index) for sample in samples)
    if task is sequence_filling:
        assert len(both) == 25 and chisquare(list(both.values())).pvalue > 0.001


@pytest.mark.parametrize(("task", "size", "distractors"), TASKS)
def test_a_change_to_a_panel_changes_only_the_samples_near_it(task: Task, size: int, distractors: int) -> None:
    story = plain_story(60)
    changed = [*story[:30], replace(story[30], phash=story[31].phash), *story[31:]]
    for before, after in zip(
        windows("s", story, size, overlapping=True), windows("s", changed, size, overlapping=True), strict=True
    ):
        if not before.start - 10 <= 30 < before.start + size + 10:
            assert task(before, TaskSettings()) == task(after, TaskSettings())

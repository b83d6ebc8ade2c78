"""What each solver picks, and how a pick that is shared counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.geometry import Box
from pipelines.pick_a_panel.build import samples
from pipelines.pick_a_panel.samples import Edit, Sample, TaskSettings
from pipelines.pick_a_panel.solvers import BY_DESIGN, SOLVERS, PanelLook, Question, appearances, credit
from pipelines.schemas import TASKS
from tests.pipelines.pick_a_panel.made_stories import plain_story

PLAIN = PanelLook(100, 100, 5.0, 0.5, 1000, 0, np.eye(64)[0])


def picked(solver: str, *options: PanelLook, context: tuple[PanelLook, ...] = (PLAIN,)) -> list[int]:
    """The places that a solver picks among pictures."""
    return best(solver, Question(list(context), list(options), [[] for _ in options], [0] * len(options)))


def best(solver: str, question: Question) -> list[int]:
    score = next(solvers[solver] for solvers in SOLVERS.values() if solver in solvers)(question)
    assert len(score) == len(question.options)
    return [place for place, value in enumerate(score) if value == max(score)]


def said(solver: str, *options: list[Edit]) -> list[int]:
    return best(solver, Question([PLAIN], [PLAIN] * len(options), list(options), [0] * len(options)))


@pytest.mark.parametrize(
    ("scores", "solution", "earned"),
    [([1, 3, 2], 1, 1), ([1, 3, 2], 2, 0), ([3, 3, 2], 0, 0.5), ([3, 3, 2], 2, 0), ([0, 0, 0, 0], 3, 0.25)],
)
def test_ties_share_the_pick(scores: list[float], solution: int, earned: float) -> None:
    assert credit(scores, solution) == earned


@given(st.lists(st.integers(0, 3), min_size=1, max_size=7))
def test_a_solver_has_one_pick_to_give(scores: list[int]) -> None:
    assert sum(credit(scores, solution) for solution in range(len(scores))) == pytest.approx(1)


def test_places() -> None:
    for count in (2, 4, 7):
        options = [PLAIN] * count
        assert picked("first option", *options) == [0]
        assert picked("second option", *options) == [1]
        assert picked("last option", *options) == [count - 1]


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("area", replace(PLAIN, width=120)),
        ("width to height", replace(PLAIN, height=90)),
        ("sharpness", replace(PLAIN, sharpness=6.0)),
        ("edges", replace(PLAIN, edge_density=0.6)),
        ("bytes", replace(PLAIN, jpeg_bytes=1001)),
    ],
)
def test_most_and_least_of_a_picture(name: str, more: PanelLook) -> None:
    assert picked(f"most {name}", PLAIN, more, PLAIN) == [1]
    assert picked(f"least {name}", PLAIN, more, PLAIN) == [0, 2]


def test_likeness_to_the_context() -> None:
    red, blue = replace(PLAIN, colours=np.eye(64)[48]), replace(PLAIN, colours=np.eye(64)[3])
    context = (red, red, PLAIN)
    assert picked("colours most like the context", blue, PLAIN, red, context=context) == [2]
    assert picked("colours least like the context", blue, PLAIN, red, context=context) == [0]
    near, far = replace(PLAIN, phash=0b111), replace(PLAIN, phash=2**40 - 1)
    assert picked("picture most like one of the context", far, near, context=(PLAIN, replace(PLAIN, phash=0b11))) == [1]
    assert picked("picture least like any of the context", far, near) == [0]


def test_panels_that_other_samples_show() -> None:
    shown = appearances([["a", "b"], ["b", "c"], ["b", "b"]])
    assert (shown["a"], shown["b"], shown["d"]) == (1, 3, 0)
    question = Question([PLAIN], [PLAIN] * 3, [[]] * 3, [1, 3, 0])
    assert best("in the contexts of the fewest other samples", question) == [2]
    assert best("in the contexts of the most other samples", question) == [1]


def test_lengths_of_texts() -> None:
    box = Box(0, 0, 10, 10)
    options = [[Edit(box, "no")], [Edit(box, "not at all")], [Edit(box, "well")]]
    assert said("longest text", *options) == [1]
    assert said("shortest text", *options) == [0]


def test_the_longer_text_in_the_larger_box() -> None:
    small, large = Box(0, 0, 10, 10), Box(0, 50, 20, 20)
    fitting = [Edit(small, "no"), Edit(large, "not at all")]
    other = [Edit(small, "not at all"), Edit(large, "no")]
    assert said("longer text in the larger box", other, fitting) == [1]
    assert said("longer text in the larger box", fitting, other) == [0]
    as_long = [Edit(small, "no"), Edit(large, "ye")], [Edit(small, "ye"), Edit(large, "no")]
    assert said("longer text in the larger box", *as_long) == [0, 1]


def test_each_task_has_the_solvers_that_can_tell_its_options_apart() -> None:
    assert set(SOLVERS) == set(TASKS)
    for task, solvers in SOLVERS.items():
        drawn = task in ("text_closure", "char_coherence")
        assert {"first option", "last option"} <= solvers.keys()
        assert ("second option" in solvers) == (task != "char_coherence")
        assert drawn == ("most area" not in solvers)
        assert ("colours most like the context" in solvers) == (task in ("sequence_filling", "visual_closure"))


@pytest.mark.parametrize("task", ["sequence_filling", "visual_closure"])
def test_the_task_itself_shows_right_panels_in_fewer_contexts(task: str) -> None:
    """The one shortcut that is called by design: samples side by side, made by the project's own rules, have it."""
    stories = [(f"s{n}", plain_story(40 + n, f"b/s{n}")) for n in range(12)]
    made = [s for s in samples(stories, "test", TaskSettings()) if isinstance(s, Sample) and s.task_type == task]
    shown = appearances([sample.context for sample in made])
    assert not any(shown[sample.options[sample.solution_index].panel_id] for sample in made)
    earned = [credit([-shown[o.panel_id] for o in sample.options], sample.solution_index) for sample in made]
    assert sum(earned) / len(earned) > 0.4
    assert len(BY_DESIGN) == 1

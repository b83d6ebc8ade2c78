"""The second look at finished samples: good ones pass, each planted fault is named."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pipelines.pick_a_panel.build import samples
from pipelines.pick_a_panel.check_samples import Story, faults
from pipelines.pick_a_panel.samples import Sample, StoryPanel, TaskSettings
from pipelines.schemas import TASKS
from pipelines.stage import Row
from tests.pipelines.pick_a_panel.made_stories import spoken_story

SETTINGS = TaskSettings()
STORIES = {f"b/s{n}": spoken_story(45, 0, f"b/s{n}") for n in range(6)}


def story_of(panels: list[StoryPanel]) -> Story:
    hashes = {panel.panel_id: panel.phash for panel in panels if panel.phash is not None}
    texts = {panel.panel_id: [text.text for text in panel.texts] for panel in panels}
    captions = {panel.panel_id: panel.caption for panel in panels}
    return Story({panel.panel_id: place for place, panel in enumerate(panels)}, hashes, texts, captions)


KNOWN = {name: story_of(panels) for name, panels in STORIES.items()}


def made(split: str = "test", stories: dict[str, list[StoryPanel]] = STORIES) -> list[Row]:
    found = (s for s in samples(list(stories.items()), split, SETTINGS) if isinstance(s, Sample))
    return [sample.row(book_id="b", split=split, source="test") for sample in found]


GOOD = {split: made(split) for split in ("train", "test")}


def first(task: str) -> Row:
    """A copy of a sample from the middle of the first story."""
    return copy.deepcopy([row for row in GOOD["test"] if row["task_type"] == task and row["story_id"] == "b/s0"][3])


def faults_of(*rows: Row) -> list[str]:
    return faults(rows, KNOWN, SETTINGS)


@pytest.mark.parametrize("split", ["train", "test"])
def test_what_the_tasks_build_is_good(split: str) -> None:
    rows = GOOD[split]
    assert {row["task_type"] for row in rows} == set(TASKS)
    assert faults(rows, KNOWN, SETTINGS) == []
    assert faults([], {}, SETTINGS) == []


def test_short_stories_with_fewer_options_are_good() -> None:
    few = {f"b/t{n}": spoken_story(5 + n, 1, f"b/t{n}") for n in range(5)}
    rows = made("train", few)
    assert {len(row["options"]) for row in rows if row["task_type"] == "visual_closure"} >= {2, 3}
    assert faults(rows, {name: story_of(panels) for name, panels in few.items()}, SETTINGS) == []


def _one_option_less(row: Row) -> None:
    row["options"].pop(0 if row["solution_index"] else -1)
    row["solution_index"] = max(row["solution_index"] - 1, 0)


def _one_option_more(row: Row) -> None:
    row["options"].append(copy.deepcopy(row["options"][0]))


def _only_the_right_one(row: Row) -> None:
    row["options"] = [row["options"][row["solution_index"]]]
    row["solution_index"] = 0


def _wrong(row: Row) -> Any:
    return row["options"][row["solution_index"] - 1]


def _duplicate(row: Row) -> None:
    _wrong(row)["panel_id"] = row["options"][row["solution_index"]]["panel_id"]


def _from_the_context(row: Row) -> None:
    _wrong(row)["panel_id"] = row["context"][0]


def _out_of_reach(row: Row) -> None:
    _wrong(row)["panel_id"] = STORIES["b/s0"][44].panel_id


def _of_another_story(row: Row) -> None:
    _wrong(row)["panel_id"] = STORIES["b/s1"][10].panel_id


def _context_of_another_story(row: Row) -> None:
    row["context"][0] = STORIES["b/s1"][10].panel_id


def _unknown_story(row: Row) -> None:
    row["story_id"] = "b/s99"


def _no_answer(row: Row) -> None:
    row["solution_index"] = len(row["options"])


def _hidden_answer(row: Row) -> None:
    row["solution_index"] = -1


def _same_words(row: Row) -> None:
    for edit, other in zip(_wrong(row)["edits"], row["options"][row["solution_index"]]["edits"], strict=True):
        edit["text"] = other["text"]


def _other_box(row: Row) -> None:
    _wrong(row)["edits"][0]["x"] += 1


def _no_words(row: Row) -> None:
    for option in row["options"]:
        option["edits"] = []


def _context_beside_the_caption(row: Row) -> None:
    row["context"] = [row["sample_id"].split("/", 1)[1]]


def _no_caption(row: Row) -> None:
    row["previous_panel_caption"] = " "


def _another_is_right(row: Row) -> None:
    row["solution_index"] = (row["solution_index"] + 1) % 4


def _a_gap(row: Row) -> None:
    place = max(KNOWN["b/s0"].place[option["panel_id"]] for option in row["options"])
    last = next(o for o in row["options"] if KNOWN["b/s0"].place[o["panel_id"]] == place)
    last["panel_id"] = STORIES["b/s0"][place + 1].panel_id


def _backwards(row: Row) -> None:
    row["context"].reverse()


def _shown_too_few(row: Row) -> None:
    row["context"].pop()


def _masked_elsewhere(row: Row) -> None:
    row["index"] = (row["index"] + 1) % 4


def _masked_nowhere(row: Row) -> None:
    row["index"] = 9


def _another_caption(row: Row) -> None:
    row["previous_panel_caption"] = "A dog."


def _long_words(row: Row) -> None:
    _wrong(row)["edits"][0]["text"] = "bla " * 90


def _nearly_the_same_words(row: Row) -> None:
    right = row["options"][row["solution_index"]]["edits"][0]["text"]
    _wrong(row)["edits"][0]["text"] = f"{right.lower()}!"


def _not_swapped(row: Row) -> None:
    _wrong(row)["edits"][0]["text"] = "QUITE ANOTHER"


def _of_another_panel(row: Row) -> None:
    row["options"][row["solution_index"]]["edits"][0]["text"] += " AND MORE"


def _no_size(row: Row) -> None:
    row["font_size"] = None


PICTURED, DRAWN = ("sequence_filling", "visual_closure"), ("char_coherence", "text_closure")
PLANTED: list[tuple[tuple[str, ...], Callable[[Row], None], str]] = [
    (("char_coherence", "text_closure", "caption_relevance"), _one_option_less, "options, not"),
    (TASKS, _one_option_more, "options, not"),
    (TASKS, _only_the_right_one, "it has 1 options, not"),
    (PICTURED, _duplicate, "in the context, or twice"),
    (PICTURED, _from_the_context, "in the context, or twice"),
    (PICTURED, _out_of_reach, "more than 10 panels from the window"),
    (TASKS, _of_another_story, "no story page of b/s0 has the panels b/s1/010"),
    (PICTURED, _context_of_another_story, "no story page of b/s0 has the panels b/s1/010"),
    (DRAWN, _context_of_another_story, "no story page of b/s0 has the panels b/s1/010"),
    (TASKS, _unknown_story, "no story page of b/s99"),
    (TASKS, _no_answer, "the right option is"),
    (TASKS, _hidden_answer, "the right option is -1 of"),
    (DRAWN, _out_of_reach, "not one panel with other words"),
    (DRAWN, _from_the_context, "not one panel with other words"),
    (DRAWN, _same_words, "do not differ in their words alone"),
    (DRAWN, _other_box, "do not differ in their words alone"),
    (DRAWN, _no_words, "do not differ in their words alone"),
    (("caption_relevance",), _context_beside_the_caption, "a context beside its caption"),
    (("caption_relevance",), _no_caption, "no caption"),
    (("caption_relevance",), _another_is_right, "not the panels after the captioned one"),
    (("caption_relevance",), _a_gap, "not the panels after the captioned one"),
    (("caption_relevance",), _another_caption, "not that of the panel before"),
    ((*PICTURED, *DRAWN), _backwards, "do not follow one another"),
    ((*PICTURED, *DRAWN), _shown_too_few, "it shows"),
    (("sequence_filling",), _masked_elsewhere, "do not follow one another"),
    (("visual_closure", *DRAWN), _masked_elsewhere, "the missing panel is at place"),
    ((*PICTURED, *DRAWN), _masked_nowhere, "the missing panel is at place 9"),
    (("text_closure",), _long_words, "far longer or shorter"),
    (("text_closure",), _nearly_the_same_words, "read alike"),
    (("char_coherence",), _not_swapped, "the same two swapped"),
    (DRAWN, _of_another_panel, "not the panel's own words"),
    (DRAWN, _no_size, "drawn at a size of None"),
]


@pytest.mark.parametrize(("task", "plant", "named"), [(task, *rest) for tasks, *rest in PLANTED for task in tasks])
def test_a_planted_fault_is_named_with_its_sample(task: str, plant: Callable[[Row], None], named: str) -> None:
    row = first(task)
    assert faults_of(row) == []
    plant(row)
    found = faults_of(row)
    assert found and all(fault.startswith(f"{row['sample_id']}: ") for fault in found)
    assert any(named in fault for fault in found), found


def test_two_samples_of_one_id() -> None:
    row = first("visual_closure")
    assert faults_of(row, copy.deepcopy(row)) == [f"{row['sample_id']}: 2 samples have this id"]


@pytest.mark.parametrize("task", PICTURED)
@pytest.mark.parametrize("where", ["options", "context"])
def test_an_option_that_looks_like_another_or_like_the_context(task: str, where: str) -> None:
    row = first(task)
    wrong = _wrong(row)["panel_id"]
    other = row["options"][row["solution_index"]]["panel_id"] if where == "options" else row["context"][1]
    for bits, alike in ((6, True), (7, False)):
        hashes = dict(KNOWN["b/s0"].phash)
        hashes[wrong] = hashes[other] ^ (2**bits - 1)
        found = faults([row], {"b/s0": replace(KNOWN["b/s0"], phash=hashes)}, SETTINGS)
        assert bool(found) == alike
        assert not alike or "show the same" in found[0]


@pytest.mark.parametrize("task", PICTURED)
@pytest.mark.parametrize(("places", "far"), [(10, False), (11, True)])
def test_reach_is_counted_from_the_window_s_end(task: str, places: int, far: bool) -> None:
    row = first(task)
    right = row["options"][row["solution_index"]]["panel_id"]
    place = KNOWN["b/s0"].place
    end = max(place[panel] for panel in [*row["context"], right])
    _wrong(row)["panel_id"] = STORIES["b/s0"][end + places].panel_id
    assert any("from the window" in fault for fault in faults_of(row)) == far


def test_panels_of_another_kind_of_page() -> None:
    row = first("sequence_filling")
    option, shown = _wrong(row)["panel_id"], row["context"][-1]
    for panel in (option, shown):
        places = {name: place for name, place in KNOWN["b/s0"].place.items() if name != panel}
        (fault,) = faults([row], {"b/s0": replace(KNOWN["b/s0"], place=places)}, SETTINGS)
        assert fault == f"{row['sample_id']}: no story page of b/s0 has the panels {panel}"


def _with_places(task: str, places: list[int]) -> list[Row]:
    """Good samples whose right options are moved to the places."""
    rows = [copy.deepcopy(row) for row in GOOD["train"] if row["task_type"] == task]
    chosen = [row for row in rows if len(row["options"]) > max(places)][: len(places)]
    assert len(chosen) == len(places)
    for row, place in zip(chosen, places, strict=True):
        row["options"].insert(place, row["options"].pop(row["solution_index"]))
        row["solution_index"] = place
    return chosen


@pytest.mark.parametrize("task", TASKS)
def test_uneven_places(task: str) -> None:
    size = {"sequence_filling": 5, "visual_closure": 7, "char_coherence": 2}.get(task, 4)
    even = [n % size for n in range(60)]
    assert faults_of(*_with_places(task, even)) == []
    (fault,) = faults_of(*_with_places(task, [0] * 25 + even[:35]))
    assert fault.startswith(f"{task}: right options stand unevenly")
    # So few that no place can be expected to have five: nothing can be said.
    assert faults_of(*_with_places(task, [0] * (5 * size - 1))) == []

from __future__ import annotations

import math

import pytest

from pipelines.errors import SettingsError
from pipelines.geometry import Box
from pipelines.pick_a_panel.samples import Edit, Option, Sample, StoryPanel, TaskSettings, chance
from pipelines.schemas import COMICSPAP_SAMPLES
from tests.pipelines.pick_a_panel.made_stories import PANEL, text


def mixture(counts: dict[int, int]) -> float:
    return round(chance(k for k, samples in counts.items() for _ in range(samples)), 2)


def test_chance_of_option_counts_that_the_published_sizes_allow() -> None:
    assert mixture({5: 259, 3: 2, 2: 1}) == 20.22
    assert mixture({7: 298, 6: 1, 2: 1}) == 14.41
    assert mixture({2: 143}) == 50
    assert mixture({4: 259}) == 25
    assert math.isnan(chance([]))


def test_settings_that_leave_no_task_are_refused() -> None:
    with pytest.raises(SettingsError, match="closure_window is 1"):
        TaskSettings(closure_window=1)
    with pytest.raises(SettingsError, match="largest_font"):
        TaskSettings(smallest_font=20, largest_font=10)


@pytest.mark.parametrize(("share", "prominent"), [(0.79, 0), (0.8, 1), (0.81, 1)])
def test_prominence_at_its_bound(share: float, prominent: int) -> None:
    panel = StoryPanel("p", PANEL, texts=(text("HELLO", share=share),))
    assert len(panel.prominent(0.8)) == prominent


def test_a_box_without_words_is_not_prominent() -> None:
    assert StoryPanel("p", PANEL, texts=(text("  "),)).prominent(0.8) == ()


def test_texts_alike() -> None:
    assert text("“Hello, THERE!”").normalised == text("hello there").normalised == "hello there"
    assert text("I will pay fifty.").reads_like(text("I WILL PAY FIFTY DOLLARS"), 0.6)
    assert not text("I will pay fifty.").reads_like(text("I felt a knife in my guts"), 0.6)
    assert not text("No").reads_like(text("Go"), 0.6)
    assert text("?!").reads_like(text("..."), 0.6)


def test_looks_alike_needs_both_hashes() -> None:
    a, b = StoryPanel("a", PANEL, 0b111111), StoryPanel("b", PANEL, 0)
    assert a.looks_like(b, 6) and not a.looks_like(b, 5)
    assert not a.looks_like(StoryPanel("c", PANEL), 64)


def test_row_has_the_table_s_columns_and_edits_come_back() -> None:
    edit = Edit(Box(1, 2, 3, 4), "HI")
    sample = Sample("t/p", "t", "s", ("a",), 1, (Option("p", (edit,)),), 0, 12)
    row = sample.row(book_id="b", split="val", source="x")
    assert set(row) == set(COMICSPAP_SAMPLES.names)
    assert Edit.of(row["options"][0]["edits"][0]) == edit

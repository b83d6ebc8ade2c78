from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import SettingsError
from pipelines.pick_a_panel.samples import Option, Sample
from pipelines.pick_a_panel.selection import SelectSamples, sample_hash, threshold
from pipelines.stage import Row
from tests.stage_inputs import FakeInputs, run_stage


def row(number: int, task: str = "visual_closure", split: str = "val") -> Row:
    sample = Sample(f"{task}/{number}", task, "s", ("a",), 1, (Option("p"), Option("q")), 0)
    return sample.row(book_id="b", split=split, source="x")


@given(st.sets(st.integers(), max_size=50), st.integers(1, 60), st.integers(0, 9))
def test_threshold_keeps_so_many(numbers: set[int], most: int, seed: int) -> None:
    hashes = [sample_hash(seed, str(number)) for number in numbers]
    bound = threshold(iter(hashes), most)
    kept = [h for h in hashes if not bound or h <= bound]
    assert len(kept) == min(most, len(numbers))
    assert (bound == "") == (len(numbers) <= most)


def test_no_cap_keeps_all_and_a_cap_of_nothing_is_refused() -> None:
    assert threshold(["b", "a"], None) == ""
    with pytest.raises(SettingsError, match="max_samples is 0"):
        threshold(["a"], 0)


def test_a_new_book_moves_only_samples_at_the_bound() -> None:
    old = [sample_hash(0, str(number)) for number in range(100)]
    new = [*old, *(sample_hash(0, str(number)) for number in range(100, 110))]
    before, after = threshold(old, 50), threshold(new, 50)
    kept_before, kept_after = {h for h in old if h <= before}, {h for h in new if h <= after}
    assert len(kept_before - kept_after) <= 10 and not (kept_after - kept_before) & set(old)


def test_a_split_takes_its_samples_under_the_bound() -> None:
    rows = [row(number) for number in range(20)] + [row(number, "text_closure") for number in range(5)]
    bound = threshold((sample_hash(3, r["sample_id"]) for r in rows[:20]), 7)
    stage = SelectSamples(split="val", seed=3, thresholds=(("visual_closure", bound),))
    kept, failures, dropped = run_stage(stage, FakeInputs("b", {"comicspap_samples": rows}))
    assert [r["task_type"] for r in kept] == ["visual_closure"] * 7 + ["text_closure"] * 5
    assert not failures and len(dropped) == 13
    assert stage.output == "comicspap_val"
    assert [r["sample_id"] for r in kept] == [r["sample_id"] for r in rows if r in kept]


def test_a_book_of_another_split_gives_nothing() -> None:
    inputs = FakeInputs("b", {"comicspap_samples": [row(1, split="train")]})
    assert run_stage(SelectSamples(split="val"), inputs) == ([], [], [])

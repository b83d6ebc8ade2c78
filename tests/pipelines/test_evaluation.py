from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from pipelines import evaluation
from pipelines.evaluation import Counts
from pipelines.geometry import Box

boxes = st.lists(
    st.builds(Box, st.integers(0, 60), st.integers(0, 60), st.integers(1, 40), st.integers(1, 40)), max_size=6
)


@given(boxes, boxes, st.randoms())
def test_matching_pairs_each_box_once_and_does_not_depend_on_the_order(found, truth, random):
    pairs = evaluation.match(found, truth)
    assert len({f for f, _ in pairs}) == len({t for _, t in pairs}) == len(pairs)
    assert all(evaluation.iou(found[f], truth[t]) >= 0.5 for f, t in pairs)
    shuffled = random.sample(found, len(found))
    assert len(evaluation.match(shuffled, truth)) == len(pairs)


def test_as_many_boxes_are_matched_as_can_be():
    truth = [Box(0, 0, 10, 10), Box(0, 3, 10, 10)]
    found = [Box(0, 0, 10, 11), Box(0, -3, 10, 10)]
    assert evaluation.match(found, truth) == [(1, 0), (0, 1)]


@pytest.mark.parametrize(("width", "hits"), [(49, 0), (50, 1), (51, 1)])
def test_a_box_counts_from_the_bound_on(width, hits):
    counts = evaluation.count([Box(0, 0, width, 10)], [Box(0, 0, 100, 10)])
    assert counts == Counts(hits, 1, 1)


def test_precision_recall_and_f1_of_summed_pages():
    counts = Counts(3, 4, 3) + Counts(1, 1, 3)
    assert (counts.precision, counts.recall) == (4 / 5, 4 / 6)
    assert counts.f1 == pytest.approx(2 * (4 / 5) * (4 / 6) / (4 / 5 + 4 / 6))
    assert not evaluation.exact(Counts(3, 4, 3)) and evaluation.exact(Counts(3, 3, 3))
    assert Counts().f1 == 1 and Counts(0, 2, 0).f1 == 0


@given(st.permutations(list(range(7))))
def test_tau_is_kendalls(order):
    assert evaluation.kendall_tau(order) == pytest.approx(kendalltau(range(7), order)[0])
    assert evaluation.in_order(order) == (evaluation.kendall_tau(order) == 1)


def test_an_order_with_a_repeat_is_refused():
    with pytest.raises(ValueError, match="once"):
        evaluation.kendall_tau([1, 1])


def test_edit_distances():
    assert evaluation.edit_distance("kitten", "sitting") == 3
    assert evaluation.normalised_edit_distance("kitten", "sitting") == 3 / 7
    assert evaluation.normalised_edit_distance("", "") == 0


@given(st.text(max_size=12), st.text(max_size=12))
def test_edit_distance_is_symmetric_and_zero_for_equal_texts_alone(a, b):
    assert evaluation.edit_distance(a, b) == evaluation.edit_distance(b, a)
    assert (evaluation.edit_distance(a, b) == 0) == (a == b)


def test_character_error_ignores_case_and_spaces_and_counts_what_is_missing():
    assert evaluation.character_error([("It’s  NOT", "it's not")]) == 0
    assert evaluation.character_error([("abcd", "ABCD"), ("", "wxyz")]) == 0.5
    assert evaluation.share([True, False]) == 0.5

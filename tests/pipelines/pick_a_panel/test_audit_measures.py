"""The numbers of the audit: intervals, bounds of probability, and chance."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from pipelines.pick_a_panel.audit import measure, wilson


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(5, 10, 23.7, 76.3), (0, 10, 0, 27.8), (10, 10, 72.2, 100), (1, 1, 20.7, 100), (81, 263, 25.5, 36.6)],
)
def test_wilson_interval_against_known_values(hits: int, n: int, low: float, high: float) -> None:
    found = [100 * bound for bound in wilson(hits / n, n)]
    assert found == pytest.approx([low, high], abs=0.05)
    known = binomtest(hits, n).proportion_ci(method="wilson")
    assert found == pytest.approx([100 * known.low, 100 * known.high], abs=1e-4)


@pytest.mark.parametrize("options", [2, 4, 7])
@pytest.mark.parametrize("n", [1, 2, 5, 30, 500])
def test_the_p_value_bounds_the_exact_one(options: int, n: int) -> None:
    for hits in {1, n // 2, n - 1, n} - {0}:
        found = measure([1.0] * hits + [0.0] * (n - hits), [options] * n)
        exact = binomtest(hits, n, 1 / options, alternative="greater").pvalue
        assert exact <= found["p_value"] * (1 + 1e-9)
        assert found["accuracy"] > found["chance"] or found["p_value"] == 1
    assert measure([1.0] * n, [options] * n)["p_value"] == pytest.approx(options**-n)


def test_two_lucky_guesses_are_no_shortcut_and_many_are() -> None:
    assert not measure([1.0, 1.0], [7, 7], tests=80)["leak"]
    assert measure([1.0] * 10, [7] * 10, tests=80)["leak"]
    assert not measure([1.0] * 3, [7] * 3, tests=80)["leak"]
    assert measure([1.0] * 3, [7] * 3)["leak"]


def test_chance_is_the_mean_over_samples() -> None:
    mixed = measure([0.0] * 262, [5] * 259 + [3] * 2 + [2])
    assert mixed["chance"] == pytest.approx(20.22, abs=0.005)
    assert mixed["p_value"] == 1

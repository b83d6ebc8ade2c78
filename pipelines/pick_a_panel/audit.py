"""The audit of a split: how far simple solvers get on each task, beside chance.

What does not belong here: the solvers (`solvers`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pipelines.pick_a_panel.samples import Edit
from pipelines.pick_a_panel.solvers import SOLVERS, PanelLook, Question, appearances, credit
from pipelines.schemas import TASKS
from pipelines.stage import Dropped, Failure, Row, ShardInputs, Stage

_Z = 1.959964
"""Of a 95% interval."""
_LEVEL = 0.05


@dataclass(frozen=True)
class AuditSamples(Stage):
    """One row for each task and solver of a split; the shard is the split.

    A solver is a leak where it beats chance by more than luck explains: at the 5% level after Bonferroni's correction
    for all solvers tried on the split, since of many solvers some are lucky. A sample with a panel of unknown looks is
    left out, with the reason.
    """

    name: ClassVar[str] = "audit_samples"
    version: ClassVar[int] = 2
    table: ClassVar[str] = "comicspap_audit"
    gathers: ClassVar[tuple[str, ...]] = (
        "comicspap_train",
        "comicspap_val",
        "comicspap_test",
        "comic_panels",
        "comic_panel_features",
    )

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """Yield the split's rows, task by task; a task without samples has none."""
        by_task: defaultdict[str, list[Row]] = defaultdict(list)
        for row in inputs.whole(f"comicspap_{inputs.shard}").to_pylist():
            by_task[row["task_type"]].append(row)
        looks = _looks(inputs) if by_task else {}
        known: dict[str, list[Row]] = {}
        for task, samples in by_task.items():
            strange = [row for row in samples if not _panels(row) <= looks.keys()]
            yield from (
                Dropped(row["sample_id"], "a panel of it has no row in comic_panel_features") for row in strange
            )
            known[task] = [row for row in samples if _panels(row) <= looks.keys()]
        questions = {task: _questions(samples, looks) for task, samples in known.items()}
        tests = sum(len(SOLVERS[task]) for task, found in questions.items() if found)
        for task in TASKS:
            asked = questions.get(task, [])
            for solver, score in SOLVERS[task].items() if asked else ():
                credits = [credit(score(question), solution) for question, solution in asked]
                result = measure(credits, [len(question.options) for question, _ in asked], tests)
                source = f"storyloom/{self.name}@{self.version}"
                yield {"split": inputs.shard, "task_type": task, "solver": solver, **result, "source": source}


def measure(credits: Sequence[float], options: Sequence[int], tests: int = 1) -> Row:
    """Accuracy beside chance (both in percent), Wilson's 95% interval, and whether chance is beaten.

    `options` are the numbers of options. `p_value` is a bound on the chance that a blind guess scores as much, at any
    number of samples and with shared picks too (Hoeffding 1963, theorem 1); it is not corrected. `leak` is, for `tests`
    solvers.
    """
    n = len(credits)
    accuracy = sum(credits) / n
    blind = sum(1 / k for k in options) / n
    p_value = math.exp(-n * _divergence(accuracy, blind)) if accuracy > blind else 1.0
    low, high = wilson(accuracy, n)
    return {
        "samples": n,
        "accuracy": 100 * accuracy,
        "low": 100 * low,
        "high": 100 * high,
        "chance": 100 * blind,
        "p_value": p_value,
        "leak": p_value * tests < _LEVEL,
    }


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share of n trials (Wilson 1927), as shares from 0 to 1."""
    middle = share + _Z**2 / (2 * n)
    spread = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    scale = 1 + _Z**2 / n
    return max((middle - spread) / scale, 0.0), min((middle + spread) / scale, 1.0)


def _divergence(share: float, blind: float) -> float:
    """Kullback and Leibler's, of a share of hits from another, in nats."""
    parts = ((share, blind), (1 - share, 1 - blind))
    return sum(found * math.log(found / expected) for found, expected in parts if found > 0 and expected > 0)


def _panels(row: Row) -> set[str]:
    return {*row["context"], *(option["panel_id"] for option in row["options"])}


def _looks(inputs: ShardInputs) -> dict[str, PanelLook]:
    panels = {p["panel_id"]: p for p in inputs.whole("comic_panels", ["panel_id", "w", "h"]).to_pylist()}
    rows = inputs.whole("comic_panel_features").to_pylist()
    return {r["panel_id"]: PanelLook.of(panels[r["panel_id"]], r) for r in rows if r["panel_id"] in panels}


def _questions(samples: Sequence[Row], looks: dict[str, PanelLook]) -> list[tuple[Question, int]]:
    """Each sample with the place of its right option."""
    shown = appearances([row["context"] for row in samples])
    return [(_question(row, looks, shown), row["solution_index"]) for row in samples]


def _question(row: Row, looks: dict[str, PanelLook], shown: Mapping[str, int]) -> Question:
    options: list[dict[str, Any]] = row["options"]
    return Question(
        [looks[panel] for panel in row["context"]],
        [looks[option["panel_id"]] for option in options],
        [[Edit.of(edit) for edit in option["edits"]] for option in options],
        [shown[option["panel_id"]] for option in options],
    )

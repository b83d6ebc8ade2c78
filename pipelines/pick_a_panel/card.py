"""The dataset card of a release: what is in it, under which licences, how it was made, and how to open it.

What does not belong here: writing files, and gathering facts from tables (the assets do both, with the functions here).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import yaml

from pipelines.markdown import escape, fenced, table
from pipelines.pick_a_panel.release_schema import RELEASE_NAME, SINGLE_IMAGE_SUFFIX
from pipelines.pick_a_panel.render import Scene
from pipelines.pick_a_panel.samples import chance
from pipelines.previews import contact_sheet
from pipelines.schemas import SPLITS, TASKS

FIGURE = "figure.png"
_BOOKS_LISTED = 100
_LICENCES_LISTED = 30
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_CC = re.compile(r"cc0-1\.0|cc-by(-nc)?(-sa|-nd)?-[234]\.0|mit|apache-2\.0")
_ASKED = {
    "sequence_filling": "One panel of a run of panels is masked, at any place. Which option is it?",
    "char_coherence": "Which option gives each speaker the right words? Both hold the same two texts.",
    "visual_closure": "Three panels are shown. Which option comes next?",
    "text_closure": "The next panel is known, its words are not. Which text belongs there?",
    "caption_relevance": "Only a panel's description is given. Which option follows that panel?",
}

OptionCounts = Mapping[tuple[str, str], Mapping[int, int]]
"""For each (split, task) that was built: how many samples have how many options."""


@dataclass(frozen=True)
class BookFacts:
    """A book of the release, as the catalog and the files name it."""

    book_id: str
    title: str
    licence: str | None
    split: str


@dataclass(frozen=True)
class ReleaseFacts:
    """All that a card tells."""

    option_counts: OptionCounts
    books: Sequence[BookFacts] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    """JSON values by name: the sizes of the tasks, the quality of pictures, ..."""
    seed: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of the project, its stages and its models, by name."""
    hidden_splits: tuple[str, ...] = ()
    """Splits whose answers are not in the release."""
    single_image_splits: tuple[str, ...] = ()
    """Splits that also have each sample as one picture."""
    has_figure: bool = False

    def splits(self, task: str) -> list[str]:
        """The splits in which a task has samples: `datasets` opens no skill that names a split without any."""
        return [split for split in SPLITS if self.samples(split, task)]

    def samples(self, split: str, task: str) -> int:
        """How many samples a task has in a split."""
        return sum(self.option_counts.get((split, task), {}).values())


def count_options(samples: Iterable[pa.Table], split: str) -> dict[tuple[str, str], dict[int, int]]:
    """The option counts of a split from its table of samples, a shard at a time (columns `task_type`, `options`)."""
    counts: dict[str, Counter[int]] = {task: Counter() for task in TASKS}
    for shard in samples:
        lengths = shard["options"].combine_chunks().value_lengths()
        for task, length in zip(shard["task_type"].to_pylist(), lengths.to_pylist(), strict=True):
            counts[task][length] += 1
    return {(split, task): dict(sorted(found.items())) for task, found in counts.items()}


def draw_figure(scenes: Mapping[str, tuple[Scene, str]]) -> np.ndarray:
    """One sample of each task with its caption, if any, as one picture (RGB uint8); scenes by task."""
    shown = [(task, *scenes[task]) for task in TASKS if task in scenes]
    headings = [f"{task}: {caption or _ASKED[task]}" for task, _, caption in shown]
    pairs = list(zip(headings, (scene for _, scene, _ in shown), strict=True))
    return contact_sheet(pairs, width=1200, longest=240)


def write_card(facts: ReleaseFacts) -> str:
    """The text of `README.md`: YAML that Hugging Face `datasets` reads, then Markdown for people.

    Titles, ids and licences are what strangers wrote: they are escaped, shortened, and never part of the YAML.
    """
    sections = [
        _introduction(facts),
        _contents(facts),
        _opening(facts),
        _answers(facts),
        _making(facts),
        _licences(facts.books),
    ]
    head = yaml.safe_dump(_front_matter(facts), sort_keys=False, allow_unicode=True)
    return f"---\n{head}---\n\n" + "\n\n".join(section for section in sections if section) + "\n"


def _front_matter(facts: ReleaseFacts) -> dict[str, Any]:
    total = sum(sum(found.values()) for found in facts.option_counts.values())
    head: dict[str, Any] = {"pretty_name": "Pick-a-panel", "license": _licence_id(facts.books)}
    if head["license"] == "other":
        head |= {"license_name": "licences-of-the-books", "license_link": "README.md"}
    return head | {
        "task_categories": ["visual-question-answering", "multiple-choice"],
        "tags": ["comics", "narrative-understanding", "multi-image"],
        "size_categories": [next((name for bound, name in _SIZES if total < bound), "1M<n<10M")],
        "configs": [*_configs(facts, "", SPLITS), *_configs(facts, SINGLE_IMAGE_SUFFIX, facts.single_image_splits)],
    }


def _configs(facts: ReleaseFacts, suffix: str, splits: Sequence[str]) -> list[dict[str, Any]]:
    """A configuration for each task that has samples, with the files of each split."""
    found = []
    for task in TASKS:
        name = task + suffix
        files = [
            {"split": split, "path": f"{name}/{split}/*.parquet"} for split in facts.splits(task) if split in splits
        ]
        if files:
            found.append({"config_name": name, "data_files": files})
    return found


def _introduction(facts: ReleaseFacts) -> str:
    lines = [
        "# Pick-a-panel",
        "Questions about comics: a run of panels is shown with one of them missing, and the reader picks the missing "
        "panel among options that come from the same story. Five skills ask for different kinds of understanding. The "
        "form is that of ComicsPAP (Vivoli et al., 2025).",
        table(["Skill", "What is asked"], [[f"`{task}`", asked] for task, asked in _ASKED.items()], numbers=False),
    ]
    if facts.has_figure:
        lines.append(f"![A sample of each skill, the right option in green where it is public]({FIGURE})")
    return "\n\n".join(lines)


def _contents(facts: ReleaseFacts) -> str:
    splits = [split for split in SPLITS if any((split, task) in facts.option_counts for task in TASKS)]
    if not splits:
        return "## Contents\n\nNo split has been built yet."
    rows = [[f"`{task}`", *(f"{facts.samples(split, task):,}" for split in splits)] for task in TASKS]
    totals = ["all", *(f"{sum(facts.samples(split, task) for task in TASKS):,}" for split in splits)]
    chances = [
        [f"`{task}`", *(_chance(facts.option_counts.get((split, task), {})) for split in splits)] for task in TASKS
    ]
    missing = [task for task in TASKS if not any(facts.samples(split, task) for split in splits)]
    parts = [
        "## Contents",
        table(["Samples", *splits], [*rows, totals]),
        "Chance, in percent: the accuracy of a blind guess, the mean of 1/k over samples with k options. A story too "
        "short for all distractors gives fewer options.",
        table(["Chance", *splits], chances),
    ]
    if missing:
        parts.append(
            f"Without samples: {', '.join(f'`{task}`' for task in missing)}. "
            "(`caption_relevance` needs captions of panels, the closures with words need textboxes.)"
        )
    return "\n\n".join(parts)


def _chance(counts: Mapping[int, int]) -> str:
    if not sum(counts.values()):
        return "–"
    return f"{chance(options for options, number in counts.items() for _ in range(number)):.2f}"


def _opening(facts: ReleaseFacts) -> str:
    configs = [(task, facts.splits(task)[-1]) for task in TASKS if facts.splits(task)]
    if not configs:
        return ""
    task, split = configs[0]
    code = f'from datasets import load_dataset\n\nsamples = load_dataset("path/to/{RELEASE_NAME}", "{task}", split="{split}")'
    parts = [
        "## Opening it",
        fenced(code, "python"),
        "`context` holds the panels that are shown, without the missing one, which goes to place `index` (counted from "
        "0, so `index` can be the length of `context`). `options` are the panels to choose from and `solution_index` "
        "is the place of the right one. `sample_id` is unique over all skills and splits. In `caption_relevance` the "
        "context is empty, `index` is -1, and `previous_panel_caption` describes the panel before the answer.",
    ]
    if facts.single_image_splits:
        parts.append(
            f"The configurations that end in `{SINGLE_IMAGE_SUFFIX}` hold each sample as one picture, for models that "
            f"take a single image ({', '.join(facts.single_image_splits)})."
        )
    return "\n\n".join(parts)


def _answers(facts: ReleaseFacts) -> str:
    if not facts.hidden_splits:
        return "## Answers\n\nAll answers are in the release."
    hidden = ", ".join(f"`{split}`" for split in SPLITS if split in facts.hidden_splits)
    return (
        f"## Answers\n\nThe answers of {hidden} are hidden: `solution_index` is -1 there. Whoever made the release keeps "
        f"them beside it, in `{RELEASE_NAME}_answers/<split>/` (`sample_id`, `task_type`, `solution_index`), and scores "
        "predictions by joining them on `sample_id`."
    )


def _making(facts: ReleaseFacts) -> str:
    made = {"seed": facts.seed, "settings": dict(facts.settings), "versions": dict(facts.versions)}
    return "\n\n".join(
        [
            "## How it was made",
            "Storyloom read the books page by page, found panels and their reading order, read the textboxes, and split "
            "each book into stories; annotations by people replace what models found. A window of panels that follow "
            "one another in a story makes a sample. Windows do not overlap in `val` and `test`. Distractors are panels of "
            "the same story at most a few places away, and no two options show the same. Where words are asked for, every option, "
            "the right one too, is lettered anew in one font and one size. A book is in one split as a whole. "
            "The same books, settings and seed give the same files.",
            fenced(yaml.safe_dump(made, sort_keys=True, allow_unicode=True), "yaml"),
        ]
    )


def _licences(books: Sequence[BookFacts]) -> str:
    if not books:
        return ""
    ordered = sorted(books, key=lambda book: book.book_id)
    counts = Counter(_licence(book) for book in ordered)
    common = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = [[name, f"{number:,}"] for name, number in common[:_LICENCES_LISTED]]
    parts = [
        "## Licences",
        "The panels belong to the makers of the books and are under the licence of their book. Where it is unknown, "
        "ask before you pass them on.",
        table(["Licence", "Books"], shown),
    ]
    if len(common) > _LICENCES_LISTED:
        parts.append(f"And {len(common) - _LICENCES_LISTED:,} licences more.")
    rows = [[escape(b.book_id), escape(b.title), _licence(b), b.split] for b in ordered[:_BOOKS_LISTED]]
    parts.append(table(["Book", "Title", "Licence", "Split"], rows, numbers=False))
    if len(ordered) > _BOOKS_LISTED:
        parts.append(f"And {len(ordered) - _BOOKS_LISTED:,} books more.")
    return "\n\n".join(parts)


def _licence(book: BookFacts) -> str:
    return escape(book.licence) if book.licence and book.licence.strip() else "unknown"


def _licence_id(books: Sequence[BookFacts]) -> str:
    """The id by which the Hugging Face Hub knows the one licence of all books, else `other`."""
    names = {re.sub(r"[^a-z0-9.]+", "-", (book.licence or "").casefold()).strip("-") for book in books}
    only = next(iter(names)) if len(names) == 1 else ""
    return only if _CC.fullmatch(only) else "other"

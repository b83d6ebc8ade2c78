"""The dataset card: YAML that readers take, numbers that add up, and nothing of a stranger's text as markup."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml

from pipelines.pick_a_panel.card import BookFacts, ReleaseFacts, count_options, draw_figure, write_card
from pipelines.pick_a_panel.render import Scene
from pipelines.schemas import COMICSPAP_SAMPLES, TASKS
from tests.pipelines.pick_a_panel.released_book import samples

HOSTILE = (
    "---\nlicense: mit\n# <script>alert(1)</script> | `x` [a](http://evil.example) ![b](c) \u202e www.evil.example\x00"
)


def _facts(**more: Any) -> ReleaseFacts:
    counts = {
        ("train", "sequence_filling"): {5: 1900, 3: 100},
        ("test", "sequence_filling"): {5: 10},
        ("test", "text_closure"): {4: 3},
        ("test", "caption_relevance"): {},
    }
    return ReleaseFacts(option_counts=counts, **more)


def _head(card: str) -> dict[str, Any]:
    _, head, _ = card.split("---\n", 2)
    return yaml.safe_load(head)


def test_configurations_name_the_files_of_each_skill_and_split_with_samples() -> None:
    head = _head(write_card(_facts(single_image_splits=("test",))))
    assert head["configs"] == [
        {
            "config_name": "sequence_filling",
            "data_files": [
                {"split": "train", "path": "sequence_filling/train/*.parquet"},
                {"split": "test", "path": "sequence_filling/test/*.parquet"},
            ],
        },
        {
            "config_name": "text_closure",
            "data_files": [{"split": "test", "path": "text_closure/test/*.parquet"}],
        },
        {
            "config_name": "sequence_filling_single_image",
            "data_files": [{"split": "test", "path": "sequence_filling_single_image/test/*.parquet"}],
        },
        {
            "config_name": "text_closure_single_image",
            "data_files": [{"split": "test", "path": "text_closure_single_image/test/*.parquet"}],
        },
    ]
    assert head["size_categories"] == ["1K<n<10K"]


def test_counts_and_chance_stand_in_the_tables() -> None:
    card = write_card(_facts())
    assert "| `sequence_filling` | 2,000 | 10 |" in card
    assert "| all | 2,000 | 13 |" in card
    assert "| `sequence_filling` | 20.67 | 20.00 |" in card
    assert "| `text_closure` | – | 25.00 |" in card
    assert "Without samples: `char_coherence`, `visual_closure`, `caption_relevance`" in card


@pytest.mark.parametrize(
    ("licences", "expected"),
    [
        (["CC BY 4.0", "cc-by-4.0"], "cc-by-4.0"),
        (["CC0 1.0"], "cc0-1.0"),
        (["CC BY-NC-SA 3.0"], "cc-by-nc-sa-3.0"),
        (["CC BY 4.0", "MIT"], "other"),
        (["CC BY 4.0", None], "other"),
        (["mine, all mine"], "other"),
        ([HOSTILE], "other"),
        ([], "other"),
    ],
)
def test_licence_is_the_one_of_all_books_or_other(licences: list[str | None], expected: str) -> None:
    books = [BookFacts(f"b{n}", "t", licence, "test") for n, licence in enumerate(licences)]
    head = _head(write_card(_facts(books=books)))
    assert head["license"] == expected
    assert ("license_name" in head) == (expected == "other")


def test_hostile_names_are_text_and_nothing_else() -> None:
    plain = write_card(_facts(books=[BookFacts("b", "t", "l", "test")]))
    card = write_card(_facts(books=[BookFacts(HOSTILE, HOSTILE, HOSTILE, "test")]))
    assert _head(card) == _head(plain)
    assert len(card.splitlines()) == len(plain.splitlines())
    body = card.split("---\n", 2)[2]
    row = next(line for line in body.splitlines() if "script" in line and line.endswith("| test |"))
    assert row.replace("\\|", "").count("|") == 5
    for harm in ("<script", " `x`", "[a](", "\u202e", "\x00", "http://", "www.evil"):
        assert harm not in body


def test_long_lists_of_books_are_cut_and_say_so() -> None:
    books = [BookFacts(f"book {n:04d}", "x" * 5000, f"licence {n}", "test") for n in range(3000)]
    card = write_card(_facts(books=list(reversed(books))))
    assert "And 2,900 books more." in card and "And 2,970 licences more." in card
    assert "book 0000" in card and "book 0099" in card and "book 0100" not in card
    assert len(card) < 60_000


def test_hidden_answers_are_explained() -> None:
    assert "All answers are in the release" in write_card(_facts())
    card = write_card(_facts(hidden_splits=("test",)))
    assert "The answers of `test` are hidden" in card and "comicspap_answers" in card


def test_settings_seed_and_versions_are_told_whatever_they_hold() -> None:
    settings = {"reach": 10, "note": "```\n---\nend"}
    card = write_card(_facts(settings=settings, seed=7, versions={"storyloom": "0.1.0"}))
    block = card.split("````yaml\n")[1].split("\n````")[0]
    assert yaml.safe_load(block) == {"seed": 7, "settings": settings, "versions": {"storyloom": "0.1.0"}}


def test_same_card_each_time_and_a_card_for_nothing_yet() -> None:
    assert write_card(_facts()) == write_card(_facts())
    assert "No split has been built yet" in write_card(ReleaseFacts(option_counts={}))


def test_options_are_counted_a_shard_at_a_time() -> None:
    shard = pa.Table.from_pylist(samples(4), schema=COMICSPAP_SAMPLES)
    counts = count_options([shard, shard, shard.slice(0, 1), COMICSPAP_SAMPLES.empty_table()], "test")
    assert counts["test", "sequence_filling"] == {3: 5}
    assert counts["test", "char_coherence"] == {2: 4}
    assert counts["test", "visual_closure"] == {5: 4}


def test_figure_shows_each_task() -> None:
    picture = np.full((90, 120, 3), 90, np.uint8)
    scene = Scene((picture,) * 3, (picture,) * 4, 3, 1)
    one, two = (draw_figure({task: (scene, "") for task in TASKS[:count]}) for count in (1, 2))
    assert one.shape[1] == two.shape[1] == 1200
    assert two.shape[0] > 1.8 * one.shape[0]
    assert (one == (0, 150, 60)).all(axis=2).any()

"""A table is brought up to date shard by shard, and nothing but the footers says what is current."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow.dataset as ds
import pytest

from pipelines.errors import LakeError
from pipelines.schemas import COMIC_CAPTIONS, FAILURES
from pipelines.stage import Dropped, Failure, Row, ShardInputs
from resources.build import Source, build_table, plan
from resources.engines.local import LocalEngine
from resources.lake import Lake, shard_name
from tests.resources.small_stages import AllStories, Books, Captions, Stories, build


def _bytes(lake: Lake, table: str) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in Path(lake.path(table)).glob("*.parquet")}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path / "lake"))


def test_only_what_changed_is_computed_again_downstream_too(lake: Lake) -> None:
    sources = {"a": "one", "b/c": "two"}
    assert build(lake, Stories(), sources).built == 2
    assert build(lake, Captions()).built == 2
    again = build(lake, Stories(), sources)
    assert (again.built, again.kept, again.rows, again.failures, again.dropped) == (0, 2, 2, 2, 2)
    assert build(lake, Captions()).built == 0
    assert build(lake, Stories(), sources | {"a": "three"}).built == 1
    assert build(lake, Captions()).built == 1
    # Other inputs, same rows: what stands on them stays.
    assert build(lake, Stories(last_page=3), sources | {"a": "three"}, force=True).built == 2
    assert build(lake, Captions()).built == 0


def test_a_source_that_is_gone_takes_its_shard_along(lake: Lake) -> None:
    build(lake, Stories(), {"a": "one", "b": "two"})
    build(lake, Captions())
    assert build(lake, Stories(), {"a": "one"}).removed == 1
    assert build(lake, Captions()).removed == 1
    assert set(lake.footers("_failures/comic_stories")) == {"a"}


def test_a_bad_shard_never_stops_its_table(lake: Lake) -> None:
    report = build(lake, Stories(), {"a": "one", "b": "raise", "c": "die", "d": "two"})
    assert report.built == 2
    assert {r.shard for r in report.failed_shards} == {"b", "c"}
    rows = ds.dataset(lake.path("_failures/comic_stories"), exclude_invalid_files=True).to_table().to_pylist()
    assert {(r["shard"], r["kind"]) for r in rows} >= {("b", "RuntimeError"), ("c", "worker_died")}
    assert build(lake, Stories(), {"a": "one", "b": "fine", "c": "fine", "d": "two"}).built == 2


def test_an_older_version_of_a_shard_that_fails_leaves_the_table(lake: Lake) -> None:
    build(lake, Stories(), {"a": "one", "b": "two", "c": "three", "d": "four"})
    report = build(lake, Stories(), {"a": "one", "b": "raise", "c": "die", "d": "unanswered"})
    assert {r.shard for r in report.failed_shards} == {"b", "c", "d"}
    # A service may answer in the next run: until then the older version stands.
    assert set(lake.footers("comic_stories")) == {"a", "d"}
    assert set(lake.footers("_dropped/comic_stories")) == {"a", "d"}
    assert set(lake.footers("_failures/comic_stories")) == {"a", "b", "c", "d"}


def test_where_no_shard_can_be_computed_the_older_versions_stay(lake: Lake) -> None:
    build(lake, Stories(), {"a": "one", "b": "two"})
    assert len(build(lake, Stories(), {"a": "raise", "b": "raise"}).failed_shards) == 2
    assert set(lake.footers("comic_stories")) == {"a", "b"}


def test_a_shard_that_failed_when_it_was_forced_is_tried_again(lake: Lake) -> None:
    steady = {"a": Source("one", "1"), "b": Source("two", "2")}
    build_table(Stories(), lake, LocalEngine(2), lambda *_: None, steady)
    shaken = steady | {"a": Source("unanswered", "1")}
    report = build_table(Stories(), lake, LocalEngine(2), lambda *_: None, shaken, only=["a"], force=True)
    assert len(report.failed_shards) == 1
    assert [task.shard for task in plan(Stories(), lake, steady).todo] == ["a"]


def test_the_number_of_workers_changes_no_byte(tmp_path: Path) -> None:
    sources = {f"book {i}": str(i) for i in range(9)}
    one, many = Lake(str(tmp_path / "one")), Lake(str(tmp_path / "many"))
    build_table(Stories(), one, LocalEngine(1), lambda *_: None, {k: Source(v, v) for k, v in sources.items()})
    build(many, Stories(), dict(reversed(sources.items())))
    assert _bytes(one, "comic_stories") == _bytes(many, "comic_stories")


def _leftover(folder: str) -> Path:
    """What a run that was killed long ago left unfinished."""
    left = Path(folder) / ".tmp-nowhere-1-abc"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    return left


def test_half_a_file_is_a_missing_shard_and_leftovers_are_cleaned(lake: Lake) -> None:
    build(lake, Stories(), {"a": "one", "b": "two"})
    whole = Path(lake.shard_path("comic_stories", "a"))
    whole.write_bytes(whole.read_bytes()[:100])
    left = [_leftover(lake.path(f"{place}comic_stories")) for place in ("", "_failures/", "_dropped/")]
    assert build(lake, Stories(), {"a": "one", "b": "two"}).built == 1
    assert not any(path.exists() for path in left)


def test_small_files_take_leftovers_of_their_folder_along(lake: Lake) -> None:
    old = _leftover(lake.path("releases/comicspap"))
    lake.put("releases/comicspap/README.md", b"A card.")
    assert not old.exists()


def test_one_shard_alone_can_be_rebuilt_and_an_unknown_one_is_named(lake: Lake) -> None:
    sources = {"a": "one", "b": "two"}
    build(lake, Stories(), sources)
    report = build(lake, Stories(), sources, only=["a"], force=True)
    assert (report.built, report.kept, report.removed) == (1, 1, 0)
    with pytest.raises(LakeError, match="no such shard: x"):
        plan(Stories(), lake, {k: Source(v, v) for k, v in sources.items()}, only=["x"])


@pytest.mark.parametrize("key", ["_hidden", ".dot", "a/b", "50% *?[x]", "Ünïcode 漫画", "x" * 300, "\U0001f600", "a=b"])
def test_every_reader_finds_a_shard_whatever_its_key(lake: Lake, key: str) -> None:
    assert len(shard_name(key).encode()) <= 180
    build(lake, Stories(), {key: "one"})
    table = ds.dataset(lake.path("comic_stories")).to_table()
    assert table["book_id"].to_pylist() == [key]
    assert list(lake.footers("comic_stories")) == [key]


def test_different_keys_have_different_names() -> None:
    keys = ["a/b", "a%2Fb", "a_b", "A/B", "x" * 300, "x" * 301, "_a", "%5Fa"]
    assert len({shard_name(k) for k in keys}) == len(keys)


def test_failures_outside_any_shard_stay_until_a_build_has_none(lake: Lake) -> None:
    lost = [Failure("catalog.csv, line 3", "catalog", "No such book")]
    assert build(lake, Stories(), {"a": "one"}, outside=lost).failures == 2
    items = lake.read_table("_failures/comic_stories", FAILURES)["item_id"].to_pylist()
    assert sorted(items) == ["catalog.csv, line 3", "page 1"]
    assert plan(Stories(), lake, {"a": Source("one", "one")}).is_current
    assert build(lake, Stories(), {"a": "one"}).failures == 1
    assert lake.read_table("_failures/comic_stories", FAILURES)["item_id"].to_pylist() == ["page 1"]


def test_a_shard_that_always_failed_leaves_nothing_behind_when_it_is_gone(lake: Lake) -> None:
    build(lake, Stories(), {"a": "one", "b": "raise"})
    assert lake.read_table("_failures/comic_stories", FAILURES).num_rows == 2
    build(lake, Stories(), {"a": "one"})
    assert set(lake.read_table("_failures/comic_stories", FAILURES)["shard"].to_pylist()) == {"a"}


def test_a_gathered_table_that_changes_in_any_shard_plans_the_whole_anew_and_an_unchanged_one_does_not(
    lake: Lake,
) -> None:
    expected = ["left", "right"]
    sources = {"a": "one", "b": "two"}
    build(lake, Stories(), sources)
    assert build(lake, AllStories(), expected=expected).built == 2
    assert lake.read_table("comic_captions", COMIC_CAPTIONS, ["book_id"])["book_id"].to_pylist() == ["a", "b"] * 2
    assert plan(AllStories(), lake, expected=expected).is_current
    # Built again with the same rows: nothing that stands on them is planned.
    build(lake, Stories(), sources, force=True)
    assert plan(AllStories(), lake, expected=expected).is_current
    for changed in ({"a": "one", "b": "three"}, {"a": "one", "b": "three", "c": "four"}, {"a": "one"}):
        build(lake, Stories(), changed)
        state = plan(AllStories(), lake, expected=expected)
        assert (len(state.todo), state.missing, state.gone) == (2, 0, [])
        build(lake, AllStories(), expected=expected)
        books = lake.read_table("comic_captions", COMIC_CAPTIONS, ["book_id"])["book_id"].to_pylist()
        assert books == sorted(changed) * 2
        assert plan(AllStories(), lake, expected=expected).is_current


def test_a_quarantined_shard_is_not_missing(lake: Lake) -> None:
    sources = {k: Source(v, v) for k, v in {"a": "one", "b": "raise"}.items()}
    assert plan(Stories(), lake, sources).missing == 2
    build(lake, Stories(), {"a": "one", "b": "raise"})
    state = plan(Stories(), lake, sources)
    assert [task.shard for task in state.todo] == ["b"] and state.missing == 0
    # A shard that lost its file, with the failure rows of some of its items beside it, is missing.
    Path(lake.shard_path("comic_stories", "a")).unlink()
    assert plan(Stories(), lake, sources).missing == 1


@pytest.mark.parametrize("folder", ["_failures", "_dropped"])
def test_rows_beside_a_table_that_were_deleted_come_back(lake: Lake, folder: str) -> None:
    sources = {"a": "one", "b/c": "two"}
    build(lake, Stories(), sources)
    lost = Path(lake.shard_path(f"{folder}/comic_stories", "b/c"))
    lost.unlink()
    assert build(lake, Stories(), sources).built == 1
    assert lost.exists()
    assert build(lake, Stories(), sources).built == 0


def test_rows_beside_a_table_leave_with_their_shard_even_where_it_went_first(lake: Lake) -> None:
    build(lake, Stories(), {"a": "one", "b/c": "two"})
    Path(lake.shard_path("comic_stories", "b/c")).unlink()
    Path(lake.shard_path("_failures/comic_stories", "b/c")).unlink()
    assert build(lake, Stories(), {"a": "one"}).removed == 1
    assert set(lake.listing("_dropped/comic_stories")) == {"a"}


def test_from_a_shard_that_failed_upstream_nothing_is_computed(lake: Lake) -> None:
    build(lake, Stories(), {"a": "one", "b": "two", "c": "raise"})
    report = build(lake, Captions())
    assert (report.built, report.failures, report.failed_shards) == (2, 1, [])
    rows = lake.read_table("_failures/comic_captions", FAILURES).to_pylist()
    assert [(r["shard"], r["kind"], "comic_stories" in r["message"]) for r in rows] == [("c", "upstream_failed", True)]
    state = plan(Captions(), lake)
    assert state.is_current and not state.missing
    # A shard that was there before leaves, and comes back with its upstream.
    build(lake, Stories(), {"a": "one", "b": "raise", "c": "raise"})
    assert not plan(Captions(), lake).is_current
    report = build(lake, Captions())
    assert (report.kept, report.failures, set(lake.footers("comic_captions"))) == (1, 2, {"a"})
    build(lake, Stories(), {"a": "one", "b": "two", "c": "three"})
    assert build(lake, Captions()).built == 2
    assert plan(Captions(), lake).is_current and not lake.listing("_failures/comic_captions")


def test_what_failed_upstream_is_named_by_the_table_where_it_did(lake: Lake) -> None:
    build(lake, Stories(), {"a": "one", "b": "raise"})
    build(lake, Captions())
    assert build(lake, Books(), expected=["a", "b"]).failures == 1
    rows = lake.read_table("_failures/comic_books", FAILURES).to_pylist()
    assert [(r["shard"], "comic_stories" in r["message"]) for r in rows] == [("b", True)]
    assert build(lake, Stories(), {"a": "one"}).removed == 1
    assert build(lake, Captions()).removed == 1
    assert build(lake, Books(), expected=["a"]).removed == 1


def test_an_older_version_that_stays_upstream_is_computed_from(lake: Lake) -> None:
    build(lake, Stories(), {"a": "one", "b": "two"})
    build(lake, Captions())
    build(lake, Stories(), {"a": "one", "b": "unanswered"})
    assert (build(lake, Captions()).kept, plan(Captions(), lake).blocked) == (2, {})


@dataclass(frozen=True)
class NeedsTool(Stories):
    """Fails an item unless the file that its source names is there."""

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        if Path(inputs.source).exists():
            yield Failure("page 1", "corrupt", "cannot be read")
        else:
            yield Failure("page 1", "tool_missing", "install it")
        story = f"{inputs.shard}/s01"
        yield {"story_id": story, "book_id": inputs.shard, "first_page": 1, "last_page": 1, "source": "human"}


def test_what_the_machine_fails_is_tried_again_by_each_build_and_nothing_waits_for_it(
    lake: Lake, tmp_path: Path
) -> None:
    sources = {"a": str(tmp_path / "tool"), "b": str(tmp_path)}
    assert build(lake, NeedsTool(), sources).built == 2
    assert build(lake, Captions()).built == 2
    for _ in range(2):
        state = plan(NeedsTool(), lake, {k: Source(v, v) for k, v in sources.items()})
        assert [task.shard for task in state.todo] == ["a"] and state.missing == 0
        assert build(lake, NeedsTool(), sources).built == 1
        assert build(lake, Captions()).built == 0
    (tmp_path / "tool").touch()
    assert [build(lake, NeedsTool(), sources).built for _ in range(2)] == [1, 0]


@dataclass(frozen=True)
class Numbered(Captions):
    """A stage that says which columns of the stories it reads."""

    columns: ClassVar[dict[str, tuple[str, ...]]] = {"comic_stories": ("story_id", "book_id")}  # type: ignore[misc]
    greedy: bool = False

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        for row in inputs.table("comic_stories", None if self.greedy else ["story_id", "book_id"]).to_pylist():
            yield {"panel_id": row["story_id"], "book_id": row["book_id"], "caption": "a", "source": "human"}


def test_a_column_that_is_not_read_makes_nothing_stale(lake: Lake) -> None:
    build(lake, Stories(), {"a": "one"})
    assert build(lake, Numbered()).built == 1
    assert build(lake, Stories(last_page=9), {"a": "one"}).built == 1
    assert build(lake, Numbered()).built == 0 and build(lake, Captions()).built == 1
    report = build(lake, Numbered(greedy=True))
    assert "does not declare" in report.failed_shards[0].error


def _run_in_a_child(path: str) -> None:
    lake = Lake(path)
    build_table(Stories(), lake, LocalEngine(2), lambda *_: None, {"a": Source("one", "1")})


def test_a_run_in_a_child_process_ends_when_it_is_done(tmp_path: Path) -> None:
    """As Dagster's UI runs it: such a process calls no `atexit`, and waits for its own children before it ends."""
    child = multiprocessing.get_context("spawn").Process(target=_run_in_a_child, args=(str(tmp_path / "lake"),))
    child.start()
    child.join(60)
    code, still_there = child.exitcode, child.is_alive()
    child.kill()
    assert not still_there and code == 0


def test_a_long_shard_shows_that_it_is_at_work(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resources.engines.local.HEARTBEAT", 0.0)
    said: list[tuple[str, int, int, int, str]] = []
    sources = {"a": Source("one", "1")}
    build_table(Stories(), lake, LocalEngine(1), lambda *state: said.append(state), sources)
    assert said[0][:4] == ("comic_stories", 0, 1, 0) and said[0][4].startswith("a has taken 0 s")
    assert said[-1] == ("comic_stories", 1, 1, 1, "")


def test_a_shard_that_never_ends_fails_and_the_others_are_done(lake: Lake) -> None:
    sources = {k: Source(v, v) for k, v in {"a": "one", "b": "hang", "c": "two", "d": "three"}.items()}
    build_table(Stories(), lake, LocalEngine(2), lambda *_: None, {"warm": Source("", ""), "up": Source("", "")})
    before = set(Path(tempfile.gettempdir()).glob("storyloom-*"))
    report = build_table(Stories(), lake, LocalEngine(2, shard_seconds=5), lambda *_: None, sources)
    assert report.built == 3 and [r.shard for r in report.failed_shards] == ["b"]
    (row,) = [row for row in lake.read_table("_failures/comic_stories", FAILURES).to_pylist() if row["shard"] == "b"]
    assert row["kind"] == "timed_out" and " 5 s" in row["message"] and "engine.shard_seconds" in row["message"]
    gone = before - set(Path(tempfile.gettempdir()).glob("storyloom-*"))
    assert gone, "the folder of temporary files of the workers that were ended"


def test_a_shard_that_never_ends_fails_too_when_it_was_in_flight_with_one_whose_worker_died(lake: Lake) -> None:
    sources = {k: Source(v, v) for k, v in {"a": "die", "b": "hang", "c": "one"}.items()}
    report = build_table(Stories(), lake, LocalEngine(2, shard_seconds=5), lambda *_: None, sources)
    failed = {r.shard: r.error.partition(":")[0] for r in report.failed_shards}
    assert report.built == 1 and failed == {"a": "worker_died", "b": "timed_out"}

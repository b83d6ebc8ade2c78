"""The examples of docs/annotations.md do what the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipelines.comics.annotations.entries import Limits
from tests.pipelines.comics.annotations.annotation_files import pages, resolve
from tests.pipelines.comics.annotations.test_coco import tables

PAGE = Path(__file__).parents[4] / "docs/annotations.md"


def examples(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_each_example_is_taken_whole(tmp_path: Path) -> None:
    found = {}
    comix = next(e for e in examples("xml") if e.startswith("<annotations>"))
    for name, example in [*((f"{n}.json", e) for n, e in enumerate(examples("json"))), ("x.xml", comix)]:
        resolved = resolve(tmp_path / name, {name: example})
        assert resolved.failures == resolved.dropped == [], name
        x, _, w, _ = resolved[2, "panels"][0]["box"]
        assert (x, w) == (20, 460), name
        found[name] = [(r["page_id"], r["aspect"]) for r in resolved.rows]
    both = [("hero/0002", "panels"), ("hero/0002", "texts")]
    kinds = [(None, "stories"), ("hero/0001", "kind"), ("hero/0002", "kind")]
    assert found["1.json"] == found["2.json"] == both
    assert found["x.xml"] == [*kinds, *both]
    assert len(found["0.json"]) == 6


def test_the_export_writes_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, table in zip(("comic_pages", "comic_panels", "comic_texts"), tables(), strict=True):
        (tmp_path / "lake" / name).mkdir(parents=True)
        pq.write_table(table, tmp_path / "lake" / name / "hero.parquet")
    monkeypatch.chdir(tmp_path)
    (snippet,) = examples("python")
    exec(compile(snippet, str(PAGE), "exec"), {})
    written = json.loads((tmp_path / "coco.json").read_text())
    assert len(written["images"]) == len(pages("hero", ["1", "2", "3"]))
    assert {a["category_id"] for a in written["annotations"]} == {1, 4}


def test_the_limits_are_those_of_the_code() -> None:
    limits, text = Limits(), PAGE.read_text()
    for said in (f"{limits.file_bytes // 2**20} MiB", f"{limits.pages:,} pages", f"{limits.regions:,} panels"):
        assert said in text

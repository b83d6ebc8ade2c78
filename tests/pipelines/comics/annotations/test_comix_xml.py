"""CoMix XML: pages by the number of their file, kinds and stories by their attributes, regions by their corners."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipelines.comics.annotations.annotation_files import resolve

MEMBERS = [f"{number:03d}.jpg" for number in range(6)]


def book(pages: str, title: str = "hero") -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<annotations><book title="{title}"><pages>{pages}</pages></book></annotations>'


def test_kinds_stories_panels_and_texts(tmp_path: Path) -> None:
    pages = """
      <page id="0" width="500" height="750" type="cover"/>
      <page id="1" type="color" story_id="2"/>
      <page id="2" width="500" height="750" type="story" story_id="2">
        <panel id="a" points="250,0 500,0 500,700 250,700"/>
        <panel id="b" points="0,0 240,0 230,700 0,700"/>
        <text id="c" points="10,10 60,10 60,30 10,30" balloon_id="d"/>
        <text id="e" points="300,10 350,10 350,30 300,30">OH, NO!</text>
        <balloon id="d" points="5,5 70,5 70,40 5,40"/>
        <link_sbsc id="f" points="1,1 2,2"/>
      </page>
      <page id="3" type="color" add_id="1"/>
      <page id="4" type="First-Page" story_id="7"/>
      <page id="5" type="monochrome"/>"""
    found = resolve(tmp_path, {"any.xml": book(pages)}, members=MEMBERS)
    assert found.failures == []
    assert found[None, "stories"] == [{"first_page": 2, "last_page": 3}, {"first_page": 5, "last_page": 5}]
    kinds = {r["page_id"][-4:]: r["payload"] for r in found.rows if r["aspect"] == "kind"}
    assert kinds == {"0001": '"cover"', "0003": '"story"', "0004": '"advertisement"', "0005": '"first_page"'}
    assert found[3, "panels"] == [
        {"box": [0, 0, 480, 1400], "polygon": [[0, 0], [480, 0], [460, 1400], [0, 1400]]},
        {"box": [500, 0, 500, 1400], "polygon": [[500, 0], [1000, 0], [1000, 1400], [500, 1400]]},
    ]
    assert found[3, "texts"] == [
        {"box": [20, 20, 100, 40], "text": None, "panel": None},
        {"box": [600, 20, 100, 40], "text": "OH, NO!", "panel": None},
    ]


def test_the_title_or_the_file_names_the_book_and_a_root_may_be_the_book(tmp_path: Path) -> None:
    page = '<page id="1" type="cover"/>'
    for name, content in {
        "any.xml": book(page),
        "hero.xml": book(page, title="The Hero"),
        "hero/x.xml": f"<book><pages>{page}</pages></book>",
    }.items():
        found = resolve(tmp_path / name.replace("/", "-"), {name: content}, members=MEMBERS)
        assert [(r["page_id"], r["payload"]) for r in found.rows] == [("hero/0002", '"cover"')], name


def test_stories_that_overlap_are_a_conflict_and_the_pages_stand(tmp_path: Path) -> None:
    pages = "".join(f'<page id="{n}" type="story" story_id="{s}"/>' for n, s in enumerate("aba"))
    found = resolve(tmp_path, {"any.xml": book(pages)}, members=MEMBERS)
    assert {r["aspect"] for r in found.rows} == {"kind"}
    assert [(f.item_id, f.kind) for f in found.failures] == [("any.xml#stories", "annotation_conflict")]
    assert "'a' and 'b' overlap on page 2" in found.failures[0].message


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ('<page type="cover"/>', "is no number"),
        ('<page id="one" type="cover"/>', "'one' is no number"),
        ('<page id="-1" type="cover"/>', "is no number"),
        ('<page id="77" type="cover"/>', "no page '77'"),
        ('<page id="1"><panel points="0,0 5,5"/></page>', "corners"),
        ('<page id="1"><panel/></page>', "corners"),
        ('<page id="1"><panel points="0,0 5,0 5,x"/></page>', "finite numbers"),
        ('<page id="1"><panel points="0,0 5,0 nan,5"/></page>', "finite numbers"),
        ('<page id="1"><panel points="0,0 5,0 5"/></page>', "finite numbers"),
        ('<page id="1"><panel points="0 0 5 0 5 5"/></page>', "finite numbers"),
        ('<page id="1"><panel points="0,9000 5,9000 5,9005"/></page>', "outside the page"),
        ('<page id="1" width="9" height="x" type="cover"/>', "width and height"),
    ],
)
def test_a_bad_page_is_a_failure_and_the_next_stands(tmp_path: Path, page: str, said: str) -> None:
    found = resolve(tmp_path, {"any.xml": book(page + '<page id="2" type="cover"/>')}, members=MEMBERS)
    assert [(r["page_id"], r["aspect"]) for r in found.rows] == [("hero/0003", "kind")]
    assert len(found.failures) == 1
    assert said in found.failures[0].message


def test_deep_nesting_and_entities_do_no_harm(tmp_path: Path) -> None:
    deep = "<a>" * 50_000 + "</a>" * 50_000
    bomb = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]><annotations>&a;</annotations>'
    found = resolve(tmp_path, {"deep.xml": deep, "bomb.xml": bomb})
    assert sorted((f.item_id, f.kind) for f in found.failures) == [
        ("bomb.xml", "not_xml"),
        ("deep.xml", "unknown_format"),
    ]

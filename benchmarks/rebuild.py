"""What a rebuild of a library of 100 books costs when nothing has changed, and when one page has.

The books are drawn; their texts and captions are annotated, so that no time goes to OCR.

    python -m benchmarks.rebuild --books 100 --pages 20
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from benchmarks.library import Drawing, jpeg
from benchmarks.measure import Measured, Workplace
from pipelines.markdown import table
from pipelines.samples.books import bulk_book

_TABLES = ("comic_pages", "comic_panels", "comic_panel_features", "comicspap_samples", "comicspap_train")


def main() -> None:
    """Build, build again, change a page, build again; print what each took and which shards it computed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--books", type=int, default=100)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "storyloom-benchmarks")
    given = parser.parse_args()
    drawn = Drawing(given.books, given.pages, 800, 1200, aspects=("kind", "texts", "captions", "stories"))
    place = Workplace(given.folder / "rebuild", given.folder / "rebuild-library")
    for folder in (place.folder, place.library):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(drawn.draw(given.folder), place.library)
    rows = [["Dagster's own start", f"{place.start().seconds:.1f}", ""]]
    rows.append(_row("first build", place.materialize("*"), place))
    rows.append(_row("nothing changed", place.materialize("*"), place))
    book = sorted((place.library / "comics").iterdir())[given.books // 2]
    page = list(bulk_book("another", 3, width=800, height=1200))[-1]
    (book / "003.jpg").write_bytes(jpeg(page))
    rows.append(_row("one page changed", place.materialize("*"), place))
    print(table([f"{given.books} books of {given.pages} pages", "seconds", "books computed again"], rows))


def _row(name: str, measured: Measured, place: Workplace) -> list[str]:
    built = ", ".join(f"{t}: {place.metadata(t)['shards_built']}" for t in _TABLES)
    return [name, f"{measured.seconds:.1f}", built]


if __name__ == "__main__":
    main()

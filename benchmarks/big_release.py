"""The peak memory of building and releasing 100,000 train samples.

Books are drawn small (800 x 1200) and annotated whole, so that the samples are what takes the time.

    python -m benchmarks.big_release --samples 100000
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from benchmarks.library import Drawing
from benchmarks.measure import Workplace
from pipelines.markdown import table

_PAGES_A_BOOK = 100
_SAMPLES_A_PAGE = 20
"""About what drawn pages give in train; a library of that many pages is drawn."""
_ASPECTS = ("kind", "panels", "texts", "captions", "stories")


def main() -> None:
    """Build all tables, then the train split with its release; print time, size and peak memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "storyloom-benchmarks")
    given = parser.parse_args()
    books = max(given.samples // _SAMPLES_A_PAGE // _PAGES_A_BOOK, 1)
    library = Drawing(books, _PAGES_A_BOOK, 800, 1200, aspects=_ASPECTS).draw(given.folder)
    place = Workplace(given.folder / "big-release", library)
    shutil.rmtree(place.folder, ignore_errors=True)
    rows = []
    for name, selection in (("tables", "+comicspap_samples"), ("train split and release", "comicspap_train")):
        measured = place.materialize(selection)
        rows.append([name, f"{measured.seconds:.0f}", f"{measured.peak_bytes / 2**30:.2f}"])
    samples = place.metadata("comicspap_train")["dagster/row_count"]
    size = sum(path.stat().st_size for path in (place.lake / "releases").rglob("*.parquet"))
    print(f"{samples:,} train samples from {books * _PAGES_A_BOOK:,} pages; the release takes {size / 1e9:.1f} GB\n")
    print(table(["step", "seconds", "peak memory of all processes (GiB)"], rows))
    shutil.rmtree(place.folder)


if __name__ == "__main__":
    main()

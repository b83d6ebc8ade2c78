"""Pages a second from files to `comic_panels`, and from there to a release, on one core and on all.

The books are drawn; their texts, kinds, stories and captions are annotated, so that no time goes to OCR (see
`benchmarks.texts` for that). Dagster's own start is measured apart and taken off. What a page's decoding takes is measured in
this process, on the same pages, at the size that the detector asks for.

    python -m benchmarks.throughput --books 16 --pages 20
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from time import perf_counter

from benchmarks.library import Drawing
from benchmarks.measure import Workplace
from pipelines.comics.detect_panels import AT_LEAST
from pipelines.comics.page_facts import page_facts
from pipelines.comics.page_pictures import decode
from pipelines.markdown import table
from resources.engines.local import available_cores


def main() -> None:
    """Measure with one worker and with all, and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--books", type=int, default=16)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "storyloom-benchmarks")
    given = parser.parse_args()
    library = Drawing(given.books, given.pages, aspects=("kind", "texts", "captions", "stories")).draw(given.folder)
    pages = given.books * given.pages
    decoding = _decoding(library)
    rows = []
    for workers in dict.fromkeys((1, available_cores())):
        place = Workplace(given.folder / f"throughput-{workers}", library)
        shutil.rmtree(place.folder, ignore_errors=True)
        profile = {"engine": {"workers": workers}, "build_missing_upstream": True}
        start = place.start().seconds
        to_panels = place.materialize("+comic_panels", profile=profile).seconds - start
        to_release = place.materialize("comicspap_train", profile=profile).seconds - start
        share = decoding * pages / workers / to_panels
        samples = place.metadata("comicspap_train")["dagster/row_count"]
        rows.append(
            [
                str(workers),
                f"{pages / to_panels:.1f}",
                f"{share:.0%}",
                f"{pages / to_release:.1f}",
                f"{samples / to_release:.0f}",
            ]
        )
    head = ["workers", "pages/s to comic_panels", "of it decoding", "pages/s from there to a release", "samples/s"]
    print(f"{pages} pages of 1600 x 2400; decoding takes {decoding * 1000:.1f} ms a page\n")
    print(table(head, rows))


def _decoding(library: Path) -> float:
    """Seconds a page that its two decodings take: the check of the whole file, and the picture for the detector."""
    files = [path.read_bytes() for path in sorted(library.glob("comics/*/*.jpg"))[:40]]
    started = perf_counter()
    for data in files:
        page_facts(data, max_pixels=10**9)
        decode(data, at_least=AT_LEAST)
    return (perf_counter() - started) / len(files)


if __name__ == "__main__":
    main()

"""Run the same job in each framework and in Storyloom, in turn, several times; print medians as a Markdown table.

The job: drawn pages of 1600 x 2400 (JPEG files, a folder for each book) to panels to crops (JPEG) in Parquet files. Each
contender is a process of its own, start and end included, with as many workers as there are cores. Storyloom's is the
command `dagster asset materialize`. What each wrote is compared row by row. Needs `benchmarks/requirements.txt`.

    python -m benchmarks.frameworks.run --pages 2000 --repeats 3
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

import pyarrow.compute as pc
import pyarrow.dataset as ds

from benchmarks.library import Drawing
from benchmarks.measure import Measured, Workplace, run
from pipelines.markdown import table
from resources.engines.local import available_cores

CONTENDERS = {
    "Storyloom, in Dagster": ("storyloom_dagster", "dagster"),
    "process pool + pyarrow": ("process_pool", "pyarrow"),
    "Hugging Face `datasets.map`": ("hugging_face", "datasets"),
    "datatrove": ("data_trove", "datatrove"),
    "Daft": ("daft_frame", "daft"),
    "Ray Data": ("ray_data", "ray"),
}
_PAGES_A_BOOK = 20


def main() -> None:
    """Draw the pages, run the contenders, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "storyloom-benchmarks")
    parser.add_argument("--only", nargs="*", default=[module for module, _ in CONTENDERS.values()])
    given = parser.parse_args()
    library = Drawing(max(given.pages // _PAGES_A_BOOK, 1), _PAGES_A_BOOK).draw(given.folder)
    files = [file.read_bytes() for file in library.glob("comics/*/*.jpg")]  # so that no contender waits for the disk
    chosen = {name: module for name, (module, _) in CONTENDERS.items() if module in given.only}
    results: dict[str, list[Measured]] = {name: [] for name in chosen}
    expected = ""
    for repeat in range(given.repeats):
        for name, module in list(chosen.items())[repeat % len(chosen) :] + list(chosen.items())[: repeat % len(chosen)]:
            measured, written = _contend(module, library, given.folder)
            expected = expected or written
            if written != expected:
                raise SystemExit(f"{name} wrote {written}, another contender {expected}")
            results[name].append(measured)
            print(f"{name}: {measured.seconds:.1f} s, {written}", file=sys.stderr, flush=True)
    print(_table(results, len(files)))


def _contend(module: str, library: Path, folder: Path) -> tuple[Measured, str]:
    """Run a contender once; returns what it took and what it wrote."""
    scratch = folder / "contender"
    shutil.rmtree(scratch, ignore_errors=True)
    if module == "storyloom_dagster":
        place = Workplace(scratch, library)
        measured = place.materialize("panel_crops", module="benchmarks.frameworks.storyloom_dagster")
        output = place.lake / "panel_crops"
    else:
        output = scratch / "crops"
        command = [sys.executable, "-m", f"benchmarks.frameworks.{module}", str(library / "comics"), str(output)]
        environment = {"HF_HOME": str(scratch / "hf"), "HF_HUB_OFFLINE": "1", "TMPDIR": str(scratch)}
        scratch.mkdir(parents=True)
        measured = run([*command, str(available_cores())], environment, scratch / "contender.log")
    written = _summary(output)
    shutil.rmtree(scratch, ignore_errors=True)
    return measured, written


def _summary(output: Path) -> str:
    """What Parquet files hold, whatever their order: the number of rows and a digest of places and pictures."""
    lines = []
    for batch in ds.dataset(output, format="parquet").to_batches(batch_size=256):
        small = batch.drop_columns(["image"]).to_pylist()
        sizes = pc.call_function("binary_length", [batch["image"]]).to_pylist()
        lines += [
            f"{r['page']} {r['x']} {r['y']} {r['w']} {r['h']} {size}" for r, size in zip(small, sizes, strict=True)
        ]
    digest = hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:12]
    return f"{len(lines)} panels ({digest})"


def _table(results: dict[str, list[Measured]], pages: int) -> str:
    rows = []
    for name, runs in sorted(results.items(), key=lambda item: median(m.seconds for m in item[1])):
        seconds = median(m.seconds for m in runs)
        all_runs = " ".join(f"{m.seconds:.1f}" for m in runs)
        memory = f"{max(m.peak_bytes for m in runs) / 2**30:.2f}"
        package = _version(CONTENDERS[name][1])
        rows.append([name, package, f"{seconds:.1f}", f"{pages / seconds:.1f}", all_runs, memory])
    return table(["", "version", "median (s)", "pages/s", "runs (s)", "peak memory (GiB)"], rows)


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package


if __name__ == "__main__":
    main()

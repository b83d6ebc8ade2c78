"""The job with a process pool and pyarrow alone: each worker writes the pages of a book to a file of its own."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.frameworks.kernel import CROPS, Task, contend, cut_file


def main(task: Task) -> None:
    """Deal the books to the workers."""
    books = [list(files) for _, files in groupby(task.files, key=lambda file: Path(file).parent)]
    targets = [str(task.output / f"{number:05d}.parquet") for number in range(len(books))]
    with ProcessPoolExecutor(task.workers) as pool:
        for _ in pool.map(write_book, books, targets):
            pass


def write_book(files: list[str], target: str) -> None:
    """Cut the pages of a book and write their panels."""
    rows = [row for file in files for row in cut_file(file)]
    pq.write_table(pa.Table.from_pylist(rows, CROPS), target)


if __name__ == "__main__":
    contend(main)

"""The job with Ray Data: files as blocks of bytes, a flat map, Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.frameworks.kernel import Task, contend, cut_page


def main(task: Task) -> None:
    """Run on a Ray that is started for it on this machine."""
    import ray  # pyright: ignore[reportMissingImports]

    ray.init(num_cpus=task.workers, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    pages = ray.data.read_binary_files(task.files, include_paths=True)
    pages.flat_map(cut_row).write_parquet(f"local://{task.output}")


def cut_row(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The crops of one page."""
    file = Path(row["path"])
    return cut_page(f"{file.parent.name}/{file.stem}", row["bytes"])


if __name__ == "__main__":
    contend(main)

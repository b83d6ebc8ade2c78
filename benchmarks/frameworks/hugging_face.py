"""The job with Hugging Face `datasets`: a map over batches of files, then an export to Parquet."""

from __future__ import annotations

from typing import Any

from benchmarks.frameworks.kernel import CROPS, Task, contend, cut_file

_FILES_A_BATCH = 16


def main(task: Task) -> None:
    """Map in processes; `map` itself writes Arrow files, which are exported at the end."""
    from datasets import Dataset, Features, disable_progress_bars

    disable_progress_bars()
    pages = Dataset.from_dict({"file": task.files})
    crops = pages.map(
        cut_batch,
        batched=True,
        batch_size=_FILES_A_BATCH,
        num_proc=task.workers,
        remove_columns=["file"],
        features=Features.from_arrow_schema(CROPS),
    )
    crops.to_parquet(task.output / "crops.parquet")


def cut_batch(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Columns of crops from a column of files."""
    rows = [row for file in batch["file"] for row in cut_file(file)]
    return {name: [row[name] for row in rows] for name in CROPS.names}


if __name__ == "__main__":
    contend(main)

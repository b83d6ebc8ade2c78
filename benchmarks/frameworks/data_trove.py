"""The job with datatrove: a reader that deals out files, a step that cuts them, and its Parquet writer."""

from __future__ import annotations

from typing import Any

from benchmarks.frameworks.kernel import CROPS, Task, contend, cut_file

_TASKS_A_WORKER = 8


def main(task: Task) -> None:
    """Run the pipeline in tasks enough to keep every worker busy to the end."""
    from datatrove.data import Document  # pyright: ignore[reportMissingImports]
    from datatrove.executor import LocalPipelineExecutor  # pyright: ignore[reportMissingImports]
    from datatrove.pipeline.writers import ParquetWriter  # pyright: ignore[reportMissingImports]

    def read(data: Any, rank: int, world_size: int) -> Any:
        for file in task.files[rank::world_size]:
            yield Document(text="", id=file)

    def cut(data: Any, rank: int, world_size: int) -> Any:
        for page in data:
            for row in cut_file(page.id):
                yield Document(text="", id=row["page"], metadata=row)

    writer = ParquetWriter(
        str(task.output), adapter=lambda self, document: document.metadata, batch_size=200, schema=CROPS
    )
    LocalPipelineExecutor(
        [read, cut, writer],
        tasks=min(_TASKS_A_WORKER * task.workers, len(task.files)),
        workers=task.workers,
        logging_dir=str(task.output.with_name(task.output.name + "-logs")),
    ).run()


if __name__ == "__main__":
    contend(main)

"""The job with Daft: files as a data frame, a function of one to many rows in processes, Parquet."""

from __future__ import annotations

from typing import Any

from benchmarks.frameworks.kernel import CROPS, Task, contend, cut_file


def main(task: Task) -> None:
    """Run the frame on Daft's own runner."""
    import daft  # pyright: ignore[reportMissingImports]

    fields = {field.name: daft.DataType.from_arrow_type(field.type) for field in CROPS}

    @daft.cls(max_concurrency=task.workers, use_process=True)
    class Cutter:
        @daft.method(return_dtype=daft.DataType.list(daft.DataType.struct(fields)))
        def cut(self, file: str) -> list[dict[str, Any]]:
            return cut_file(file)

    frame = daft.from_pydict({"file": task.files}).into_batches(16)
    cut: Any = Cutter().cut(frame["file"])  # called on a column, Daft's methods give an expression
    crops = frame.select(cut.alias("crop")).explode("crop")
    crops.select(*(crops["crop"][name].alias(name) for name in CROPS.names)).write_parquet(str(task.output))


if __name__ == "__main__":
    contend(main)

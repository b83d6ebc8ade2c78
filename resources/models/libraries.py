"""Libraries of models: imported when an adapter is built, never before, and kept to one rule on processors and graphics cards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from pipelines.errors import ModelMissingError

T = TypeVar("T")


def library(name: str, extra: str = "vision") -> Any:
    """Import a library of models; raises ModelMissingError with the extra that brings it.

    What comes back is untyped, so that types are checked the same whether it is installed or not.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        raise ModelMissingError(
            f"the library {name} is not installed", remedy=f"Install it: pip install 'storyloom[{extra}]'."
        ) from error


def torch_device(device: str = "") -> str:
    """The device that torch computes on: the one asked for, else CUDA when it is there, else the processor."""
    return device or ("cuda" if library("torch").cuda.is_available() else "cpu")


@contextmanager
def same_threads() -> Iterator[None]:
    """Undo what a library does to torch's threads: a worker process has one, or the workers fight for the cores."""
    torch = library("torch")
    threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def onnx_session(path: Path, device: str = "", threads: int = 1) -> Any:
    """A session of onnxruntime: on CUDA when its build for it is there, else on the processor with so many threads."""
    ort = library("onnxruntime", "onnx")
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.log_severity_level = 3
    wanted = ["CPUExecutionProvider"]
    if device != "cpu" and "CUDAExecutionProvider" in ort.get_available_providers():
        wanted.insert(0, "CUDAExecutionProvider")
    return ort.InferenceSession(str(path), options, providers=wanted)


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of at most `size`."""
    iterator = iter(items)
    while batch := list(islice(iterator, max(size, 1))):
        yield batch

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipelines.errors import ModelMissingError
from resources.models import libraries
from resources.models.libraries import batches, library, onnx_session, same_threads, torch_device


def test_a_library_that_is_not_installed_names_its_extra() -> None:
    with pytest.raises(ModelMissingError, match=r"no_such_library is not installed.*pip install 'storyloom\[faces\]'"):
        library("no_such_library", "faces")


def test_what_a_library_itself_lacks_is_not_blamed_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lacking_library.py").write_text("import no_such_library")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        library("lacking_library")


@pytest.mark.parametrize(("there", "asked", "device"), [(True, "", "cuda"), (False, "", "cpu"), (True, "cpu", "cpu")])
def test_cuda_is_taken_when_it_is_there(there: bool, asked: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: there))
    monkeypatch.setitem(sys.modules, "torch", torch)  # type: ignore[arg-type]
    assert torch_device(asked) == device


@pytest.mark.parametrize(
    ("there", "device", "first"),
    [
        (True, "", "CUDAExecutionProvider"),
        (True, "cpu", "CPUExecutionProvider"),
        (False, "cuda", "CPUExecutionProvider"),
    ],
)
def test_onnxruntime_takes_cuda_when_it_is_there(
    there: bool, device: str, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import onnxruntime

    asked: list[Any] = []
    known = ["CPUExecutionProvider", *(["CUDAExecutionProvider"] if there else [])]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: known)
    monkeypatch.setattr(
        onnxruntime, "InferenceSession", lambda path, options, providers: asked.append((options, providers))
    )
    onnx_session(Path("a.onnx"), device)
    ((options, providers),) = asked
    assert providers[0] == first and providers[-1] == "CPUExecutionProvider"
    assert options.intra_op_num_threads == options.inter_op_num_threads == 1


def test_threads_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    count = [3]
    torch = SimpleNamespace(get_num_threads=lambda: count[0], set_num_threads=lambda n: count.__setitem__(0, n))
    monkeypatch.setattr(libraries, "library", lambda name: torch)
    with pytest.raises(KeyError), same_threads():
        count[0] = 8
        raise KeyError
    assert count == [3]


def test_batches_hold_all_and_no_more() -> None:
    assert list(batches(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(batches([], 2)) == [] and list(batches([1, 2], 0)) == [[1], [2]]

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from pipelines.errors import SettingsError
from resources.models.torch_weights import fill, load_state

torch = pytest.importorskip("torch", reason="torch is not installed: it comes with the extra `vision`")


class Harmful:
    def __reduce__(self):
        return print, ("weights were run",)


def write(path: Path, value: object) -> Path:
    if path.suffix == ".safetensors":
        from safetensors.torch import save_file

        save_file(value, path)  # type: ignore[arg-type]
    elif path.suffix == ".pkl":
        path.write_bytes(pickle.dumps(value, protocol=2))
    else:
        torch.save(value, path)
    return path


ONES = {"a.weight": torch.ones(2, 3)}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("a.safetensors", ONES),
        ("a.pth", ONES),
        ("a.pt", {"state_dict": {"module.a.weight": torch.ones(2, 3)}, "epoch": 3}),
        ("a.pkl", {"model": {"a.weight": np.ones((2, 3), np.float32)}, "__author__": "Detectron2"}),
    ],
)
def test_weights_are_read_from_every_form(tmp_path: Path, name: str, value: object) -> None:
    state = load_state(write(tmp_path / name, value))
    assert list(state) == ["a.weight"] and torch.equal(state["a.weight"], torch.ones(2, 3))


@pytest.mark.parametrize("name", ["a.pth", "a.pkl"])
def test_nothing_in_a_file_of_weights_is_run(tmp_path: Path, name: str, capsys) -> None:
    path = write(tmp_path / name, {"model": Harmful()})
    with pytest.raises(SettingsError, match="cannot be read as numbers alone"):
        load_state(path)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["a.pth", "a.pkl", "a.safetensors"])
def test_a_broken_file_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"no weights" * 40)
    with pytest.raises(SettingsError, match="cannot be read as numbers"):
        load_state(tmp_path / name)


def test_a_network_is_filled_wholly_or_not(tmp_path: Path) -> None:
    network = torch.nn.ModuleDict({"a": torch.nn.Linear(3, 2, bias=False), "classifier": torch.nn.Linear(2, 1)})
    fill(network, ONES, tmp_path, unused=("classifier.",))
    assert torch.equal(network["a"].weight, torch.ones(2, 3))
    fill(network, ONES | {"classifier.weight": torch.ones(9, 9)}, tmp_path, unused=("classifier.",))
    for state in (ONES, ONES | {"b": torch.ones(1)}, {"a.weight": torch.ones(2, 4)}, {}):
        with pytest.raises(SettingsError, match="not those of this network"):
            fill(network, state, tmp_path, unused=() if state is ONES else ("classifier.",))

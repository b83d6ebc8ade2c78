"""Weights read as numbers alone: nothing in a file of weights is run.

What does not belong here: where the files come from (`weights`).
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.errors import SettingsError
from resources.models.libraries import library

_NUMPY_GLOBALS = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),
    ("collections", "OrderedDict"),
}


class _ArraysOnly(pickle.Unpickler):
    """Reads dictionaries of arrays; refuses whatever else a pickle can hold before it does anything."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _NUMPY_GLOBALS:
            raise pickle.UnpicklingError(f"it holds {module}.{name}")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def load_state(path: Path) -> dict[str, Any]:
    """The tensors of a file by name: safetensors, torch's own format with `weights_only`, or Detectron2's arrays (.pkl)."""
    torch = library("torch")
    safetensors = library("safetensors.torch") if path.suffix == ".safetensors" else None
    try:
        if safetensors:
            return dict(safetensors.load_file(str(path)))
        if path.suffix == ".pkl":
            with path.open("rb") as stream:
                loaded = _ArraysOnly(stream, encoding="latin1").load()
        else:
            loaded = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # of a broken or hostile file each library says it in its own way
        raise SettingsError(
            f"the weights cannot be read as numbers alone: {str(error).splitlines()[0]}",
            where=str(path),
            remedy="Save the model's state dict again, best as safetensors.",
        ) from error
    for key in ("state_dict", "model"):
        if isinstance(loaded, Mapping) and isinstance(loaded.get(key), Mapping):
            loaded = loaded[key]
    if not isinstance(loaded, Mapping):
        raise SettingsError("the file holds no dictionary of weights", where=str(path))
    return {
        str(name).removeprefix("module."): torch.from_numpy(np.array(value)) if isinstance(value, np.ndarray) else value
        for name, value in loaded.items()
        if isinstance(value, np.ndarray) or torch.is_tensor(value)
    }


def fill(network: Any, state: Mapping[str, Any], where: Path, *, unused: tuple[str, ...] = ()) -> None:
    """Load a state into a network, all of it: a name that one has and the other has not, or another shape, is an error.

    Names that start with one of `unused` may be left out or left over.
    """
    own = network.state_dict()
    kept = {name: value for name, value in state.items() if not name.startswith(unused) or _fits(own, name, value)}
    names = {name for name in own if not name.startswith(unused)}
    wrong = sorted(names ^ {name for name in kept if not name.startswith(unused)})
    wrong += [name for name in kept if name in own and not _fits(own, name, kept[name])]
    if wrong:
        raise SettingsError(
            f"the weights are not those of this network: {', '.join(wrong[:3])} and {max(len(wrong) - 3, 0)} more "
            "are missing, left over or of another shape",
            where=str(where),
            remedy="Name the weights of this network, or the network and classes of these weights.",
        )
    network.load_state_dict(kept, strict=not unused)


def _fits(own: Mapping[str, Any], name: str, value: Any) -> bool:
    return name in own and own[name].shape == value.shape

"""Embedders on real people: unit vectors, one a crop, which tell people apart where the weights are real."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import random_weights
from pipelines.errors import SettingsError
from resources.models.registry import describe_model
from resources.models.reid_crops import network_input
from tests.resources.models.pictures import load, made_frames, street, street_truth

TORCHREID = "torchreid is not installed: it comes with the extra `vision`"


def crops(data: Path, numbers: list[int]) -> tuple[list[np.ndarray], list[int]]:
    """The people of some frames of the street, and who they are."""
    truth, pictures, people = street_truth(data), [], []
    for number, frame in zip(numbers, street(data, numbers), strict=True):
        for identity, box in truth[number]:
            if box.area:
                pictures.append(frame[box.y : box.bottom, box.x : box.right])
                people.append(identity)
    return pictures, people


def check(embedder: Any, pictures: list[np.ndarray]) -> np.ndarray:
    """The rules of the role, on any crops."""
    vectors = embedder.embed(pictures)
    assert vectors.dtype == np.float32 and vectors.shape == (len(pictures), 512)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert (embedder.embed(pictures) == vectors).all(), "the same crops give the same vectors"
    alone = np.concatenate([embedder.embed([picture]) for picture in pictures])
    assert np.abs(alone - vectors).max() < 1e-4, "a crop's vector hangs on no other crop"
    assert embedder.embed([]).shape == (0, 512)
    return vectors


@pytest.fixture(scope="module")
def onnx(real_models: Path):
    return load("embedder", "osnet_onnx", real_models / "osnet_x0_25_msmt17.onnx")


def test_osnet_as_onnx_tells_real_people_apart(onnx, real_data: Path) -> None:
    pictures, people = crops(real_data, [1, 120, 240, 360, 480])
    vectors = check(onnx, pictures)
    alike = vectors @ vectors.T
    rows, columns = np.triu_indices(len(people), 1)
    same = np.array([people[i] == people[j] for i, j in zip(rows, columns, strict=True)])
    pairs = alike[rows, columns]
    # The chance that a pair of one person is more alike than a pair of two (area under the curve).
    assert (pairs[same][:, None] > pairs[~same][None]).mean() > 0.85


def test_osnet_as_onnx_takes_any_crop(onnx) -> None:
    check(onnx, [*made_frames(1), np.zeros((1, 1, 3), np.uint8), np.full((300, 9, 3), 255, np.uint8)])


@pytest.fixture(scope="module")
def osnet_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights as torchreid's training saves them, random, of the paper's network."""
    pytest.importorskip("torchreid", reason=TORCHREID)
    return random_weights.osnet_weights(tmp_path_factory.mktemp("weights"))


def test_osnet_of_torchreid_runs_with_random_weights(osnet_weights: Path, real_data: Path) -> None:
    vectors = check(load("embedder", "torchreid", osnet_weights), crops(real_data, [1])[0][:4])
    assert len({vector.tobytes() for vector in vectors}) == len(vectors)


def test_our_input_is_torchreids_own(real_data: Path) -> None:
    transforms = pytest.importorskip("torchvision.transforms", reason="torchvision is not installed")
    (crop, *_), _ = crops(real_data, [1])
    steps = [transforms.ToPILImage(), transforms.Resize((256, 128)), transforms.ToTensor()]
    theirs = transforms.Compose([*steps, transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])(crop)
    assert np.abs(network_input([crop], 256, 128)[0] - theirs.numpy()).max() < 1e-5


@pytest.mark.parametrize("network", ["osnet_x0_25", "resnet50", "init_pretrained_weights"])
def test_other_networks_weights_are_refused(osnet_weights: Path, network: str) -> None:
    with pytest.raises(SettingsError, match=r"not those of this network|has no network"):
        load("embedder", "torchreid", osnet_weights, network=network)


def test_batch_device_and_cards_decide_no_row(real_models: Path) -> None:
    plain = describe_model("embedder", "osnet_onnx", {"weights": "a.onnx", "sha256": "ab" * 32}, {})
    other = describe_model(
        "embedder", "osnet_onnx", {"weights": "a.onnx", "sha256": "ab" * 32},
        {"batch_size": 3, "device": "cuda", "num_gpus": 0.5, "cache": "/x", "file": "/y"},
    )  # fmt: skip
    assert plain.source == other.source == "osnet_onnx/a.onnx@abababab"
    assert plain.options == other.options

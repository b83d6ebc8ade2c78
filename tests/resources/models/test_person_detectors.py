"""Every person detector runs for real: with real weights where they are small enough to be here, else with random ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import random_weights
from pipelines.errors import ModelMissingError, SettingsError
from pipelines.evaluation import Counts, count
from pipelines.geometry import iou
from pipelines.videos.detections import Detection, union
from resources.models.registry import describe_model
from tests.resources.models.pictures import load, made_frames, own, street, street_truth

TORCH = "torch is not installed: it comes with the extra `vision`"


def near(a: list[list[Detection]], b: list[list[Detection]]) -> bool:
    """Whether both say the same, up to what a batch changes in the last digits of a sum."""
    return [len(x) for x in a] == [len(x) for x in b] and all(
        abs(p.score - q.score) < 1e-3 and max(abs(i - j) for i, j in zip(p.box, q.box, strict=True)) <= 1
        for x, y in zip(a, b, strict=True)
        for p, q in zip(x, y, strict=True)
    )


def check(detector: Any, frames: list[np.ndarray]) -> list[list[Detection]]:
    """The rules of the role, on any frames."""
    found = detector.detect(frames)
    assert len(found) == len(frames) and detector.detect([]) == []
    assert detector.detect(frames) == found, "the same frames give the same boxes"
    assert near([detector.detect([frame])[0] for frame in frames], found), "a frame's boxes hang on no other frame"
    for frame, people in zip(frames, found, strict=True):
        assert [p.score for p in people] == sorted((p.score for p in people), reverse=True)
        for person in people:
            assert person.box == person.box.clipped(frame.shape[1], frame.shape[0]) and person.box.area
            assert all(type(v) is int for v in person.box) and type(person.score) is float
    return found


@pytest.fixture(scope="module")
def yolox(real_models: Path):
    return load("person_detector", "yolox", real_models / "yolox_nano_coco.onnx")


def test_yolox_finds_the_people_of_a_real_street(yolox, real_data: Path) -> None:
    numbers = list(range(1, 795, 40))
    truth, counts = street_truth(real_data), Counts()
    for number, people in zip(numbers, yolox.detect(street(real_data, numbers)), strict=True):
        counts += count([p.box for p in people], [box for _, box in truth[number]])
    assert counts.precision > 0.75 and counts.recall > 0.8, counts


def test_yolox_keeps_the_rules(yolox, real_data: Path) -> None:
    frames = street(real_data, [1, 400])
    found = check(yolox, [*frames, frames[0][100:500, 50:300], *made_frames(1)])
    assert len(found[0]) > 3 and found[3] == []


def test_yolox_says_which_classes_it_has(real_models: Path) -> None:
    weights = real_models / "yolox_nano_coco.onnx"
    with pytest.raises(SettingsError, match=r"no class `human`.*person, bicycle"):
        load("person_detector", "yolox", weights, classes={"person": "human"})
    with pytest.raises(SettingsError, match="other classes than the 2 names"):
        load("person_detector", "yolox", weights, names=["person", "other"])
    assert load("person_detector", "yolox", weights, classes={"person": ["person", "car"]}).detect(made_frames(1)) == [
        []
    ]


@pytest.fixture(scope="module")
def torchvision_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torchvision", reason=TORCH)
    return random_weights.torchvision_weights(tmp_path_factory.mktemp("weights"), classes=3)


def test_torchvision_runs_with_random_weights(torchvision_weights: Path, real_data: Path) -> None:
    # Of random weights one class is as likely as another: both are called people, so that there are boxes to look at.
    classes = {"person": ["someone", "something"]}
    detector = load(
        "person_detector",
        "torchvision",
        torchvision_weights,
        names=classes["person"],
        threshold=0.0,
        classes=classes,
        side=96,
    )
    found = check(detector, [frame[:200, :240] for frame in street(real_data, [1, 300])])
    assert all(found)


def test_torchvision_refuses_weights_of_another_network(torchvision_weights: Path) -> None:
    with pytest.raises(SettingsError, match="not those of this network"):
        load("person_detector", "torchvision", torchvision_weights)


@pytest.fixture(scope="module")
def owlv2_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An OWLv2 as its makers would publish one, but tiny and random."""
    reason = "transformers or torch is not installed: they come with the extra `vision`"
    pytest.importorskip("transformers", reason=reason)
    pytest.importorskip("torch", reason=reason)
    return random_weights.owlv2_folder(
        tmp_path_factory.mktemp("owlv2"),
        image_size=96, hidden_size=32, intermediate_size=37, num_hidden_layers=2, num_attention_heads=4,
    )  # fmt: skip


def test_owlv2_runs_with_random_weights(owlv2_folder: Path, real_data: Path) -> None:
    detector = load(
        "person_detector", "owlv2", owlv2_folder, threshold=0.0, classes={"person": "a person", "car": "a car"}
    )
    found = check(detector, [*street(real_data, [1, 300]), *made_frames(1)])
    assert all(found)
    for people in found:
        assert all(iou(a.box, b.box) <= 0.5 for i, a in enumerate(people) for b in people[:i])
    assert load("person_detector", "owlv2", owlv2_folder, threshold=1.0).detect(made_frames(2)) == [[], []]


def test_owlv2_reads_no_pickle(owlv2_folder: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(owlv2_folder, tmp_path / "pickled")
    (tmp_path / "pickled" / "model.safetensors").rename(tmp_path / "pickled" / "pytorch_model.bin")
    with pytest.raises(OSError, match="safetensors"):
        load("person_detector", "owlv2", tmp_path / "pickled")


@pytest.fixture(scope="module")
def yolo_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights as a training run of ultralytics saves them, random, with two classes."""
    pytest.importorskip("ultralytics", reason="ultralytics is not installed: it comes with the extra `vision`")
    return random_weights.yolo_weights(tmp_path_factory.mktemp("weights"), ["person", "frame"])


def test_ultralytics_runs_with_random_weights(yolo_weights: Path, real_data: Path) -> None:
    torch = pytest.importorskip("torch", reason=TORCH)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        detector = load("person_detector", "ultralytics", yolo_weights, threshold=1e-7, side=160)
        check(detector, [*street(real_data, [1, 300]), *made_frames(1)])
        assert torch.get_num_threads() == 1, "a worker's one thread stays one"
    finally:
        torch.set_num_threads(threads)
    with pytest.raises(SettingsError, match=r"no class `panel`.*person, frame"):
        load("panel_detector", "ultralytics", yolo_weights)
    load("panel_detector", "ultralytics", yolo_weights, classes={"panel": "frame"}).detect(made_frames(1))


class Harmful:
    def __reduce__(self):
        return print, ("weights were run",)


def test_ultralytics_runs_nothing_that_weights_hold(tmp_path: Path, yolo_weights: Path, capsys) -> None:
    torch = pytest.importorskip("torch", reason=TORCH)
    torch.save({"model": Harmful()}, tmp_path / "bad.pt")
    with pytest.raises(SettingsError, match="the weights cannot be read"):
        load("person_detector", "ultralytics", tmp_path / "bad.pt")
    assert "weights were run" not in capsys.readouterr().out


def test_detectron2_runs_with_random_weights(tmp_path: Path, real_data: Path) -> None:
    reason = "detectron2 is not installed: it is on no registry and is built from its source, see docs/models.md"
    pytest.importorskip("detectron2", reason=reason)
    import torch
    from detectron2 import model_zoo  # type: ignore[import-not-found]
    from detectron2.config import get_cfg  # type: ignore[import-not-found]
    from detectron2.modeling import build_model  # type: ignore[import-not-found]

    settings = get_cfg()
    settings.merge_from_file(model_zoo.get_config_file("COCO-Detection/faster_rcnn_R_50_FPN_3x.yaml"))
    settings.MODEL.DEVICE = "cpu"
    torch.manual_seed(3)
    torch.save(build_model(settings).state_dict(), tmp_path / "random.pth")
    classes = [f"thing {number}" for number in range(80)]
    detector = load(
        "person_detector", "detectron2", tmp_path / "random.pth", names=classes, threshold=-1.0, classes={"person": classes}
    )  # fmt: skip
    check(detector, [frame[:200, :240] for frame in street(real_data, [1, 300])])


def test_without_detectron2_the_error_says_how_to_get_it_and_what_else_there_is(tmp_path: Path) -> None:
    import importlib.util

    if importlib.util.find_spec("detectron2"):
        pytest.skip("detectron2 is installed")
    with pytest.raises(ModelMissingError) as error:
        describe_model("person_detector", "detectron2", {}).load()
    assert "on no registry" in str(error.value) and "Other adapters of the role: owlv2, torchvision" in str(error.value)


def test_the_union_adds_whom_the_first_missed(real_models: Path, yolox, real_data: Path) -> None:
    named, placed = own(real_models / "yolox_nano_coco.onnx")
    options = {
        "first": {"adapter": "yolox", "options": named | {"threshold": 0.6}},
        "second": {
            "adapter": "yolox",
            "options": named | {"threshold": 0.3, "classes": {"person": ["person", "bicycle"]}},
        },
    }
    model = describe_model("person_detector", "union", options, placed | {"batch_size": 2, "num_gpus": 0.5})
    assert model.source == "union/yolox/yolox_nano_coco.onnx@e8af0749+yolox/yolox_nano_coco.onnx@e8af0749@iou-0.5"
    frames = street(real_data, [1, 400, 700])
    first = load("person_detector", "yolox", real_models / "yolox_nano_coco.onnx", threshold=0.6).detect(frames)
    second = load(
        "person_detector", "yolox", real_models / "yolox_nano_coco.onnx", classes={"person": ["person", "bicycle"]}
    ).detect(frames)
    found = model.load().detect(frames)
    assert found == [union(a, b) for a, b in zip(first, second, strict=True)]
    assert sum(map(len, found)) > sum(map(len, first))


@pytest.mark.parametrize("second", [None, {}, {"adapter": ""}, {"adapter": "yolox", "threshold": 1}])
def test_a_union_of_one_is_told(second: Any) -> None:
    with pytest.raises(SettingsError, match="the union's `second` is no detector"):
        describe_model("person_detector", "union", {"first": {"adapter": "yolox"}, "second": second})


def test_offline_the_error_names_the_place_and_what_else_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from resources.models import weights

    lost = weights.Weights("yolox_nano.onnx", url="http://127.0.0.1:1/yolox_nano.onnx", sha256="0" * 64)
    monkeypatch.setattr(weights, "known_weights", lambda: {"yolox_nano.onnx": lost})
    with pytest.raises(ModelMissingError) as error:
        describe_model("person_detector", "yolox", {}, {"cache": str(tmp_path)}).load()
    assert f"put it at {tmp_path / 'yolox_nano.onnx'}" in str(error.value)
    assert "Other adapters of the role: detectron2, owlv2, torchvision, ultralytics, union." in str(error.value)


def test_a_picture_of_odd_shape_is_no_trouble(yolox) -> None:
    assert yolox.detect([np.zeros((2, 700, 3), np.uint8), np.zeros((1, 1, 3), np.uint8)]) == [[], []]

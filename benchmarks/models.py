"""Pictures a second of each detector, embedder, face matcher and text reader, on one core, as a worker process has it.

    STORYLOOM_REAL_DATA=... STORYLOOM_REAL_MODELS=... python -m benchmarks.models [--seconds 5] [--only yolox,torchvision]

Pages are those of a comic, frames those of a street scene, crops its people, faces those of a driver; four at a time, for the
text reader one by one. Seconds are of the processor, so that other work on the machine does not count. Weights are the small
real ones of the folder STORYLOOM_REAL_MODELS, else random ones of the full size: speed does not hang on what they know, though
random ones find nothing or everything, and sorting out what is found costs time as well. What is not installed is said.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from benchmarks import random_weights
from pipelines.comics.page_pictures import decode
from pipelines.errors import ModelMissingError, StoryloomError
from resources.models.libraries import library
from resources.models.registry import describe_model
from resources.models.weights import sha256_of

_BATCH = 4


@dataclass(frozen=True)
class Case:
    """One row: an adapter of a role, its weights (made when they are needed), and what it is run on."""

    role: str
    adapter: str
    on: str
    weights: Callable[[], Path] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Pictures:
    """What models are run on."""

    pages: list[np.ndarray]
    frames: list[np.ndarray]
    crops: list[np.ndarray]
    faces: list[np.ndarray]


def pictures(data: Path) -> Pictures:
    """Real pictures of the folder that STORYLOOM_REAL_DATA names, as the stages see them."""
    folder = data / "comics" / "craphound-1"
    pages = [decode((folder / f"page{number}.jpg").read_bytes(), at_least=1000) for number in range(1, 9)]
    frames = _frames(data / "videos" / "vtest.avi", 16)
    crops = []
    for line in (data / "videos" / "vtest.gt.txt").read_text().splitlines():
        number, _, x, y, w, h = (round(float(v)) for v in line.split(",")[:6])
        if number <= len(frames):
            crops.append(np.ascontiguousarray(frames[number - 1][max(y, 0) : y + h, max(x, 0) : x + w]))
    faces = [cv2.resize(f, None, fx=2, fy=2) for f in _frames(data / "videos" / "carphone_pristine.mp4", 16)]
    return Pictures(pages, frames, [crop for crop in crops if crop.size][:64], [np.asarray(face) for face in faces])


def _frames(path: Path, count: int) -> list[np.ndarray]:
    capture = cv2.VideoCapture(str(path))
    return [np.ascontiguousarray(capture.read()[1][..., ::-1]) for _ in range(count)]


def cases(real: Path, folder: Path) -> Iterator[Case]:
    """All adapters, each with the weights that can be had here."""
    yolox, osnet, yunet = (
        real / name for name in ("yolox_nano_coco.onnx", "osnet_x0_25_msmt17.onnx", "face_detection_yunet.onnx")
    )
    names = [f"class {number}" for number in range(80)]

    def yolo() -> Path:
        return random_weights.yolo_weights(folder, ["person", "panel"])

    def faster() -> Path:
        return random_weights.torchvision_weights(folder)

    yield Case("panel_detector", "opencv", "pages")
    yield Case("panel_detector", "yolox", "pages", lambda: yolox, {"names": names, "classes": {"panel": names}}, "nano")
    yield Case("panel_detector", "ultralytics", "pages", yolo, {"side": 1024}, "random yolo11n at 1024")
    own = {"names": names[:2], "classes": {"panel": names[0]}}
    small = lambda: random_weights.torchvision_weights(folder / "own", classes=3)  # noqa: E731
    yield Case("panel_detector", "torchvision", "pages", small, own, "random Faster R-CNN R50-FPN at 800")
    yield Case("panel_detector", "detectron2", "pages", None, own | {"weights": "own.pth"})
    yield Case("panel_detector", "magi", "pages", None, {}, "needs its weights")
    yield Case("text_reader", "rapidocr", "pages", None, {}, "PP-OCRv6")
    yield Case("person_detector", "yolox", "frames", lambda: yolox, {}, "nano")
    yield Case("person_detector", "ultralytics", "frames", yolo, {}, "random yolo11n at 640")
    yield Case("person_detector", "torchvision", "frames", faster, {}, "random Faster R-CNN R50-FPN at 800")
    yield Case("person_detector", "detectron2", "frames")
    owl = lambda: random_weights.owlv2_folder(folder / "owlv2")  # noqa: E731
    yield Case("person_detector", "owlv2", "frames", owl, {}, "random, base at 960")
    yield Case("embedder", "osnet_onnx", "crops", lambda: osnet, {}, "x0.25")
    yield Case("embedder", "torchreid", "crops", lambda: random_weights.osnet_weights(folder), {}, "random x1.0")
    yield Case("face_matcher", "face_recognition", "faces")
    vectors = {"detector": yunet.name, "detector_sha256": sha256_of(yunet)}
    note = "YuNet; OSNet x0.25 in SFace's place"
    yield Case(
        "face_matcher", "onnx", "faces", lambda: osnet, vectors | {"runtime": {"detector_file": str(yunet)}}, note
    )


def measure(case: Case, shown: Sequence[np.ndarray], seconds: float) -> float:
    """Pictures a second, after one picture to warm up; as many batches as fit into the time, at least one."""
    options = dict(case.options)
    runtime = options.pop("runtime", {})
    if case.weights is not None:
        path = case.weights()
        options |= {"weights": path.name, "sha256": sha256_of(path)}
        runtime = runtime | {"file": str(path)}
    model = describe_model(case.role, case.adapter, options, runtime).load()
    work = {
        "panel_detector": lambda batch: model.detect(batch),
        "person_detector": lambda batch: model.detect(batch),
        "text_reader": lambda batch: model.read(batch),
        "embedder": lambda batch: model.embed(batch),
        "face_matcher": lambda batch: model.match(shown[0], batch),
    }[case.role]
    size = 1 if case.role == "text_reader" else _BATCH
    work(list(shown[:1]))
    done, started = 0, time.process_time()
    while True:
        batch = [shown[(done + i) % len(shown)] for i in range(size)]
        work(batch)
        done += len(batch)
        taken = time.process_time() - started
        if taken >= seconds:
            return done / taken


def one_thread() -> None:
    """One thread for each library, as in a worker process."""
    cv2.setNumThreads(1)
    if find_spec("torch"):
        library("torch").set_num_threads(1)


def main() -> None:
    """Print one line of a table for each adapter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--only", default="", help="adapters, by commas")
    arguments = parser.parse_args()
    only = [name for name in arguments.only.split(",") if name]
    one_thread()
    shown = pictures(Path(os.environ["STORYLOOM_REAL_DATA"]))
    print("| role | adapter | weights | on | a second | ms each |")
    print("|---|---|---|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "own").mkdir()
        for case in cases(Path(os.environ["STORYLOOM_REAL_MODELS"]), Path(folder)):
            if only and case.adapter not in only:
                continue
            line = f"| {case.role} | {case.adapter} | {case.note} | {case.on} |"
            try:
                rate = measure(case, getattr(shown, case.on), arguments.seconds)
            except (ModelMissingError, StoryloomError, ModuleNotFoundError, TypeError) as error:
                print(f"{line} not measured: {str(error).partition('. ')[0]} | |", flush=True)
            else:
                print(f"{line} {rate:.3g} | {1000 / rate:.3g} |", flush=True)


if __name__ == "__main__":
    main()

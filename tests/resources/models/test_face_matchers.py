"""Face matchers on photographs: all faces of a crop count, wherever the one that matches stands."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from pipelines.errors import ItemError
from pipelines.videos.faces import FaceMatch
from resources.models.onnx_faces import similarity
from resources.models.registry import describe_model
from resources.models.weights import sha256_of
from tests.resources.models.pictures import made_frames


def photograph() -> np.ndarray:
    """A photograph of two men that comes with ultralytics."""
    spec = importlib.util.find_spec("ultralytics")
    if spec is None or spec.origin is None:
        pytest.skip("ultralytics is not installed, and its photograph of two men with it")
    return np.asarray(Image.open(Path(spec.origin).parent / "assets" / "zidane.jpg").convert("RGB"))


def driver(data: Path, number: int) -> np.ndarray:
    """A frame of the video of a man in a car, three times as large."""
    capture = cv2.VideoCapture(str(data / "videos" / "carphone_pristine.mp4"))
    capture.set(cv2.CAP_PROP_POS_FRAMES, number)
    ok, frame = capture.read()
    assert ok
    return np.ascontiguousarray(cv2.resize(frame, None, fx=3, fy=3, interpolation=cv2.INTER_CUBIC)[..., ::-1])


def beside(*pictures: np.ndarray) -> np.ndarray:
    height = max(p.shape[0] for p in pictures)
    return np.hstack([np.pad(p, ((0, height - p.shape[0]), (0, 0), (0, 0))) for p in pictures])


@pytest.fixture(scope="module")
def dlib_matcher():
    pytest.importorskip("dlib", reason="dlib is not installed: it comes with the extra `faces`")
    if not importlib.util.find_spec("face_recognition_models"):
        pytest.skip("face_recognition_models is not installed: it comes with the extra `faces`")
    return describe_model("face_matcher", "face_recognition", {}).load()


@pytest.fixture(scope="module")
def onnx_matcher(real_models: Path):
    """YuNet with real weights; for want of a network for faces, one for people turns them into vectors."""
    detector, vectors = real_models / "face_detection_yunet.onnx", real_models / "osnet_x0_25_msmt17.onnx"
    options = {
        "weights": vectors.name, "sha256": sha256_of(vectors), "mean": 114.0, "scale": 57.0, "tolerance": 0.5,
        "detector": detector.name, "detector_sha256": sha256_of(detector),
    }  # fmt: skip
    model = describe_model("face_matcher", "onnx", options, {"file": str(vectors), "detector_file": str(detector)})
    assert model.source == "onnx/face_detection_yunet.onnx@ebafce4e+osnet_x0_25_msmt17.onnx@bb2267b2"
    return model.load()


@pytest.fixture(params=["dlib_matcher", "onnx_matcher"])
def matcher(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


def test_every_face_of_a_crop_is_compared(matcher, real_data: Path) -> None:
    right, him = photograph()[:, 760:], driver(real_data, 0)
    for crop in (beside(him, right), beside(right, him), beside(right, made_frames(1)[0], him)):
        faces = [face.box for face in matcher.faces(crop)]
        assert len(faces) == 2
        (found,) = matcher.match(him, [crop])
        assert found.verdict == "match" and found.distance is not None and found.distance < 0.5
    (other,) = matcher.match(him, [right])
    assert other.distance is not None and found.distance is not None and other.distance > found.distance


def test_who_is_who_by_dlib(dlib_matcher, real_data: Path) -> None:
    him, later, right = driver(real_data, 0), driver(real_data, 60), photograph()[:, 760:]
    same, other, nobody = dlib_matcher.match(him, [later, right, made_frames(1)[0]])
    assert same.verdict == "match" and same.distance is not None and 0 < same.distance <= 0.5
    assert other.verdict == "no_match" and other.distance is not None and other.distance > 0.6
    assert nobody == FaceMatch("no_face")


def test_the_same_question_has_the_same_answer_alone_and_in_a_batch(matcher, real_data: Path) -> None:
    him = driver(real_data, 0)
    pictures = [driver(real_data, number) for number in (0, 30, 60)] + [np.zeros((40, 30, 3), np.uint8)]
    found = matcher.match(him, pictures)
    assert [f.verdict for f in found][-1] == "no_face" and found[0].distance == 0
    assert matcher.match(him, pictures) == found == [matcher.match(him, [p])[0] for p in pictures]
    assert matcher.match(him, []) == []


def test_the_largest_face_of_a_reference_counts(matcher, real_data: Path) -> None:
    him, right = driver(real_data, 0), photograph()[:, 760:]
    small = cv2.resize(right, None, fx=0.6, fy=0.6, interpolation=cv2.INTER_AREA)
    large = cv2.resize(him, None, fx=1.5, fy=1.5, interpolation=cv2.INTER_CUBIC)
    assert matcher.match(beside(small, large), [beside(small, large)])[0].distance == 0
    assert matcher.match(beside(small, large), [him])[0].verdict == "match"


def test_a_reference_without_a_face_is_told(matcher) -> None:
    with pytest.raises(ItemError, match="no face in the reference") as error:
        matcher.match(np.zeros((60, 60, 3), np.uint8), [])
    assert error.value.kind == "no_reference_face"


def test_dlib_gives_what_the_package_gives(dlib_matcher, real_data: Path) -> None:
    """The steps of `face_recognition.face_encodings`, written out: its package cannot be imported everywhere."""
    import dlib

    folder = (
        Path((importlib.util.find_spec("face_recognition_models").submodule_search_locations or [""])[0]) / "models"
    )  # type: ignore[union-attr]
    him = driver(real_data, 0)
    (place,) = dlib.get_frontal_face_detector()(him, 1)  # type: ignore[attr-defined]
    points = dlib.shape_predictor(str(folder / "shape_predictor_5_face_landmarks.dat"))(him, place)  # type: ignore[attr-defined]
    encoder = dlib.face_recognition_model_v1(str(folder / "dlib_face_recognition_resnet_model_v1.dat"))  # type: ignore[attr-defined]
    assert (np.array(encoder.compute_face_descriptor(him, points, 1)) == dlib_matcher.faces(him)[0].vector).all()


def test_a_similarity_is_found_again() -> None:
    points = np.array([[38.0, 51], [73, 52], [56, 71], [41, 92], [70, 92]])
    turn = 1.7 * np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    moved = points @ turn.T + [12, -7]
    assert np.allclose(similarity(points, moved), np.hstack([turn, [[12], [-7]]]))
    back = similarity(points, points * [-1, 1])
    assert np.linalg.det(back[:, :2]) > 0, "a face is never mirrored"

"""Faces by ONNX files: YuNet finds them (OpenCV), and a network such as SFace turns each into a vector (onnxruntime)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np

from pipelines.geometry import Box
from pipelines.videos.embeddings import unit_rows
from resources.models.faces_by_vectors import Face, FacesByVectors
from resources.models.libraries import onnx_session
from resources.models.weights import weights_path, weights_source

YUNET = "face_detection_yunet_2023mar.onnx"
SFACE = "face_recognition_sface_2021dec.onnx"
SFACE_TOLERANCE = 1.128
"""The distance between unit vectors under which SFace's makers call two faces one person's."""

_SIDE = 112
_TEMPLATE = np.array(
    [[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]], np.float32
)
"""Where networks for faces of 112 x 112 want the eyes, the nose and the corners of the mouth."""


def source(adapter: str, options: Mapping[str, Any]) -> str:
    """The adapter, both networks and the first digits of their sums."""
    finder = weights_source(adapter, options.get("detector", YUNET), options.get("detector_sha256", ""))
    encoder = weights_source(adapter, options.get("weights", SFACE), options.get("sha256", ""))
    return f"{finder}+{encoder.partition('/')[2]}"


def onnx_faces(
    weights: str = SFACE,
    sha256: str = "",
    *,
    detector: str = YUNET,
    detector_sha256: str = "",
    tolerance: float = SFACE_TOLERANCE,
    threshold: float = 0.7,
    mean: float = 0.0,
    scale: float = 1.0,
    device: str = "",
    batch_size: int = 1,
    threads: int = 1,
    file: str = "",
    detector_file: str = "",
    cache: str = "",
) -> FacesByVectors:
    """A face matcher: faces match where their unit vectors lie at most `tolerance` apart.

    The second network takes a 1 x 3 x H x W aligned RGB face, of whose bytes `mean` is taken away and which are divided by
    `scale` (0 and 1 for SFace, 127.5 and 127.5 for ArcFace). `threshold` is how sure YuNet must be of a face.
    """
    path = weights_path(detector, detector_sha256, file=detector_file, cache=cache)
    finder = cv2.FaceDetectorYN.create(str(path), "", (_SIDE, _SIDE), threshold)
    session = onnx_session(weights_path(weights, sha256, file=file, cache=cache), device, threads)
    (entry,) = session.get_inputs()
    height, width = (side if isinstance(side, int) else _SIDE for side in entry.shape[2:])

    def faces(image: np.ndarray) -> list[Face]:
        finder.setInputSize((image.shape[1], image.shape[0]))
        rows = finder.detect(np.ascontiguousarray(image[..., ::-1]))[1]
        found = []
        for row in [] if rows is None else rows:
            aligned = cv2.resize(_aligned(image, row[4:14].reshape(5, 2)), (width, height))
            pixels = (aligned.astype(np.float32) - mean) / scale
            inputs = np.ascontiguousarray(pixels.transpose(2, 0, 1)[None], np.float32)
            vector = session.run(None, {entry.name: inputs})[0].reshape(1, -1)
            x, y, w, h = (round(float(v)) for v in row[:4])
            box = Box(x, y, w, h).clipped(image.shape[1], image.shape[0])
            found.append(Face(box, unit_rows(vector)[0]))
        return found

    return FacesByVectors(faces, tolerance)


def _aligned(image: np.ndarray, landmarks: np.ndarray) -> np.ndarray:
    """The face whose five landmarks (x, y) these are, turned, scaled and shifted onto the template: 112 x 112 RGB."""
    return np.asarray(cv2.warpAffine(image, similarity(landmarks, _TEMPLATE), (_SIDE, _SIDE)))


def similarity(points: np.ndarray, onto: np.ndarray) -> np.ndarray:
    """The rotation, scale and shift (2 x 3) that bring points (N x 2) nearest to others, by least squares (Umeyama 1991)."""
    points, onto = np.asarray(points, float), np.asarray(onto, float)
    here, there = points - points.mean(axis=0), onto - onto.mean(axis=0)
    u, sizes, v = np.linalg.svd(there.T @ here / len(points))
    signs = np.array([1.0, np.sign(np.linalg.det(u @ v))])
    turn = u @ np.diag(signs) @ v
    scale = (sizes * signs).sum() / max(here.var(axis=0).sum(), 1e-12)
    return np.hstack([scale * turn, (onto.mean(axis=0) - scale * turn @ points.mean(axis=0))[:, None]])

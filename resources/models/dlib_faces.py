"""The face recognition of the package `face_recognition`: dlib with the same models and the same steps.

Called through dlib itself, from whichever package brings it (`dlib` or `dlib-bin`): the package's own import ends the
program where setuptools is new.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pipelines.geometry import Box
from resources.models.faces_by_vectors import Face, FacesByVectors
from resources.models.libraries import library
from resources.models.weights import weights_path, weights_source

_ENCODER = "dlib_face_recognition_resnet_model_v1.dat"
_LANDMARKS = "shape_predictor_5_face_landmarks.dat"


def source(adapter: str, options: Mapping[str, Any]) -> str:
    """The adapter, the network and the first digits of its sum."""
    return weights_source(adapter, _ENCODER)


def dlib_faces(
    tolerance: float = 0.5, upsample: int = 1, *, device: str = "", batch_size: int = 1, cache: str = ""
) -> FacesByVectors:
    """A face matcher: faces match at a distance of `tolerance` or less (the paper's 0.5; the package's default is 0.6).

    `upsample` doublings make smaller faces found, from about 80 pixels down to 40 with one. dlib computes where it was built
    to, one face at a time.
    """
    dlib = library("dlib", "faces")
    find = dlib.get_frontal_face_detector()
    landmarks = dlib.shape_predictor(str(weights_path(_LANDMARKS, cache=cache)))
    encoder = dlib.face_recognition_model_v1(str(weights_path(_ENCODER, cache=cache)))

    def faces(image: np.ndarray) -> list[Face]:
        height, width = image.shape[:2]
        pixels = np.ascontiguousarray(image)
        found = []
        for r in find(pixels, upsample):
            box = Box(r.left(), r.top(), r.width(), r.height()).clipped(width, height)
            vector = np.array(encoder.compute_face_descriptor(pixels, landmarks(pixels, r), 1))
            found.append(Face(box, vector))
        return found

    return FacesByVectors(faces, tolerance)

from __future__ import annotations

import numpy as np
import pytest

from pipelines.videos.embeddings import unit_rows
from pipelines.videos.faces import FaceMatch, nearest_face


@pytest.mark.parametrize("place", [0, 1, 2])
def test_all_faces_of_a_crop_are_compared(place: int) -> None:
    faces = np.full((3, 4), 9.0)
    faces[place] = [0.25, 0, 0, 0]
    assert nearest_face(np.zeros(4), faces, 0.5) == FaceMatch("match", 0.25)


def test_the_bound_itself_is_a_match_and_beyond_it_is_none() -> None:
    reference, face = np.zeros(2), np.array([[0.5, 0.0]])
    assert nearest_face(reference, face, 0.5).verdict == "match"
    assert nearest_face(reference, face, 0.499) == FaceMatch("no_match", 0.5)


def test_a_crop_without_a_face_is_neither() -> None:
    assert nearest_face(np.zeros(2), np.zeros((0, 2)), 0.5) == FaceMatch("no_face", None)


def test_rows_are_made_unit_vectors_and_zeros_stay() -> None:
    rows = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0], [1e-30, 0.0]]))
    assert rows.dtype == np.float32
    assert rows.tolist() == [[np.float32(0.6), np.float32(0.8)], [0, 0], [1, 0]]
    assert unit_rows(np.zeros((0, 7))).shape == (0, 7)

"""Two person detectors as one: the second adds whom the first has missed (NarrativeTrack, section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pipelines.errors import SettingsError
from pipelines.videos.detections import SAME_PERSON, Detection, PersonDetector, union

Chosen = Mapping[str, Any]
"""An adapter of the role and its options, as a profile says them: `{adapter: yolox, options: {threshold: 0.4}}`."""


def source(adapter: str, options: Mapping[str, Any]) -> str:
    """Both detectors and the bound."""
    from resources.models.registry import describe_model

    both = [
        describe_model("person_detector", *_parts(options.get(place), place)).source for place in ("first", "second")
    ]
    return f"{adapter}/{both[0]}+{both[1]}@iou-{options.get('same_person', SAME_PERSON)}"


class UnionPersons:
    """`pipelines.videos.detections.PersonDetector` by the union of two others.

    `each` holds settings of the place that decide no row, by `first` and `second`; `shared` are for both.
    """

    def __init__(
        self,
        first: Chosen,
        second: Chosen,
        same_person: float = SAME_PERSON,
        *,
        each: Mapping[str, Mapping[str, Any]] | None = None,
        **shared: Any,
    ) -> None:
        each = each or {}
        self._first = _build(first, "first", shared | dict(each.get("first", {})))
        self._second = _build(second, "second", shared | dict(each.get("second", {})))
        self._same_person = same_person

    def detect(self, frames: Sequence[np.ndarray]) -> list[list[Detection]]:
        """The people of each frame: the first's, the surest first, then those whom only the second found."""
        both = zip(self._first.detect(frames), self._second.detect(frames), strict=True)
        return [union(first, second, self._same_person) for first, second in both]


def _build(chosen: Chosen, place: str, runtime: Mapping[str, Any]) -> PersonDetector:
    from resources.models.registry import ADAPTERS, build_adapter

    adapter, options = _parts(chosen, place)
    return build_adapter(ADAPTERS["person_detector"][adapter], **options, **runtime)


def _parts(chosen: Any, place: str) -> tuple[str, dict[str, Any]]:
    if not isinstance(chosen, Mapping) or not chosen.get("adapter") or set(chosen) - {"adapter", "options"}:
        raise SettingsError(
            f"the union's `{place}` is no detector", remedy=f"Say `{place}: {{adapter: NAME, options: {{...}}}}`."
        )
    return str(chosen["adapter"]), dict(chosen.get("options") or {})

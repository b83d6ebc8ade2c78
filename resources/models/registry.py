"""Which adapters fill which role, by the names that a profile uses.

A new adapter is one line here and one file beside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from pipelines.errors import ModelMissingError, SettingsError
from pipelines.stage import Model

_CHAT = {"openai": "resources.models.chat:openai_chat", "gemini": "resources.models.chat:gemini_chat"}
ADAPTERS: dict[str, dict[str, str]] = {
    "panel_detector": {
        "opencv": "resources.models.opencv_panels:OpenCvPanels",
        "yolox": "resources.models.yolox_boxes:panels",
        "ultralytics": "resources.models.ultralytics_boxes:panels",
        "torchvision": "resources.models.torchvision_boxes:panels",
        "detectron2": "resources.models.detectron2_boxes:panels",
        "magi": "resources.models.magi_panels:panels",
    },
    "text_reader": {
        "rapidocr": "resources.models.rapidocr_texts:RapidOcrTexts",
        "openai": "resources.models.chat_texts:openai_texts",
        "gemini": "resources.models.chat_texts:gemini_texts",
    },
    "captioner": _CHAT,
    "page_classifier": _CHAT,
    "person_detector": {
        "yolox": "resources.models.yolox_boxes:persons",
        "torchvision": "resources.models.torchvision_boxes:persons",
        "detectron2": "resources.models.detectron2_boxes:persons",
        "owlv2": "resources.models.owlv2_persons:persons",
        "ultralytics": "resources.models.ultralytics_boxes:persons",
        "union": "resources.models.union_persons:UnionPersons",
    },
    "embedder": {
        "osnet_onnx": "resources.models.osnet_onnx:OsnetOnnx",
        "torchreid": "resources.models.osnet_torchreid:OsnetTorchreid",
    },
    "face_matcher": {
        "onnx": "resources.models.onnx_faces:onnx_faces",
        "face_recognition": "resources.models.dlib_faces:dlib_faces",
    },
    "voters": _CHAT,
}


def describe_model(
    role: str, adapter: str, options: Mapping[str, Any], runtime: Mapping[str, Any] | None = None
) -> Model[Any]:
    """The model that a profile chose for a role; its adapter is imported and built where a shard is computed.

    The source that its rows carry is the module's `SOURCE`, or what its `source(adapter, options)` makes of the options;
    naming a model imports no library of models. A module with `IS_REMOTE` asks a service elsewhere.
    """
    known = ADAPTERS[role]
    if adapter not in known:
        raise SettingsError(
            f"no adapter `{adapter}` for the role {role}", remedy=f"The profile can name: {', '.join(sorted(known))}."
        )
    module = import_module(known[adapter].partition(":")[0])
    source = module.source(adapter, options) if hasattr(module, "source") else module.SOURCE
    settings = {"path": known[adapter], **options}
    return Model(source, build_adapter, settings, dict(runtime or {}), getattr(module, "IS_REMOTE", False))


def build_adapter(path: str, *, num_gpus: float | None = None, **options: Any) -> Any:
    """Import and build an adapter by `module:name`; a missing library or a bad option is one clear sentence.

    `num_gpus` is for engines that place a model: which share of a graphics card one copy of it takes.
    """
    module, _, name = path.partition(":")
    try:
        with clear_errors(path):
            return getattr(import_module(module), name)(**options)
    except ModelMissingError as error:
        others = sorted({other for known in ADAPTERS.values() if path in known.values() for other in known})
        others = [other for other in others if all(known.get(other) != path for known in ADAPTERS.values())]
        if not others:
            raise
        remedy = f"{error.remedy} Other adapters of the role: {', '.join(others)}.".strip()
        raise ModelMissingError(error.what, where=error.where, remedy=remedy) from error


@contextmanager
def clear_errors(path: str) -> Iterator[None]:
    """Turn what goes wrong when an adapter is imported and built into an error that says what to do."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModelMissingError(
            f"the library {error.name} is not installed", where=path, remedy="Install the extra that this model needs."
        ) from error
    except ImportError as error:
        # The library is there, but something it needs is not: a shared library of the system, or another version.
        raise ModelMissingError(
            f"a library cannot be loaded: {error}", where=path, remedy="Repair or reinstall what it names."
        ) from error
    except TypeError as error:
        raise SettingsError(f"the model's options are not valid: {error}", where=path) from error

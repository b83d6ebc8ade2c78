"""Which adapters fill which role, by the names that a profile uses.

A new adapter is one line here and one file beside.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pipelines.errors import ModelMissingError, SettingsError
from pipelines.stage import Model

ADAPTERS: dict[str, dict[str, str]] = {
    "panel_detector": {"opencv": "resources.models.opencv_panels:OpenCvPanels"},
    "text_reader": {"rapidocr": "resources.models.rapidocr_texts:RapidOcrTexts"},
}


def describe_model(role: str, adapter: str, options: dict[str, Any]) -> Model[Any]:
    """The model that a profile chose for a role; its adapter is imported and built where a shard is computed.

    The source that its rows carry is the adapter class's attribute `SOURCE`, kept in its module so that naming a model
    imports no library of models.
    """
    known = ADAPTERS[role]
    if adapter not in known:
        raise SettingsError(
            f"no adapter `{adapter}` for the role {role}", remedy=f"The profile can name: {', '.join(sorted(known))}."
        )
    source = import_module(known[adapter].partition(":")[0]).SOURCE
    settings = (("path", known[adapter]), *sorted(options.items()))
    return Model(source, build_adapter, settings)


def build_adapter(path: str, **options: Any) -> Any:
    """Import and build an adapter by `module:Class`; a missing library or a bad option is one clear sentence."""
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)(**options)
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

"""Settings from the environment, and the profile that says how the work is done."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from pipelines.comics.archives import Limits
from pipelines.errors import SettingsError, StoryloomError
from pipelines.pick_a_panel.samples import TaskSettings
from pipelines.schemas import SPLITS, TASKS


class Settings(BaseSettings):
    """The four environment variables that say what is built, where, how, and from which seed."""

    model_config = SettingsConfigDict(env_prefix="STORYLOOM_", env_ignore_empty=True, extra="ignore")

    library: str = ""
    """Folder with `comics/` (or with books in it); empty: the sample library, drawn on first use."""
    lake: str = "lake"
    """Where tables are kept: a path or a URL."""
    profile: str = "laptop"
    """A profile's name or a path to a YAML."""
    seed: int = 0
    """The seed of all sampling."""


Split = Literal["train", "val", "test"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EngineProfile(_Strict):
    """Which engine runs the stages, with how many workers (none: one for each core)."""

    name: Literal["local"] = "local"
    workers: int | None = Field(default=None, ge=1)
    shard_seconds: float | None = Field(default=4 * 3600, gt=0, allow_inf_nan=False)
    """A book that takes a stage longer than this is ended and fails (none: however long it takes). The longest books
    take an hour to be read."""


class ModelProfile(_Strict):
    """The adapter of a role, and the settings that it takes."""

    adapter: str
    options: dict[str, Any] = Field(default_factory=dict)
    """What decides the rows: the model, its weights, thresholds. A change makes the table stale."""
    runtime: dict[str, Any] = Field(default_factory=dict)
    """What does not: an address, a pace, a device."""


class ModelsProfile(_Strict):
    """One adapter for each role; a role without one is not filled, and what it would do is done without it."""

    panel_detector: ModelProfile = ModelProfile(adapter="opencv")
    text_reader: ModelProfile = ModelProfile(adapter="rapidocr")
    captioner: ModelProfile | None = None
    """Writes the captions of panels that no person captioned."""
    page_classifier: ModelProfile | None = None
    """Says of each page what it is and whether a story starts on it, in place of the signals."""
    person_detector: ModelProfile | None = None
    """Finds the people in the frames of videos."""
    embedder: ModelProfile | None = None
    """Says of each crop of a person what they look like, as a vector."""
    face_matcher: ModelProfile | None = None
    """Says whether a crop shows the face of a reference picture."""
    voters: tuple[ModelProfile, ...] = ()
    """Chat models that vote on whether two pictures show the same person."""


class ChatProfile(_Strict):
    """Money and memory of all chat models."""

    budget: float | None = Field(default=None, ge=0)
    """The most that a run may spend, in US dollars; none: no limit."""
    prices: str = ""
    """A YAML file of prices, over those that ship (`resources/chat/prices.yaml`)."""
    replies: str = ""
    """A path or URL where replies are kept, so that several lakes share them; none: in the lake."""


class SingleImageProfile(_Strict):
    """The rendering of samples as single pictures: for which splits, and how (see `pick_a_panel.render.Rendering`)."""

    splits: tuple[Split, ...] = ()
    layout: Literal["rows", "squares"] = "rows"
    longest: int = Field(default=500, ge=48)
    keep_aspect: bool = False
    most_in_row: int | None = Field(default=None, ge=1)


class ReleaseProfile(_Strict):
    """How samples are released."""

    hidden_answers: tuple[Split, ...] = ("test",)
    """Splits whose release hides the answers; they are then kept in a folder beside it."""
    jpeg_quality: int = Field(default=90, ge=1, le=100)
    single_image: SingleImageProfile = SingleImageProfile()


def _known_fields(kind: type) -> Callable[[Any], Any]:
    """A validator that refuses what pydantic lets pass: names which the dataclass does not have, and no real numbers."""
    names = sorted(f.name for f in dataclasses.fields(kind))

    def check(value: Any) -> Any:
        unknown = sorted(set(value) - set(names)) if isinstance(value, dict) else []
        if unknown:
            raise ValueError(f"{', '.join(map(str, unknown))}: no such setting; there are {', '.join(names)}")
        for name, setting in value.items() if isinstance(value, dict) else ():
            if isinstance(setting, float) and not math.isfinite(setting):
                raise ValueError(f"{name} is {setting}, which is no size")
        return value

    return check


def _splits_and_tasks(value: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    for split, tasks in value.items():
        if split not in SPLITS or not set(tasks) <= set(TASKS):
            raise ValueError(f"{split}: {', '.join(tasks)}: splits are {', '.join(SPLITS)}, tasks {', '.join(TASKS)}")
    return value


def _some_share(value: dict[Split, float]) -> dict[Split, float]:
    if not sum(value.values()):
        raise ValueError("at least one split needs a share of the books")
    if not math.isfinite(sum(value.values())):
        raise ValueError("the shares are too large to be added up")
    return value


class Profile(_Strict):
    """How the work is done. Everything has a default, so a profile names only what it changes."""

    engine: EngineProfile = EngineProfile()
    build_missing_upstream: bool = True
    """Build missing or outdated upstream tables before an asset (a laptop's comfort), or stop and name them."""
    max_failure_ratio: float = Field(default=0.1, ge=0, le=1)
    """Failures above this share of a table's items turn the asset check from a warning into an error."""
    split_shares: Annotated[
        dict[Split, Annotated[float, Field(ge=0, allow_inf_nan=False)]], AfterValidator(_some_share)
    ] = {
        "train": 0.8,
        "val": 0.05,
        "test": 0.15,
    }
    """Shares of the books that the catalog gives no split; the paper's collection has 80, 5 and 15 books."""
    models: ModelsProfile = ModelsProfile()
    chat: ChatProfile = ChatProfile()
    limits: Annotated[Limits, BeforeValidator(_known_fields(Limits))] = Limits()
    tasks: Annotated[TaskSettings, BeforeValidator(_known_fields(TaskSettings))] = TaskSettings()
    max_samples: Annotated[dict[str, dict[str, Annotated[int, Field(ge=1)]]], AfterValidator(_splits_and_tasks)] = (
        Field(default={"val": {"visual_closure": 300}, "test": {"visual_closure": 1000}})
    )
    """The most samples of a split and task; the defaults are the two round numbers of ComicsPAP's Table 1."""
    release: ReleaseProfile = ReleaseProfile()


def load_profile(name: str) -> Profile:
    """A profile by name (`laptop`, `gpu`) or by the path of a YAML file; raises SettingsError with the reason."""
    built_in = files("resources") / "profiles" / f"{name}.yaml"
    path = Path(name)
    try:
        if name.isidentifier() and built_in.is_file():
            text = built_in.read_text(encoding="utf-8")
        else:
            text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        remedy = "Set STORYLOOM_PROFILE to laptop, gpu, or the path of a YAML file."
        raise SettingsError(f"the profile cannot be read: {error}", where=name, remedy=remedy) from error
    try:
        return Profile.model_validate(yaml.safe_load(text) or {})
    except (yaml.YAMLError, ValidationError, StoryloomError) as error:
        raise SettingsError(f"the profile is not valid: {error}", where=name) from error


def load_settings(**overrides: Any) -> Settings:
    """Settings from the environment, with the overrides that say something; raises SettingsError with the reason.

    An empty text, in either, is no setting.
    """
    try:
        return Settings(**{k: v for k, v in overrides.items() if v not in (None, "")})
    except ValidationError as error:
        remedy = "See the table of settings in README.md."
        raise SettingsError(f"a setting is not valid: {error}", remedy=remedy) from error

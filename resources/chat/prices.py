"""What a call costs: prices that the user edits, and how many tokens a request has before it is sent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pipelines.chat import ChatRequest, Media, Quoted, schema_of
from pipelines.errors import SettingsError
from pipelines.identity import canonical_json

_LETTERS_A_TOKEN = 3.5
"""Bytes of UTF-8 that make a token: English prose has about 4, and an estimate should rather be high."""


class Price(BaseModel):
    """Dollars for a million tokens; tokens of a picture and of a second of video."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    picture: int = Field(default=1100, ge=0)
    clip_second: int = Field(default=300, ge=0)
    batch: float = Field(default=1.0, ge=0, le=1)

    def dollars(self, input_tokens: float, output_tokens: float, *, batch: bool = False) -> float:
        """What these tokens cost."""
        whole = (input_tokens * self.input + output_tokens * self.output) / 1e6
        return whole * self.batch if batch else whole


def load_prices(path: str = "") -> dict[str, Price]:
    """The prices by model that ship here, with those of the user's file over them.

    Raises `SettingsError` when the file cannot be read or holds something else.
    """
    shipped = (files("resources.chat") / "prices.yaml").read_text(encoding="utf-8")
    prices = _parsed(shipped, "prices.yaml")
    if path:
        try:
            text = Path(path).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            remedy = "Correct `prices` under `chat` in the profile."
            raise SettingsError(f"the file of prices cannot be read: {error}", where=path, remedy=remedy) from error
        prices |= _parsed(text, path)
    return prices


def _parsed(text: str, path: str) -> dict[str, Price]:
    try:
        return TypeAdapter(dict[str, Price]).validate_python(yaml.safe_load(text) or {})
    except (yaml.YAMLError, ValidationError) as error:
        remedy = "Each line is a model's name and {input: .., output: ..} in dollars for a million tokens."
        raise SettingsError(f"the file of prices is not valid: {error}", where=path, remedy=remedy) from error


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """The price of a model; a dated version (`gpt-4o-2024-08-06`) costs what its name before the date does.

    None when it is not known: unknown is not free.
    """
    name = model.removeprefix("models/")
    if name in prices:
        return prices[name]
    stem, _, date = name.partition("-20")
    return prices.get(stem) if date[:2].isdigit() else None


def input_tokens(request: ChatRequest, price: Price | None) -> int:
    """About how many tokens a request has: its words by their length, pictures and clips by the price list."""
    price = price or Price(input=0, output=0)
    text, media = request.instruction + canonical_json(schema_of(request.reply)), 0.0
    for part in request.parts:
        if isinstance(part, Media):
            media += part.seconds * price.clip_second or price.picture
        else:
            text += part.fenced() if isinstance(part, Quoted) else part.text
    return math.ceil(len(text.encode("utf-8", "replace")) / _LETTERS_A_TOKEN + media)

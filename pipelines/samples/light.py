"""The light in a panel and the colours of a book: what scenes ask before they put down a colour.

What does not belong here: the colours of characters, which stay the same in every light so that readers know them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipelines.samples.ink import Colour, Pen, darker, gradient, halftone, mix


@dataclass(frozen=True)
class Light:
    """A time of day: two sky colours, and the tint that lies over everything else."""

    top: Colour
    low: Colour
    tint: Colour
    strength: float
    dark: bool = False

    def on(self, colour: Colour) -> Colour:
        """A scene's colour as it looks in this light."""
        return mix(darker(colour, 0.55) if self.dark else colour, self.tint, self.strength)

    def sky(self, pen: Pen, until: float = 0.75) -> None:
        """Fill the canvas with sky: a gradient, and dots of print that thin out downwards."""
        gradient(pen.canvas, self.top, self.low, until)
        height = pen.canvas.shape[0]
        strength = np.clip(0.5 - np.linspace(0, 1 / until, height) * 0.62, 0, 1)[:, None]
        dots = mix(self.top, (20, 24, 60) if self.dark else (255, 255, 255), 0.28)
        halftone(pen.canvas, dots, strength, cell=max(round(pen.weight * 1.7), 3))


LIGHTS: dict[str, Light] = {
    "day": Light((120, 190, 226), (232, 244, 240), (255, 246, 220), 0.06),
    "dusk": Light((120, 84, 150), (252, 186, 122), (244, 128, 92), 0.24),
    "night": Light((22, 28, 66), (66, 84, 140), (40, 54, 116), 0.3, dark=True),
    "storm": Light((84, 98, 112), (168, 180, 184), (96, 116, 132), 0.34),
    "dawn": Light((150, 170, 220), (252, 218, 208), (250, 190, 180), 0.2),
}


@dataclass(frozen=True)
class Palette:
    """A book's paper, gutters and mood; `mood` is mixed into every light, `grey` prints the book in black and white."""

    paper: Colour
    border: Colour
    mood: Colour
    share: float
    caption: Colour
    accent: Colour
    grey: bool = False

    def light(self, name: str) -> Light:
        """The light of that name as this book prints it."""
        light = LIGHTS[name]
        return Light(
            mix(light.top, self.mood, self.share),
            mix(light.low, self.mood, self.share * 0.6),
            mix(light.tint, self.mood, self.share),
            light.strength + self.share * 0.35,
            light.dark,
        )


PALETTES: tuple[Palette, ...] = (
    Palette((255, 253, 246), (24, 22, 30), (250, 200, 90), 0.14, (254, 240, 184), (206, 58, 54)),
    Palette((250, 246, 236), (40, 30, 36), (80, 170, 170), 0.2, (222, 242, 236), (238, 120, 60)),
    Palette((255, 250, 244), (34, 24, 44), (224, 120, 150), 0.18, (252, 228, 232), (70, 110, 190)),
    Palette((253, 251, 240), (30, 38, 30), (130, 170, 70), 0.2, (240, 244, 206), (150, 70, 130)),
    Palette((248, 248, 252), (20, 24, 44), (110, 100, 190), 0.22, (232, 228, 250), (244, 176, 50)),
    Palette((252, 244, 230), (52, 30, 22), (206, 130, 70), 0.22, (250, 230, 196), (40, 120, 130)),
)
NIGHT_PAPER, GREY_PAPER = (18, 18, 26), (252, 252, 252)

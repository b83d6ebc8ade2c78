"""Captions of sample panels: who is where, doing what, in plain words; never what is said.

What does not belong here: spoken or narrated words, which a caption must not give away.
"""

from __future__ import annotations

from pipelines.samples.looks import Actor
from pipelines.samples.scenes import SCENES
from pipelines.samples.scripts import Member, PanelScript

_POSES = {
    "stand": "stands",
    "wave": "waves",
    "point": "points ahead",
    "cheer": "throws both arms up",
    "hips": "stands with hands on hips",
    "think": "thinks, a hand at the chin",
    "walk": "walks along",
    "run": "runs",
    "shrug": "shrugs",
    "hold": "holds out a hand",
    "raise": "raises a hand high",
    "reach": "reaches forward with both hands",
    "fold": "stands with folded arms",
    "gasp": "lifts both hands to the face",
    "crouch": "crouches",
    "bow": "bends forward",
}
_HELD = {"hold": "holds {}", "raise": "raises {}", "walk": "walks along with {}", "run": "runs with {}"}
_FACES = {
    "calm": "",
    "happy": "smiling",
    "laugh": "laughing",
    "sad": "looking sad",
    "angry": "looking angry",
    "shocked": "looking shocked",
    "smug": "looking smug",
    "worried": "looking worried",
    "asleep": "with closed eyes",
    "talk": "with an open mouth",
}
_LIGHTS = {"day": "by day", "dusk": "at dusk", "night": "at night", "storm": "in grey weather", "dawn": "at dawn"}
_PLACELESS = ("burst", "plain")


def describe(panel: PanelScript, cast: dict[str, Member], shot: str) -> str:
    """One or two sentences on what a panel shows, drawn at that shot (wide, medium or close)."""
    place = SCENES[panel.scene][1]
    when = "" if panel.scene in _PLACELESS else f", {_LIGHTS[panel.light]}"
    if not panel.actors:
        return f"A view without people {place}{when}."
    start = {"close": "Close-up", "medium": "Medium view", "wide": "Wide view"}[shot]
    deeds = "; ".join(_deed(actor, cast) for actor in panel.actors)
    return f"{start} {place}{when}: {deeds}."


def _deed(actor: Actor, cast: dict[str, Member]) -> str:
    thing = f"{'an' if actor.prop and actor.prop[0] in 'aeiou' else 'a'} {actor.prop}"
    if actor.prop is None:
        act = _POSES[actor.pose]
    elif actor.pose in _HELD:
        act = _HELD[actor.pose].format(thing)
    else:
        act = f"{_POSES[actor.pose]}, with {thing}"
    mood = _FACES[actor.face]
    return f"{cast[actor.name].noun}, {act}{', ' + mood if mood else ''}"

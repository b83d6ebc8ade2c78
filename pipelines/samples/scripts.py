"""Written scripts: what happens in each panel of a sample book, read from the text files beside this module.

A script names its title, its cast and its stories; a panel is one line for what is seen and one for each text:

    title: The Lighthouse That Sneezed
    cast: Pim (a girl in a yellow raincoat) = human height=0.85 hair=bob:brick top=coat:yellow
    story: Salt and Pepper
    [harbour dusk wide] Pim wave happy; Otto hold worried lantern
    *: Narration, in a box.
    Pim: What Pim says. (`Pim!` shouts, `Pim~` thinks)

What does not belong here: anything about pages, drawing or style, so that one script can be drawn in many ways.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from pipelines.errors import StoryloomError
from pipelines.samples.light import LIGHTS
from pipelines.samples.looks import COLOURS, EXTRAS, FACES, HAIRS, HATS, KINDS, POSES, TOPS, Actor, Look
from pipelines.samples.props import PROPS
from pipelines.samples.scenes import SCENES

FOLDER = Path(__file__).parent / "scripts"
SHOTS = ("wide", "medium", "close")
_MANNERS = {"!": "shout", "~": "think"}


@dataclass(frozen=True)
class Line:
    """One text of a panel; `manner` is say, shout, think or narrate, and narration has no speaker."""

    speaker: str | None
    text: str
    manner: str


@dataclass(frozen=True)
class PanelScript:
    """One panel: the place in a light, how near the reader is (None: any), who is seen and what is said."""

    scene: str
    light: str
    shot: str | None
    actors: tuple[Actor, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class StoryScript:
    """A titled run of panels."""

    title: str
    panels: tuple[PanelScript, ...]


@dataclass(frozen=True)
class Member:
    """A member of a cast: the words that captions use, and the look."""

    noun: str
    look: Look


@dataclass(frozen=True)
class BookScript:
    """A whole book: its title, its cast by name, its stories."""

    title: str
    cast: dict[str, Member]
    stories: tuple[StoryScript, ...]


@cache
def book_scripts() -> dict[str, BookScript]:
    """All scripts by file name, sorted."""
    return {path.stem: parse_script(path.read_text("utf-8"), path.name) for path in sorted(FOLDER.glob("*.script"))}


def parse_script(text: str, name: str) -> BookScript:
    """Read one script; raises `StoryloomError` that names the line of the first mistake."""
    title, cast, stories = "", dict[str, Member](), list[StoryScript]()
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if not line.strip() or line.startswith("#"):
                continue
            if line.startswith("["):
                _add_panel(stories, _parse_panel(line, cast))
                continue
            head, _, rest = (part.strip() for part in line.partition(":"))
            if head == "title":
                title = rest
            elif head == "cast":
                member_name, member = _parse_member(rest)
                cast[member_name] = member
            elif head == "story":
                stories.append(StoryScript(rest, ()))
            else:
                _add_line(stories, _parse_line(head, rest, cast))
        except (KeyError, ValueError, IndexError) as error:
            raise StoryloomError(
                f"The script cannot be read: {error!r}", where=f"{name}, line {number}", remedy="Mend the line."
            ) from error
    return BookScript(title, cast, tuple(stories))


def _add_panel(stories: list[StoryScript], panel: PanelScript) -> None:
    stories[-1] = replace(stories[-1], panels=(*stories[-1].panels, panel))


def _add_line(stories: list[StoryScript], line: Line) -> None:
    *before, panel = stories[-1].panels
    stories[-1] = replace(stories[-1], panels=(*before, replace(panel, lines=(*panel.lines, line))))


def _parse_line(head: str, text: str, cast: dict[str, Member]) -> Line:
    if head == "*":
        return Line(None, text, "narrate")
    manner = _MANNERS.get(head[-1], "say")
    speaker = head.rstrip("!~")
    if speaker not in cast or not text:
        raise ValueError(f"no one in the cast is called {speaker}")
    return Line(speaker, text, manner)


def _parse_panel(line: str, cast: dict[str, Member]) -> PanelScript:
    place, _, people = line[1:].partition("]")
    scene, *more = place.split()
    light = next((word for word in more if word in LIGHTS), "day")
    shot = next((word for word in more if word in SHOTS), None)
    if scene not in SCENES or set(more) - {light, shot}:
        raise ValueError(f"no such place: {place}")
    actors = tuple(_parse_actor(part.split(), cast) for part in people.split(";") if part.strip())
    return PanelScript(scene, light, shot, actors, ())


def _parse_actor(words: list[str], cast: dict[str, Member]) -> Actor:
    name, *more = words
    pose = next((word for word in more if word in POSES), None)
    face = next((word for word in more if word in FACES), "calm")
    prop = next((word for word in more if word in PROPS), None)
    if set(more) - {pose, face, prop}:
        raise ValueError(f"no such pose, face or thing: {more}")
    return Actor(name, cast[name].look, pose or ("hold" if prop else "stand"), face, prop)


def _parse_member(text: str) -> tuple[str, Member]:
    who, _, traits = text.partition("=")
    name, _, noun = who.strip().partition(" (")
    kind, *pairs = traits.split()
    look = replace(Look(), kind=_one_of(kind, KINDS))
    for pair in pairs:
        key, _, value = pair.partition("=")
        style, _, colour = value.partition(":")
        if key == "extras":
            look = replace(look, extras=tuple(_one_of(extra, EXTRAS) for extra in value.split(",")))
        elif key in ("height", "girth"):
            look = replace(look, **{key: float(value)})
        elif key in ("skin", "legs"):
            look = replace(look, **{key: COLOURS[value]})
        else:
            _one_of(style, {"hair": HAIRS, "hat": HATS, "top": TOPS}[key])
            look = replace(look, **{key: style})
            if colour:
                look = replace(look, **{f"{key}_colour": COLOURS[colour]})
    return name, Member(noun.rstrip(")"), look)


def _one_of(word: str, words: tuple[str, ...]) -> str:
    if word not in words:
        raise ValueError(f"{word} is none of {', '.join(words)}")
    return word

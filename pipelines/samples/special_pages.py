"""Covers, advertisements, letters pages and text stories: the pages of a book that are no comic.

What does not belong here: pages of story.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import yaml

from pipelines.geometry import Box
from pipelines.lettering import common_size, fits, measure, wrap
from pipelines.samples.ink import Pen, arc, darker, mix, oval, rounded
from pipelines.samples.looks import Actor
from pipelines.samples.pages import Sheet
from pipelines.samples.props import draw_prop
from pipelines.samples.scripts import FOLDER, BookScript, PanelScript
from pipelines.samples.staging import paint, stage

_WHITE = (255, 255, 255)


@cache
def extras() -> dict[str, list[dict[str, Any]]]:
    """Adverts, letters and prose that books are filled with."""
    return yaml.safe_load((FOLDER / "extras.yaml").read_text("utf-8"))


def draw_cover(sheet: Sheet, script: BookScript, dice: Random) -> None:
    """Draw a cover: the whole cast in a place of the book, the title, and a badge with a price."""
    style, palette = sheet.style, sheet.style.palette
    width, height = style.width, style.height
    places = [panel for story in script.stories for panel in story.panels if panel.scene not in ("plain", "burst")]
    place = dice.choice([panel for panel in places if panel.light in ("day", "dusk", "dawn")] or places)
    poses = dice.sample(["wave", "cheer", "hips", "point", "think", "hold"], len(script.cast))
    actors = tuple(
        Actor(name, member.look, pose, dice.choice(("happy", "laugh", "smug")))
        for (name, member), pose in zip(script.cast.items(), poses, strict=True)
    )
    box = Box(0, 0, width, height)
    free = Box(0, round(height * 0.34), width, round(height * 0.62))
    staged = stage(PanelScript(place.scene, place.light, "wide", actors, ()), free, 20, dice, mirror=False)
    sheet.canvas[:] = paint(staged, box, palette, style.scale, dice)
    banner = Box(round(width * 0.06), round(height * 0.04), round(width * 0.88), round(height * 0.2))
    _band(sheet.pen, banner, palette.accent, style.pixels(0.02))
    inner = _inside(banner, style.pixels(0.03))
    title = script.title.upper()
    sheet.write(inner, title, _fitting(title, inner, style.pixels(0.13)), _WHITE)
    stories = "with " + " and ".join(story.title for story in script.stories)
    strip = Box(banner.x + width // 10, banner.bottom + height // 100, banner.w - width // 5, round(height * 0.038))
    _band(sheet.pen, strip, palette.caption, style.pixels(0.006))
    inner = _inside(strip, style.pixels(0.006))
    sheet.write(inner, stories, _fitting(stories, inner, style.pixels(0.026)))
    _badge(sheet, dice)


def _badge(sheet: Sheet, dice: Random) -> None:
    style = sheet.style
    radius = style.pixels(0.075)
    x, y = style.width - radius * 3 // 2, style.height - radius * 3 // 2
    sheet.pen.shape(oval(x, -y, radius, radius), sheet.style.palette.caption)
    price = f"No. {dice.randint(2, 60)} free"
    inner = Box(x - radius * 2 // 3, y - radius // 2, radius * 4 // 3, radius)
    sheet.write(inner, price, _fitting(price, inner, style.pixels(0.04)))


def draw_story_title(sheet: Sheet, title: str, by: str) -> Box:
    """Draw a band with a story's title at the top of a page; returns the area that is left for panels."""
    style, area = sheet.style, sheet.style.area
    band = Box(area.x, area.y, area.w, round(style.height * 0.075))
    _band(sheet.pen, band, style.palette.accent, style.pixels(0.006))
    inner = _inside(Box(band.x, band.y, band.w * 2 // 3, band.h), style.pixels(0.012))
    heading = title.upper()
    sheet.write(inner, heading, _fitting(heading, inner, style.pixels(0.05)), _WHITE)
    side = _inside(Box(inner.right, band.y, band.right - inner.right, band.h), style.pixels(0.014))
    sheet.write(side, by, _fitting(by, side, style.pixels(0.022)), mix(style.palette.accent, _WHITE, 0.86))
    top = band.bottom + style.pixels(style.gutter)
    return Box(area.x, top, area.w, area.bottom - top)


def draw_advertisement(sheet: Sheet, dice: Random) -> None:
    """Draw an advertisement for something that nobody should buy."""
    advert = dice.choice(extras()["adverts"])
    style, palette, area = sheet.style, sheet.style.palette, sheet.style.area
    sheet.canvas[:] = mix(palette.accent, (255, 240, 200), 0.72)
    pen, unit = sheet.pen, style.width
    middle = (unit / 2, -style.height * 0.44)
    for step in range(18):
        angle = step * 20
        rim = arc(*middle, unit * 1.4, unit * 1.4, angle, angle + 10, steps=3)
        pen.fill([middle, *rim], mix(palette.accent, (255, 240, 200), 0.52))
    pen.shape(oval(*middle, unit * 0.3, unit * 0.3), _WHITE, 2.0)
    size = unit * 0.5
    spot = replace(pen.at(middle[0] - size * 0.15, middle[1] - size * 0.15), unit=size * style.scale)
    draw_prop(replace(spot, weight=5.0 * style.scale), advert["thing"])
    head = Box(area.x, area.y, area.w, round(style.height * 0.15))
    _band(pen, head, palette.accent, style.pixels(0.03))
    inner = _inside(head, style.pixels(0.03))
    sheet.write(inner, advert["headline"], _fitting(advert["headline"], inner, style.pixels(0.085)), _WHITE)
    for place, line in enumerate(advert["body"]):
        box = Box(
            area.x + area.w // 10,
            round(style.height * (0.68 + 0.065 * place)),
            area.w * 4 // 5,
            round(style.height * 0.055),
        )
        _band(pen, box, palette.caption, style.pixels(0.01))
        inner = _inside(box, style.pixels(0.01))
        sheet.write(inner, line, _fitting(line, inner, style.pixels(0.034)))
    coupon = Box(area.x + area.w // 8, round(style.height * 0.84), area.w * 3 // 4, round(style.height * 0.1))
    pen.fill(_corners(coupon), _WHITE)
    _dashes(pen, coupon)
    inner = _inside(coupon, style.pixels(0.02))
    sheet.write(inner, advert["offer"], _fitting(advert["offer"], inner, style.pixels(0.032)))


def draw_letters(sheet: Sheet, dice: Random) -> None:
    """Draw a page of readers' letters in two columns."""
    area = _heading(sheet, "Letters to the Editor", None)
    style, size = sheet.style, sheet.style.pixels(0.028)
    gap = style.pixels(0.04)
    width = (area.w - gap) // 2
    tops = [area.y, area.y]
    for one in dice.sample(extras()["letters"], len(extras()["letters"])):
        column = tops.index(min(tops))
        x = area.x + column * (width + gap)
        for text, colour in ((one["text"], (30, 28, 36)), (one["from"], darker(style.palette.accent, 0.8))):
            box = _column_box(text, size, Box(x, tops[column], width, area.bottom - tops[column]))
            sheet.write(box, text, size, colour, centred=False)
            tops[column] = box.bottom + size
        sheet.pen.line([(x, -tops[column]), (x + width, -tops[column])], 0.6)
        tops[column] += size * 2


def draw_text_story(sheet: Sheet, dice: Random) -> None:
    """Draw a page of prose in two columns, with a heading and a small picture."""
    prose = dice.choice(extras()["prose"])
    area = _heading(sheet, prose["title"], prose["thing"])
    gap = sheet.style.pixels(0.04)
    width = (area.w - gap) // 2
    size = sheet.style.pixels(0.024)
    x, top = area.x, area.y
    for paragraph in prose["text"]:
        box = _column_box(paragraph, size, Box(x, top, width, area.bottom - top))
        if box.bottom > area.bottom:
            x, top = area.x + width + gap, area.y
            box = _column_box(paragraph, size, Box(x, top, width, area.bottom - top))
        sheet.write(box, paragraph, size, (30, 28, 36), centred=False)
        top = box.bottom + size


def _heading(sheet: Sheet, title: str, thing: str | None) -> Box:
    style, area = sheet.style, sheet.style.area
    sheet.canvas[:] = mix(style.palette.caption, _WHITE, 0.55)
    head = Box(area.x, area.y, area.w, round(style.height * 0.1))
    _band(sheet.pen, head, style.palette.accent, style.pixels(0.01))
    inner = _inside(Box(head.x, head.y, head.w - (head.h if thing else 0), head.h), style.pixels(0.018))
    sheet.write(inner, title, _fitting(title, inner, style.pixels(0.055)), _WHITE)
    if thing:
        sheet.pen.shape(oval(head.right - head.h / 2, -head.y - head.h / 2, head.h * 0.46, head.h * 0.46), _WHITE)
        spot = sheet.pen.at(head.right - head.h / 2, -head.y - head.h * 0.64)
        draw_prop(replace(spot, unit=head.h * 0.62 * style.scale), thing)
    top = head.bottom + style.pixels(0.04)
    return Box(area.x, top, area.w, area.bottom - top)


def _column_box(text: str, size: int, room: Box) -> Box:
    """The box of a text that runs down a column."""
    return Box(room.x, room.y, room.w, measure(wrap(text, size, room.w) or [], size)[1])


def _fitting(text: str, box: Box, largest: int) -> int:
    """The largest size that fits a box, `largest` at most; sample texts are written to fit at some size."""
    size = common_size([(text, (box.w, box.h))], largest=largest, smallest=6)
    assert size is not None and fits(text, size, box.w, box.h)
    return size


def _inside(box: Box, pad: int) -> Box:
    return Box(box.x + pad, box.y + pad, box.w - 2 * pad, box.h - 2 * pad)


def _corners(box: Box) -> list[tuple[int, int]]:
    return [(box.x, -box.y), (box.right, -box.y), (box.right, -box.bottom), (box.x, -box.bottom)]


def _band(pen: Pen, box: Box, colour: tuple[int, int, int], radius: int) -> None:
    pen.shape(rounded(box.x, -box.bottom, box.w, box.h, radius), colour, 1.3)


def _dashes(pen: Pen, box: Box) -> None:
    corners = _corners(box)
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1], strict=True):
        count = max(int(max(abs(x1 - x0), abs(y1 - y0)) // 24), 1)
        for step in range(count):
            start, end = step / count, (step + 0.55) / count
            pen.line(
                [(x0 + (x1 - x0) * start, y0 + (y1 - y0) * start), (x0 + (x1 - x0) * end, y0 + (y1 - y0) * end)], 1.2
            )

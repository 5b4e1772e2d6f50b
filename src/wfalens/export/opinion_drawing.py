"""The picture of opinion lines: stations, arrows, the words that push as bars to scale, and what is not learned."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from wfalens.explanation.opinion_line import LEAST_READ, STATIONS, OpinionLine, OpinionLines, Push, points
from wfalens.export.canvas import Box, Canvas, Circle, Stroke, Text, fitted, width_of, wrapped
from wfalens.messages import percent
from wfalens.palette import LIGHT

WIDE, NARROW = 1600.0, 390.0  # pixels of the two forms
_TALK = 900.0  # height of a slide of WIDE
_SMALL, _USUAL = 18.0, 21.0  # sizes of type of the wide form
_WORDS = 6  # on each side
_TALK_CLASSES = 6
_MARGIN, _EDGE = 60.0, 16.0  # of the two forms
_BEFORE = 12  # characters that are shown before a word of an example
_PANEL_KINDS = ("not_learned", "dangerous")
_KINDS = {
    "not_learned": "What it has not learned",
    "dangerous": "What is dangerous",
    "learned": "What it has learned",
    "data": "What is doubtful in its data",
}

Findings = Sequence[Mapping[str, Any]]


class _Slide(NamedTuple):
    """What a slide has room for."""

    title: float  # size of the headline
    words: int  # on each side of one line
    rows: int  # words of each of several lines
    claims: int  # of each kind


_SLIDES = (
    _Slide(42, 5, 2, 2),
    _Slide(38, 4, 2, 2),
    _Slide(36, 4, 1, 1),
    _Slide(34, 3, 1, 1),
    _Slide(28, 2, 0, 1),
)


def draw_opinions(found: OpinionLines, findings: Findings = (), *, narrow: bool = False, talk: bool = False) -> Canvas:
    """The picture, wide, narrow for a telephone, or a slide of 16:9.

    Args:
        found: the lines; one is drawn large, several as small multiples.
        findings: what `wfalens.findings` found, as dictionaries; those of kind "not_learned" get a panel.
        narrow: 390 pixels wide, from top to bottom.
        talk: exactly 1600 × 900, with at most six classes.
    """
    for slide in _SLIDES if talk else (None,):
        canvas = Canvas(NARROW if narrow else WIDE, 0, f"{found.title}. {found.about} {found.source}")
        if narrow:
            _narrow(canvas, found, findings)
        else:
            _wide(canvas, found, findings, slide)
        if canvas.height <= _TALK:
            break
    canvas.height = _TALK if talk else canvas.height
    return canvas


def _wide(canvas: Canvas, found: OpinionLines, findings: Findings, slide: _Slide | None) -> None:
    """The wide form, or a slide of it."""
    y = _headline(canvas, found, findings, (_MARGIN, 50), slide.title if slide else 42, 1 if slide else 2)
    if len(found.class_names) == 2 and len(found.lines) == 1:
        y = _one_line(canvas, found, found.lines[0], y + 10, slide.words if slide else _WORDS, slide is None)
    else:
        lines = found.lines[: _TALK_CLASSES if slide else None]
        columns = 2 if len(lines) <= 4 else 3
        y = _multiples(canvas, found, lines, y, columns, slide.rows if slide else 3)
    if slide:
        y = _columns(canvas, findings, y + 6, slide.claims)
        about = f"{found.source[:-1]}; {_jumps(found.lines)}."
        canvas.height = _paragraph(canvas, about, 17, (_MARGIN, y + 24), 1, "soft") - 12
    else:
        y = _panel(canvas, findings, found.class_names, y + 16, 4)
        canvas.height = _paragraph(canvas, f"{found.source} {_legend(found)}", _SMALL, (_MARGIN, y + 32), 4, "soft")


def _narrow(canvas: Canvas, found: OpinionLines, findings: Findings) -> None:
    y = _headline(canvas, found, findings, (_EDGE, 26), 22)
    if len(found.class_names) == 2 and len(found.lines) == 1:
        y = _upright(canvas, found, found.lines[0], y + 14)
    else:
        y = _multiples(canvas, found, found.lines, y, 1, 4)
    y = _panel(canvas, findings, found.class_names, y + 16, 3)
    canvas.height = _paragraph(canvas, f"{found.source} {_legend(found)}", 15, (_EDGE, y + 21), 12, "soft")


def _headline(
    canvas: Canvas, found: OpinionLines, findings: Findings, at: tuple[float, float], size: float, examples: int = 2
) -> float:
    """The most useful claim with its examples, how often the network is right, and what is drawn below."""
    (x, y), wide = at, canvas.width == WIDE
    usual, lines = (22.0, 2) if wide else (16.0, 7)
    for first in findings[:1]:
        y = _paragraph(canvas, _KINDS[first["kind"]], usual - 1, (x, y), 1, "soft", bold=True)
        text = _short(first)
        room = canvas.width - 2 * x
        if wide and width_of(text, 0.85 * size, bold=True) <= room:
            size, lines = 0.85 * size, 1  # rather one line than two, one of a single word
        while size > 1.5 * usual and wrapped(text, size, room, lines, True)[-1].endswith("…"):
            size -= 3
        y = _paragraph(canvas, text, size, (x, y + size - usual + 4), lines, bold=True)
        first = {**first, "examples": first["examples"][:examples]}
        y = _examples(canvas, first, found.class_names, (x, y), canvas.width - 2 * x, usual) + 6
    if not findings:
        y = _paragraph(canvas, found.title, size, (x, y + 12), lines, bold=True)
    right = next((_short(each) for each in findings if each["code"] == "accuracy"), found.right)
    if right and not any(each["code"] == "accuracy" for each in findings[:1]):
        y = _paragraph(canvas, right.partition(":")[0], usual + 2, (x, y + 4), 3, bold=True)
    return _paragraph(canvas, found.about, usual, (x, y + 2), lines, "soft")


def _short(finding: Mapping[str, Any]) -> str:
    return str(finding["claim"]).partition(";")[0]


def _excerpt(text: str, words: Sequence[str], size: float, room: float) -> str:
    """A text that fits; where it is too long, it begins shortly before the first of the words that would be cut off."""
    quote = fitted(f"“{text}”", size, room)
    found = [re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) for word in words]
    first = min((each.start() for each in found if each), default=0)
    if not quote.endswith("…") or any(each and each.end() < len(quote) - 1 for each in found):
        return quote
    start = text.rfind(" ", 0, max(0, first - _BEFORE)) + 1
    return fitted(f"“… {text[start:]}”", size, room) if start else quote


def _examples(
    canvas: Canvas, finding: Mapping[str, Any], names: Sequence[str], at: tuple[float, float], width: float, size: float
) -> float:
    """Texts with the network's answers, and the labels that they have; returns where the next line would be."""
    (x, y), wide = at, canvas.width == WIDE
    shown, words = finding["examples"][:2], re.findall("“(.+?)”", finding["claim"])
    labels = [f" (label: {each['truth']})" if each.get("truth") else "" for each in shown]
    answers = [
        fitted(f"{_answer(each)}{label}{_before(each)}", size, (0.7 if wide else 2) * width, bold=True)
        for each, label in zip(shown, labels, strict=True)
    ]
    room = width - max((width_of(each, size, bold=True) for each in answers), default=0) - 24 if wide else width
    quotes = [_excerpt(str(each["text"]), words, size, room) for each in shown]
    beside = x + max((width_of(each, size) for each in quotes), default=0) + 24
    for each, quote, answer in zip(shown, quotes, answers, strict=True):
        colour = _type_colour(names.index(each["class"])) if each["class"] in names else "ink"
        canvas.add(Text((x, y), quote, size, italic=True, link={"text": str(each["text"])}))
        if wide:
            canvas.add(Text((beside, y), answer, size, colour, True))
            y += round(1.45 * size)
        else:
            y = _paragraph(canvas, answer, size, (x, y + 1.36 * size), 2, colour, bold=True, width=width) + 2
    return y


def _answer(example: Mapping[str, Any]) -> str:
    return f"{example['class']} {percent(max(example['output']))}"


def _before(example: Mapping[str, Any]) -> str:
    """What the network says without the word that was added to a text."""
    before = example.get("before")
    return f"; without “{example['added']}” {_answer(before)}" if before else ""


def _paragraph(
    canvas: Canvas,
    text: str,
    size: float,
    at: tuple[float, float],
    most: int,
    colour: str = "ink",
    bold: bool = False,
    width: float | None = None,
) -> float:
    """A text in lines, by default from the left edge to the right; returns where the next line would be."""
    x, y = at
    for line in wrapped(text, size, width or canvas.width - 2 * x, most, bold):
        canvas.add(Text((x, y), line, size, colour, bold))
        y += round(1.36 * size)
    return y


def _legend(found: OpinionLines) -> str:
    if _is_sparse(found):
        return (
            f"Bars: what the network says of the {found.unit} alone. To follow its opinion, more texts are needed: a "
            f"{found.unit} must be read {LEAST_READ} times while no class is above 80 %."
        )
    empty = any(not line.moves[at].any() for line in found.lines for at in range(5))
    return (
        f"Circle: share of {found.unit}s read there{' (none: it never is there)' if empty else ''}; inside: of these, "
        f"the share after which it stays. Arrow: the share after which it moves on; {_jumps(found.lines)}. Bars: mean "
        f"change by a {found.unit} while no class is above 80 %, in points of probability."
    )


def _is_sparse(found: OpinionLines) -> bool:
    """Whether the texts are too few to follow opinions."""
    measured = [line for line in found.lines if line.towards]
    return 2 * len(measured) < len(found.lines) and any(line.alone for line in found.lines)


def _jumps(lines: Sequence[OpinionLine]) -> str:
    most = max(line.jumps for line in lines)
    return f"not drawn: {'up to ' if len(lines) > 1 else ''}{percent(most)} jump over a circle"


def _sides(found: OpinionLines, line: OpinionLine) -> tuple[str, str]:
    """The colours of what is against a class and for it: of two classes those of both, else grey and its own."""
    own = f"class-{line.number}"
    return (f"class-{1 - line.number}", own) if len(found.class_names) == 2 else ("grey", own)


def _station_names(found: OpinionLines, line: OpinionLine) -> list[str]:
    if len(found.class_names) == 2:
        low, high = found.class_names[1 - line.number], line.label
        return [f"sure {low}", f"leaning {low}", "undecided", f"leaning {high}", f"sure {high}"]
    return [f"not {line.label}", "", "undecided", "", f"sure {line.label}"]


def _station(
    canvas: Canvas, line: OpinionLine, at: int, place: tuple[float, float], radius: float, side: str, size: float
) -> None:
    """A circle with the share of words after which the network stays there; none where it never is."""
    if not line.moves[at].any():
        return
    share, stays = line.shares[at], line.rates[at, at]
    tip = f"{percent(share)} of the words are read here ({STATIONS[at]}); after {percent(stays)} of them it stays"
    sure = at in (0, 4)
    colour = "grey" if at == 2 else side
    canvas.add(Circle(place, radius, "panel"), Circle(place, radius, colour, 1.0 if sure else 0.35, tip))
    ink = "panel" if sure else "ink"
    inside = percent(stays) if size > 16 else percent(stays).replace(" ", "")
    canvas.add(Text((place[0], place[1] + (2 if size > 16 else 6)), inside, size, ink, True, anchor="middle"))
    if size > 16:
        canvas.add(Text((place[0], place[1] + 0.9 * size), "stay", max(15, 0.8 * size), ink, True, anchor="middle"))


def _moves(found: OpinionLines, line: OpinionLine) -> Iterator[tuple[int, int, float, str]]:
    """Between neighbouring stations: from which to which, how often, and the colour."""
    low, high = _sides(found, line)
    for at in range(4):
        yield at, at + 1, float(line.rates[at, at + 1]), high
        yield at + 1, at, float(line.rates[at + 1, at]), low


def _arrow_width(rate: float) -> float:
    return 2.0 + 60.0 * min(rate, 0.4)


def _type_colour(number: int) -> str:
    """The colour of a class for type; the paler ones of later classes are too weak for that."""
    return f"class-{number}" if number < len(LIGHT) else "ink"


def _one_line(canvas: Canvas, found: OpinionLines, line: OpinionLine, top: float, words: int, jumps: bool) -> float:
    """The large form of two classes: words above, the line with its stations below; returns where it ends."""
    low, high = _sides(found, line)
    middle, right = canvas.width / 2, canvas.width - _MARGIN
    against, towards = line.against[:words], line.towards[:words]
    most = max((abs(each.change) for each in (*against, *towards)), default=1.0)
    other = found.class_names[1 - line.number]
    for way, name, pushes, colour in ((-1, other, against, low), (1, line.label, towards, high)):
        head = fitted(f"{found.unit.title()}s that push towards {name}", _USUAL, 560, bold=True)
        x, anchor = (_MARGIN, "start") if way < 0 else (right, "end")
        canvas.add(Text((x, top + 20), head, _USUAL, colour, True, anchor=anchor))
        for row, push in enumerate(pushes):
            _bar(canvas, push, (middle + 310 * way, top + 60 + 36 * row), way * 260 / most, colour)
    _middle(canvas, line, (middle, top + 20), 300, words > 3)
    y = top + 60 + 36 * max(words - 1, len(against), len(towards)) + 96
    return _track(canvas, found, line, (_MARGIN + 130, right - 130), y, jumps) + 10


def _bar(canvas: Canvas, push: Push, at: tuple[float, float], scale: float, colour: str) -> None:
    """A word, and an arrow as long as its push, away from the middle of the picture."""
    (x, y), away = at, 1 if scale > 0 else -1
    end = x + away * abs(scale * push.change)
    inner, outer = ("end", "start") if away > 0 else ("start", "end")
    word = fitted(push.word, 24, 190, bold=True)
    canvas.add(Text((x - away * 12, y + 8), word, 24, bold=True, anchor=inner, link={"word": push.word}))
    canvas.add(Stroke([(x, y), (end, y)], colour, 9, head=min(20.0, abs(end - x)), tip=_tip(push)))
    canvas.add(Text((end + away * 14, y + 7), points(push.change), _USUAL, colour, True, anchor=outer))


def _tip(push: Push) -> str:
    span = f"{points(push.low)} to {points(push.high)}"
    return f"{push.word}: {points(push.change)} points (95 %: {span}), read {push.n:,} times"


def _middle(canvas: Canvas, line: OpinionLine, at: tuple[float, float], room: float, more: bool) -> None:
    """What the bars mean, and frequent words that do nothing, first those that should matter."""
    x, y = at
    for text in ("points of probability,", "while it is not yet sure"):
        canvas.add(Text((x, y), text, _SMALL, "soft", anchor="middle"))
        y += 24
    expected = [each for each in line.idle if each.expected][: 2 if more else 1]
    plain = [each for each in line.idle if not each.expected][: 3 if more or not expected else 0]
    if expected or plain:
        y += 20
        canvas.add(Text((x, y), "words that do nothing", _SMALL, "soft", True, anchor="middle"))
    for each in expected:
        y += 34
        word = fitted(each.word, 26, room, bold=True)
        canvas.add(Text((x, y), word, 26, bold=True, anchor="middle", link={"word": each.word}))
        y += 25
        canvas.add(Text((x, y), f"{points(each.change)} points", _USUAL, "soft", True, anchor="middle"))
    if plain:
        words = fitted(", ".join(each.word for each in plain), _USUAL, room)
        canvas.add(Text((x, y + 34), words, _USUAL, "soft", anchor="middle"))


def _track(
    canvas: Canvas, found: OpinionLines, line: OpinionLine, ends: tuple[float, float], y: float, jumps: bool
) -> float:
    """The five stations from left to right, and the arrows between neighbours; returns where they end."""
    (first, last), (low, high) = ends, _sides(found, line)
    xs = [first + (last - first) * at / 4 for at in range(5)]
    radii = [min(88.0, max(44.0, 150 * math.sqrt(share))) for share in line.shares]
    canvas.add(Stroke([(first, y), (last, y)], "line", 10))
    for source, target, rate, colour in _moves(found, line):
        way = target - source
        begin, finish = xs[source] + way * (radii[source] * 0.92 + 6), xs[target] - way * (radii[target] * 0.92 + 6)
        edge, bow, third = y - way * 26, y - way * 62, (finish - begin) / 3
        path = [(begin, edge), (begin + third, bow), (finish - third, bow), (finish, edge)]
        canvas.add(Stroke(path, colour, _arrow_width(rate), 0.85, head=26.0, tip=f"{percent(rate)} move on"))
        label = ((begin + finish) / 2, y - 74 if way > 0 else y + 92)
        canvas.add(Text(label, percent(rate), _USUAL, colour, True, anchor="middle"))
    room, below = (last - first) / 4 - 8, y + max(66.0, *radii) + 26
    for at, name in enumerate(_station_names(found, line)):
        _station(canvas, line, at, (xs[at], y), radii[at], low if at < 2 else high, 24)
        canvas.add(Text((xs[at], below), fitted(name, 22, room, bold=True), 22, bold=True, anchor="middle"))
        unit = fitted(f"{STATIONS[at]} {line.label}", _SMALL, room)
        canvas.add(Text((xs[at], below + 26), unit, _SMALL, "soft", anchor="middle"))
    if jumps:
        canvas.add(Text(((first + last) / 2, below + 58), _jumps([line]), _SMALL, "soft", anchor="middle"))
    return below + (58 if jumps else 34)


def _upright(canvas: Canvas, found: OpinionLines, line: OpinionLine, top: float) -> float:
    """The narrow form: words as bars, then the stations from the top down."""
    low, high = _sides(found, line)
    y, names = top, (line.label, found.class_names[1 - line.number])
    sides = line.towards[:5], line.against[:5]
    most = max((abs(each.change) for each in (*sides[0], *sides[1])), default=1.0)
    for pushes, name, colour in zip(sides, names, (high, low), strict=True):
        head = fitted(f"These push towards {name}", 17, 358, bold=True)
        canvas.add(Text((16, y + 8), head, 17, colour, True))
        y = _bars(canvas, _pushed(pushes), (16, y + 20), 358, most, colour) + 18
    idle = sorted(line.idle, key=lambda each: not each.expected)[:4]
    if idle:
        words = fitted(f"Do nothing: {', '.join(each.word for each in idle)}", 16, 358)
        canvas.add(Text((16, y + 4), words, 16, "soft"))
        y += 26
    step, x = 104.0, 86.0
    names_of, places = _station_names(found, line), [y + 50 + step * (4 - at) for at in range(5)]
    canvas.add(Stroke([(x, places[4]), (x, places[0])], "line", 8))
    for source, target, rate, colour in _moves(found, line):
        way = target - source  # of a rising probability: upwards, to the right of the line
        begin, finish = places[source] - 40 * way, places[target] + 40 * way
        ends = [(x + way * 22, begin), (x + way * 22, finish)]
        canvas.add(Stroke(ends, colour, _arrow_width(rate) / 2, 0.85, head=13.0))
        label = (x + way * 36, (begin + finish) / 2 + 5)
        canvas.add(Text(label, percent(rate), 15, colour, True, anchor="start" if way > 0 else "end"))
    for at in range(5):
        radius = min(42.0, max(33.0, 75 * float(line.shares[at]) ** 0.5))
        _station(canvas, line, at, (x, places[at]), radius, low if at < 2 else high, 17)
        canvas.add(Text((160, places[at] - 2), fitted(names_of[at], 18, 216, bold=True), 18, bold=True))
        canvas.add(Text((160, places[at] + 20), fitted(f"{STATIONS[at]} {line.label}", 15, 216), 15, "soft"))
    canvas.add(Text((_EDGE, places[0] + 64), _jumps([line]), 15, "soft"))
    return places[0] + 72


def _bars(
    canvas: Canvas,
    words: Sequence[tuple[str, float, str, str]],
    at: tuple[float, float],
    width: float,
    most: float,
    colour: str,
) -> float:
    """Words with their value, its label and what a pointer shows, as bars to scale; returns where they end."""
    x, y = at
    room = 0.36 * width
    for word, value, label, tip in words:
        long = (width - room - 72) * abs(value) / most
        canvas.add(Text((x + room - 8, y + 17), fitted(word, 17, room - 8), 17, anchor="end", link={"word": word}))
        canvas.add(Box((x + room, y + 4), max(2.0, long), 15, colour, radius=2.0, tip=tip))
        canvas.add(Text((x + room + long + 8, y + 17), label, 17, bold=True))
        y += 25
    return y


def _pushed(pushes: Sequence[Push]) -> list[tuple[str, float, str, str]]:
    return [(each.word, each.change, points(each.change), _tip(each)) for each in pushes]


def _multiples(
    canvas: Canvas, found: OpinionLines, lines: Sequence[OpinionLine], top: float, columns: int, rows: int
) -> float:
    """A small line for each class, those that the network mixes up side by side."""
    edge = 16.0 if columns == 1 else _MARGIN
    gap = 20.0
    width = (canvas.width - 2 * edge - gap * (columns - 1)) / columns
    tall = (104.0 if _is_sparse(found) else 180.0 if rows > _SLIDES[0].rows else 158.0) + 25 * rows
    changes = [abs(each.change) for line in lines for each in line.towards[:rows]]
    for number, line in enumerate(lines):
        place = edge + (width + gap) * (number % columns), top + (tall + gap) * (number // columns)
        _small(canvas, found, line, place, (width, tall), max(changes, default=1.0), rows)
    left = len(found.class_names) - len(lines)
    y = top + (tall + gap) * -(-len(lines) // columns)
    if left and len(found.class_names) > 2:
        shown, size = f"{len(lines)} of {len(found.class_names)} classes are shown.", _SMALL if columns > 1 else 15.0
        canvas.add(Text((edge, y + 12), shown, size, "soft"))
        y += 20
    return y


def _small(
    canvas: Canvas,
    found: OpinionLines,
    line: OpinionLine,
    at: tuple[float, float],
    size: tuple[float, float],
    most: float,
    rows: int,
) -> None:
    """One of the small multiples: the stations, and the words that push towards the class."""
    (x, y), (low, high) = at, _sides(found, line)
    canvas.add(Box(at, *size, "panel", radius=8.0, edge="line"))
    room = size[0] - 32
    canvas.add(
        Text((x + 16, y + 30), fitted(line.label, 22, room - 190, bold=True), 22, _type_colour(line.number), True)
    )
    texts = f"{line.texts:,} texts"
    if line.recognized is not None:
        texts = f"finds {percent(line.recognized / max(1, line.texts))} of {texts}"
    canvas.add(Text((x + size[0] - 16, y + 30), texts, 16, "soft", anchor="end"))
    if _is_sparse(found):
        head = f"after this {found.unit} alone:" if line.alone else f"no {found.unit} alone is enough"
        canvas.add(Text((x + 16, y + 58), head, 16, "soft"))
        alone = [(word, value, percent(value), "") for word, value in line.alone[:rows]]
        _bars(canvas, alone, (x + 16, y + 66), room, 1.0, high)
        taken = f"it takes {' and '.join(f'{n:,} for {name}' for name, n in line.mistaken)}" if line.mistaken else ""
        canvas.add(Text((x + 16, y + size[1] - 14), fitted(taken, 16, room), 16, "soft"))
        return
    middle, first, last = y + 82, x + 50, x + size[0] - 50
    xs = [first + (last - first) * station / 4 for station in range(5)]
    canvas.add(Stroke([(first, middle), (last, middle)], "line", 4))
    for source, target, rate, colour in _moves(found, line):
        way = target - source
        ends = [(xs[source] + way * 12, middle - way * 34), (xs[target] - way * 12, middle - way * 34)]
        if rate:
            canvas.add(Stroke(ends, colour, _arrow_width(rate) / 3, 0.85, head=10.0, tip=f"{percent(rate)} move on"))
    for station in range(5):
        radius = min(30.0, max(25.0, 34 * float(line.shares[station]) ** 0.5))
        _station(canvas, line, station, (xs[station], middle), radius, low if station < 2 else high, 16)
    canvas.add(Text((xs[0] - 36, y + 138), "0–20 %", 16, "soft"))
    canvas.add(Text((xs[2], y + 138), "% that stay", 16, "soft", anchor="middle"))
    canvas.add(Text((xs[4] + 36, y + 138), "80–100 %", 16, "soft", anchor="end"))
    end = _bars(canvas, _pushed(line.towards[:rows]), (x + 16, y + 146), room, most, high)
    has_room = rows > _SLIDES[0].rows
    words = f"against: {', '.join(each.word for each in line.against[:4])}" if line.against and has_room else ""
    if not line.towards and not line.against:
        words, end = f"no {found.unit} was read {LEAST_READ} times: give more texts", y + 146
    canvas.add(Text((x + 16, end + 20), fitted(words, 16, room), 16, "soft"))


def _columns(canvas: Canvas, findings: Findings, top: float, most: int) -> float:
    """Further claims on a slide, a column for each kind; returns where they end."""
    chosen = {kind: _others(findings, kind)[:most] for kind in _PANEL_KINDS}
    shown = {kind: claims for kind, claims in chosen.items() if claims}
    if not shown:
        return top
    width, ends, shapes = (canvas.width - 2 * _MARGIN - 20) / len(shown), [], len(canvas.shapes)
    for at, (kind, claims) in enumerate(shown.items()):
        x = _MARGIN + 20 + at * width
        y = _paragraph(canvas, _KINDS[kind], 20, (x, top + 30), 1, bold=True, width=width - 20)
        for each in claims:
            y = _paragraph(canvas, _short(each), 18, (x, y), 2, width=width - 20) + 4
        ends.append(y)
    canvas.shapes.insert(
        shapes, Box((_MARGIN, top), canvas.width - 2 * _MARGIN, max(ends) - top - 8, "faint", radius=12)
    )
    return max(ends)


def _others(findings: Findings, kind: str) -> list[Mapping[str, Any]]:
    """Claims beside the headline, which has the accuracy too."""
    return [each for each in findings[1:] if each["kind"] == kind and each["code"] != "accuracy"]


def _panel(canvas: Canvas, findings: Findings, names: Sequence[str], top: float, most: int) -> float:
    """Further claims, each in a row with its examples beside it; returns where they end."""
    half = most // 2
    missing, dangerous = (_others(findings, kind) for kind in _PANEL_KINDS)
    chosen = [*missing[: max(half, most - len(dangerous))], *dangerous[: max(most - half, most - len(missing))]]
    if not chosen:
        return top
    edge, size = (_MARGIN, 20.0) if canvas.width == WIDE else (_EDGE, 16.0)
    room, shapes = canvas.width - 2 * edge - 40, len(canvas.shapes)
    y, kind = top + 12, ""
    quoted = {example["text"] for example in findings[0]["examples"]}
    for each in chosen:
        y += size
        fresh = {**each, "examples": [example for example in each["examples"] if example["text"] not in quoted]}
        quoted |= {example["text"] for example in fresh["examples"]}
        if each["kind"] != kind:
            kind = each["kind"]
            y = _paragraph(canvas, _KINDS[kind], size + 2, (edge + 20, y + 6), 1, bold=True) + 4
        if canvas.width == WIDE:
            below = _paragraph(canvas, _short(each), size, (edge + 20, y), 4, width=0.33 * room)
            y = max(below, _examples(canvas, fresh, names, (edge + 20 + 0.35 * room, y), 0.65 * room, size))
        else:
            y = _paragraph(canvas, _short(each), size, (edge + 20, y), 7, width=room)
            y = _examples(canvas, fresh, names, (edge + 20, y), room, size)
    canvas.shapes.insert(shapes, Box((edge, top), canvas.width - 2 * edge, y - top, "faint", radius=12.0))
    return y

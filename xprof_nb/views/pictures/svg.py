"""A picture as SVG: a plot with two axes and marks in it, small, and legible on white and on black paper alike."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from xprof_nb.views.layouts import one_line

WIDTH = 720
INK = "#7a818a"
"""Contrast of about 4 on white and on black: a picture in a file does not know on what it will be shown."""
LINE = "#9ca3af66"
KINDS = {
    "matrix": "#3b6fb6",
    "elementwise": "#2a9d8f",
    "data": "#d98e04",
    "collective": "#8e4ec6",
    "custom": "#4c9a2a",
    "host": "#c2417c",
    "control": "#6b7280",
    "idle": "#9ca3af",
}
"""The colour of each kind of work, as in the views."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 88, 16, 48, 40
_CHARACTER_PX = 6.2


@dataclass(frozen=True)
class Axis:
    """Values from ``low`` to ``high``, and how ticks are written."""

    low: float
    high: float
    label: str
    write: Callable[[float], str]
    is_log: bool = False
    base: float = 10.0

    def share(self, value: float) -> float:
        """Return where a value is, 0 to 1 from one end of the axis to the other."""
        value, low, high = self._scaled(value), self._scaled(self.low), self._scaled(self.high)
        return min(max((value - low) / (high - low or 1.0), 0.0), 1.0)

    def ticks(self, most: int = 6) -> list[float]:
        """Return round values along the axis."""
        if self.is_log:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            return [10.0**power for power in range(first, last + 1, max(1, math.ceil((last - first + 1) / most)))]
        step = self._round_up((self.high - self.low) / most)
        return [step * number for number in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]

    def _scaled(self, value: float) -> float:
        return math.log10(max(value, 1e-300)) if self.is_log else value

    def _round_up(self, step: float) -> float:
        whole = self.base ** math.floor(math.log(max(step, 1e-300), self.base))
        multiples = (1, 2, 5, 10) if self.base == 10.0 else [2**power for power in range(11)]
        return whole * next((number for number in multiples if number * whole >= step), self.base)


class Plot:
    """Marks between two axes; the corner of values is below left."""

    def __init__(self, x: Axis, y: Axis, height: int = 280) -> None:
        self._x, self._y, self._height = x, y, height
        self._marks: list[str] = []

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a value in px."""
        return (
            round(_LEFT + self._x.share(x) * (WIDTH - _LEFT - _RIGHT), 1),
            round(self._height - _BOTTOM - self._y.share(y) * (self._height - _TOP - _BOTTOM), 1),
        )

    def line(self, points: Iterable[tuple[float, float]], colour: str = INK, dash: str = "") -> None:
        """Draw through points."""
        path = " ".join("{},{}".format(*self.at(*point)) for point in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self._marks.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dashed}/>')

    def area(self, xs: Sequence[float], lows: Sequence[float], highs: Sequence[float], colour: str) -> None:
        """Fill between two curves."""
        there = [self.at(x, y) for x, y in zip(xs, highs, strict=True)]
        back = [self.at(x, y) for x, y in zip(reversed(xs), reversed(lows), strict=True)]
        path = " ".join(f"{x},{y}" for x, y in (*there, *back))
        self._marks.append(f'<polygon points="{path}" fill="{colour}" fill-opacity="0.75"/>')

    def bar(self, left: float, right: float, low: float, high: float, colour: str) -> None:
        """Fill a box of values."""
        (x0, y0), (x1, y1) = self.at(left, low), self.at(right, high)
        width, height = max(x1 - x0, 0.5), max(y0 - y1, 0.0)
        self._marks.append(f'<rect x="{x0}" y="{y1}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>')

    def dot(self, x: float, y: float, radius: float, colour: str, edge: str = "#ffffff") -> None:
        """Draw a point."""
        cx, cy = self.at(x, y)
        look = f'fill="{colour}" fill-opacity="0.8" stroke="{edge}" stroke-width="0.8"'
        self._marks.append(f'<circle cx="{cx}" cy="{cy}" r="{radius:.1f}" {look}/>')

    def diamond(self, x: float, y: float, radius: float) -> None:
        """Draw a diamond in the colour of text."""
        cx, cy = self.at(x, y)
        path = f"M{cx},{cy - radius}l{radius},{radius}l{-radius},{radius}l{-radius},{-radius}z"
        self._marks.append(f'<path d="{path}" fill="none" stroke="{INK}" stroke-width="2"/>')

    def say(self, x: float, y: float, words: str, anchor: str = "start", down_px: float = -4) -> None:
        """Write just above a place, or so far down from it."""
        px, py = self.at(x, y)
        self._marks.append(text(px + (4 if anchor == "start" else -4), py + down_px, words, anchor))

    def drawn(self, title: str, legend: Sequence[tuple[str, str]] = ()) -> Picture:
        """Return the picture, with a legend of ``(colour, words)``."""
        return Picture(title, self._height, "".join([*self._axes(), *self._marks, *_legend(legend)]))

    def _axes(self) -> list[str]:
        right, floor = WIDTH - _RIGHT, self._height - _BOTTOM
        parts = [f'<path d="M{_LEFT},{_TOP}V{floor}H{right}" fill="none" stroke="{LINE}"/>']
        for value in self._y.ticks():
            _, y = self.at(self._x.low, value)
            parts.append(f'<path d="M{_LEFT},{y}H{right}" stroke="{LINE}" stroke-width="0.5"/>')
            parts.append(text(_LEFT - 6, y + 4, self._y.write(value), "end"))
        for value in self._x.ticks():
            x, _ = self.at(value, self._y.low)
            parts.append(text(x, floor + 14, self._x.write(value), "middle"))
        parts.append(text((_LEFT + right) / 2, self._height - 6, self._x.label, "middle"))
        parts.append(text(_LEFT, _TOP - 6, self._y.label, "end"))
        return parts


@dataclass(frozen=True)
class Picture:
    """A drawing with a name."""

    title: str
    height: int
    body: str

    @property
    def svg(self) -> str:
        """The file."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" '
            f'height="{self.height}" role="img" font-family="system-ui,sans-serif" font-size="11">'
            f"<title>{escape(one_line(self.title, 300))}</title>"
            f'<text x="0" y="14" font-size="12" font-weight="600" fill="{INK}">'
            f"{escape(one_line(self.title, 110))}</text>{self.body}</svg>"
        )

    @property
    def html(self) -> str:
        """An image of it, which runs nothing: whoever cleans the HTML of untrusted notebooks lets it be."""
        data = base64.b64encode(self.svg.encode()).decode("ascii")
        return f'<p><img alt="{escape(one_line(self.title, 300))}" src="data:image/svg+xml;base64,{data}"></p>\n'


@dataclass(frozen=True)
class Bar:
    """One row of a picture of bars: its parts are shares of the longest, with their colours."""

    name: str
    value: str
    parts: tuple[tuple[float, str], ...]


def bars(title: str, rows: Sequence[Bar], legend: Sequence[tuple[str, str]] = ()) -> Picture:
    """Return horizontal bars, each with its name before and its value behind it."""
    before, behind, row_px = 220, 130, 20
    room = WIDTH - before - behind
    parts: list[str] = []
    for number, bar in enumerate(rows):
        y = _TOP + number * row_px
        x = float(before)
        parts.append(text(before - 8, y + 13, one_line(bar.name, 32), "end"))
        for share, colour in bar.parts:
            width = min(max(share, 0.0), 1.0) * room
            parts.append(f'<rect x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="13" fill="{colour}"/>')
            x += width
        parts.append(text(x + 6, y + 13, bar.value))
    return Picture(title, _TOP + len(rows) * row_px + 8, "".join([*parts, *_legend(legend)]))


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    """Return a line of text."""
    placed = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{placed} fill="{INK}">{escape(one_line(words))}</text>'


def _legend(entries: Sequence[tuple[str, str]]) -> list[str]:
    parts: list[str] = []
    x = WIDTH - _RIGHT - sum(_CHARACTER_PX * len(words) + 26 for _, words in entries)
    for colour, words in entries:
        parts.append(f'<rect x="{x:.1f}" y="22" width="10" height="10" fill="{colour}"/>')
        parts.append(text(x + 14, 31, words))
        x += _CHARACTER_PX * len(words) + 26
    return parts

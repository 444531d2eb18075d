"""Charts as inline SVG: axes, lines, bands, dots, bars and cells, with a title and a description for those who listen.

A picture of Plotly's would bring its library along, which takes all of the five megabytes that a report may have and
names other hosts. What a report needs of it is in this file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.report.markup import text

#: Size of a chart, in units of its own; a phone shows a unit as 0.8 pixels.
WIDTH, HEIGHT = 460.0, 300.0
#: Room left, right, above and below the plotting area, in units of the chart.
LEFT, RIGHT, TOP, BOTTOM = 72.0, 16.0, 12.0, 50.0
#: Number of marks along an axis, about.
MARKS = 5
#: Characters of a name beside an axis, at most.
NAME = 16
#: Viridis at five places from its dark to its light end, as red, green and blue.
VIRIDIS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`: straight, logarithmic, or with names at whole numbers from 0."""

    label: str
    low: float
    high: float
    log: bool = False
    names: tuple[str, ...] = ()

    def part(self, value: float) -> float:
        """Where a value is on the axis, 0 at its low and 1 at its high end; values outside are at the ends."""
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        at = (math.log(max(value, self.low)) if self.log else value) - low
        return min(max(at / ((high - low) or 1.0), 0.0), 1.0)

    def marks(self) -> list[tuple[float, str]]:
        """Values that are marked, with what is written there.

        Examples
        --------
        >>> Axis("x", 0.0, 1.0).marks()[:2], Axis("x", 1e-3, 1.0, log=True).marks()[0]
        ([(0.0, '0'), (0.2, '0.2')], (0.001, '0.001'))
        """
        if self.names:
            return [(float(k), cut(name)) for k, name in enumerate(self.names)]
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            if last > first:
                step = max(1, round((last - first) / MARKS))
                return [(10.0**k, f"{10.0**k:.4g}") for k in range(first, last + 1, step)]
            return [(value, f"{value:.3g}") for value in (self.low, self.high)]
        span = self.high - self.low
        power = 10.0 ** math.floor(math.log10(max(span / MARKS, 1e-300)))
        width = power * min((1.0, 2.0, 5.0, 10.0), key=lambda k: abs(span / (k * power) - MARKS))
        first, last = math.ceil(self.low / width - 1e-9), math.floor(self.high / width + 1e-9)
        return [(k * width, f"{k * width + 0.0:.4g}") for k in range(first, last + 1)]


def breadth(words: str) -> float:
    """How broad a text is at most, in units of a chart: what reads it has a font of its own.

    Examples
    --------
    >>> breadth("ill"), breadth("mmm")
    (28.5, 45.0)
    """
    return sum(15.0 if letter in "mwMW@%" else 9.5 for letter in words)


def cut(name: str, length: int = NAME) -> str:
    """A name that is not too long to stand beside an axis."""
    return name if len(name) <= length else f"{name[: length - 1]}…"


def colour(share: float) -> str:
    """The colour of a share from 0 to 1.

    Examples
    --------
    >>> colour(0.0), colour(1.0)
    ('#440154', '#fde725')
    """
    place = min(max(share, 0.0), 1.0) * (len(VIRIDIS) - 1)
    k = min(int(place), len(VIRIDIS) - 2)
    mix = (round(a + (place - k) * (b - a)) for a, b in zip(VIRIDIS[k], VIRIDIS[k + 1], strict=True))
    return "#" + "".join(f"{part:02x}" for part in mix)


@dataclass
class Chart:
    """A chart to which marks are added one after the other; `legend` has a class and a text for each kind of them."""

    x: Axis
    y: Axis
    height: float = HEIGHT
    left: float = LEFT
    parts: list[str] = field(default_factory=list)
    legend: list[tuple[str, str]] = field(default_factory=list)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A place in units of the chart."""
        across, up = self.x.part(x), self.y.part(y)
        return self.left + across * (WIDTH - self.left - RIGHT), self.height - BOTTOM - up * (
            self.height - TOP - BOTTOM
        )

    def _name(self, kind: str, label: str) -> None:
        if label and (kind, label) not in self.legend:
            self.legend.append((kind, label))

    def line(self, x: Iterable[float], y: Iterable[float], kind: str, label: str = "") -> None:
        """A line through points; what is not finite is left out."""
        pairs = [
            self.at(float(a), float(b)) for a, b in zip(x, y, strict=True) if math.isfinite(a) and math.isfinite(b)
        ]
        self.parts.append(f'<polyline class="line {kind}" points="{_points(pairs)}"/>')
        self._name(f"line {kind}", label)

    def band(self, x: FloatArray, low: FloatArray, high: FloatArray, kind: str, label: str = "") -> None:
        """The area between two lines."""
        fine = np.isfinite(low) & np.isfinite(high)
        up = [self.at(float(a), float(b)) for a, b in zip(x[fine], high[fine], strict=True)]
        down = [self.at(float(a), float(b)) for a, b in zip(x[fine], low[fine], strict=True)]
        self.parts.append(f'<polygon class="band {kind}" points="{_points(up + down[::-1])}"/>')
        self._name(f"band {kind}", label)

    def dots(
        self,
        x: Iterable[float],
        y: Iterable[float],
        kind: str,
        label: str = "",
        tips: Sequence[str] = (),
        r: float = 3.0,
    ) -> None:
        """Dots, each with a text for those who point at it; those outside the axes are triangles at the edge."""
        for k, (a, b) in enumerate(zip(x, y, strict=True)):
            if not (math.isfinite(a) and math.isfinite(b)):
                continue
            (px, py), tip = self.at(float(a), float(b)), f"<title>{text(tips[k])}</title>" if tips else ""
            if self.y.low <= b <= self.y.high:
                self.parts.append(f'<circle class="dot {kind}" cx="{px:.1f}" cy="{py:.1f}" r="{r:g}">{tip}</circle>')
            else:
                tall = 6.0 if b > self.y.high else -6.0
                edge = f"M{px:.1f} {py:.1f}l-4 {tall:g}h8z"
                self.parts.append(f'<path class="dot outside" d="{edge}">{tip}</path>')
                self._name("dot outside", "outside the picture")
            self._name(f"dot {kind}", label)

    def bar(self, low: float, high: float, row: float, thick: float, kind: str, label: str = "") -> None:
        """A bar along x, at a row of y."""
        (x0, y0), (x1, y1) = self.at(low, row + thick / 2.0), self.at(high, row - thick / 2.0)
        size = f'width="{max(x1 - x0, 0.0):.1f}" height="{max(y1 - y0, 0.0):.1f}"'
        self.parts.append(f'<rect class="bar {kind}" x="{x0:.1f}" y="{y0:.1f}" {size}/>')
        self._name(f"bar {kind}", label)

    def column(self, x0: float, x1: float, high: float, kind: str, label: str = "") -> None:
        """A bar along y, from the low end of the axis."""
        (a, top), (b, floor) = self.at(x0, high), self.at(x1, self.y.low)
        self.parts.append(
            f'<rect class="bar {kind}" x="{a:.1f}" y="{top:.1f}" width="{b - a:.1f}" height="{floor - top:.1f}"/>'
        )
        self._name(f"bar {kind}", label)

    def cells(self, x: FloatArray, y: FloatArray, shares: FloatArray) -> None:
        """Coloured cells about points of a grid; shares from 0 to 1, shape (rows, columns)."""
        across = _edges([self.at(float(v), self.y.low)[0] for v in x], self.left, WIDTH - RIGHT)
        along = _edges([self.at(self.x.low, float(v))[1] for v in y], self.height - BOTTOM, TOP)
        for i, row in enumerate(shares):
            for j, share in enumerate(row):
                low, high = sorted(along[i : i + 2])
                size = f'width="{across[j + 1] - across[j] + 0.3:.1f}" height="{high - low + 0.3:.1f}"'
                self.parts.append(f'<rect x="{across[j]:.1f}" y="{low:.1f}" {size} fill="{colour(float(share))}"/>')

    def note(self, x: float, y: float, words: str) -> None:
        """A text to the right of a place."""
        px, py = self.at(x, y)
        self.parts.append(f'<text x="{px + 4:.1f}" y="{py + 4:.1f}">{text(words)}</text>')

    def svg(self, title: str, description: str) -> str:
        """The chart; title and description are what a screen reader says of it."""
        floor, right, out = self.height - BOTTOM, WIDTH - RIGHT, []
        for value, words in self.y.marks():
            y = self.at(self.x.low, value)[1]
            out.append(f'<path class="grid" d="M{self.left:g} {y:.1f}H{right:g}"/>')
            out.append(f'<text x="{self.left - 5:g}" y="{y + 5:.1f}" class="end">{text(words)}</text>')
        for value, words in thinned(self.x.marks()):
            x = self.at(value, self.y.low)[0]
            out.append(f'<path class="axis" d="M{x:.1f} {floor:g}v4"/>')
            out.append(f'<text x="{x:.1f}" y="{floor + 19:g}" class="mid">{text(words)}</text>')
        out.append(f'<path class="axis" d="M{self.left:g} {TOP:g}V{floor:g}H{right:g}"/>')
        middle = (self.left + right) / 2.0
        out.append(f'<text x="{middle:g}" y="{self.height - 8:g}" class="mid">{text(cut(self.x.label, 60))}</text>')
        if self.y.label:
            at = f'transform="translate(15 {(TOP + floor) / 2.0:g}) rotate(-90)"'
            out.append(f'<text {at} class="mid">{text(cut(self.y.label, 40))}</text>')
        return (
            f'<svg role="img" viewBox="0 0 {WIDTH:g} {self.height:g}" aria-label="{text(f"{title}. {description}")}">'
            f"{''.join(out)}{''.join(self.parts)}</svg>"
        )


def thinned(marks: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Marks of which no more are left than there is room for below a chart."""
    room = (WIDTH - LEFT - RIGHT) / 9.0  # characters
    step = math.ceil(sum(len(words) + 2 for _, words in marks) / room) or 1
    return marks[::step]


def _points(pairs: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in pairs)


def _edges(centres: Sequence[float], first: float, last: float) -> list[float]:
    """Ends of the cells about some centres."""
    return [first, *((a + b) / 2.0 for a, b in pairwise(centres)), last]

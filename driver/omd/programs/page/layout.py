"""A picture of boxes in columns, with edges from left to right between them."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Edge = tuple[str, str]
    Place = str | tuple[str, str, int]  # a box, or where an edge passes a column

_GAP, _SPACE, _EDGE = 18, 80, 24

# What draws the tip of an edge; the style of the picture gives its colour.
TIP = """\
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"
 orient="auto"><path class="tip" d="M0,0L8,4L0,8z"/></marker></defs>"""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is.

    Attributes:
        width, height: of the picture.
        boxes: left, top and width of each box; those of a column have the same width.
        paths: the data of a path for each edge.
    """

    width: float
    height: float
    boxes: dict[str, tuple[float, float, float]]
    paths: list[str]

    @property
    def size(self) -> str:
        """The attributes of the element svg."""
        w, h = f"{self.width:.0f}", f"{self.height:.0f}"
        return f'viewBox="0 0 {w} {h}" width="{w}" height="{h}"'


def layered(sizes: Mapping[str, tuple[float, float]], edges: Sequence[Edge]) -> Layout:
    """Place boxes in columns: each is right of all from which an edge leads to it.

    Args:
        sizes: width and height of each box.
        edges: from box to box, without circles.
    """
    layers = _layers(sizes, edges)
    columns = _columns(layers, edges)

    def tall(place: Place) -> float:
        return sizes[place][1] if isinstance(place, str) else 0  # what passes by needs only a gap

    heights = [sum(tall(place) + _GAP for place in column) - _GAP for column in columns]
    height = max(heights, default=0) + 2 * _EDGE
    middle: dict[Place, float] = {}
    spans: list[tuple[float, float]] = []
    left = float(_EDGE)
    for column, its in zip(columns, heights, strict=True):
        width = max(sizes[place][0] for place in column if isinstance(place, str))
        top = (height - its) / 2
        for place in column:
            middle[place] = top + tall(place) / 2
            top += tall(place) + _GAP
        spans.append((left, left + width))
        left += width + _SPACE

    boxes = {}
    for name, layer in layers.items():
        start, end = spans[layer]
        boxes[name] = (start, middle[name] - tall(name) / 2, end - start)
    return Layout(
        spans[-1][1] + _EDGE if spans else 2 * _EDGE,
        height,
        boxes,
        [
            _curve([(*spans[layer], middle[place]) for place, layer in _way(edge, layers)])
            for edge in edges
        ],
    )


def after_each(edges: Iterable[Edge]) -> dict[str, list[str]]:
    """Return for each box those to which its edges lead."""
    after = defaultdict(list)
    for source, target in edges:
        after[source].append(target)
    return after


def _layers(names: Iterable[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Return the column of each box: its distance from its furthest source.

    A source itself stands directly before the first box that depends on it.
    """
    after = after_each(edges)
    waits = dict.fromkeys(names, 0)
    for _, target in edges:
        waits[target] += 1
    layers = dict.fromkeys(waits, 0)
    sources = [name for name, count in waits.items() if count == 0]
    free = list(sources)
    while free:
        name = free.pop()
        for child in after[name]:
            layers[child] = max(layers[child], layers[name] + 1)
            waits[child] -= 1
            if waits[child] == 0:
                free.append(child)
    for name in sources:
        layers[name] = min((layers[child] for child in after[name]), default=1) - 1
    return layers


def _way(edge: Edge, layers: dict[str, int]) -> list[tuple[Place, int]]:
    """Return the places of an edge with their columns: both ends, and one in each between."""
    source, target = edge
    between = range(layers[source] + 1, layers[target])
    return [
        (source, layers[source]),
        *(((*edge, layer), layer) for layer in between),
        (target, layers[target]),
    ]


def _columns(layers: dict[str, int], edges: Sequence[Edge]) -> list[list[Place]]:
    """Return the places of each column, each as near as possible to those it is connected with."""
    columns: list[list[Place]] = [[] for _ in range(max(layers.values(), default=-1) + 1)]
    for name, layer in layers.items():
        columns[layer].append(name)
    before: dict[Place, list[Place]] = defaultdict(list)
    after: dict[Place, list[Place]] = defaultdict(list)
    for edge in edges:
        way = _way(edge, layers)
        for place, layer in way[1:-1]:
            columns[layer].append(place)
        for (one, _), (other, _) in itertools.pairwise(way):
            after[one].append(other)
            before[other].append(one)
    row: dict[Place, float] = {}

    def settle(column: list[Place], beside: dict[Place, list[Place]]) -> None:
        """Sort a column by the position of the neighbours of its places."""

        def middle(place: Place) -> float:
            positions = [row[other] for other in beside[place] if other in row]
            return sum(positions) / len(positions) if positions else row.get(place, math.inf)

        column.sort(key=middle)
        row.update((place, i - len(column) / 2) for i, place in enumerate(column))

    for _ in range(4):
        for column in columns:
            settle(column, before)
        for column in reversed(columns):
            settle(column, after)
    return columns


def _curve(way: Sequence[tuple[float, float, float]]) -> str:
    """Return the data of a path: curved between columns, straight where it passes one."""
    (_, x, y), *others = way
    path = f"M{x:.1f},{y:.1f}"
    for number, (start, end, level) in enumerate(others, 1):
        half = (x + start) / 2
        path += f" C{half:.1f},{y:.1f} {half:.1f},{level:.1f} {start:.1f},{level:.1f}"
        if number < len(others):
            path += f" H{end:.1f}"
        x, y = end, level
    return path

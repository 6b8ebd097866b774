"""The graph of topics as text, DOT, Mermaid or SVG; names may hold any character."""

from __future__ import annotations

import html
import itertools
import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from omd.cli.common import as_text, short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Edge = tuple[str, str]
    Place = str | tuple[str, str, int]  # a topic, or where an edge passes a column

__all__ = ["FORMATS", "Node"]


@dataclass(frozen=True, slots=True)
class Node:
    """A topic in the graph.

    Attributes:
        name: the topic, or a table that is the destination of no topic.
        kind: the class that gives its colour; see _COLOURS.
        lag: how far it is behind.
        note: the reason why it runs, or why it does not.
    """

    name: str
    kind: str
    lag: timedelta | None = None
    note: str = ""

    @property
    def label(self) -> str:
        """The name as it can be printed."""
        return str(short(self.name))

    @property
    def second(self) -> str:
        """The text below the name."""
        told = [f"lag {as_text(self.lag)}"] if self.lag is not None else []
        return "  ".join([*told, *([str(short(self.note))] if self.note else [])])


# For each kind, the colours of fill and border on a light ground, then on a dark one.
_COLOURS = {
    "source": ("#f1f3f5", "#868e96", "#2b3035", "#868e96"),
    "missing": ("#fff5f5", "#e03131", "#3b1d1d", "#ff8787"),
    "quiet": ("#ebfbee", "#2f9e44", "#1b3022", "#51cf66"),
    "ready": ("#e7f5ff", "#1971c2", "#16293b", "#4dabf7"),
    "running": ("#e5dbff", "#6741d9", "#2a2145", "#9775fa"),
    "waiting": ("#fff9db", "#e67700", "#3a2f12", "#fcc419"),
    "failed": ("#ffe3e3", "#c92a2a", "#4a1f1f", "#ff6b6b"),
    "inactive": ("#ffffff", "#ced4da", "#212529", "#495057"),
}


def _after(edges: Iterable[Edge]) -> dict[str, list[str]]:
    after = defaultdict(list)
    for source, target in edges:
        after[source].append(target)
    return after


# Text -------------------------------------------------------------------------------------------


def as_tree(nodes: Sequence[Node], edges: Sequence[Edge]) -> str:
    """Return each source with the topics made of it; the branch of a topic is shown once."""
    by_name = {node.name: node for node in nodes}
    after = _after(edges)
    fed = {target for _, target in edges}
    told: set[str] = set()
    lines: list[str] = []
    # A stack replaces recursion: a chain of topics may be longer than Python's recursion limit.
    for root in [n.name for n in nodes if n.name not in fed] + [n.name for n in nodes]:
        if root in told:
            continue
        stack = [(root, "", "")]
        while stack:
            name, lead, below = stack.pop()
            node = by_name[name]
            again = name in told and bool(after[name])
            more = "(see above)" if again else node.second
            lines.append(f"{lead}{node.label}  {more}".rstrip())
            if name in told:
                continue
            told.add(name)
            for number, child in enumerate(reversed(after[name])):
                last = number == 0
                stack.append(
                    (child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "))
                )
    return "\n".join(lines)


# DOT, Mermaid -----------------------------------------------------------------------------------


def as_dot(nodes: Sequence[Node], edges: Sequence[Edge]) -> str:
    """Return the graph for Graphviz."""

    def quoted(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"')

    number = {node.name: f"n{i}" for i, node in enumerate(nodes)}
    lines = [
        "digraph lineage {",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fontname="sans-serif"];',
    ]
    for node in nodes:
        fill, border, *_ = _COLOURS[node.kind]
        label = quoted(node.label) + (f"\\n{quoted(node.second)}" if node.second else "")
        lines.append(
            f'  {number[node.name]} [label="{label}", fillcolor="{fill}", color="{border}"];'
        )
    lines += [f"  {number[source]} -> {number[target]};" for source, target in edges]
    return "\n".join([*lines, "}"])


def as_mermaid(nodes: Sequence[Node], edges: Sequence[Edge]) -> str:
    """Return the graph for Mermaid, which Markdown may include."""

    def quoted(text: str) -> str:  # a character that could have a meaning is written as its number
        return "".join(c if c.isalnum() or c in " ._-:" else f"#{ord(c)};" for c in text)

    number = {node.name: f"n{i}" for i, node in enumerate(nodes)}
    lines = ["flowchart LR"]
    for node in nodes:
        label = quoted(node.label) + (f"<br/>{quoted(node.second)}" if node.second else "")
        lines.append(f'  {number[node.name]}["{label}"]:::{node.kind}')
    lines += [f"  {number[source]} --> {number[target]}" for source, target in edges]
    lines += [
        f"  classDef {kind} fill:{_COLOURS[kind][0]},stroke:{_COLOURS[kind][1]},color:#212529"
        for kind in sorted({node.kind for node in nodes})
    ]
    return "\n".join(lines)


# SVG --------------------------------------------------------------------------------------------

_HEIGHT, _GAP, _SPACE, _EDGE = 46, 18, 80, 24
_WIDEST = 44  # letters
_LETTER = 7.2


def as_svg(nodes: Sequence[Node], edges: Sequence[Edge]) -> str:
    """Return a picture: sources are at the left, a topic is right of all that it depends on."""
    by_name = {node.name: node for node in nodes}
    layers = _layers(by_name, edges)
    columns = _columns(layers, edges)

    def tall(place: Place) -> float:
        return _HEIGHT if place in by_name else 0  # an edge that passes by needs only a gap

    heights = [sum(tall(place) + _GAP for place in column) - _GAP for column in columns]
    height = max(heights, default=0) + 2 * _EDGE
    middle: dict[Place, float] = {}
    spans: list[tuple[float, float]] = []
    left = float(_EDGE)
    for column, its in zip(columns, heights, strict=True):
        shown = [by_name[place] for place in column if isinstance(place, str)]
        letters = max((len(_cut(text)) for n in shown for text in (n.label, n.second)), default=0)
        width = letters * _LETTER + 24
        top = (height - its) / 2
        for place in column:
            middle[place] = top + tall(place) / 2
            top += tall(place) + _GAP
        spans.append((left, left + width))
        left += width + _SPACE

    shapes = [
        _curve([(*spans[layer], middle[place]) for place, layer in _way(edge, layers)])
        for edge in edges
    ]
    for name, node in by_name.items():
        start, end = spans[layers[name]]
        shapes.append(_box(node, start, middle[name] - _HEIGHT / 2, end - start))
    width = spans[-1][1] + _EDGE if spans else 2 * _EDGE
    size = f'width="{width:.0f}" height="{height:.0f}"'
    head = f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" {size} role="img">
<title>Lineage</title>
<style>{_style()}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"
 orient="auto"><path class="tip" d="M0,0L8,4L0,8z"/></marker></defs>"""
    return "\n".join([head, *shapes, "</svg>"])


def _layers(names: Iterable[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Return the column of each topic: its distance from its furthest source.

    A source itself stands directly before the first topic that depends on it.
    """
    after = _after(edges)
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
            found = [row[other] for other in beside[place] if other in row]
            return sum(found) / len(found) if found else row.get(place, math.inf)

        column.sort(key=middle)
        row.update((place, i - len(column) / 2) for i, place in enumerate(column))

    for _ in range(4):
        for column in columns:
            settle(column, before)
        for column in reversed(columns):
            settle(column, after)
    return columns


def _box(node: Node, left: float, top: float, width: float) -> str:
    x, y = left + 12, top + (19 if node.second else 28)
    text = [f'<text x="{x:.1f}" y="{y:.1f}">{_escape(_cut(node.label))}</text>']
    if node.second:
        more = _escape(_cut(node.second))
        text.append(f'<text class="more" x="{x:.1f}" y="{top + 35:.1f}">{more}</text>')
    if node.lag is not None and node.lag > timedelta(0):
        # A bar along the bottom shows the lag, from a second to a week.
        late = min(math.log1p(node.lag.total_seconds()) / math.log1p(7 * 86400), 1)
        text.append(
            f'<rect class="lag" x="{left + 6:.1f}" y="{top + _HEIGHT - 5:.1f}"'
            f' width="{late * (width - 12):.1f}" height="2.5" rx="1"/>'
        )
    return (
        f'<g class="{node.kind}"><title>{_escape(node.label)}</title>'
        f'<rect class="box" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{_HEIGHT}"'
        f' rx="6"/>{"".join(text)}</g>'
    )


def _curve(way: Sequence[tuple[float, float, float]]) -> str:
    """Return an edge as a path: curved between columns, straight where it passes one."""
    (_, x, y), *others = way
    path = f"M{x:.1f},{y:.1f}"
    for number, (start, end, level) in enumerate(others, 1):
        half = (x + start) / 2
        path += f" C{half:.1f},{y:.1f} {half:.1f},{level:.1f} {start:.1f},{level:.1f}"
        if number < len(others):
            path += f" H{end:.1f}"
        x, y = end, level
    return f'<path class="edge" marker-end="url(#tip)" d="{path}"/>'


def _style() -> str:
    def of(kind: str, fill: str, border: str) -> str:
        return f".{kind} .box{{fill:{fill};stroke:{border}}}.{kind} .lag{{fill:{border}}}"

    light = "".join(of(kind, c[0], c[1]) for kind, c in _COLOURS.items())
    dark = "".join(of(kind, c[2], c[3]) for kind, c in _COLOURS.items())
    return (
        "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#212529}"
        ".more{font-size:11px;opacity:.75}.box{stroke-width:1.3}"
        ".edge{fill:none;stroke:#868e96;stroke-width:1.2}.tip{fill:#868e96}"
        f"{light}@media(prefers-color-scheme:dark){{text{{fill:#f1f3f5}}{dark}}}"
    )


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _escape(text: str) -> str:
    return html.escape(text, quote=True)


FORMATS: dict[str, Callable[[Sequence[Node], Sequence[Edge]], str]] = {
    "text": as_tree,
    "dot": as_dot,
    "mermaid": as_mermaid,
    "svg": as_svg,
}

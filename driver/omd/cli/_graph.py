"""The graph of topics as text, DOT, Mermaid or SVG; names may hold anything."""

from __future__ import annotations

import html
import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from omd.cli.common import as_text, short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Edge = tuple[str, str]

__all__ = ["FORMATS", "Node"]


@dataclass(frozen=True, slots=True)
class Node:
    """A topic in the graph.

    Attributes:
        name: the topic, or a table that no topic makes.
        kind: the class that colours it: see _COLOURS.
        lag: how far behind it is.
        note: the reason why it runs, or does not.
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
        """What stands below the name."""
        told = [f"lag {as_text(self.lag)}"] if self.lag is not None else []
        return "  ".join([*told, *([str(short(self.note))] if self.note else [])])


# What each kind looks like: fill and border, on a light ground and on a dark one.
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
    """Each source with what is made of it; what has been told already is told once."""
    by_name = {node.name: node for node in nodes}
    after = _after(edges)
    fed = {target for _, target in edges}
    told: set[str] = set()
    lines: list[str] = []
    # A stack, not recursion: a chain of topics may be longer than Python likes.
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
    """For Graphviz."""

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
    """For Mermaid, as in Markdown."""

    def quoted(text: str) -> str:  # anything that could mean something is told by its number
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

_HEIGHT, _GAP, _SPACE, _EDGE = 46, 18, 90, 24
_WIDEST = 44  # letters
_LETTER = 7.2


def as_svg(nodes: Sequence[Node], edges: Sequence[Edge]) -> str:
    """A picture: sources at the left, each topic right of all that it depends on."""
    columns = _columns(nodes, edges)
    place: dict[str, tuple[float, float, float]] = {}  # left, top, width
    left = float(_EDGE)
    tallest = max((len(column) for column in columns), default=0)
    height = 2 * _EDGE + max(tallest * (_HEIGHT + _GAP) - _GAP, 0)
    for column in columns:
        letters = max(max(len(_cut(n.label)), len(_cut(n.second))) for n in column)
        width = letters * _LETTER + 24
        top = (height - len(column) * (_HEIGHT + _GAP) + _GAP) / 2
        for row, node in enumerate(column):
            place[node.name] = (left, top + row * (_HEIGHT + _GAP), width)
        left += width + _SPACE
    width = max(left - _SPACE + _EDGE, 2 * _EDGE) if columns else 2 * _EDGE
    shapes = [_curve(place[source], place[target]) for source, target in edges]
    shapes += [_box(node, *place[node.name]) for column in columns for node in column]
    size = f'width="{width:.0f}" height="{height:.0f}"'
    head = f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" {size} role="img">
<title>Lineage</title>
<style>{_style()}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"
 orient="auto"><path class="tip" d="M0,0L8,4L0,8z"/></marker></defs>"""
    return "\n".join([head, *shapes, "</svg>"])


def _columns(nodes: Sequence[Node], edges: Sequence[Edge]) -> list[list[Node]]:
    """The nodes by their longest way from a source; in a column, near to what they are made of."""
    by_name = {node.name: node for node in nodes}
    after = _after(edges)
    before: dict[str, list[str]] = defaultdict(list)
    for source, target in edges:
        before[target].append(source)
    waits = {name: len(before[name]) for name in by_name}
    layer = dict.fromkeys(by_name, 0)
    free = [name for name, count in waits.items() if count == 0]
    while free:
        name = free.pop()
        for child in after[name]:
            layer[child] = max(layer[child], layer[name] + 1)
            waits[child] -= 1
            if waits[child] == 0:
                free.append(child)

    columns: list[list[str]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for name in by_name:
        columns[layer[name]].append(name)
    row: dict[str, float] = {}

    def settle(column: list[str], beside: dict[str, list[str]]) -> None:
        """Sort a column by where the neighbours of its nodes are."""

        def middle(name: str) -> float:
            found = [row[other] for other in beside[name] if other in row]
            return sum(found) / len(found) if found else row.get(name, math.inf)

        column.sort(key=middle)
        row.update((name, i - len(column) / 2) for i, name in enumerate(column))

    for _ in range(4):
        for column in columns:
            settle(column, before)
        for column in reversed(columns):
            settle(column, after)
    for column in columns:
        settle(column, before)
    return [[by_name[name] for name in column] for column in columns if column]


def _box(node: Node, left: float, top: float, width: float) -> str:
    x, y = left + 12, top + (19 if node.second else 28)
    text = [f'<text x="{x:.1f}" y="{y:.1f}">{_escape(_cut(node.label))}</text>']
    if node.second:
        more = _escape(_cut(node.second))
        text.append(f'<text class="more" x="{x:.1f}" y="{top + 35:.1f}">{more}</text>')
    if node.lag is not None and node.lag > timedelta(0):
        # How late it is, from a second to a week, as a bar along the bottom.
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


def _curve(source: tuple[float, float, float], target: tuple[float, float, float]) -> str:
    x1, y1 = source[0] + source[2], source[1] + _HEIGHT / 2
    x2, y2 = target[0], target[1] + _HEIGHT / 2
    bend = max((x2 - x1) / 2, 30)
    return (
        f'<path class="edge" marker-end="url(#tip)" d="M{x1:.1f},{y1:.1f}'
        f' C{x1 + bend:.1f},{y1:.1f} {x2 - bend:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"/>'
    )


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

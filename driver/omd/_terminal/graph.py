"""A graph of what feeds what as text, DOT, Mermaid or SVG; names may hold any character."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from omd._terminal.layout import TIP, after_each, layered
from omd._terminal.text import as_text, short

if TYPE_CHECKING:
    from omd._terminal.layout import Edge


@dataclass(frozen=True, slots=True)
class Node:
    """What stands in the graph, such as a topic."""

    name: str  # its name, which no other one has
    kind: str  # the class that gives its colour; see _COLOURS
    lag: timedelta | None = None  # how far it is behind
    note: str = ""  # the reason why it runs, or why it does not

    @property
    def label(self) -> str:
        """The name as it can be printed."""
        return str(short(self.name))

    @property
    def second(self) -> str:
        """The text below the name."""
        parts = [f"lag {as_text(self.lag)}"] if self.lag is not None else []
        return "  ".join([*parts, *([str(short(self.note))] if self.note else [])])


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


# Text -------------------------------------------------------------------------------------------


def as_tree(nodes: Sequence[Node], edges: Sequence[Edge]) -> str:
    """Return each source with what is made of it; the branch of a node is shown once."""
    by_name = {node.name: node for node in nodes}
    after = after_each(edges)
    fed = {target for _, target in edges}
    shown: set[str] = set()
    lines: list[str] = []
    # A stack replaces recursion: a chain of topics may be longer than Python's recursion limit.
    for root in [n.name for n in nodes if n.name not in fed] + [n.name for n in nodes]:
        if root in shown:
            continue
        stack = [(root, "", "")]
        while stack:
            name, lead, below = stack.pop()
            node = by_name[name]
            again = name in shown and bool(after[name])
            more = "(see above)" if again else node.second
            lines.append(f"{lead}{node.label}  {more}".rstrip())
            if name in shown:
                continue
            shown.add(name)
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

_HEIGHT = 46
_WIDEST = 44  # letters
_LETTER = 7.2
_SMALLEST = 0.7  # of its size, where a picture shrinks


def as_svg(
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    title: str = "What feeds what",
    *,
    shrinks: bool = False,
) -> str:
    """Return a picture: sources are at the left, a node is right of all that it depends on.

    A picture that shrinks gets as narrow as its place, as long as its texts can be read.
    """
    by_name = {node.name: node for node in nodes}

    def width(node: Node) -> float:
        return max(len(_cut(text)) for text in (node.label, node.second)) * _LETTER + 24

    picture = layered({n.name: (width(n), float(_HEIGHT)) for n in nodes}, edges)
    shapes = [f'<path class="edge" marker-end="url(#tip)" d="{d}"/>' for d in picture.paths]
    for name, node in by_name.items():
        left, top, wide = picture.boxes[name]
        shapes.append(_box(node, left, top, wide))
    least = f"max-width:100%;height:auto;min-width:{picture.width * _SMALLEST:.0f}px"
    fit = f' style="{least}"' if shrinks else ""
    head = f"""\
<svg xmlns="http://www.w3.org/2000/svg" {picture.size}{fit} role="img">
<title>{_escape(title)}</title>
<style>{_style()}</style>
{TIP}"""
    return "\n".join([head, *shapes, "</svg>"])


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

"""A graph of what feeds what as text, DOT, Mermaid or SVG; names may hold any character."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from omd.programs.terminal.layout import TIP, after_each, layered
from omd.programs.terminal.markup import Html, el, join
from omd.programs.terminal.text import as_text, short

if TYPE_CHECKING:
    from omd.programs.terminal.layout import Edge


@dataclass(frozen=True, slots=True)
class Node:
    """What stands in the graph, such as a topic."""

    name: str  # its name, which no other one has
    kind: str  # the class that gives its colour; see _COLOURS
    lag: timedelta | None = None  # how far it is behind
    note: str = ""  # the reason why it runs, or why it does not
    href: str | None = None  # where the picture in a page leads to

    @property
    def label(self) -> str:
        """The name as it can be printed."""
        return str(short(self.name))

    @property
    def second(self) -> str:
        """The text below the name."""
        parts = [f"lag {as_text(self.lag)}"] if self.lag is not None else []
        return "  ".join([*parts, *([str(short(self.note))] if self.note else [])])


# For each kind, the colours of fill and border on a light ground, then on a dark one; graph.css has
# the same for pages.
_COLOURS = {
    "source": ("#edf0f3", "#7b8695", "#262e38", "#7f8b9b"),
    "missing": ("#ffffff", "#d1372c", "#191f26", "#ee6055"),
    "quiet": ("#e3f3eb", "#2f9468", "#15322a", "#3fae80"),
    "ready": ("#ffffff", "#2f6fd6", "#191f26", "#5b95ee"),
    "running": ("#e6effc", "#2f6fd6", "#18294a", "#5b95ee"),
    "waiting": ("#fcf1da", "#b87503", "#372a10", "#d29a34"),
    "failed": ("#fcebe9", "#d1372c", "#3d1d1b", "#ee6055"),
    "inactive": ("#ffffff", "#7b8695", "#191f26", "#7f8b9b"),
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
        f"  classDef {kind} fill:{_COLOURS[kind][0]},stroke:{_COLOURS[kind][1]},color:#1b2129"
        for kind in sorted({node.kind for node in nodes})
    ]
    return "\n".join(lines)


# SVG --------------------------------------------------------------------------------------------

_HEIGHT = 46
_WIDEST = 44  # letters
_LETTER = 7.2
_SMALLEST = 0.7  # of its size, where a picture shrinks


def as_svg(nodes: Sequence[Node], edges: Sequence[Edge], title: str = "What feeds what") -> str:
    """Return a file: sources are at the left, a node is right of all that it depends on."""
    size, shapes = _drawn(nodes, edges)
    head = f"""\
<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">
{el("title", title)}
<style>{_style()}</style>
{TIP}"""
    return "\n".join([head, *shapes, "</svg>"])


def picture(
    nodes: Sequence[Node], edges: Sequence[Edge], title: str, *, shrinks: bool = False
) -> Html:
    """Return the same for a page, which has `STYLE`; a node leads to its ``href``.

    A picture that shrinks gets as narrow as its place, as long as its texts can be read.
    """
    size, shapes = _drawn(nodes, edges)
    drawn = Html(
        f'<svg class="graph" {size} role="group">{el("title", title)}{TIP}{join(shapes)}</svg>'
    )
    # No style attribute may say how narrow it gets; an empty picture of that width does.
    least = float(size.split('width="')[1].split('"')[0]) * _SMALLEST
    strut = el("svg", cls="strut", width=f"{least:.0f}", height=0, aria_hidden="true")
    inside = el("div", strut, drawn, cls="shrinks") if shrinks else drawn
    return el("div", inside, cls="scroll", tabindex=0)


def _drawn(nodes: Sequence[Node], edges: Sequence[Edge]) -> tuple[str, list[Html]]:
    """Return the attributes that give a picture its size, and what is in it."""

    def width(node: Node) -> float:
        return max(len(_cut(text)) for text in (node.label, node.second)) * _LETTER + 24

    layout = layered({n.name: (width(n), float(_HEIGHT)) for n in nodes}, edges)
    shapes = [el("path", cls="edge", marker_end="url(#tip)", d=d) for d in layout.paths]
    shapes += [_box(node, *layout.boxes[node.name]) for node in nodes]
    return layout.size, shapes


def _box(node: Node, left: float, top: float, width: float) -> Html:
    x, y = f"{left + 12:.1f}", top + (19 if node.second else 28)
    inside = [
        el("title", node.label),
        el("rect", cls="box", x=f"{left:.1f}", y=f"{top:.1f}", width=f"{width:.1f}",
           height=_HEIGHT, rx=6),
        el("text", _cut(node.label), x=x, y=f"{y:.1f}"),
    ]  # fmt: skip
    if node.second:
        inside.append(el("text", _cut(node.second), cls="more", x=x, y=f"{top + 35:.1f}"))
    if node.lag is not None and node.lag > timedelta(0):
        # A bar along the bottom shows the lag, from a second to a week.
        late = min(math.log1p(node.lag.total_seconds()) / math.log1p(7 * 86400), 1)
        inside.append(
            el("rect", cls="lag", x=f"{left + 6:.1f}", y=f"{top + _HEIGHT - 5:.1f}",
               width=f"{late * (width - 12):.1f}", height=2.5, rx=1)
        )  # fmt: skip
    box = el("g", *inside, cls=node.kind)
    return box if node.href is None else el("a", box, href=node.href)


def _style() -> str:
    def of(kind: str, fill: str, border: str) -> str:
        return f".{kind} .box{{fill:{fill};stroke:{border}}}.{kind} .lag{{fill:{border}}}"

    light = "".join(of(kind, c[0], c[1]) for kind, c in _COLOURS.items())
    dark = "".join(of(kind, c[2], c[3]) for kind, c in _COLOURS.items())
    return (
        "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1b2129}"
        ".more{font-size:11px;opacity:.75}.box{stroke-width:1.3}"
        ".edge{fill:none;stroke:#7b8695;stroke-width:1.2}.tip{fill:#7b8695}"
        f"{light}@media(prefers-color-scheme:dark){{text{{fill:#e5e9ee}}{dark}}}"
    )


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


FORMATS: dict[str, Callable[[Sequence[Node], Sequence[Edge]], str]] = {
    "text": as_tree,
    "dot": as_dot,
    "mermaid": as_mermaid,
    "svg": as_svg,
}

# What a page has that holds a picture.
STYLE = "\n" + Path(__file__).with_name("graph.css").read_text(encoding="utf-8")

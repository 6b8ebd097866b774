"""A graph of what feeds what for Mermaid and for a page; names may hold any character."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from omd.programs.page.layout import TIP, layered
from omd.programs.page.markup import Html, el, join
from omd.programs.terminal.text import as_text, short

if TYPE_CHECKING:
    from omd.programs.page.layout import Edge


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


# For each kind, the colours of fill and border; graph.css has them for pages.
_COLOURS = {
    "source": ("#edf0f3", "#7b8695"),
    "missing": ("#ffffff", "#d1372c"),
    "quiet": ("#e3f3eb", "#2f9468"),
    "ready": ("#ffffff", "#2f6fd6"),
    "running": ("#e6effc", "#2f6fd6"),
    "waiting": ("#fcf1da", "#b87503"),
    "failed": ("#fcebe9", "#d1372c"),
    "inactive": ("#ffffff", "#7b8695"),
}


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


# A picture --------------------------------------------------------------------------------------

_HEIGHT = 46
_WIDEST = 44  # letters
_LETTER = 7.2
_SMALLEST = 0.7  # of its size, where a picture shrinks


def picture(
    nodes: Sequence[Node], edges: Sequence[Edge], title: str, *, shrinks: bool = False
) -> Html:
    """Return the graph for a page, which has `STYLE`; a node leads to its ``href``.

    Sources are at the left, a node is right of all that it depends on.

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


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


# What a page has that holds a picture.
STYLE = "\n" + Path(__file__).with_name("graph.css").read_text(encoding="utf-8")

"""The anchors and contexts of an interface as Mermaid or SVG."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omd.programs.terminal.layout import TIP, layered

if TYPE_CHECKING:
    from omd.doors.facts import Facts
    from omd.programs.terminal.layout import Edge

Attribute = tuple[str, str]  # name and type


@dataclass(frozen=True, slots=True)
class Context:
    """What is known about the keys of an anchor."""

    title: str  # its name, after that of the entity where another entity feeds it
    kind: str  # standard, immutable, alternate_key, multi_active or bitemporal
    table: str
    attributes: Sequence[Attribute]  # what it stores


@dataclass(frozen=True, slots=True)
class Anchor:
    """The keys of an entity."""

    entity: str
    table: str
    key: Sequence[Attribute]  # its attributes
    # Its contexts, also those that other entities feed.
    contexts: list[Context] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Link:
    """One anchor names another."""

    parent: str  # the entity that is named
    child: str  # the entity whose anchor or context names it
    name: str  # the relationship
    kind: str  # key, where the key of the child holds it; subtype; else context


def read_model(room: Facts, interface_code: str) -> tuple[list[Anchor], list[Link]]:
    """Return what is deployed for an interface; keys and types are those of its model."""
    from omd.rooms.delivery.calls import DeliveryCalls
    from omd.rooms.facts.rows import FactsMapRow

    document = DeliveryCalls(room._link).model_document(interface_code)
    entities: dict[str, dict[str, Any]] = {e["name"]: e for e in document["entities"]}
    rows = room._calls.report(
        FactsMapRow, interface_code=interface_code, order_by=["entity_code", "context_code"]
    )
    facts = {name: entity.get("facts") or {} for name, entity in entities.items()}
    owner = {name: str(of.get("context_of") or name) for name, of in facts.items()}
    types = {
        name: {a["name"]: str(a["type"]) for a in entity["attributes"]}
        for name, entity in entities.items()
    }
    anchors: dict[str, Anchor] = {}
    rows.sort(key=lambda row: (owner[row.entity_code] != row.entity_code, row.entity_code))
    for row in rows:
        name = owner[row.entity_code]
        if name not in anchors:
            key = [(code, types[name][code]) for code in entities[name]["key"]]
            anchors[name] = Anchor(name, row.anchor_table, key)
        is_own = name == row.entity_code
        title = row.context_code if is_own else row.entity_code
        its = types[row.entity_code]
        stored = [(code, its[code]) for code in row.attribute_codes]
        anchors[name].contexts.append(Context(title, row.context_kind, row.context_table, stored))
    for anchor in anchors.values():
        anchor.contexts.sort(key=lambda context: context.title != "properties")
    links = [
        Link(r["parent"], owner[name], r["name"], _kind(entity, facts[name], r))
        for name, entity in entities.items()
        if owner[name] in anchors
        for r in entity.get("relationships") or ()
        # The parent of a context is its anchor.
        if not (owner[name] != name and r["parent"] == owner[name] and _in_key(entity, r))
    ]
    return list(anchors.values()), [
        Link(owner.get(link.parent, link.parent), link.child, link.name, link.kind)
        for link in links
        if owner.get(link.parent, link.parent) in anchors
    ]


def _in_key(entity: dict[str, Any], relationship: dict[str, Any]) -> bool:
    return set(relationship["columns"]) <= set(entity["key"])


def _kind(entity: dict[str, Any], facts: dict[str, Any], relationship: dict[str, Any]) -> str:
    if not _in_key(entity, relationship) or facts.get("context_of"):
        return "context"
    return "subtype" if facts.get("subtype_of") == relationship["parent"] else "key"


# Mermaid ----------------------------------------------------------------------------------------

_ENDS = {"key": "||--o{", "context": "|o..o{", "subtype": "||--o|"}


def as_mermaid(model: tuple[Sequence[Anchor], Sequence[Link]]) -> str:
    """Return an entity relationship diagram for Mermaid, which Markdown may include."""
    anchors, links = model
    lines = ["erDiagram"]
    table = {anchor.entity: _bare(anchor.table) for anchor in anchors}
    for anchor in anchors:
        lines += _mermaid_table(table[anchor.entity], anchor.key, "PK")
        for context in anchor.contexts:
            lines += _mermaid_table(_bare(context.table), context.attributes)
            end = "o{" if context.kind in ("multi_active", "bitemporal") else "o|"
            lines.append(
                f'  {table[anchor.entity]} ||--{end} {_bare(context.table)} : "{context.kind}"'
            )
    lines += [
        f'  {table[link.parent]} {_ENDS[link.kind]} {table[link.child]} : "{link.name}"'
        for link in links
    ]
    return "\n".join([*lines, ""])


def _bare(table: str) -> str:
    """Return the name of a table without its schema and quotes."""
    return table.partition(".")[2].strip('"')


def _mermaid_table(name: str, attributes: Sequence[Attribute], mark: str = "") -> Iterator[str]:
    yield f"  {name} {{"
    for code, type_ in attributes:
        # A type may have letters, digits, hyphens, brackets and parentheses only.
        word = re.sub(r"[^\w()\[\]-]+", "_", type_)
        yield f"    {word} {code}{f' {mark}' if mark else ''}"
    yield "  }"


# SVG --------------------------------------------------------------------------------------------

_ROW, _LETTER, _PAD = 17, 7.2, 10

# For each part, the colours of its ground and border on a light page, then on a dark one.
_COLOURS = {
    "anchor": ("#dbeafe", "#1d4ed8", "#16293b", "#4dabf7"),
    "standard": ("#fef9c3", "#a16207", "#3a2f12", "#fcc419"),
    "immutable": ("#f1f5f9", "#475569", "#2b3035", "#adb5bd"),
    "alternate_key": ("#dcfce7", "#15803d", "#1b3022", "#51cf66"),
    "multi_active": ("#ffedd5", "#c2410c", "#3b2416", "#ff922b"),
    "bitemporal": ("#ede9fe", "#6d28d9", "#2a2145", "#9775fa"),
}


@dataclass(frozen=True, slots=True)
class _Part:
    """A coloured part of a box: a heading, a note at its right, and rows below."""

    kind: str
    heading: str
    note: str
    rows: Sequence[Attribute]

    @property
    def height(self) -> float:
        return _ROW * (1 + len(self.rows)) + 8

    @property
    def letters(self) -> int:
        heads = len(self.heading) + len(self.note) + 3
        return max([heads, *(len(name) + len(type_) + 3 for name, type_ in self.rows)])


def as_svg(model: tuple[Sequence[Anchor], Sequence[Link]]) -> str:
    """Return a picture: each anchor with its contexts is a box, right of those that it names."""
    anchors, links = model
    parts = {anchor.entity: list(_parts(anchor, links)) for anchor in anchors}
    sizes = {
        name: (
            max(part.letters for part in its) * _LETTER + 2 * _PAD,
            sum(part.height for part in its),
        )
        for name, its in parts.items()
    }
    edges = _edges(links)
    picture = layered(sizes, [forth for forth, _ in edges])
    shapes = []
    for (_, (link, is_back)), path in zip(edges, picture.paths, strict=True):
        at = "start" if is_back else "end"
        shapes.append(
            f'<path class="edge {link.kind}-edge" marker-{at}="url(#tip)" d="{path}">'
            f"<title>{_escape(f'{link.child}: {link.name}')}</title></path>"
        )
    for name, its in parts.items():
        shapes.append(_box(name, its, *picture.boxes[name]))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {picture.size} role="img">',
            "<title>Facts</title>",
            f"<style>{_style()}</style>",
            TIP.replace('orient="auto"', 'orient="auto-start-reverse"'),
            *shapes,
            "</svg>\n",
        ]
    )


def _parts(anchor: Anchor, links: Sequence[Link]) -> Iterator[_Part]:
    of_itself = [
        (f"{link.name}", f"\N{CLOCKWISE OPEN CIRCLE ARROW} {anchor.entity}")
        for link in links
        if link.parent == link.child == anchor.entity
    ]
    yield _Part("anchor", anchor.entity, _bare(anchor.table), [*anchor.key, *of_itself])
    for context in anchor.contexts:
        yield _Part(context.kind, context.title, context.kind, context.attributes)


def _edges(links: Sequence[Link]) -> list[tuple[Edge, tuple[Link, bool]]]:
    """Return an edge for each link, without circles: what would close one is turned round."""
    edges: list[tuple[Edge, tuple[Link, bool]]] = []
    after: dict[str, set[str]] = {}

    def leads(start: str, end: str) -> bool:
        seen, stack = set[str](), [start]
        while stack:
            name = stack.pop()
            if name == end:
                return True
            if name not in seen:
                seen.add(name)
                stack += after.get(name, ())
        return False

    # What lies in a key has no circle, so it comes first.
    for link in sorted(links, key=lambda link: link.kind == "context"):
        if link.parent != link.child:
            is_back = leads(link.child, link.parent)
            start, end = (link.child, link.parent) if is_back else (link.parent, link.child)
            after.setdefault(start, set()).add(end)
            edges.append(((start, end), (link, is_back)))
    return edges


def _box(name: str, parts: Sequence[_Part], left: float, top: float, width: float) -> str:
    shapes = [f"<title>{_escape(name)}</title>"]
    right = left + width - _PAD
    for part in parts:
        shapes.append(
            f'<rect class="{part.kind}" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}"'
            f' height="{part.height:.1f}"/>'
        )
        lines = [("head", part.heading, part.note), *(("", *row) for row in part.rows)]
        for number, (kind, text, more) in enumerate(lines):
            y = top + 16 + number * _ROW
            shapes.append(
                f'<text class="{kind}" x="{left + _PAD:.1f}" y="{y:.1f}">{_escape(text)}</text>'
                f'<text class="more" x="{right:.1f}" y="{y:.1f}">{_escape(more)}</text>'
            )
        top += part.height
    return f"<g>{''.join(shapes)}</g>"


def _style() -> str:
    def of(kind: str, fill: str, border: str) -> str:
        return f".{kind}{{fill:{fill};stroke:{border}}}"

    light = "".join(of(kind, c[0], c[1]) for kind, c in _COLOURS.items())
    dark = "".join(of(kind, c[2], c[3]) for kind, c in _COLOURS.items())
    return (
        "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#212529}"
        ".head{font-weight:bold}.more{text-anchor:end;opacity:.65}"
        ".edge{fill:none;stroke:#868e96;stroke-width:1.4}.context-edge{stroke-dasharray:5 4}"
        f".tip{{fill:#868e96}}{light}"
        f"@media(prefers-color-scheme:dark){{text{{fill:#f1f3f5}}{dark}}}"
    )


def _escape(text: str) -> str:
    return html.escape(text, quote=True)

"""The anchors and contexts of an interface as Mermaid."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omd.doors.facts import Facts

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

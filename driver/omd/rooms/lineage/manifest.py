"""The manifest that dbt writes: which node makes which table, and of which tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
# They hold no rows: who reads them reads what is under them.
_WITHOUT_ROWS = ("view", "ephemeral")


@dataclass(frozen=True, slots=True)
class Node:
    """A model, seed, snapshot or source of a project."""

    unique_id: str
    kind: str  # model, seed, snapshot or source
    package: str
    name: str
    table: str  # schema.table, with quotes where they are needed
    materialized: str  # view, table, incremental, …; of a source: source
    reads: tuple[str, ...] = ()  # the unique ids, in the order of the manifest
    calls: frozenset[str] = frozenset()  # the macros, those of its hooks too
    path: str = ""
    description: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """The Module of the node: the same rule as in the macro module_code of the package."""
        given = self.meta.get("omd_module")
        return str(given) if given else f"dbt.{self.unique_id.partition('.')[2]}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """The nodes of a project by their unique ids, a node after those that it reads."""

    path: Path
    project: str
    nodes: dict[str, Node]

    def tables_read(self, node: Node) -> list[Node]:
        """Return what holds the rows that a node reads; views and ephemeral models do not."""
        nodes: dict[str, Node] = {}
        left, met = list(reversed(node.reads)), set[str]()
        while left:
            unique_id = left.pop()
            source = self.nodes.get(unique_id)
            if source is None or unique_id in met:
                continue
            met.add(unique_id)
            if source.materialized in _WITHOUT_ROWS:
                left += reversed(source.reads)
            else:
                nodes.setdefault(source.table, source)
        return list(nodes.values())


def read_manifest(path: Path) -> Manifest:
    """Read ``target/manifest.json`` of dbt 1.8 or newer.

    Raises:
        click.UsageError: it is no manifest.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        nodes = dict(_nodes(document))
        project = str(document["metadata"]["project_name"])
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise click.UsageError(
            f"{path} is no manifest of dbt ({type(error).__name__}: {error}); dbt parse writes"
            " target/manifest.json"
        ) from None
    return Manifest(path, project, {unique_id: nodes[unique_id] for unique_id in _in_order(nodes)})


def _nodes(document: Mapping[str, Any]) -> Iterable[tuple[str, Node]]:
    for unique_id, given in {**document["sources"], **document["nodes"]}.items():
        kind = given["resource_type"]
        if kind not in ("model", "seed", "snapshot", "source"):
            continue
        config = given.get("config") or {}
        depends_on = given.get("depends_on") or {}
        yield (
            unique_id,
            Node(
                unique_id=unique_id,
                kind=kind,
                package=given["package_name"],
                name=given["name"],
                table=".".join(
                    map(
                        _quoted,
                        (given["schema"], given.get("identifier") or given.get("alias") or ""),
                    )
                ),
                materialized=kind if kind == "source" else str(config.get("materialized") or kind),
                reads=tuple(depends_on.get("nodes") or ()),
                calls=frozenset(depends_on.get("macros") or ()),
                path=str(given.get("original_file_path") or ""),
                description=str(given.get("description") or ""),
                meta=config.get("meta") or given.get("meta") or {},
                config={**config, **{k: given[k] for k in _OF_SOURCES if given.get(k)}},
                tags=tuple(given.get("tags") or ()),
            ),
        )


# What a source has beside its config.
_OF_SOURCES = ("loaded_at_field", "freshness")


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _in_order(nodes: Mapping[str, Node]) -> list[str]:
    """Return the unique ids, each after those that it reads, else in the order of the manifest."""
    order: dict[str, None] = {}
    met = set[str]()
    for first in nodes:
        left = [(first, False)]
        while left:
            unique_id, is_ready = left.pop()
            if is_ready:
                order[unique_id] = None
            elif unique_id in nodes and unique_id not in met:
                met.add(unique_id)
                left.append((unique_id, True))
                left += [(read, False) for read in reversed(nodes[unique_id].reads)]
    return list(order)

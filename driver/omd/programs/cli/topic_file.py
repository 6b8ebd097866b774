"""A topic file made of models of dbt: what the models say stands there, the rest is a comment."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from omd.programs.terminal.options import is_chosen
from omd.rooms.lineage.manifest import Manifest, Node

_COLUMN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PROCESSORS = {"incremental": "STEP", "table": "RELOAD"}
_UNITS = ("minute", "hour", "day")


def topic_file(manifest: Manifest, patterns: Sequence[str] = ()) -> str:
    """Return the topics of a project as a file for ``omd apply``.

    Args:
        manifest: of the project.
        patterns: which models; see `is_selected`. Without one all.
    """
    models = [n for n in manifest.nodes.values() if n.kind != "source" and _fits(n, patterns)]
    topics = [n for n in models if n.materialized in _PROCESSORS and manifest.tables_read(n)]
    made = {node.table for node in topics}
    sources: dict[str, Node] = {}
    for node in topics:
        for source in manifest.tables_read(node):
            if source.table not in made:
                sources.setdefault(source.table, source)
    lines = [
        f"# Made by omd diff --from dbt, of the models of dbt project {_flat(manifest.project)}.",
        "# What a line with DECIDE asks only you know. A transform is a view that you create: the",
        "# SELECT of the model, which reads its first table by omd_lineage.in_block(pos, id) in a",
        "# STEP, in place of is_incremental(), and reads all in a RELOAD.",
        "topics:" if topics or sources else "topics: {}",
    ]
    for source in sources.values():
        lines += _entry(source.table, _of_source(source))
    for node in topics:
        lines += _entry(node.table, _of_model(manifest, node))
    for node in models:
        if node.materialized in _PROCESSORS and node not in topics:
            lines.append(f"# DECIDE: {_flat(node.unique_id)} reads no table that dbt knows.")
        elif node.materialized not in (*_PROCESSORS, "view", "ephemeral"):
            lines.append(
                f"# DECIDE: {_flat(node.unique_id)} is a {_flat(node.materialized)}, which no topic"
                " is; as a table that others fill it can be a source."
            )
    return "\n".join(lines) + "\n"


def is_selected(node: Node, pattern: str) -> bool:
    """Answer whether a pattern is the node's: NAME, PROJECT.NAME, or tag:TAG, with * and ?."""
    kind, colon, value = pattern.partition(":")
    if colon and kind == "tag":
        return any(is_chosen(tag, (value,)) for tag in node.tags)
    return is_chosen(node.name, (pattern,)) or is_chosen(f"{node.package}.{node.name}", (pattern,))


def _fits(node: Node, patterns: Sequence[str]) -> bool:
    return not patterns or any(is_selected(node, pattern) for pattern in patterns)


def _entry(table: str, lines: Iterator[str]) -> Iterator[str]:
    yield f"  {_scalar(table)}:"
    for line in lines:
        yield f"    {line}"


def _of_source(node: Node) -> Iterator[str]:
    kind = "a source" if node.kind == "source" else f"the {node.materialized} {node.name}"
    yield f"# In dbt it is {_flat(kind)}."
    loaded_at = node.config.get("loaded_at_field")
    if isinstance(loaded_at, str) and _COLUMN.fullmatch(loaded_at):
        yield f"pos_column: {_scalar(loaded_at)}"
        yield "# DECIDE: id_column, which orders the rows of one instant."
    else:
        yield "# DECIDE: pos_column and id_column, the position of a row, if not pos and id."
    yield "# DECIDE: source_offset, by what it is known how far it is: PROBE, CLOCK, TRIGGER, …"
    if age := _max_age(node.config.get("freshness")):
        yield f"max_age: {age}"
    yield from _comment(node)


def _of_model(manifest: Manifest, node: Node) -> Iterator[str]:
    processor = _PROCESSORS[node.materialized]
    read = manifest.tables_read(node)
    yield f"processor: {processor}"
    yield f"depends_on: [{', '.join(_scalar(source.table) for source in read)}]"
    if len(read) > 1:
        yield "# DECIDE: the first of them is the base table, whose rows are read block by block."
    view = _transform_of(node)
    yield f"transforms: [{_scalar(view)}]"
    yield f"# DECIDE: create the view {_flat(view)} of {_flat(node.path) or 'the model'}."
    if processor == "STEP":
        yield from _of_keys(node)
    yield from _comment(node)


def _of_keys(node: Node) -> Iterator[str]:
    strategy = node.config.get("incremental_strategy")
    given: Any = node.config.get("unique_key")
    keys = [given] if isinstance(given, str) else given
    if not keys or strategy == "append":
        return
    if isinstance(keys, list) and all(
        isinstance(key, str) and _COLUMN.fullmatch(key) for key in keys
    ):
        yield f"merge_key: [{', '.join(_scalar(key) for key in keys)}]"
    else:
        yield f"# DECIDE: merge_key; unique_key is {_flat(json.dumps(given))}."


def _comment(node: Node) -> Iterator[str]:
    if node.description.strip():
        yield f"comment: {_text(node.description.strip())}"


def _max_age(freshness: Any) -> str | None:
    """Return how old the newest row may be before dbt calls it an error."""
    limit = freshness.get("error_after") if isinstance(freshness, dict) else None
    count, unit = (limit or {}).get("count"), (limit or {}).get("period")
    return f"{count} {unit}s" if isinstance(count, int) and unit in _UNITS else None


def _transform_of(node: Node) -> str:
    schema, _, table = node.table.rpartition(".")
    return f'{schema}."{table[1:-1]}_transform"' if table[0] == '"' else f"{node.table}_transform"


def _scalar(text: str) -> str:
    plain = re.fullmatch(r"[A-Za-z_][\w.]*", text, re.ASCII)
    return text if plain and text.lower() not in _WORDS else _text(text)


# Plain words that YAML reads as something else.
_WORDS = ("y", "n", "yes", "no", "on", "off", "true", "false", "null")


def _text(text: str) -> str:
    """Return a text in double quotes, as YAML reads it whatever stands in it."""
    return '"' + "".join(map(_character, text)) + '"'


def _character(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    number = ord(character)
    return f"\\U{number:08x}" if number > 0xFFFF else f"\\u{number:04x}"


def _flat(text: str) -> str:
    """Return a text that stays in the line of its comment."""
    return "".join(c if c.isprintable() else " " for c in text)

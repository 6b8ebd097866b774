"""Topics in YAML files, whose keys are the arguments of ``register_topic``.

A file is compared by registering it: the database alone knows what a text means and what becomes of
a value that is not given. To compare only, the registration is rolled back.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml

from omd.programs.cli.documents.changes import Change, Documents, differences
from omd.programs.terminal.yaml_file import (
    AnyLoader,
    bounded_text,
    broken,
    unknown,
    within_bounds,
)
from omd.rooms.lineage.calls import LineageCalls
from omd.rooms.lineage.rows import LineageTopicsRow

if TYPE_CHECKING:
    import psycopg

_TYPES = {
    name: str(parameter.annotation)
    for name, parameter in inspect.signature(LineageCalls.register_topic).parameters.items()
    if parameter.default is not parameter.empty
}
# The offset of a topic moves on, so a file says only where a new topic begins.
_FOR_NEW_TOPICS = ("start_pos", "start_id")


def read_topics(paths: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Return the arguments of each topic in these files, a dependency before what reads it.

    Raises:
        click.UsageError: a file is no YAML, or has something that register_topic does not take.
    """
    topics: dict[str, dict[str, Any]] = {}
    places: dict[str, str] = {}
    for path in paths:
        try:
            with within_bounds(path):
                documents = list(yaml.compose_all(bounded_text(path), AnyLoader))
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise broken(path, error) from None
        for document in documents:
            for name, place, arguments in _topics(document, path):
                if name in topics:
                    raise click.UsageError(f"{place}: {name} stands in {places[name]} already")
                topics[name], places[name] = arguments, place
    return {name: topics[name] for name in _in_order(topics)}


class TopicFiles(Documents):
    """Files of topics."""

    def __init__(self, paths: Iterable[Path], *, dry_run: bool) -> None:
        super().__init__(dry_run=dry_run)
        self._topics = read_topics(paths)

    def apply(self, connection: psycopg.Connection[Any]) -> Iterator[Change]:
        """Register them."""
        before = self._registered()
        for name, arguments in self._topics.items():
            given = dict(arguments)
            if name in before:
                for key in _FOR_NEW_TOPICS:
                    given.pop(key, None)
            self.control._lineage.register_topic(name, **given)
        after = self._registered()
        for name, arguments in self._topics.items():
            former, start = before.get(name), {}
            if former is None:
                start = {key: arguments[key] for key in _FOR_NEW_TOPICS if key in arguments}
            yield from differences(f"topic:{name}", former, {**after[name], **start}, arguments)

    def _registered(self) -> dict[str, dict[str, Any]]:
        rows = self.control.report(LineageTopicsRow, topic=[*self._topics])
        return {row.topic: arguments_of(row) for row in rows}


def arguments_of(row: LineageTopicsRow) -> dict[str, Any]:
    """Return the arguments of register_topic that make a topic what it is."""
    return {key: getattr(row, key) for key in _TYPES if key not in _FOR_NEW_TOPICS}


# Files ------------------------------------------------------------------------------------------


def _topics(document: yaml.Node | None, path: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the topics of one document: topics: {name: {…}}, or topic: name and its arguments."""
    if document is None or _is_null(document):
        return
    keys = _mapping(document, path)
    if "topics" in keys:
        for key, (place, _) in keys.items():
            if key != "topics":
                raise click.UsageError(f"{place}: {key} is not known beside topics")
        for name, (place, node) in _mapping(keys["topics"][1], path).items():
            given = {} if _is_null(node) else _mapping(node, path)
            yield name, place, _arguments(given)
    elif "topic" in keys:
        place, node = keys.pop("topic")
        yield _text(node, place, "topic"), place, _arguments(keys)
    else:
        raise click.UsageError(f"{_place(document, path)}: topic or topics is expected")


def _arguments(given: Mapping[str, tuple[str, yaml.Node]]) -> dict[str, Any]:
    arguments = {}
    for key, (place, node) in given.items():
        if key not in _TYPES:
            raise unknown(place, key, _TYPES)
        if not _is_null(node):
            arguments[key] = _value(node, place, key)
    return arguments


def _value(node: yaml.Node, place: str, key: str) -> Any:
    type_ = _TYPES[key]
    if type_.startswith("Sequence"):
        if not isinstance(node, yaml.SequenceNode):
            raise click.UsageError(f"{place}: {key} must be a list")
        return [_text(item, place, f"each item of {key}") for item in node.value]
    text = _text(node, place, key)
    kind = node.tag.rpartition(":")[2]
    if type_.startswith("bool"):
        if kind != "bool":
            raise click.UsageError(f"{place}: {key} must be true or false, not {text}")
        return yaml.SafeLoader.bool_values[text.lower()]
    if type_.startswith("int"):
        try:
            return int(text.replace("_", ""))
        except ValueError:
            raise click.UsageError(f"{place}: {key} must be a whole number, not {text}") from None
    if type_.startswith("datetime"):
        try:
            return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone()
        except ValueError:
            raise click.UsageError(
                f"{place}: {key} must be like 2013-07-01T00:00:00+02:00, not {text}"
            ) from None
    if key == "inactive_indicator" and kind == "bool":
        return "Y" if yaml.SafeLoader.bool_values[text.lower()] else "N"
    # The text as it stands: YAML would read an interval such as 1:30:00 as a number.
    return text


def _text(node: yaml.Node, place: str, what: str) -> str:
    if not isinstance(node, yaml.ScalarNode) or _is_null(node):
        raise click.UsageError(f"{place}: {what} must be a single value")
    text: str = node.value
    return text


def _mapping(node: yaml.Node, path: Path) -> dict[str, tuple[str, yaml.Node]]:
    """Return the keys of a mapping, each with its place in the file and its value."""
    if not isinstance(node, yaml.MappingNode):
        raise click.UsageError(f"{_place(node, path)}: a mapping is expected")
    keys: dict[str, tuple[str, yaml.Node]] = {}
    for key, value in node.value:
        place = _place(key, path)
        name = _text(key, place, "a key")
        if name in keys:
            raise click.UsageError(f"{place}: {name} stands here twice, first at {keys[name][0]}")
        keys[name] = (place, value)
    return keys


def _place(node: yaml.Node, path: Path) -> str:
    return f"{path}:{node.start_mark.line + 1}"


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _in_order(topics: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the topics, each after those of its dependencies that are among them."""
    makers: dict[str, list[str]] = {}
    for name in topics:
        for made in dict.fromkeys((name, re.split("[#:]", name)[0])):
            makers.setdefault(made, []).append(name)
    graph = {
        name: [
            maker
            for source in arguments.get("depends_on", ())
            for maker in makers.get(source, ())
            if maker != name
        ]
        for name, arguments in topics.items()
    }
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError:  # the database refuses it, and says which
        return list(topics)

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

from omd.programs.cli.documents.changes import Change, Documents, differences
from omd.programs.terminal.yaml_file import (
    Document,
    TextLoader,
    Truth,
    read_documents,
    unknown,
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
        for document in read_documents(path, TextLoader):
            for name, place, arguments in _topics(document):
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


def _topics(document: Document) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the topics of one document: topics: {name: {…}}, or topic: name and its arguments."""
    keys = document.mapping()
    if "topics" in keys:
        for key, of in keys.items():
            if key != "topics":
                raise click.UsageError(f"{of.place()}: {key} is not known beside topics")
        for name, of in keys["topics"].mapping().items():
            yield name, of.place(), _arguments(of.mapping())
    elif "topic" in keys:
        of = keys.pop("topic")
        yield _text(of, "topic"), of.place(), _arguments(keys)
    elif document.value is not None:
        raise click.UsageError(f"{document.place()}: topic or topics is expected")


def _arguments(given: Mapping[str, Document]) -> dict[str, Any]:
    arguments = {}
    for key, of in given.items():
        if key not in _TYPES:
            raise unknown(of.place(), key, _TYPES)
        if of.value is not None:
            arguments[key] = _value(of, key)
    return arguments


def _value(of: Document, key: str) -> Any:
    type_ = _TYPES[key]
    if type_.startswith("Sequence"):
        if not isinstance(of.value, list):
            raise click.UsageError(f"{of.place()}: {key} must be a list")
        return [_text(of.below(n), f"each item of {key}") for n in range(len(of.value))]
    text = _text(of, key)
    is_truth = isinstance(of.value, Truth)
    if type_.startswith("bool"):
        if not is_truth:
            raise click.UsageError(f"{of.place()}: {key} must be true or false, not {text}")
        return bool(of.value)
    if type_.startswith("int"):
        try:
            return int(text.replace("_", ""))
        except ValueError:
            raise click.UsageError(
                f"{of.place()}: {key} must be a whole number, not {text}"
            ) from None
    if type_.startswith("datetime"):
        try:
            return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone()
        except ValueError:
            raise click.UsageError(
                f"{of.place()}: {key} must be like 2013-07-01T00:00:00+02:00, not {text}"
            ) from None
    if key == "inactive_indicator" and is_truth:
        return "Y" if of.value else "N"
    # The text as it stands: YAML would read an interval such as 1:30:00 as a number.
    return text


def _text(of: Document, what: str) -> str:
    if not isinstance(of.value, str):
        raise click.UsageError(f"{of.place()}: {what} must be a single value")
    return str(of.value)


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

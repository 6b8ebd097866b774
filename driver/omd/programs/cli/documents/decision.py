"""Stages and rulesets in files of JSON or YAML, which are the documents of define_stage and so on.

A file is compared by defining it: the database alone knows what a text means and what the defaults
are. To compare only, the definition is rolled back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import psycopg

from omd.programs.terminal.yaml_file import as_yaml, in_order, read_document, read_json
from omd.rooms.decision.rows import (
    DecisionRulesetListRow,
    DecisionStageListRow,
    DecisionTestListRow,
)

if TYPE_CHECKING:
    from omd.doors.decision import Decision

# What the items of these lists are called in a path.
_NAMES = {"links": "name", "outputs": "name", "tests": "name", "keys": "column"}


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between a file and what is defined."""

    document: str  # the stage or the ruleset
    version: int  # the version that it makes
    path: str  # where it differs; a ruleset differs as a whole
    old: Any  # what is defined; None where there is nothing
    new: Any  # what the file says; None where it says nothing


@dataclass(frozen=True, slots=True)
class File:
    """A file and its document."""

    path: Path  # the file
    kind: str  # stage or ruleset
    document: dict[str, Any]  # what it holds
    lines: Mapping[str, int]  # the line of each path; none in JSON

    def __str__(self) -> str:
        return f"{self.kind} {self.document[self.kind]}"

    def place(self, path: str) -> str:
        """Return the file and the line of a path; of what is missing, the line of what lacks it."""
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        line = self.lines.get(path)
        return str(self.path) if line is None else f"{self.path}:{line}"


def read_files(paths: Iterable[Path]) -> list[File]:
    """Return the documents of files, rulesets before the stages that call them.

    Raises:
        click.UsageError: a file is no JSON or YAML, or holds neither a stage nor a ruleset.
    """
    files = [_read(path) for path in paths]
    return sorted(files, key=lambda file: file.kind)


def _read(path: Path) -> File:
    if path.suffix == ".json":
        document: Any = read_json(path)
        lines: dict[str, int] = {}
    else:
        document, lines = read_document(path)
    known = document if isinstance(document, dict) else {}
    kind = next((kind for kind in ("stage", "ruleset") if kind in known), None)
    if kind is None:
        raise click.UsageError(f"{path}: a document of a stage or a ruleset is expected")
    content = document.get("content")
    if kind == "ruleset" and isinstance(content, str) and content.startswith("@"):
        document["content"] = read_json(path.parent / content[1:])
    return File(path, kind, document, {**lines, **dict(_by_name(document, lines))})


def _by_name(document: Mapping[str, Any], lines: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yield the lines of what stands in named items, by the paths that the database tells."""
    for of, name in _NAMES.items():
        items = document.get(of)
        for number, item in enumerate(items if isinstance(items, list) else []):
            if isinstance(item, dict) and isinstance(item.get(name), str):
                place, named = f"{of}[{number}]", f"{of}.{item[name]}"
                for path, line in lines.items():
                    if path == place or path.startswith(f"{place}."):
                        yield named + path.removeprefix(place), line


def define(
    room: Decision, files: Iterable[File], *, activate: bool = False, dry_run: bool = False
) -> list[Change]:
    """Define the documents of files, all of them or none, and return what has changed.

    Raises:
        InvalidDefinition: a document is wrong; the exception has the `file` that it is in.
    """
    changes: list[Change] = []
    with room._control.transaction():
        for file in files:
            try:
                changes += (_stage if file.kind == "stage" else _ruleset)(room, file, activate)
            except psycopg.Error as error:
                error.file = file  # type: ignore[attr-defined]
                raise
        if dry_run:
            raise psycopg.Rollback
    return changes


def _stage(room: Decision, file: File, _activate: bool) -> Iterator[Change]:
    answer = room._calls.define_stage(file.document)
    for change in answer.changes:
        yield Change(str(file), answer.version, **change)  # type: ignore[arg-type]


def _ruleset(room: Decision, file: File, activate: bool) -> Iterator[Change]:
    code = file.document["ruleset"]
    before, tests = _newest(room, code)
    version = room._calls.define_ruleset(file.document, activate=activate)
    if before != version:
        yield Change(str(file), version, "version", before, version)
    now = _newest(room, code)[1]
    for name in sorted({*tests, *now}):
        old, new = tests.get(name), now.get(name)
        if old != new:
            yield Change(str(file), version, f"tests.{name}", old, new)


def _newest(room: Decision, code: Any) -> tuple[int | None, dict[str, dict[str, Any]]]:
    """Return the newest version of a ruleset, and its test cases by their names."""
    known: dict[str, Any] = {"ruleset_code": code if isinstance(code, str) else ""}
    rows = room._calls.report(
        DecisionRulesetListRow, order_by=["version"], descending=True, limit=1, **known
    )
    if not rows:
        return None, {}
    version = rows[0].version
    return version, {
        test.test_name: {"input": test.input, "expected": test.expected}
        for test in room._calls.report(DecisionTestListRow, version=version, **known)
    }


_ORDER = ["stage", "mode", "batch_size", "keys", "wave", "window", "ruleset", "links", "outputs"]
_ORDER_OF_PARTS = ["name", "columns", "type", "key"]


def stage_as_yaml(stage: DecisionStageListRow) -> str:
    """Return the document of a stage as YAML, as `read_files` reads it."""
    definition = stage.definition
    shown = {
        key: definition[key] for key in in_order(definition, _ORDER) if definition[key] is not None
    }
    return as_yaml(shown, _ORDER_OF_PARTS)

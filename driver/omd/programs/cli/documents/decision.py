"""Stages and rulesets in files of JSON or YAML, which are the documents of define_stage and so on.

A file is compared by defining it: the database alone knows what a text means and what the defaults
are. To compare only, the definition is rolled back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd.programs.cli.documents.changes import Change, Documents, differences
from omd.programs.terminal.yaml_file import Document, as_yaml, in_order, read_document, read_json
from omd.rooms.decision.rows import (
    DecisionRulesetListRow,
    DecisionStageListRow,
    DecisionTestListRow,
)

if TYPE_CHECKING:
    import psycopg

    from omd.doors.control import Control
    from omd.rooms.decision.calls import DecisionCalls

# What the items of these lists are called in a path.
_NAMES = {"links": "name", "outputs": "name", "tests": "name", "keys": "column"}


@dataclass(frozen=True, slots=True)
class File:
    """A file of a stage or a ruleset."""

    kind: str  # stage or ruleset
    source: Document

    def __str__(self) -> str:
        return f"{self.kind}:{self.document[self.kind]}"

    @property
    def document(self) -> dict[str, Any]:
        """What it holds."""
        document: dict[str, Any] = self.source.value
        return document


def read_files(paths: Iterable[Path]) -> list[File]:
    """Return the documents of files, rulesets before the stages that call them.

    Raises:
        click.UsageError: a file is no JSON or YAML, or holds neither a stage nor a ruleset.
    """
    files = [_read(path) for path in paths]
    return sorted(files, key=lambda file: file.kind)


def _read(path: Path) -> File:
    is_json = path.suffix == ".json"
    source = Document(read_json(path), path, {}) if is_json else read_document(path)
    document, lines = source.value, source.lines
    known = document if isinstance(document, dict) else {}
    kind = next((kind for kind in ("stage", "ruleset") if kind in known), None)
    if kind is None:
        raise click.UsageError(f"{path}: a document of a stage or a ruleset is expected")
    content = document.get("content")
    if kind == "ruleset" and isinstance(content, str) and content.startswith("@"):
        document["content"] = read_json(path.parent / content[1:])
    return File(kind, replace(source, lines={**lines, **dict(_by_name(document, lines))}))


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


class DecisionFiles(Documents):
    """Files of stages and rulesets; the version of each is a change with the path ``version``."""

    def __init__(
        self, files: Sequence[File], *, dry_run: bool = False, activate: bool = False
    ) -> None:
        super().__init__(dry_run=dry_run)
        self._files = files
        self._activate = activate
        self._file: File | None = None  # the one at work, for what is wrong with it

    @property
    def _calls(self) -> DecisionCalls:
        return self.control.decision._calls

    def apply(self, connection: psycopg.Connection[Any]) -> Iterator[Change]:
        """Define them."""
        for file in self._files:
            self._file = file
            yield from (self._stage if file.kind == "stage" else self._ruleset)(file)

    def problems(self, error: Any) -> Iterator[str]:
        """Yield what is wrong with the document at work."""
        if self._file is not None:
            for problem in error.detail.get("problems") or ():
                place = self._file.source.place(problem["path"])
                yield f"{place}: {problem['path'] or self._file.kind}: {problem['text']}"

    def _stage(self, file: File) -> Iterator[Change]:
        for change in self._calls.define_stage(file.document).changes:
            yield Change(str(file), **change)  # type: ignore[arg-type]

    def _ruleset(self, file: File) -> Iterator[Change]:
        code = file.document["ruleset"]
        before, state, tests = self._newest(code)
        version = self._calls.define_ruleset(file.document, activate=self._activate)
        _, now, more = self._newest(code)
        if before != version:
            yield Change(str(file), "version", before, version)
        elif state != now:
            yield Change(str(file), "state", state, now)
        yield from differences(str(file), tests, more, ())

    def _newest(self, code: Any) -> tuple[int | None, str | None, dict[str, dict[str, Any]]]:
        """Return the newest version of a ruleset, its state, and its test cases by their paths."""
        newest = newest_ruleset(self.control, code) if isinstance(code, str) else None
        if newest is None:
            return None, None, {}
        row, tests = newest
        cases = {
            f"tests.{test.test_name}": {"input": test.input, "expected": test.expected}
            for test in tests
        }
        return row.version, row.state, cases


def newest_ruleset(
    control: Control, code: str
) -> tuple[DecisionRulesetListRow, list[DecisionTestListRow]] | None:
    """Return the newest version of a ruleset, with its test cases."""
    rows = control.report(
        DecisionRulesetListRow, ruleset_code=code, order_by=["version"], descending=True, limit=1
    )
    if not rows:
        return None
    return rows[0], control.report(
        DecisionTestListRow,
        ruleset_code=code,
        version=rows[0].version,
        order_by=["test_name"],
    )


_ORDER = ["stage", "mode", "batch_size", "keys", "wave", "window", "ruleset", "links", "outputs"]
_ORDER_OF_PARTS = ["name", "columns", "type", "key"]


def stage_as_yaml(stage: DecisionStageListRow) -> str:
    """Return the document of a stage as YAML, as `read_files` reads it."""
    definition = stage.definition
    shown = {
        key: definition[key] for key in in_order(definition, _ORDER) if definition[key] is not None
    }
    return as_yaml(shown, _ORDER_OF_PARTS)

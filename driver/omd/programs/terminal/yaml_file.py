"""Documents in YAML files: of any room, with the line of each path in them.

The values of a file are those of YAML 1.2: a country NO is a text, and so is a date. What is wrong
with a document only the database knows; it names the paths, and a `Document` tells their places.
"""

from __future__ import annotations

import difflib
import functools
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import click
import yaml

from omd._core.documents import (
    MAX_ALIASES,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_VALUES,
    TOO_DEEP,
    TOO_LARGE,
    TOO_LONG,
    TOO_MANY,
    TOO_MANY_ALIASES,
    TOO_MANY_MERGES,
    child,
    odd_character,
    problem_of,
    whole_number,
)
from omd._core.error_codes import InvalidModel
from omd._core.errors import OmdError
from omd._core.texts import exact, storable

_LONGEST_PATH = 200
_LINE_ENDS = "\n\x85\u2028\u2029"
_INTEGER, _MERGE = "tag:yaml.org,2002:int", "tag:yaml.org,2002:merge"
_MOST_DIGITS = 60  # of a number that is written without an exponent


class _OutOfBounds(Exception):  # noqa: N818 - it says what the document is
    """A document breaks a bound: the line, the path and the problem."""


class AnyLoader(yaml.SafeLoader):
    """A loader of the values of YAML 1.1 that composes no document out of bounds.

    A node is measured when it is complete, and an alias as what it stands for. So neither a file of
    a few lines that means a billion values nor a deep one takes long.
    """

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._steps: list[str | int] = []
        self._aliases = self._merges = 0
        # Depth and number of values of each node; the node is held, so that its id stays its own.
        self._measured: dict[int, tuple[int, int, yaml.Node]] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Compose a node: the hook of the base class."""
        step = index.value if isinstance(index, yaml.ScalarNode) else index
        is_step = isinstance(step, (str, int))
        event = self.peek_event()  # type: ignore[no-untyped-call]
        mark = event.start_mark
        is_alias = self.check_event(yaml.AliasEvent)
        if is_step:
            self._steps.append(step)
        if len(self._steps) >= MAX_DEPTH:
            self._refuse(mark, TOO_DEEP)
        self._aliases += event.anchor is not None
        if self._aliases > MAX_ALIASES:
            self._refuse(mark, TOO_MANY_ALIASES)
        node = super().compose_node(parent, index)
        if node is not None and id(node) not in self._measured:
            if is_alias:
                self._refuse(mark, "an anchor holds itself")
            self._measure(node)
        if is_step:
            self._steps.pop()
        return node

    def _measure(self, node: yaml.Node) -> None:
        below: list[yaml.Node] = []
        if isinstance(node, yaml.ScalarNode):
            if problem := odd_character(node.value):
                self._refuse(node.start_mark, problem)
            if node.tag == _INTEGER and len(node.value) > MAX_DIGITS:
                self._refuse(node.start_mark, TOO_LONG)
            self._merges += node.tag == _MERGE
            if self._merges > MAX_ALIASES:
                self._refuse(node.start_mark, TOO_MANY_MERGES)
        elif isinstance(node, yaml.MappingNode):
            below = [part for pair in node.value for part in pair]
        else:
            below = node.value
        measures = [self._measured[id(part)] for part in below]
        depth = 1 + max((m[0] for m in measures), default=0)
        values = 1 + sum(m[1] for m in measures)
        self._measured[id(node)] = depth, values, node
        if depth > MAX_DEPTH:
            self._refuse(node.start_mark, TOO_DEEP)
        if values > MAX_VALUES:
            self._refuse(node.start_mark, TOO_MANY)

    def _refuse(self, mark: Any, problem: str) -> NoReturn:
        raise _OutOfBounds(mark.line + 1, functools.reduce(child, self._steps, ""), problem)


def bounded_text(path: Path) -> str:
    """Return the text of a document.

    Raises:
        InvalidModel: it is too large.
        OSError: it can't be read.
        UnicodeDecodeError: it is no UTF-8.
    """
    if path.is_file() and path.stat().st_size > MAX_BYTES:
        raise _out_of_bounds(str(path), "", TOO_LARGE)
    return path.read_text(encoding="utf-8-sig")


def read_json(path: Path) -> Any:
    """Return what a file of JSON holds.

    Raises:
        click.UsageError: it is no JSON.
        InvalidModel: it breaks a bound of documents.
    """
    try:
        document = json.loads(bounded_text(path), parse_int=whole_number)
    except RecursionError:
        raise _out_of_bounds(str(path), "", TOO_DEEP) from None
    except (ValueError, OSError) as error:
        raise click.UsageError(f"{path}: {error}") from None
    if problem := problem_of(document):
        raise _out_of_bounds(str(path), *problem)
    return document


def _out_of_bounds(place: str, path: str, problem: str) -> OmdError:
    path = storable(path)
    path = path if len(path) <= _LONGEST_PATH else f"{path[:_LONGEST_PATH]}…"
    first = {"path": path, "problem": problem}
    return InvalidModel(
        ": ".join(part for part in (place, path, problem) if part),
        hint="Mend the file.",
        detail={**first, "problem_count": 1, "problems": [first]},
    )


class _Loader(AnyLoader):
    """A loader without the surprises of YAML 1.1: NO is no truth value, 012 is no number."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def construct_number(self, node: yaml.ScalarNode) -> float | Decimal:
        return exact(str(self.construct_scalar(node)))


_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_number)

for _tag, _pattern, _first in (
    ("merge", r"<<", "<"),
    ("null", r"|~|null|Null|NULL", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", "-+0123456789"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})$"), list(_first)
    )


def broken(path: Path, error: Exception) -> click.UsageError:
    """Return the error for a file that is no YAML: its name, the line and the problem."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        place = path if mark is None else f"{path}:{mark.line + 1}"
        problem = ", ".join(filter(None, [error.context, error.problem]))
        return click.UsageError(f"{place}: it is no YAML: {problem}")
    return click.UsageError(f"{path}: {error}")


def unknown(place: str, key: str, known: Iterable[str]) -> click.UsageError:
    """Return the error for a key that a document may not have."""
    names = sorted(known)
    near = difflib.get_close_matches(key, names, n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    return click.UsageError(f"{place}: {key} is not known.{meant} Known are {', '.join(names)}")


@dataclass(frozen=True, slots=True)
class Document:
    """A document, or a value in it, and where it stands.

    Attributes:
        value: what it holds; the keys of a mapping are texts.
        file: where it stands.
        lines: the line of each path of the file; none in JSON.
        path: its own.
    """

    value: Any
    file: Path
    lines: Mapping[str, int]
    path: str = ""

    def place(self, path: str | None = None) -> str:
        """Return the file and the line of a path, by default its own.

        Of what is missing it is the line of what lacks it.
        """
        at = self.path if path is None else path
        while at and at not in self.lines:
            above = _LAST.sub("", at)
            at = above if above != at else ""
        line = self.lines.get(at)
        return str(self.file) if line is None else f"{self.file}:{line}"

    def wrong(self, problem: str) -> click.UsageError:
        """Return the error for a value that is none."""
        return click.UsageError(": ".join(filter(None, [self.place(), self.path, problem])))

    def below(self, key: str | int) -> Document:
        """Return what stands at a key, or at a number."""
        return Document(self.value[key], self.file, self.lines, _below(self.path, key))

    def mapping(self, known: Collection[str] | None = None) -> dict[str, Document]:
        """Return what a mapping has; None is an empty one.

        Raises:
            click.UsageError: it is no mapping, or has a key that is not known.
        """
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            raise self.wrong(f"a mapping is expected, not {self.value!r}")
        values = {key: self.below(key) for key in self.value}
        for key, value in values.items():
            if known is not None and key not in known:
                raise unknown(": ".join(filter(None, [value.place(), self.path])), key, known)
        return values


_LAST = re.compile(r'(^|\.?)([^.\[\]]*|\[("(\\.|[^"\\])*"|\d+)\])$')  # the last step of a path


def _below(path: str, key: str | int) -> str:
    """Return the path of what stands at a key, as the database writes it."""
    if path != "settings" or isinstance(key, int):
        return child(path, key)
    quoted = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'{path}["{quoted}"]'


class Truth(str):
    """A truth value, as it is written: yes, off, True."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return yaml.SafeLoader.bool_values[self.lower()]


class TextLoader(AnyLoader):
    """A loader whose single values are texts as they stand, or a `Truth`, or None."""

    def construct_text(self, node: yaml.ScalarNode) -> str:
        """Return the value of a node: a constructor of the base class."""
        text = str(self.construct_scalar(node))
        return Truth(text) if node.tag.endswith(":bool") else text


for _tag in ("bool", "int", "float", "timestamp", "value"):
    TextLoader.add_constructor(f"tag:yaml.org,2002:{_tag}", TextLoader.construct_text)


def read_document(path: Path, loader_of: type[AnyLoader] = _Loader) -> Document:
    """Return the document of a YAML file, a mapping.

    Args:
        path: the file.
        loader_of: which values it has: those of YAML 1.2, or with AnyLoader those of 1.1, with
            which an empty file is an empty document.

    Raises:
        click.UsageError: it is no YAML, or no mapping.
        InvalidModel: it breaks a bound of documents.
    """
    documents = read_documents(path, loader_of)
    if len(documents) > 1:
        raise click.UsageError(f"{path}: it is no YAML of one document: here are {len(documents)}")
    if loader_of is AnyLoader and not any(document.value is not None for document in documents):
        return Document({}, path, {})
    if not documents or not isinstance(documents[0].value, dict):
        raise click.UsageError(f"{path}: a mapping is expected")
    return documents[0]


def read_documents(path: Path, loader_of: type[AnyLoader]) -> list[Document]:
    """Return the documents of a YAML file, whatever they hold.

    Raises:
        click.UsageError: it is no YAML.
        InvalidModel: it breaks a bound of documents.
    """
    documents = []
    try:
        loader = loader_of(bounded_text(path))
        try:
            while loader.check_node():
                node = loader.get_node()
                if node is not None:
                    lines = {"": node.start_mark.line + 1, **dict(_lines(node, path))}
                    documents.append(Document(_plain(loader.construct_document(node)), path, lines))
        finally:
            loader.dispose()
    except _OutOfBounds as error:
        line, at, problem = error.args
        raise _out_of_bounds(f"{path}:{line}", at, problem) from None
    # A text that is no UTF-8 is a ValueError.
    except (yaml.YAMLError, ValueError, OSError) as error:
        raise broken(path, error) from None
    return documents


def _lines(node: yaml.Node, path: Path, at: str = "") -> Iterator[tuple[str, int]]:
    """Yield each path of a document, as the database writes it, with its line."""
    if isinstance(node, yaml.MappingNode):
        seen: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise click.UsageError(f"{path}:{line}: a key must be a text")
            if key.value in seen:
                first = f"{path}:{seen[key.value]}"
                raise click.UsageError(
                    f"{path}:{line}: {key.value} stands here twice, first at {first}"
                )
            seen[key.value] = line
            below = _below(at, key.value)
            yield below, line
            yield from _lines(value, path, below)
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield f"{at}[{number}]", item.start_mark.line + 1
            yield from _lines(item, path, f"{at}[{number}]")


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: its keys are texts."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


class _Dumper(yaml.SafeDumper):
    """It quotes what any reader of YAML may take for another value, such as NO and 1e3."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True

    def represent_text(self, text: str) -> yaml.Node:
        # On one line in any case, so that it may stand in a list. Older readers know more ends.
        style = None
        if any(end in text for end in _LINE_ENDS):
            style = '"'
        elif any(p.match(text) for _, p in _Loader.yaml_implicit_resolvers.get(text[:1], ())):
            style = "'"
        return self.represent_scalar("tag:yaml.org,2002:str", text, style)

    def represent_number(self, number: Decimal) -> yaml.Node:
        # Older readers want a point in a number with an exponent.
        is_short = number.is_finite() and abs(number.adjusted()) < _MOST_DIGITS
        text = f"{number:f}" if is_short else re.sub(r"^(-?\d+)E", r"\1.0E", str(number))
        return self.represent_scalar("tag:yaml.org,2002:float", text)


_Dumper.add_representer(str, _Dumper.represent_text)
_Dumper.add_representer(Decimal, _Dumper.represent_number)


def as_yaml(document: Mapping[str, Any], order: Sequence[str], apart: Collection[str] = ()) -> str:
    """Return a document as YAML, as `read_document` reads it; what is short stands on one line.

    Args:
        document: the document; its own keys stay as they are.
        order: the keys of its parts that come first; the others follow by their names.
        apart: lists whose entries never stand on one line.
    """
    return "\n".join(_Writer(order, apart).block(document, 0)) + "\n"


def in_order(keys: Iterable[str], order: Sequence[str]) -> list[str]:
    """Return keys in this order; the others follow by their names."""
    return sorted(keys, key=lambda k: (order.index(k) if k in order else len(order), k))


class _Writer:
    def __init__(self, order: Sequence[str], apart: Collection[str]) -> None:
        self.order = order
        self.apart = apart

    def flow(self, value: Any) -> str:
        """Return a value on one line."""
        if isinstance(value, dict):
            value = {key: value[key] for key in in_order(value, self.order)}
        text = yaml.dump(
            value,
            Dumper=_Dumper,
            default_flow_style=True,
            sort_keys=False,
            allow_unicode=True,
            width=10**9,
        )
        return text.removesuffix("\n").removesuffix("\n...")

    def block(self, value: Mapping[str, Any], depth: int) -> Iterator[str]:
        """Yield the lines of a mapping."""
        indent = "  " * depth
        for key in in_order(value, self.order) if depth else value:
            item = value[key]
            line = f"{indent}{self.flow(key)}: {self.flow(item)}"
            if isinstance(item, str) and _is_literal(item):
                yield f"{indent}{self.flow(key)}: |{'' if item.endswith(chr(10)) else '-'}"
                yield from (
                    f"{indent}  {part}".rstrip() for part in item.removesuffix("\n").split("\n")
                )
            elif not isinstance(item, (dict, list)) or not item:
                yield line
            elif isinstance(item, dict):
                if len(line) <= 100 and depth:
                    yield line
                else:
                    yield f"{indent}{self.flow(key)}:"
                    yield from self.block(item, depth + 1)
            elif all(not isinstance(i, dict) for i in item) and len(line) <= 100:
                yield line
            else:
                yield f"{indent}{self.flow(key)}:"
                for entry in item:
                    flow = f"{indent}  - {self.flow(entry)}"
                    if not isinstance(entry, dict) or (
                        len(flow) <= 100 and "\\n" not in flow and key not in self.apart
                    ):
                        yield flow
                        continue
                    first, *rest = self.block(entry, depth + 2)
                    yield f"{indent}  - {first.lstrip()}"
                    yield from rest


def _is_literal(text: str) -> bool:
    """Whether a text of several lines reads the same as a literal block."""
    lines = text.removesuffix("\n").split("\n")
    return (
        len(lines) > 1
        and all(line == line.rstrip() and line.isprintable() for line in lines)
        and lines[0] == lines[0].lstrip()
        and bool(lines[0] and lines[-1])
    )

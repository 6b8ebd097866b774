"""What a contract says and a model does not, in the order in which it was found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from omd.programs.terminal.text import short

_LONGEST = 300
_LONGEST_NAME = 60
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Note:
    """One remark about a part of a contract."""

    path: str
    reason: str
    is_left: bool  # the part is not taken over; otherwise something was assumed

    def __str__(self) -> str:
        text = str(short(f"{self.path or 'contract'}: {self.reason}"))
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


@dataclass(slots=True)
class Notes:
    """The remarks about a contract; what an index in a path stands for is named after it."""

    document: Any = None  # the contract; None: paths alone say where
    notes: dict[Note, None] = field(default_factory=dict)  # in the order of their coming, each once

    def leave(self, path: str, reason: str) -> None:
        """Note a part that is not taken over."""
        self._note(path, reason, is_left=True)

    def assume(self, path: str, reason: str) -> None:
        """Note what the contract does not say and the model must."""
        self._note(path, reason, is_left=False)

    def _note(self, path: str, reason: str, *, is_left: bool) -> None:
        named = _named(self.document, path)
        self.notes[Note(path, f"{reason} ({named})" if named else reason, is_left)] = None

    @property
    def left(self) -> list[Note]:
        """What is not taken over."""
        return [note for note in self.notes if note.is_left]

    def lines(self) -> Iterator[str]:
        """Yield the notes as lines without line ends in them, first what is not taken over."""
        for title, is_left in (("Not taken over", True), ("Assumed", False)):
            some = [note for note in self.notes if note.is_left is is_left]
            if some:
                yield f"{title}:"
                yield from (f"  {note}" for note in some)


def _named(document: Any, path: str) -> str:
    """Return the tables, properties and rules that a path leads through, by their names."""
    node, word = document, ""
    names: list[str] = []
    parts: list[str] = []
    for key, number in _STEP.findall(path):
        if key and isinstance(node, Mapping) and key in node:
            node, word = node[key], key
        elif number and isinstance(node, list) and int(number) < len(node):
            node = node[int(number)]
            if isinstance(node, Mapping):
                _name(node, word, names, parts)
        else:
            break
    return ", ".join([*([".".join(names)] if names else []), *parts])


def _name(node: Mapping[str, Any], word: str, names: list[str], parts: list[str]) -> None:
    match word:
        case "quality":
            metric = node.get("metric", node.get("rule"))
            kind = metric or " ".join(_texts(node.get("type"), node.get("engine")))
            parts += [f"rule {rule}" for rule in _joined(kind, node.get("name"))]
        case "expectations":
            given = node.get("kwargs")
            column = given.get("column") if isinstance(given, Mapping) else None
            names += _texts(column)
            kind = node.get("type", node.get("expectation_type"))
            parts += [f"rule {rule}" for rule in _joined(kind)]
        case "relationships":
            parts += [f"relationship {name}" for name in _joined(node.get("id", node.get("to")))]
        case "customProperties":
            parts += [f"customProperty {name}" for name in _joined(node.get("property"))]
        case _:
            names += _texts(node.get("name"))


def _texts(*values: Any) -> list[str]:
    return [str(value)[:_LONGEST_NAME] for value in values if isinstance(value, str) and value]


def _joined(*values: Any) -> list[str]:
    """Return the texts among the values as one, or none."""
    texts = _texts(*values)
    return [" ".join(texts)] if texts else []

"""Registration from a YAML document, whose names are the arguments of the procedures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd._core.documents import child
from omd.programs.terminal.yaml_file import unknown

if TYPE_CHECKING:
    from omd.rooms.control.connection import Connection


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of a document, and where it stands."""

    value: Any
    path: str
    file: Path
    lines: Mapping[str, int]

    def place(self, words: str) -> str:
        """Return its file and line, with words."""
        line = self.lines.get(self.path)
        place = str(self.file) if line is None else f"{self.file}:{line}"
        return f"{place}: {words}" if words else place

    def wrong(self, problem: str) -> click.UsageError:
        """Return the error for a value that is none."""
        return click.UsageError(f"{self.place(self.path)}: {problem}")

    def below(self, key: str | int) -> _Node:
        """Return what stands at a key, or at a number."""
        return _Node(self.value[key], child(self.path, key), self.file, self.lines)

    def mapping(self, known: Collection[str] | None = None) -> dict[str, _Node]:
        """Return what a mapping has; None is an empty one.

        Raises:
            click.UsageError: it is no mapping, or has a key that is not known.
        """
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            raise self.wrong(f"a mapping is expected, not {self.value!r}")
        nodes = {key: self.below(key) for key in self.value}
        for key, node in nodes.items():
            if known is not None and key not in known:
                raise unknown(node.place(self.path), key, known)
        return nodes


def register_document(
    control: Connection, document: Any, file: Path, lines: Mapping[str, int]
) -> dict[str, int]:
    """Register everything in a document; returns how many Modules and Batches it has.

    Whatever the order in the document, Modules are registered before the Batches that name them,
    and Batches before their places in other Batches.

    Args:
        control: the connection.
        document: what the file holds.
        file: the file.
        lines: the line of each path in it.

    Raises:
        click.UsageError: the document has something that no procedure accepts.
    """
    top = _Node(document, "", file, lines).mapping({"modules", "batches"})
    modules, batches = (
        top[kind].mapping() if kind in top else {} for kind in ("modules", "batches")
    )
    for code, node in modules.items():
        control._omd.register_module(code, **_arguments(control._omd.register_module, node))
    for code, node in batches.items():
        control._omd.register_batch(code, **_arguments(control._omd.register_batch, node))
    for batch, node in batches.items():
        for sequence, module, more in _places(node, "modules"):
            arguments = _arguments(control._omd.add_module_to_batch, more)
            control._omd.add_module_to_batch(batch, module, **{"sequence": sequence, **arguments})
        for sequence, of_it, more in _places(node, "batches"):
            arguments = _arguments(control._omd.add_batch_to_parent_batch, more)
            control._omd.add_batch_to_parent_batch(
                of_it, batch, **{"sequence": sequence, **arguments}
            )
    for kind, named in (("module_code", modules), ("batch_code", batches)):
        for code, node in named.items():
            settings = node.mapping()
            if "parameters" in settings:
                for parameter, value in settings["parameters"].mapping().items():
                    control._omd.set_parameter(parameter, str(value.value), **{kind: code})
    return {"modules": len(modules), "batches": len(batches)}


_OTHERS = {"modules", "batches", "parameters"}


def _arguments(procedure: Callable[..., Any], node: _Node | None) -> dict[str, Any]:
    """Return the keyword arguments of a procedure among what was given; the rest must be known."""
    if node is None:
        return {}
    takes = {
        name
        for name, parameter in inspect.signature(procedure).parameters.items()
        if parameter.default is not parameter.empty
    }
    others = _OTHERS if procedure.__name__.startswith("register") else set()
    return {
        # YAML reads Y as a text, but yes, no, true and false as truth values.
        name: ("Y" if given.value else "N")
        if name == "inactive_indicator" and isinstance(given.value, bool)
        else given.value
        for name, given in node.mapping(takes | others).items()
        if name in takes
    }


def _places(node: _Node, key: str) -> Iterator[tuple[int, str, _Node | None]]:
    settings = node.mapping()
    if key not in settings or not settings[key].value:
        return
    entries = settings[key]
    if not isinstance(entries.value, list):
        raise entries.wrong("it must be a list")
    for number, entry in enumerate(entries.value):
        if isinstance(entry, dict) and len(entry) == 1:
            [code] = entry
            yield number * 10 + 10, code, entries.below(number).below(code)
        elif isinstance(entry, str):
            yield number * 10 + 10, entry, None
        else:
            raise entries.below(number).wrong(f"it must hold codes, or code: {{…}}; not {entry!r}")

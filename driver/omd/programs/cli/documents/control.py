"""Registration from a YAML document, whose names are the arguments of the procedures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd.programs.cli.documents.changes import Change, Documents, differences
from omd.programs.terminal.yaml_file import AnyLoader, Document, read_document
from omd.rooms.control import rows as t

if TYPE_CHECKING:
    import psycopg

    from omd.doors.control import Control


class ControlFiles(Documents):
    """Files of Modules and Batches.

    Whatever their order, Modules are registered before the Batches that name them, and Batches
    before their places in other Batches.
    """

    def __init__(self, paths: Iterable[Path], *, dry_run: bool) -> None:
        super().__init__(dry_run=dry_run)
        self._modules: dict[str, Document] = {}
        self._batches: dict[str, Document] = {}
        for path in paths:
            top = read_document(path, AnyLoader).mapping({"modules", "batches"})
            for kind, nodes in (("modules", self._modules), ("batches", self._batches)):
                for code, node in top[kind].mapping().items() if kind in top else ():
                    if code in nodes:
                        raise click.UsageError(
                            f"{node.place()}: {code} stands in {nodes[code].place()} already"
                        )
                    nodes[code] = node

    def apply(self, connection: psycopg.Connection[Any]) -> Iterator[Change]:
        """Register them."""
        before = registered(self.control, self._modules, self._batches)
        self._register()
        after = registered(self.control, self._modules, self._batches)
        nodes = {
            **{f"module:{code}": node for code, node in self._modules.items()},
            **{f"batch:{code}": node for code, node in self._batches.items()},
        }
        for name, node in nodes.items():
            yield from differences(name, before.get(name), after[name], list(_given(node)))

    def _register(self) -> None:
        calls = self.control._omd
        for code, node in self._modules.items():
            calls.register_module(code, **_arguments(calls.register_module, node))
        for code, node in self._batches.items():
            calls.register_batch(code, **_arguments(calls.register_batch, node))
        for batch, node in self._batches.items():
            for sequence, module, more in _places(node, "modules"):
                arguments = _arguments(calls.add_module_to_batch, more)
                calls.add_module_to_batch(batch, module, **{"sequence": sequence, **arguments})
            for sequence, of_it, more in _places(node, "batches"):
                arguments = _arguments(calls.add_batch_to_parent_batch, more)
                calls.add_batch_to_parent_batch(of_it, batch, **{"sequence": sequence, **arguments})
        for kind, named in (("module_code", self._modules), ("batch_code", self._batches)):
            for code, node in named.items():
                settings = node.mapping()
                if "parameters" in settings:
                    for parameter, value in settings["parameters"].mapping().items():
                        calls.set_parameter(parameter, str(value.value), **{kind: code})


def registered(
    control: Control, modules: Iterable[str], batches: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """Return what is registered of Modules and Batches, by ``module:code`` and ``batch:code``.

    It is flat: ``parameters.x`` and ``modules.m`` are paths.
    """
    report, states = control.report, dict[str, dict[str, Any]]()
    for listed in report(t.ModuleListRow, module_code=[*modules]):
        code = listed.module_code
        states[f"module:{code}"] = control._omd.module_document(code)
    for row in report(t.BatchListRow, batch_code=[*batches]):
        values = {name: getattr(row, name) for name in _OF_BATCH}
        states[f"batch:{row.batch_code}"] = {k: v for k, v in values.items() if v is not None}
    for place in report(t.BatchModuleListRow, batch_code=[*batches], order_by=["sequence"]):
        kind = "batches" if place.module_code is None else "modules"
        path = f"{kind}.{place.module_code or place.child_batch_code}"
        states[f"batch:{place.batch_code}"][path] = {
            "sequence": place.sequence,
            "inactive_indicator": place.inactive_indicator,
        }
    for kind, codes in (("module", modules), ("batch", batches)):
        of_these: dict[str, Any] = {f"{kind}_code": [*codes]}
        for value in report(t.ParameterListRow, **of_these):
            path = f"parameters.{value.parameter_code}"
            states[f"{kind}:{getattr(value, f'{kind}_code')}"][path] = value.parameter_value
    return states


_OF_BATCH = ("frequency_code", "batch_description", "inactive_indicator", "continue_on_failure")


def _given(node: Document) -> Iterator[str]:
    """Yield the paths of `registered` that a document has."""
    for key, below in node.mapping().items():
        if key == "parameters":
            yield from (f"parameters.{name}" for name in below.mapping())
        elif key in _OTHERS:
            yield from (f"{key}.{code}" for _, code, _ in _places(node, key))
        else:
            yield key


_OTHERS = {"modules", "batches", "parameters"}
# What a document has beside the arguments of the procedure.
_BESIDE = {"register_module": {"parameters"}, "register_batch": _OTHERS}


def _arguments(procedure: Callable[..., Any], node: Document | None) -> dict[str, Any]:
    """Return the keyword arguments of a procedure among what was given; the rest must be known."""
    if node is None:
        return {}
    takes = {
        name
        for name, parameter in inspect.signature(procedure).parameters.items()
        if parameter.default is not parameter.empty
    }
    others = _BESIDE.get(procedure.__name__, set())
    return {
        # YAML reads Y as a text, but yes, no, true and false as truth values.
        name: ("Y" if given.value else "N")
        if name == "inactive_indicator" and isinstance(given.value, bool)
        else given.value
        for name, given in node.mapping(takes | others).items()
        if name in takes
    }


def _places(node: Document, key: str) -> Iterator[tuple[int, str, Document | None]]:
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

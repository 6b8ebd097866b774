"""Registration from a YAML document, whose names are the arguments of the procedures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from omd.control.connection import Connection


def register_document(control: Connection, document: Any) -> dict[str, int]:
    """Register everything in a document; returns how many Modules and Batches it has.

    Whatever the order in the document, Modules are registered before the Batches that name them,
    and Batches before their places in other Batches.

    Raises:
        click.UsageError: the document has something that no procedure accepts.
    """
    top = _mapping(document, "the file")
    _known(top, {"modules", "batches"}, "the file")
    modules = {c: _mapping(v, c) for c, v in _mapping(top.get("modules"), "modules").items()}
    batches = {c: _mapping(v, c) for c, v in _mapping(top.get("batches"), "batches").items()}

    for code, settings in modules.items():
        control.register_module(code, **_arguments(control.register_module, settings, code))
    for code, settings in batches.items():
        control.register_batch(code, **_arguments(control.register_batch, settings, code))
    for batch, settings in batches.items():
        for sequence, module, more in _places(settings, "modules", batch):
            arguments = _arguments(control.add_module_to_batch, more, f"{batch}: {module}")
            control.add_module_to_batch(batch, module, **{"sequence": sequence, **arguments})
        for sequence, child, more in _places(settings, "batches", batch):
            arguments = _arguments(control.add_batch_to_parent_batch, more, f"{batch}: {child}")
            control.add_batch_to_parent_batch(child, batch, **{"sequence": sequence, **arguments})
    for kind, named in (("module_code", modules), ("batch_code", batches)):
        for code, settings in named.items():
            for parameter, value in _mapping(settings.get("parameters"), code).items():
                control.set_parameter(parameter, str(value), **{kind: code})
    return {"modules": len(modules), "batches": len(batches)}


_OTHERS = {"modules", "batches", "parameters"}


def _arguments(
    procedure: Callable[..., Any], settings: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """Return the keyword arguments of a procedure among what was given; the rest must be known."""
    takes = {
        name
        for name, parameter in inspect.signature(procedure).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    others = _OTHERS if procedure.__name__.startswith("register") else set()
    _known(settings, takes | others, where)
    return {
        # YAML reads Y as a text, but yes, no, true and false as truth values.
        name: ("Y" if value else "N")
        if name == "inactive_indicator" and isinstance(value, bool)
        else value
        for name, value in settings.items()
        if name in takes
    }


def _places(
    settings: Mapping[str, Any], key: str, where: str
) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    entries = settings.get(key) or []
    if not isinstance(entries, list):
        raise click.UsageError(f"{where}: {key} must be a list")
    for number, entry in enumerate(entries, start=1):
        if isinstance(entry, dict) and len(entry) == 1:
            [(code, more)] = entry.items()
            yield number * 10, code, _mapping(more, f"{where}: {code}")
        elif isinstance(entry, str):
            yield number * 10, entry, {}
        else:
            raise click.UsageError(f"{where}: {key} must hold codes, or code: {{…}}; not {entry!r}")


def _mapping(value: Any, where: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise click.UsageError(f"{where}: a mapping is expected, not {value!r}")
    return value


def _known(settings: Mapping[str, Any], names: set[str], where: str) -> None:
    for name in settings:
        if name not in names:
            known = ", ".join(sorted(names))
            raise click.UsageError(f"{where}: {name} is not known; known are {known}")

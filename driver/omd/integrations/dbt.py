"""Models of dbt as Modules: the package of macros, and what is registered for it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd.rooms.control.rows import ModuleListRow, ReadinessRow
from omd.rooms.lineage.manifest import Manifest, Node

if TYPE_CHECKING:
    import psycopg

    from omd import Control

BEGIN = "macro.omd.begin"
STAMP = "macro.omd.module_instance_id"
# Models of dbt are what people read, as a rule; meta.omd_area_code says another one.
AREA = "PRES"


@dataclass(frozen=True, slots=True)
class Registered:
    """A Module that a node of dbt is now."""

    module_code: str
    table_code: str
    inputs: list[str]
    can_be_undone: bool


def package_path() -> Path:
    """Return the folder of the dbt package ``omd``, for ``packages: [{local: …}]``."""
    here = Path(__file__).resolve().parents[1]
    for folder in (here / "_dbt", here.parents[1] / "integrations" / "dbt"):
        if (folder / "dbt_project.yml").is_file():
            return folder
    raise FileNotFoundError("The dbt package is missing from this installation of pgomd.")


def modules_of(manifest: Manifest) -> tuple[list[Node], bool]:
    """Return the nodes that are Modules, and whether any calls ``omd.begin()``.

    They are those that call it; while none does, all that make something in the database.
    """
    made = [
        node
        for node in manifest.nodes.values()
        if node.kind != "source" and node.materialized != "ephemeral"
    ]
    begun = [node for node in made if BEGIN in node.calls]
    return begun or made, bool(begun)


def register(
    control: Control, connection: psycopg.Connection[Any], manifest: Manifest, nodes: list[Node]
) -> list[Registered]:
    """Register the nodes as Modules with their inputs, in the transaction of this connection.

    What is registered already keeps what dbt does not say. A Module whose rows have a stamp can be
    undone by it, unless its area or somebody says another way.
    """
    # Each new Module would warn of what follows here, or of a table that dbt makes later.
    connection.execute("SET LOCAL client_min_messages = error")
    for node in nodes:
        _register_module(control, node)
    without_way = {
        row.module_code for row in control.report(ReadinessRow, problem_code="TEMPLATE_MISSING")
    }
    for node in nodes:
        if node.code in without_way and STAMP in node.calls:
            control.calls.omd.register_rollback(node.code)
            without_way.remove(node.code)
    done = []
    for node in nodes:
        inputs = [source.table for source in manifest.tables_read(node)]
        control.calls.omd.declare_inputs(node.code, inputs)
        done.append(Registered(node.code, node.table, inputs, node.code not in without_way))
    return done


def _register_module(control: Control, node: Node) -> None:
    arguments = _given(node, control)
    if not control.report(ModuleListRow, module_code=node.code):
        arguments.setdefault("area_code", AREA)
    if node.description.strip():
        arguments.setdefault("module_description", node.description.strip())
    control.calls.omd.register_module(node.code, **{"table_code": node.table, **arguments})


def _given(node: Node, control: Control) -> dict[str, Any]:
    """Return the arguments of register_module that ``meta`` has, as ``omd_<argument>``."""
    takes = {
        name
        for name, parameter in inspect.signature(
            control.calls.omd.register_module
        ).parameters.items()
        if parameter.default is not parameter.empty
    }
    meta: Mapping[str, Any] = node.meta
    given = {key.removeprefix("omd_"): value for key, value in meta.items() if _is_ours(key)}
    for name in given:
        if name not in takes:
            known = ", ".join(f"omd_{name}" for name in sorted(takes))
            raise click.UsageError(
                f"{node.path}: omd_{name} in meta is not known; known are omd_module, {known}"
            )
    return given


def _is_ours(key: str) -> bool:
    return key.startswith("omd_") and key != "omd_module"

"""The structure: which libraries a package may import, and where SQL may stand.

Which of our own packages it may import, tests/house/test_direction.py holds.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from omd._rooms import ENGINES, ROOMS
from support.imports import MODULES, targets, tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

OWN = {("lake", "pyarrow")}  # with its extra the room reads footers itself; executors don't need it

SPARK = ("adbc_driver_manager", "adbc_driver_postgresql", "pandas", "pyarrow", "pyspark")


def imports(module: str) -> set[str]:
    """Return what a module imports, in functions too, without the imports for type checkers."""
    tree = tree_of(module)
    return {target for node in executed(tree) for target in targets(node)}


def executed(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        yield child
        yield from executed(child)


def room_of(module: str) -> str | None:
    part = [*module.split("."), ""][1]
    return part if part in ROOMS else None


def test_every_import_of_our_own_leads_somewhere():
    for module in MODULES:
        ours = {target for target in imports(module) if target.split(".")[0] == "omd"}
        assert ours <= MODULES.keys(), module


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("omd._core")])
def test_the_core_knows_no_room_no_spark_and_no_command_line(module):
    for target in imports(module):
        top = target.split(".")[0]
        assert top not in (*SPARK, "click"), target
        assert top != "omd" or target.startswith("omd._core"), target


@pytest.mark.parametrize("module", [name for name in MODULES if room_of(name)])
def test_a_room_knows_only_the_rooms_below_it_and_no_engine(module):
    order = list(ROOMS)
    mine = order.index(room_of(module) or "")
    engines = [".".join(path.split(".")[:2]) for path, _ in ENGINES.values()]
    for target in imports(module):
        other = room_of(target)
        assert other is None or order.index(other) <= mine, target
        assert not target.startswith(("omd.report", *engines)), target
        top = target.split(".")[0]
        assert top not in SPARK or (room_of(module), top) in OWN, target


# These are not in the rooms: the installer, the embedded server, the doctor, and the demos.
OUTSIDE = re.compile(r"omd\.(spark|demo|install|embedded|cli\.doctor)\b")
STATEMENT = re.compile(r"\s*(SELECT\s|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CALL \w)")


@pytest.mark.parametrize("module", [name for name in MODULES if not OUTSIDE.match(name)])
def test_sql_stands_where_a_routine_is_called_and_nowhere_else(module):
    if module == "omd._core.calls":
        return
    tree = tree_of(module)
    docs = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            assert not STATEMENT.match(node.value), node.value

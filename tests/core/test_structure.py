"""The structure: which libraries a package may import, and where SQL may stand.

Which of our own packages it may import, tests/house/test_direction.py holds.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from support.imports import MODULES, nodes_of, targets, tree_of
from support.offenders import assert_none

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def test_every_import_of_our_own_leads_somewhere():
    assert_none(
        (module, f"there is no {target}")
        for module in MODULES
        for target in sorted(imports(module) - MODULES.keys())
        if target.split(".")[0] == "omd"
    )


def is_for_the_core(target: str) -> bool:
    top = target.split(".")[0]
    if top == "omd":
        return target.startswith("omd._core")
    return top not in (*SPARK, "click")


def test_the_core_knows_no_room_no_spark_and_no_command_line():
    core = [name for name in MODULES if name.startswith("omd._core")]
    assert len(core) > 15
    assert_none(
        (module, f"it imports {target}")
        for module in core
        for target in sorted(imports(module))
        if not is_for_the_core(target)
    )


def test_a_room_needs_no_library_of_an_engine():
    rooms = [name for name in MODULES if name.startswith("omd.rooms.")]
    assert len(rooms) > 45
    assert_none(
        (module, f"it imports {target}")
        for module in rooms
        for target in sorted(imports(module))
        if target.split(".")[0] in SPARK
    )


# These are not in the rooms: the installer, the embedded server, doctor, what a SQL file
# has written, the demos, the files for programs that read metrics by SQL; the page, which shows the
# statement of each table and sends what it shows; and the writer, which sends a fence and COMMIT as
# one text.
OUTSIDE = re.compile(
    r"omd\.(spark|_core\.(rights|standby)|rooms\.control\.writer|programs\.(demo|install|embedded"
    r"|cli\.(doctor|doctor_(health|statements)|documents\.sql)|report\.metric_files|web))\b"
)
# A routine or view that is generated, and one that a person names.
CALLING = ("omd._core.calls", "omd._core.catalogue")
STATEMENT = re.compile(r"\s*(SELECT\s|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CALL \w)")


def statements(module: str) -> Iterator[str]:
    """Yield the texts in a module that are statements, without its docstrings."""
    docs = {
        id(node.value)
        for node in nodes_of(module)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in nodes_of(module):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in docs and STATEMENT.match(node.value):
            yield node.value


def test_sql_stands_where_a_routine_is_called_and_nowhere_else():
    assert all(list(statements(module)) for module in CALLING)
    assert_none(
        (module, statement)
        for module in MODULES
        if not OUTSIDE.match(module) and module not in CALLING
        for statement in statements(module)
    )

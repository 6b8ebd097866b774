"""The modules of the driver, and what each imports: also for type checkers, and by name."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[2] / "driver" / "omd"


def modules_of(package: Path) -> dict[str, Path]:
    """Return the modules of a package, by their names."""
    modules = {}
    for file in sorted(package.rglob("*.py")):
        parts = (package.name, *file.relative_to(package).with_suffix("").parts)
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return modules


MODULES = modules_of(PACKAGE)


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def nodes_of(module: str) -> list[ast.AST]:
    return list(ast.walk(tree_of(module)))


def targets(node: ast.AST) -> Iterator[str]:
    """Yield what an import names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "the whole name, please"
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            yield full if full in MODULES else str(node.module)


def named(node: ast.AST) -> Iterator[str]:
    """Yield the modules that a text names: that of import_module, or one in a table of names.

    What stands in braces in an f-string may be any part of a name.
    """
    if isinstance(node, ast.JoinedStr):
        parts = (
            re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"\w+"
            for part in node.values
        )
        pattern = re.compile("".join(parts))
        if pattern.pattern.startswith(r"omd\."):
            yield from (module for module in MODULES if pattern.fullmatch(module))
    elif isinstance(node, ast.Constant) and node.value in MODULES and node.value != "omd":
        yield str(node.value)  # omd alone is also a schema, and a format


def text_of(node: ast.AST) -> ast.expr | None:
    """Return the text that names no import: a docstring, a logger, what a class shows to people."""
    if isinstance(node, ast.Expr):
        return node.value
    if isinstance(node, ast.Assign) and "__module__" in ast.dump(node.targets[0]):
        return node.value
    if isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "getLogger":
        return node.args[0]
    return None


@cache
def arrows(module: str) -> set[str]:
    """Return the modules of the driver that a module reaches, in whatever way."""
    nodes = nodes_of(module)
    texts = {id(text_of(node)) for node in nodes}
    found = {target for node in nodes for target in targets(node)}
    found |= {name for node in nodes if id(node) not in texts for name in named(node)}
    return (found & MODULES.keys()) - {module}

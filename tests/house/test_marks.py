"""A test that draws lots has the mark `random`, and one that kills has the mark `kill`."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

from support.offenders import assert_none

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parents[1]
MARKS = {
    "random": re.compile(r"\brandom\.(Random|SystemRandom|rand\w+|choice|shuffle|sample)\b"),
    "kill": re.compile(r"\bSIGKILL\b|\bSIGQUIT\b|\bkillpg\b|\.kill\(|\.restart\(\)"),
}
# These kill only what a test that failed has left.
AFTER_A_FAILURE = {"lineage/test_scheduler_connections.py"}


def parts(tree: ast.Module) -> dict[str, ast.stmt]:
    """Return what a module defines by name: functions, classes and values."""
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node
    return found


def reached(name: str, defined: dict[str, ast.stmt]) -> str:
    """Return the text of a test, with all of its module that it uses, fixtures too."""
    seen: set[str] = set()
    open_ = {name}
    while open_:
        seen |= open_
        words = {
            word.id if isinstance(word, ast.Name) else word.arg
            for one in open_
            for word in ast.walk(defined[one])
            if isinstance(word, ast.Name | ast.arg)
        }
        open_ = (words & defined.keys()) - seen
    return "\n".join(ast.unparse(defined[one]) for one in seen)


def unmarked(file: Path) -> Iterator[tuple[str, str]]:
    whole = file.read_text(encoding="utf-8")
    if not any(sign.search(whole) for sign in MARKS.values()):
        return
    defined = parts(ast.parse(whole))
    of_all = ast.unparse(defined["pytestmark"]) if "pytestmark" in defined else ""
    for name, node in defined.items():
        if isinstance(node, ast.FunctionDef) and name.startswith("test_"):
            marked = of_all + "".join(ast.unparse(mark) for mark in node.decorator_list)
            text = reached(name, defined)
            for mark, sign in MARKS.items():
                if (found := sign.search(text)) and f"mark.{mark}" not in marked:
                    where = f"{file.relative_to(TESTS)}::{name}"
                    yield where, f"it has {found.group()!r} and not the mark {mark!r}"


def test_what_draws_lots_and_what_kills_is_marked() -> None:
    files = sorted(TESTS.rglob("test_*.py"))
    assert len(files) > 200
    assert_none(
        offender
        for file in files
        if file.relative_to(TESTS).as_posix() not in AFTER_A_FAILURE
        for offender in unmarked(file)
    )

"""A test waits for what it needs, and not for a time; what fails by chance is mended.

An upper bound on wall time holds only where nothing else runs: such a test has the mark `alone`.
"""

from __future__ import annotations

import ast
import csv
import re
import subprocess
from collections import defaultdict
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from house.test_marks import parts, reached
from support.offenders import assert_none

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
FLAKY = TESTS / "flaky.tsv"
SPAN = timedelta(days=30)
STOPWATCHES = {"monotonic", "perf_counter"}
# A time of milliseconds is no sign that something waits. In these files it is what is tested.
TIMES = {
    "control/test_writer.py": "a commit that waits for the instance takes a fence, no other",
    "delivery/test_arrivals.py": "a lock that is not granted in time says nothing about a folder",
    "dispatch/test_claim_rules.py": "who gives up takes nothing",
    "dispatch/test_turns.py": "a change waits as long as its caller lets it; a turn is short",
    "facts/test_deploy_beside.py": "hold_views waits for as long as lock_timeout says",
    "install/test_versions.py": "an installer that gives up names who holds the lock",
    "spark/test_write_errors.py": "a write that gives up says so",
    "web/test_preview.py": "a preview whose time is over says so",
}


def called(node: ast.AST) -> str:
    """The name of the function that an expression calls."""
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", ""))


class Durations:
    """What stands in a module for seconds that a stopwatch has measured."""

    def __init__(self, tree: ast.Module) -> None:
        self._names: set[str] = set()
        self._functions: set[str] = set()
        before = -1
        while before < (before := len(self._names) + len(self._functions)):
            for node in ast.walk(tree):
                self._learn(node)

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef):
            returned = [r.value for r in ast.walk(node) if isinstance(r, ast.Return) and r.value]
            if any(self.in_(value) for value in returned):
                self._functions.add(node.name)
        elif isinstance(node, ast.Assign) and self.in_(node.value):
            self._names |= {
                name.id
                for target in node.targets
                for name in ast.walk(target)
                if isinstance(name, ast.Name)
            }

    def in_(self, node: ast.AST) -> bool:
        """Whether an expression has such seconds."""
        return any(
            (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub) and self._begun(part))
            or (isinstance(part, ast.Name) and part.id in self._names)
            or called(part) in self._functions
            for part in ast.walk(node)
        )

    @staticmethod
    def _begun(difference: ast.BinOp) -> bool:
        return any(called(part) in STOPWATCHES for part in ast.walk(difference))


def bounds(text: str) -> Iterator[str]:
    """Yield each assertion of a module that a duration is below something."""
    tree = ast.parse(text)
    durations = Durations(tree)
    for node in ast.walk(tree):
        for compared in ast.walk(node.test) if isinstance(node, ast.Assert) else ():
            if isinstance(compared, ast.Compare):
                sides = [compared.left, *compared.comparators]
                for left, operator, right in zip(sides, compared.ops, sides[1:], strict=False):
                    smaller = left if isinstance(operator, ast.Lt | ast.LtE) else right
                    if not isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
                        continue
                    if durations.in_(smaller):
                        yield ast.unparse(node)


def sleeps(node: ast.AST, function: str = "", *, is_repeated: bool = False) -> Iterator[int]:
    """Yield the line of each sleep of a test itself that is no pause between two looks."""
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        function, is_repeated = getattr(node, "name", ""), False
    is_repeated = is_repeated or isinstance(node, ast.While | ast.For)
    if called(node) == "sleep" and function.startswith("test_") and not is_repeated:
        yield node.lineno
    for child in ast.iter_child_nodes(node):
        yield from sleeps(child, function, is_repeated=is_repeated)


def milliseconds(text: str) -> list[str]:
    """Return the timeouts of PostgreSQL in a text that are no net: a net has whole seconds."""
    found = re.findall(r"(?:lock|statement)_timeout ?= ?'?([1-9]\d*(?: ?ms)?)['\")]", text)
    return [time for time in found if not time.isdigit() or int(time) < 1000]


def too_often(entries: list[tuple[str, str, str]], today: date) -> Iterator[tuple[str, str]]:
    """Yield the tests that have failed by chance three times in thirty days."""
    dates = defaultdict(list)
    for name, day, _error in entries:
        if date.fromisoformat(day) > today - SPAN:
            dates[name].append(day)
    for name, days in dates.items():
        if len(days) >= 3:
            yield name, f"it failed by chance on {', '.join(days)}: mend it, and delete its entries"


def files() -> Iterator[tuple[str, str]]:
    for file in sorted(TESTS.rglob("test_*.py")):
        where = file.relative_to(TESTS).as_posix()
        if not where.startswith("house/"):
            yield where, file.read_text(encoding="utf-8")


def test_a_bound_on_wall_time_stands_in_a_test_that_runs_alone() -> None:
    def offenders() -> Iterator[tuple[str, str]]:
        for where, text in files():
            if not STOPWATCHES & set(re.findall(r"\w+", text)):
                continue
            defined = parts(ast.parse(text))
            of_all = ast.unparse(defined["pytestmark"]) if "pytestmark" in defined else ""
            for name, node in defined.items():
                if isinstance(node, ast.FunctionDef) and name.startswith("test_"):
                    marks = of_all + "".join(ast.unparse(mark) for mark in node.decorator_list)
                    if "mark.alone" not in marks:
                        for found in bounds(reached(name, defined)):
                            yield f"{where}::{name}", f"{found}: count, or mark it alone"

    assert_none(offenders())


def test_no_test_sleeps_and_then_looks() -> None:
    assert_none(
        (f"{where}:{line}", "wait for what it needs: the lock, the row, the event")
        for where, text in files()
        if "sleep(" in text
        for line in sleeps(ast.parse(text))
    )


def test_a_timeout_is_a_net_and_no_sign() -> None:
    found = {where: times for where, text in files() if (times := milliseconds(text))}
    assert_none(
        (where, f"{times}: wait for the lock (until_settled, cancelled), or say why in TIMES")
        for where, times in found.items()
        if where not in TIMES
    )
    assert TIMES.keys() <= found.keys()


def test_what_fails_by_chance_for_the_third_time_is_mended() -> None:
    rows = csv.reader(FLAKY.open(encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE)
    assert next(rows) == ["name", "date", "error"]
    entries = [(name, day, error) for name, day, error in rows]
    for _, day, _ in entries:
        date.fromisoformat(day)
    of_head = ["git", "-C", ROOT, "log", "-1", "--format=%cs"]
    told = subprocess.run(of_head, check=False, capture_output=True, text=True)
    if told.returncode:
        pytest.skip("the history of git is not here")
    assert_none(too_often(entries, date.fromisoformat(told.stdout.strip())))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("assert monotonic() - began < 5", 1),
        ("assert 5 >= time.perf_counter() - began", 1),
        ("took = monotonic() - began\nassert (code, took < 5) == (0, True)", 1),
        ("def ends():\n    return 0, monotonic() - began\ncode, took = ends()\nassert took < 5", 1),
        ("assert monotonic() - began > 5", 0),
        ("assert monotonic() < deadline", 0),
        ("assert process_time() - began < 5", 0),
    ],
)
def test_bounds_are_seen(text: str, count: int) -> None:
    assert len(list(bounds(text))) == count


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("def test_a():\n    time.sleep(1)", [2]),
        ("def test_a():\n    while x:\n        time.sleep(1)", []),
        ("def test_a():\n    run(lambda: time.sleep(1))", []),
        ("def test_a():\n    def work():\n        time.sleep(1)", []),
    ],
)
def test_sleeps_are_seen(text: str, lines: list[int]) -> None:
    assert list(sleeps(ast.parse(text))) == lines


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("SET lock_timeout = '50ms'\"", 1),
        ("SET statement_timeout = '1100 ms'\"", 1),
        ("options='-c lock_timeout=300'", 1),
        ("SET statement_timeout = '5s'\"", 0),
        ('SET lock_timeout = 0"', 0),
    ],
)
def test_times_are_seen(text: str, count: int) -> None:
    assert len(milliseconds(text)) == count


def test_the_third_time_is_seen() -> None:
    days = {"a": (1, 9, 30), "b": (1, 9), "c": (2, 9, 30)}
    entries = [(name, f"2026-11-{day:02}", "E") for name in days for day in days[name]]
    assert [name for name, _ in too_often(entries, date(2026, 11, 30))] == ["a", "c"]
    assert [name for name, _ in too_often(entries, date(2026, 12, 1))] == ["c"]

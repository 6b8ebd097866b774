"""The rotation: what is dear is run by thirds, the same third for the same tree.

A part is a file of tests, with its cases of the tier ``rotation`` and those that draw lots, which
draw at full length here (OMD_SOAK=1). ``--rotation`` chooses parts by ``tests/rotation.tsv``: first
those that have failed, then those that have passed longest ago, until a third of the seconds of all
parts is reached. So each part is run at least every third time. What the change touches comes
beside it, until two fifths of the seconds are reached. ``--rotation=all`` chooses all. A part that
was never run comes when runs are recorded, the first of all.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import costs
from support.tiers import ELSEWHERE, FITTING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
FILE = TESTS / "rotation.tsv"
HEADER = "part\tcommit\tdate\tseconds\tresult"
GUESS = 5.0  # seconds of a part that was not run yet, beside those of its cases
LONG_GUESS = 90.0  # of one that plays something, or needs a JVM, a browser or a tool
# What .ci/run --record writes is not a change.
RECORDS = re.compile(r"tests/(rotation|flaky)\.tsv|tests/\w+/costs\.tsv")


@dataclass(frozen=True)
class Row:
    """A part that was run once."""

    part: str
    commit: str
    date: str
    seconds: float
    result: str  # passed or failed

    @property
    def run(self) -> tuple[str, str]:
        return self.commit, self.date

    def __str__(self) -> str:
        return f"{self.part}\t{self.commit}\t{self.date}\t{self.seconds:.0f}\t{self.result}"


def read(file: Path = FILE) -> list[Row]:
    """Return the rows, the oldest first."""
    lines = file.read_text(encoding="utf-8").splitlines()[1:] if file.exists() else []
    fields = (line.split("\t") for line in lines)
    return [Row(part, commit, date, float(s), result) for part, commit, date, s, result in fields]


def choose(guesses: dict[str, float], rows: list[Row], touched: Collection[str] = ()) -> list[str]:
    """Return the parts to run now.

    Args:
        guesses: all parts, and how many seconds each takes if it was not run yet.
        rows: what was run, the oldest first.
        touched: parts that the change touches.
    """
    last = {row.part: (number, row) for number, row in enumerate(rows)}
    seconds = {part: last[part][1].seconds if part in last else s for part, s in guesses.items()}
    passed = {row.part: number for number, row in enumerate(rows) if row.result == "passed"}
    failed = {part for part, (_, row) in last.items() if row.result == "failed"}
    order = sorted(guesses, key=lambda part: (part not in failed, passed.get(part, -1), part))
    chosen: list[str] = []
    total = sum(seconds.values())
    for part in order:
        if sum(map(seconds.__getitem__, chosen)) < total / 3:
            chosen.append(part)
    for part in order:
        taken = sum(map(seconds.__getitem__, chosen)) + seconds[part]
        if part in touched and part not in chosen and taken <= total * 2 / 5:
            chosen.append(part)
    return chosen


def change(rows: list[Row]) -> set[str]:
    """Return the files that were changed since the last run that had other files."""
    for commit in dict.fromkeys(row.commit for row in reversed(rows)):
        told = subprocess.run(
            ["git", "-C", ROOT, "diff", "--name-only", commit, "HEAD"],
            check=False,
            capture_output=True,
            text=True,
        )
        if files := {line for line in told.stdout.split() if not RECORDS.fullmatch(line)}:
            return files
    return set()


def rooms(files: Iterable[str]) -> set[str]:
    """Return the folders of tests that belong to changed files."""
    found = set()
    for file in files:
        for folder in Path(file).parts[:-1]:
            found.add("control" if folder == "omd" else folder.removeprefix("omd_"))
    return found


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rotation", nargs="?", const="third", choices=("third", "all"), help="run what is due"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = config.getoption("--rotation")
    if not wanted:
        return
    known = costs.read()
    guesses: dict[str, float] = defaultdict(lambda: GUESS)
    members = [i for i in items if {"rotation", "random"} & {m.name for m in i.iter_markers()}]
    for item in members:
        part = costs.file_of(item.nodeid)
        guesses[part] += 0.5 + known.of(item)
        if part.startswith(FITTING) or any(map(item.get_closest_marker, ELSEWHERE)):
            guesses[part] = max(guesses[part], LONG_GUESS)
    rows = read()
    if wanted == "third" and not config.getoption("--record-costs"):
        # A part enters the rotation when it is recorded, and not at a landing.
        known_parts = {row.part for row in rows}
        guesses = {part: seconds for part, seconds in guesses.items() if part in known_parts}
    here = rooms(change(rows))
    touched = [part for part in guesses if part.split("/")[1] in here]
    chosen = list(guesses) if wanted == "all" else choose(guesses, rows, touched)
    kept = {item for item in members if costs.file_of(item.nodeid) in chosen}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]

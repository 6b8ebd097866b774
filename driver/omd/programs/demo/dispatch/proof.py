"""The proof of the demo of dispatch: each load happened once.

It has two sides. ``proof.sql`` compares the tables with the source files, which are read and summed
in Python, without tasks or topics. ``tasks.sql`` counts for every task how often it has had its
effect. A DBA can run both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import class_row

from omd.programs.demo.control.proof import Check, Contents, compare, contents_of
from omd.programs.demo.files import MISSING, Source, day_of, fields

_HERE = Path(__file__).parent
MONTH = 1
_LATE = 15  # minutes, as in night.departure_block

Flight = tuple[str, ...]
"""A line of a file: day, carrier, flight, origin, dest, sched_dep_time, dep_delay."""


@dataclass(frozen=True)
class TaskEffect:
    """A task, and how often it has had its effect."""

    task_id: int
    task_type: str
    what: str | None
    execution_time: datetime
    attempt: int
    status: str
    outcome: str | None
    runs: str | None
    effects: int

    @property
    def holds(self) -> bool:
        """Whether it has ended, with one effect if it has succeeded, and else with none."""
        return self.status in ("DONE", "CANCELLED") and self.effects == (self.outcome == "S")


def flights(source: Source) -> list[Flight]:
    """Return the flights of the month, in the order of their days."""
    rows = (row for row in source.rows("flights") if int(row[1]) == MONTH)
    flown = ((day_of(row), *fields(row, 9, 10, 12, 13, 4, 5)) for row in rows)
    return sorted(flown, key=lambda line: line[0])


def prove(connection: psycopg.Connection[Any], source: Source) -> list[Check]:
    """Compare the tables with the source files."""
    return compare(connection, _HERE / "proof.sql", _expected(flights(source)))


def tasks(connection: psycopg.Connection[Any]) -> list[TaskEffect]:
    """Return every task of the night, in the order of their creation."""
    with connection.cursor(row_factory=class_row(TaskEffect)) as cursor:
        return cursor.execute((_HERE / "tasks.sql").read_bytes()).fetchall()


def _expected(flown: Sequence[Flight]) -> Iterator[Contents]:
    yield contents_of("night.flight", flown)
    fact = [(*line[:4], line[5], _state(line[6])) for line in flown]
    yield contents_of("night.departure", fact)
    delays: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line in flown:
        delays[line[0], _state(line[6])].append(line[6])
    sums = (
        [*key, str(len(all_)), str(sum(int(delay) for delay in all_ if delay != MISSING))]
        for key, all_ in delays.items()
    )
    yield contents_of("night.delay_day", sums)


def _state(delay: str) -> str:
    if delay == MISSING:
        return "cancelled"
    return "late" if int(delay) > _LATE else "on time"

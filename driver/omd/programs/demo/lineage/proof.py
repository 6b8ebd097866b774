"""The proof of the demo of lineage: it compares the tables with the source files.

One side joins and sums the CSV files in Python and uses neither topics nor blocks. The other side
is one SQL statement, ``proof.sql``, which a DBA can run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import psycopg

from omd.programs.demo.control.proof import (
    Check,
    Contents,
    _shortest,
    compare,
    contents_of,
)
from omd.programs.demo.files import MISSING, Source, day_of, fields

_SQL = Path(__file__).with_name("proof.sql")
MONTH = 1
_UNKNOWN = "not known"

Flight = tuple[str, ...]
"""A line of feed.flights: pos, day, carrier, flight, origin, dest, sched_dep_time, dep_delay."""

Weather = tuple[str, str, str, str]
"""A line of feed.weather: pos, origin, visib, precip."""


def flights(source: Source) -> list[Flight]:
    """Return the flights of the month, in the order of their positions."""
    rows = (row for row in source.rows("flights") if int(row[1]) == MONTH)
    flown = ((row[18], day_of(row), *fields(row, 9, 10, 12, 13, 4, 5)) for row in rows)
    return sorted(flown, key=lambda line: line[0])


def weather(source: Source) -> list[Weather]:
    """Return the weather of the month, in the order of its positions."""
    rows = (row for row in source.rows("weather") if int(row[2]) == MONTH)
    return sorted((row[14], row[0], _shortest(row[13]), _shortest(row[11])) for row in rows)


def prove(connection: psycopg.Connection[Any], source: Source) -> list[Check]:
    """Compare every table with the source files."""
    return compare(connection, _SQL, _expected(source))


def _expected(source: Source) -> Iterator[Contents]:
    flown, seen = flights(source), weather(source)
    yield contents_of("feed.flights", flown)
    yield contents_of("feed.weather", seen)
    sky = {(pos, origin): _sky(float(visib), float(precip)) for pos, origin, visib, precip in seen}
    fact = [(*line, sky.get((line[0], line[4]), _UNKNOWN)) for line in flown]
    yield contents_of("fact.departure", fact)
    yield contents_of("dash.sky_day", _sums(fact))


def _sky(visib: float, precip: float) -> str:
    if precip > 0:
        return "rain"
    return "fog" if visib < 5 else "clear"  # miles, as in etl.departure


def _sums(fact: Iterable[tuple[str, ...]]) -> Iterator[list[str]]:
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line in fact:
        groups[line[1], line[8]].append(line[7])
    for (day, sky), delays in groups.items():
        known = [int(delay) for delay in delays if delay != MISSING]
        yield [day, sky, str(len(delays)), str(len(delays) - len(known)), str(sum(known))]

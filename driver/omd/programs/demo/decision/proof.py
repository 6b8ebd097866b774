"""The proof of the demo of decisions: it decides about every flight again, with plain Python.

One side reads the CSV files, and uses neither stages nor rulesets. The other side is one SQL
statement, ``proof.sql``, which a DBA can run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from omd.programs.demo.control.proof import Check, Contents, compare, contents_of
from omd.programs.demo.files import MISSING, Source

_SQL = Path(__file__).with_name("proof.sql")
JANUARY = "1"

Flight = tuple[str, str, str, str, str, str, str, str, str]
"""A line of care.flights: id, month, origin, hour, carrier, flight, dest, distance, delay."""

Weather = tuple[str, str, str, str, str, str]
"""A line of care.weather: id, month, origin, hour, wind_speed, visib."""


def flights(source: Source, months: range) -> list[Flight]:
    """Return the flights of some months; their IDs are the numbers of their lines."""
    return [
        (str(n), row[1], row[12], row[18], row[9], row[10], row[13], row[15], row[5])
        for n, row in enumerate(source.rows("flights"), start=1)
        if int(row[1]) in months
    ]


def weather(source: Source, months: range) -> list[Weather]:
    """Return the weather of some months; its IDs are the numbers of its lines."""
    return [
        (str(n), row[2], row[0], row[14], row[9], row[13])
        for n, row in enumerate(source.rows("weather"), start=1)
        if int(row[2]) in months
    ]


def prove(connection: psycopg.Connection[Any], source: Source, months: range) -> list[Check]:
    """Compare every decision and every rejected record with the source files."""
    return compare(connection, _SQL, _expected(source, months))


def _expected(source: Source, months: range) -> Iterator[Contents]:
    flown, seen = flights(source, months), weather(source, months)
    storms = {line[1:4] for line in seen if _is_storm(line)}
    decided = [
        (id_, carrier, flight, delay, *_care(delay, distance, key in storms), *key, "1")
        for id_, *key_, carrier, flight, _, distance, delay in flown
        for key in [tuple(key_)]
    ]
    yield contents_of("care.decision", decided)
    yield contents_of("care.january", (line for line in decided if line[6] == JANUARY))
    yield contents_of("rejected weather", _rejected(flown, seen))


def _is_storm(line: Weather) -> bool:
    wind, visib = line[4:]
    return (wind != MISSING and float(wind) >= 30) or float(visib) < 0.5  # per hour, and in miles


def _care(delay: str, distance: str, storm: bool) -> tuple[str, str]:
    """Return what the passengers of a flight get, and how many dollars."""
    if delay == MISSING:
        return "another flight, a hotel", "0" if storm else "250"
    late = int(delay)
    if late >= 180:
        return "a hotel", "0" if storm else "400" if int(distance) >= 1500 else "250"
    return "a meal" if late >= 60 else "a drink" if late >= 15 else "nothing", "0"


def _rejected(flown: list[Flight], seen: list[Weather]) -> Iterator[tuple[str, str, str]]:
    """Yield the hours in which nobody departs; the last ones of a month are left over."""
    keys = {line[1:4] for line in flown}
    last: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for month, *key in keys:
        last[month] = max(last[month], tuple(key))
    for id_, month, *key, _, _ in seen:
        if (month, *key) not in keys:
            code = "LEFTOVER" if tuple(key) > last[month] else "KEY_MISMATCH"
            yield id_, month, code

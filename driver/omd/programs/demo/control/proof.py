"""The proof of the demo: it compares the targets with what the source files require.

One side reads the CSV files with Python's csv module and uses neither Spark nor OMD. The other side
is one SQL statement over the targets, ``proof.sql``, which a DBA can run.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from omd.programs.demo.files import MISSING, YEAR, Source, day_of, fields
from omd.programs.demo.stage import Screen, tell_verdict

_SQL = Path(__file__).with_name("proof.sql")
# The columns that may hold numbers with decimals.
_DOUBLES = {"airports": (2, 3), "weather": (5, 6, 7, 9, 10, 11, 12, 13)}
_OPEN_END = date(9999, 12, 31)


@dataclass(frozen=True)
class Contents:
    """The contents of a target, in numbers that do not depend on the order of its rows."""

    table_code: str  # the target
    rows: int  # the number of its rows
    keys: int  # the number of its distinct business keys
    # The number of rows that carry no Module Instance ID of a succeeded run of its Module.
    strangers: int
    checksum: int  # the sum of the hashes of all rows


@dataclass(frozen=True)
class Check:
    """A target beside what the source requires."""

    expected: Contents
    found: Contents

    @property
    def holds(self) -> bool:
        """Whether every row is there exactly once, unchanged, and from a succeeded run."""
        return self.expected == self.found

    @property
    def problem(self) -> str | None:
        """The problem in words; None if there is none."""
        want, got = self.expected, self.found
        if self.holds:
            return None
        if got.strangers:
            return f"{got.strangers} rows are of no succeeded run"
        if got.rows != got.keys:
            return f"{got.rows - got.keys} rows are there twice"
        if got.rows != want.rows:
            return (
                f"{abs(got.rows - want.rows)} rows too {'many' if got.rows > want.rows else 'few'}"
            )
        return "a value has changed"


def prove(
    connection: psycopg.Connection[Any], source: Source, months: Collection[int]
) -> list[Check]:
    """Compare every target with the source files, after these months were loaded."""
    return compare(connection, _SQL, expected(source, months))


def compare(
    connection: psycopg.Connection[Any], statement: Path, wanted: Iterable[Contents]
) -> list[Check]:
    """Compare what a statement finds in tables with what must be there."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        cursor.execute(statement.read_bytes())
        there = {
            table: Contents(table, rows, keys, strangers, int(checksum))
            for table, rows, keys, strangers, checksum in cursor
        }
    nothing = Contents("", 0, 0, 0, 0)
    return [Check(want, there.get(want.table_code, nothing)) for want in wanted]


def table_line(check: Check) -> dict[str, Any]:
    """Return a check as one line of the table that the demo shows."""
    return {
        "table": check.expected.table_code,
        "rows in source": check.expected.rows,
        "rows in table": check.found.rows,
        "source's checksum": f"{check.expected.checksum % 2**64:016x}",
        "table's checksum": f"{check.found.checksum % 2**64:016x}",
        "": check.problem or "✓",
    }


def tell_checks(
    screen: Screen, checks: Sequence[Check], text: str, *, others_hold: bool = True
) -> bool:
    """Show the checks, say what they prove if all hold, and return whether they do."""
    screen.table([table_line(check) for check in checks])
    return tell_verdict(screen, others_hold and all(check.holds for check in checks), text)


def expected(source: Source, months: Collection[int]) -> Iterator[Contents]:
    """Yield the contents that the targets must have, by the source files alone."""
    for table in ("airlines", "airports", "planes"):
        yield contents_of(f"stg.{table}", _numbers(source.rows(table), _DOUBLES.get(table, ())))
    # A flight is a list in the order of the columns of flights.csv.
    flights = [row for row in source.rows("flights") if int(row[1]) in months]
    yield contents_of("hstg.flights", flights)
    weather = (row for row in source.rows("weather") if int(row[2]) in months)
    yield contents_of("hstg.weather", _numbers(weather, _DOUBLES["weather"]))
    yield contents_of("int.hub_carrier", ([code] for code in {row[9] for row in flights}))
    yield contents_of(
        "int.hub_airport", ([code] for code in {c for r in flights for c in r[12:14]})
    )
    tails = {row[11] for row in flights} - {MISSING}
    yield contents_of("int.hub_aircraft", ([tail] for tail in tails))
    yield contents_of("int.link_flight", map(_link, flights))
    yield contents_of("int.sat_aircraft", _satellite(flights))
    names = {row[0]: row[1] for row in source.rows("airlines")}
    yield contents_of("pres.carrier_month", _presentation(flights, names))


def contents_of(table_code: str, rows: Iterable[Iterable[str]]) -> Contents:
    """Return what a table has that has these rows, each as texts."""
    lines = ["|".join(row) for row in rows]
    checksum = sum(int(hashlib.md5(line.encode()).hexdigest()[:15], 16) for line in lines)  # noqa: S324
    return Contents(table_code, len(lines), len(lines), 0, checksum)


def _numbers(rows: Iterable[list[str]], doubles: Collection[int]) -> Iterator[list[str]]:
    """Yield the rows with some columns in the shortest form of their number: 1e3 is 1000."""
    for row in rows:
        yield [_shortest(text) if i in doubles else text for i, text in enumerate(row)]


def _shortest(text: str) -> str:
    if text == MISSING:
        return text
    number = float(text)
    return str(int(number)) if number.is_integer() else repr(number)


def _link(row: list[str]) -> list[str]:
    cancelled = "1" if row[3] == MISSING else "0"
    return [day_of(row), *fields(row, 9, 10, 12, 4, 13, 11), cancelled, *fields(row, 5, 8, 15)]


def _satellite(flights: Iterable[list[str]]) -> Iterator[list[str]]:
    carriers: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    origins: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for row in flights:
        if row[11] != MISSING:
            carriers[row[11], int(row[1])][row[9]] += 1
            origins[row[11], int(row[1])][row[12]] += 1
    history: dict[str, list[tuple[date, str, str]]] = defaultdict(list)
    for tail, month in sorted(carriers):
        now = (_most(carriers[tail, month]), _most(origins[tail, month]))
        if not history[tail] or history[tail][-1][1:] != now:
            history[tail].append((date(YEAR, month, 1), *now))
    for tail, versions in history.items():
        ends = [version[0] for version in versions[1:]] + [_OPEN_END]
        for (start, carrier, origin), end in zip(versions, ends, strict=True):
            current = "Y" if end == _OPEN_END else "N"
            yield [tail, start.isoformat(), end.isoformat(), current, carrier, origin]


def _most(counts: Counter[str]) -> str:
    return min(counts, key=lambda value: (-counts[value], value))


def _presentation(flights: Iterable[list[str]], names: dict[str, str]) -> Iterator[list[str]]:
    groups: dict[tuple[int, str], list[list[str]]] = defaultdict(list)
    for row in flights:
        groups[int(row[1]), row[9]].append(row)
    for (month, carrier), rows in groups.items():
        numbers = (
            len(rows),
            sum(row[3] == MISSING for row in rows),
            sum(int(row[5]) for row in rows if row[5] != MISSING),
            sum(int(row[8]) for row in rows if row[8] != MISSING),
        )
        yield [str(YEAR), str(month), carrier, names[carrier], *map(str, numbers)]

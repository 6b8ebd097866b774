"""The proof of the demo of deliveries: LVL holds what the accepted files say, and nothing else.

One side plays the accepted files in Python, by their order and what each was about, without Spark
and OMD. The other is one SQL statement over LVL, ``proof.sql``, which a DBA can run.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from omd.programs.demo.control.proof import Check, Contents, compare, contents_of

_SQL = Path(__file__).with_name("proof.sql")
TABLES = ("carriers", "airports", "months", "flights")
_CARRIER, _DAY = 0, 3


@dataclass(frozen=True)
class Accepted:
    """Files that were accepted, and what they were about."""

    folder: Path  # the folder of the files
    changes: tuple[str, ...] = ("months",)  # the entities of which they hold only what has changed
    carrier: str | None = None  # the one carrier whose flights they hold; None: those of all

    def rows(self, table: str) -> list[list[str]] | None:
        """Return the lines of a file, or None if it was not delivered."""
        path = self.folder / f"{table}.csv"
        if not path.exists():
            return None
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            next(reader)
            return list(reader)


def prove(
    connection: psycopg.Connection[Any], interface: str, accepted: Sequence[Accepted]
) -> list[Check]:
    """Compare LVL with the files that were accepted, in their order."""
    connection.execute(
        sql.SQL("SET search_path = {}, pg_catalog").format(sql.Identifier(f"lvl_{interface}"))
    )
    try:
        return compare(connection, _SQL, _expected(accepted))
    finally:
        connection.execute("RESET search_path")


def _expected(accepted: Iterable[Accepted]) -> Iterator[Contents]:
    current: dict[str, dict[tuple[str, ...], list[str]]] = {table: {} for table in TABLES}
    for delivery in accepted:
        for table, known in current.items():
            rows = delivery.rows(table)
            if rows is None:
                continue
            if table == "flights":
                months = {_month(row) for row in rows}
                gone = [
                    key
                    for key, row in known.items()
                    if _month(row) in months and delivery.carrier in (None, row[_CARRIER])
                ]
            else:
                gone = [] if table in delivery.changes else list(known)
            for key in gone:
                del known[key]
            width = 3 if table == "flights" else 1
            known.update((tuple(row[:width]), row) for row in rows)
    for table, known in current.items():
        lines = known.values()
        yield contents_of(
            table, ([*row, _month(row)] for row in lines) if table == "flights" else lines
        )


def _month(flight: Sequence[str]) -> str:
    return f"{flight[_DAY][:7]}-01"

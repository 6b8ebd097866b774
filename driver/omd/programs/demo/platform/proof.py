"""The proof of the demo: each accepted row of the files is once in each table.

One side plays the accepted files in Python, in their order. The other is SQL: ``proof.sql`` in
PostgreSQL, and ``lake.sql``, by an independent reader, over the Iceberg table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from omd.programs.demo.control.proof import Check, Contents, contents_of
from omd.programs.demo.files import MISSING
from omd.programs.demo.reader import Reader

NAME = "nyc_night"
"""The name that stands in all that is declared, and in the SQL of the proof."""

Flight = Sequence[str]

_HERE = Path(__file__).parent
_SUCCEEDED = """
    SELECT l.module_instance_id FROM omd_report.module_execution_log AS l
    WHERE l.execution_status_code = 'S'
"""
_METADATA = """
    SELECT t.metadata_location FROM omd_lake.iceberg_tables AS t
    WHERE t.table_namespace = 'lake_nyc_night'
"""


def named(text: str, name: str) -> str:
    """Return what is declared or asked, under the name of a play."""
    return text.replace(NAME, name)


def prove(
    connection: psycopg.Connection[Any], name: str, accepted: Mapping[int, Sequence[Flight]]
) -> list[Check]:
    """Compare all tables with the accepted files of each day."""
    with connection.cursor(row_factory=tuple_row) as cursor:

        def ask(query: str) -> list[tuple[Any, ...]]:
            return cursor.execute(named(query, name).encode()).fetchall()

        contents = ask((_HERE / "proof.sql").read_text(encoding="utf-8"))
        runs = ", ".join(f"({run})" for (run,) in ask(_SUCCEEDED))
        [(metadata,)] = ask(_METADATA)
    reader = Reader()
    values = f"(VALUES {runs}) AS v (module_instance_id)"
    reader.rows(f"CREATE OR REPLACE TEMP VIEW succeeded AS SELECT * FROM {values}", {})  # noqa: S608
    lake = named((_HERE / "lake.sql").read_text(encoding="utf-8"), name)
    contents += reader.rows(lake, {"delay": metadata})
    there = {row[0]: Contents(row[0], *map(int, row[1:])) for row in contents}
    nothing = Contents("", 0, 0, 0, 0)
    return [Check(want, there.get(want.table_code, nothing)) for want in expected(accepted, name)]


def expected(accepted: Mapping[int, Sequence[Flight]], name: str) -> Iterator[Contents]:
    """Yield the contents that the tables must have, by the accepted files of each day."""
    current = {tuple(row[:3]): row for day in sorted(accepted) for row in accepted[day]}
    flights = list(current.values())
    for table in (f"lvl_{name}.flights", f"gdal_{name}.flights", f"mart_{name}.departure"):
        yield contents_of(table, flights)
    yield contents_of(f"mart_{name}.care", ([*row[:3], *_care(row[6])] for row in flights))
    yield contents_of(f"lake_{name}.delay", ([*row[:3], row[4], row[6]] for row in flights))


def _care(delay: str) -> tuple[str, str]:
    """Decide as the table of the rules does."""
    if delay == MISSING:
        return "another flight", "250"
    minutes = int(delay)
    if minutes >= 180:
        return "a hotel", "250"
    return ("a meal" if minutes >= 60 else "nothing"), "0"

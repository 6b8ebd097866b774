"""The proof of the demo: what Spark and an independent reader find is what the files require."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from omd.programs.demo.control import proof
from omd.programs.demo.control.proof import Check, Contents
from omd.programs.demo.files import Source

SQL = (Path(__file__).with_name("proof.sql")).read_text(encoding="utf-8")
"""What is in the tables."""

BY_MONTH = "SELECT month, count(*) FROM flights GROUP BY month ORDER BY month"
"""How many flights each month has."""

# The tables of the first demo, which is played with the same files.
_SAME = {
    "hstg.flights": "flights",
    "hstg.weather": "weather",
    "int.sat_aircraft": "sat_aircraft",
    "pres.carrier_month": "carrier_month",
}


def expected(source: Source, months: Collection[int]) -> list[Contents]:
    """Return the contents that the tables must have, by the source files alone."""
    return [
        replace(contents, table_code=_SAME[contents.table_code])
        for contents in proof.expected(source, months)
        if contents.table_code in _SAME
    ]


def months_of(source: Source, months: Collection[int]) -> dict[int, int]:
    """Return how many flights the source has of each month."""
    counts = Counter(int(row[1]) for row in source.rows("flights"))
    return {month: counts[month] for month in months}


def succeeded(runs: Iterable[tuple[str, int]]) -> str:
    """Return the statement that tells an engine which runs of each table have succeeded."""
    values = ", ".join(f"('{table}', {int(instance)})" for table, instance in runs)
    rows = f"(VALUES {values}) AS v (table_code, module_instance_id)"
    return f"CREATE OR REPLACE TEMP VIEW succeeded AS SELECT * FROM {rows}"  # noqa: S608


def compare(
    wanted: Sequence[Contents], execute: Callable[[str], Iterable[tuple[Any, ...]]]
) -> list[Check]:
    """Compare what an engine finds in the tables with what must be there."""
    contents = {row[0]: Contents(row[0], *map(int, row[1:])) for row in execute(SQL)}
    return [Check(want, contents.get(want.table_code, Contents("", 0, 0, 0, 0))) for want in wanted]

"""The supplier: it writes the files of a delivery, some of them with a mistake."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from datetime import date
from functools import cached_property
from pathlib import Path

from omd.programs.demo.files import MISSING, YEAR, Source, day_of, fields

# The list of airports lacks these, to which flights go in every month.
FORGOTTEN = (
    ("BQN", "Rafael Hernandez"),
    ("PSE", "Mercedita"),
    ("SJU", "Luis Munoz Marin Intl"),
    ("STT", "Cyril E King"),
)
_COLUMNS = {
    "carriers": ("carrier", "name"),
    "airports": ("faa", "name"),
    "months": ("month",),
    "flights": (
        *("carrier", "flight", "time_hour", "day", "origin", "dest", "tailnum", "dep_delay"),
        *("arr_delay", "distance"),
    ),
}
_CARRIER, _DAY, _ARR_DELAY = 0, 3, 8
_CORRECTED, _DROPPED = 40, 3


class Supplier:
    """Writes deliveries, each into a folder of its own.

    Args:
        source: the flights of the year.
        folder: a work folder, which Spark reads.
        days: so many days of each month are delivered.
    """

    def __init__(self, source: Source, folder: Path, days: int) -> None:
        self._source = source
        self._folder = folder
        self._days = days

    def first(self, month: int) -> Path:
        """Write the lists of carriers and airports, and the flights of a month."""
        return self._write(
            f"{YEAR}-{month:02}",
            carriers=self._source.rows("airlines"),
            airports=(row[:2] for row in self._source.rows("airports")),
            months=[[_first_day(month)]],
            flights=self._flights[month],
        )

    def month(self, month: int, **lists: Iterable[Sequence[str]]) -> Path:
        """Write the flights of a month, and what else is given."""
        name = f"{YEAR}-{month:02}" + "".join(f"-and-{entity}" for entity in lists)
        return self._write(
            name, months=[[_first_day(month)]], flights=self._flights[month], **lists
        )

    def twice(self, month: int) -> Path:
        """Write the flights of a month by an export that began again, at another date format."""
        flights = [list(row) for row in self._flights[month]]
        for row in flights[-3:]:
            row[_DAY] = date.fromisoformat(row[_DAY]).strftime("%m/%d/%Y")
        return self._write(
            f"{YEAR}-{month:02}-twice",
            months=[[_first_day(month)]],
            flights=[*flights, *flights[:500]],
        )

    def corrected(self, month: int, carrier: str) -> tuple[Path, int, int]:
        """Write the corrected flights of a carrier; return how many are changed and left out."""
        flights = [list(row) for row in self._flights[month] if row[_CARRIER] == carrier]
        del flights[-_DROPPED:]
        step = len(flights) // _CORRECTED
        for row in flights[: step * _CORRECTED : step]:
            row[_ARR_DELAY] = str(int(row[_ARR_DELAY]) + 1) if row[_ARR_DELAY] != MISSING else "0"
        return self._write(f"{YEAR}-{month:02}-{carrier}", flights=flights), _CORRECTED, _DROPPED

    @cached_property
    def _flights(self) -> dict[int, list[list[str]]]:
        months: dict[int, list[list[str]]] = {month: [] for month in range(1, 13)}
        for row in self._source.rows("flights"):
            if int(row[2]) > self._days:
                continue
            months[int(row[1])].append(
                [*fields(row, 9, 10, 18), day_of(row), *fields(row, 12, 13, 11, 5, 8, 15)]
            )
        return months

    def _write(self, name: str, **lists: Iterable[Sequence[str]]) -> Path:
        folder = self._folder / name
        folder.mkdir()
        for entity, rows in lists.items():
            with (folder / f"{entity}.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(_COLUMNS[entity])
                writer.writerows(rows)
        return folder


def _first_day(month: int) -> str:
    return date(YEAR, month, 1).isoformat()

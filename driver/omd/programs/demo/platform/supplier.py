"""The supplier: it writes a folder for each day, some with a mistake, and knows nothing else."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

from omd.programs.demo.files import MISSING, YEAR, Source, day_of, fields

_COLUMNS = {
    "carriers": ("carrier", "name"),
    "flights": (
        *("carrier", "flight", "time_hour", "day", "origin", "dest", "dep_delay", "distance"),
    ),
}
_CARRIER, _DAY, _DELAY = 0, 3, 6
_TWICE = 50


class Supplier:
    """Writes deliveries into the folder where they shall arrive.

    Args:
        source: the flights of the year.
        drop: the folder.
        days: January up to this day is delivered.
    """

    def __init__(self, source: Source, drop: Path, days: int) -> None:
        self._drop = drop
        self._carriers = [row[:2] for row in source.rows("airlines")]
        self.flights: dict[int, list[list[str]]] = {day: [] for day in range(1, days + 1)}
        for row in source.rows("flights"):
            if row[1] == "1" and (lines := self.flights.get(int(row[2]))) is not None:
                lines.append([*fields(row, 9, 10, 18), day_of(row), *fields(row, 12, 13, 5, 15)])

    def write(self, day: int, flights: Sequence[Sequence[str]]) -> None:
        """Write the files of a day, in place of what is there, and no marker."""
        folder = self.folder(day)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self._file(folder, "carriers", self._carriers)
        self._file(folder, "flights", flights)

    def finish(self, day: int) -> None:
        """Say that the folder of a day is complete."""
        (self.folder(day) / "_SUCCESS").touch()

    def folder(self, day: int) -> Path:
        """Return the folder of a day."""
        return self._drop / date(YEAR, 1, day).isoformat()

    def twice(self, day: int) -> list[list[str]]:
        """Return the flights of a day by an export that began again, at another date format."""
        flights = [list(row) for row in self.flights[day]]
        for row in flights[-3:]:
            row[_DAY] = date.fromisoformat(row[_DAY]).strftime("%m/%d/%Y")
        return [*flights, *flights[:_TWICE]]

    def wrong(self, day: int) -> list[list[str]]:
        """Return flights that nothing is wrong with, but that nobody has flown.

        The delays of United are hours for minutes, and some flights have a number too many.
        """
        flights = [list(row) for row in self.flights[day]]
        for row in flights:
            if row[_CARRIER] == "UA" and row[_DELAY] != MISSING:
                row[_DELAY] = str(int(row[_DELAY]) * 60)
        return [*flights, *([row[0], f"{row[1]}9", *row[2:]] for row in flights[:5])]

    @staticmethod
    def _file(folder: Path, entity: str, rows: Iterable[Sequence[str]]) -> None:
        with (folder / f"{entity}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(_COLUMNS[entity])
            writer.writerows(rows)

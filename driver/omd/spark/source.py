"""The data source ``omd``: Spark reads and writes tables of PostgreSQL, without a JVM jar.

Examples:
    spark.read.format("omd").option("table", "stg.flights").load()
    df.write.format("omd").option("table", "stg.flights").mode("append").save()

Options (the case of their names does not matter):
    url: libpq connection string; by default OMD_DSN, DATABASE_URL, or libpq's own settings. Spark
        hides the value of an option of this name in plans and logs; so it is not called dsn.
    table: schema.table, quoted where an identifier needs it.
    query: (read) a SELECT instead of a table.
    partitionColumn: (read) split by ranges of this integer, date or timestamp column.
    numPartitions: (read) the number of parts; by default one per 16 MB of a table, 8 at most.
    predicates: (read) a JSON list of SQL conditions, each of which is a partition; together they
        must cover each row once.
    snapshot: (read) read from this exported snapshot; without it each partition sees its own
        moment.
    block: (read) what a step reads of a view of changes; `Run.read` sets it.
    windowTimeColumn, windowIdColumn, windowStart, windowStartId, windowEnd, windowEndId: (read)
        read only the rows of this load window, whose start is exclusive and whose end is inclusive:
        (time, id) > (start, start id) AND (time, id) <= (end, end id). Instants have a zone. A
        window is one partition unless numPartitions or partitionColumn is given.
    moduleInstance: (write) the run that writes. A partition is committed once, and only while the
        run executes. Without it a write is a plain append: a partition that Spark tries again may
        be written twice.
    writeNumber: (write) distinguishes the writes of a run; by default it is a new number. With the
        number of an earlier write, that write is continued: the rows must then be cut into the
        same partitions.
    writeThrough: (write) a CALL that takes the rows out of a temporary table, which writePlan
        describes, and answers how many it has written; table is then only named in the ledger.
    endMark: (write) the last column is true in the last row alone, which marks the end of the rows
        and is none of them; without it nothing is written. `Run.write` sets it for an overwrite.
    writePlan: (write) what `Run.write` has read about the table; it is not read again.
"""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from dataclasses import dataclass
from types import MethodType
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader
from pyspark.sql.types import StructType

from omd._core.errors import CallerError
from omd.spark.reader import Reader, Split
from omd.spark.relation import Relation, catalogue
from omd.spark.window import Window
from omd.spark.writer import Ledger, Writer

_OPTIONS = {
    "url": "url",
    "table": "table",
    "path": "table",  # what load("stg.flights") and save("stg.flights") set
    "query": "query",
    "partitioncolumn": "partition_column",
    "numpartitions": "partitions",
    "predicates": "predicates",
    "snapshot": "snapshot",
    "block": "block",
    "pushfilters": "push_filters",
    "windowtimecolumn": "window_time_column",
    "windowidcolumn": "window_id_column",
    "windowstart": "window_start",
    "windowstartid": "window_start_id",
    "windowend": "window_end",
    "windowendid": "window_end_id",
    "moduleinstance": "module_instance",
    "writenumber": "write_number",
    "writeplan": "write_plan",
    "writethrough": "write_through",
    "endmark": "end_mark",
}
_NUMBERS = {
    "partitions": "numPartitions",
    "module_instance": "moduleInstance",
    "write_number": "writeNumber",
}
_FLAGS = {"push_filters": "pushFilters", "end_mark": "endMark"}
_IDS = {"window_start_id": "windowStartId", "window_end_id": "windowEndId"}
_HINT = (
    "Its options are url, table, query, partitionColumn, numPartitions, predicates, snapshot,"
    " pushFilters, windowTimeColumn, windowIdColumn, windowStart, windowStartId, windowEnd,"
    " windowEndId, moduleInstance and writeNumber."
)


@dataclass(frozen=True)
class Options:
    """The options of one read or write."""

    url: str = ""
    table: str | None = None
    query: str | None = None
    partition_column: str | None = None
    partitions: int | None = None
    predicates: tuple[str, ...] = ()
    snapshot: str | None = None
    block: str | None = None
    push_filters: bool = False
    window_time_column: str | None = None
    window_id_column: str | None = None
    window_start: str | None = None
    window_start_id: int | None = None
    window_end: str | None = None
    window_end_id: int | None = None
    module_instance: int | None = None
    write_number: int | None = None
    write_plan: str | None = None
    write_through: str | None = None
    end_mark: bool = False

    @classmethod
    def parse(cls, given: MutableMapping[str, str]) -> Options:
        """Check the options and turn them into their types."""
        values: dict[str, Any] = {}
        for name, value in given.items():
            field = _OPTIONS.get(name.lower())
            if field is None:
                raise CallerError(f"the data source omd has no option {name}", hint=_HINT)
            if field in _NUMBERS:
                if not value.isdigit() or int(value) < 1:
                    raise CallerError(f"{_NUMBERS[field]} is not a number above 0", hint=_HINT)
                values[field] = int(value)
            elif field in _IDS:
                try:
                    values[field] = int(value)
                except ValueError:
                    raise CallerError(f"{_IDS[field]} is not an integer", hint=_HINT) from None
            elif field in _FLAGS:
                if value.lower() not in ("true", "false"):
                    raise CallerError(f"{_FLAGS[field]} is not true or false", hint=_HINT)
                values[field] = value.lower() == "true"
            elif field == "predicates":
                values[field] = _predicates(value)
            else:
                values[field] = value
        if ("table" in values) == ("query" in values):
            raise CallerError("the data source omd needs a table or a query", hint=_HINT)
        if "write_number" in values and "module_instance" not in values:
            raise CallerError("writeNumber needs moduleInstance", hint=_HINT)
        return cls(**values)

    @property
    def window(self) -> Window | None:
        """The load window, if there is one."""
        bounds = (
            self.window_time_column,
            self.window_id_column,
            self.window_start,
            self.window_start_id,
            self.window_end,
            self.window_end_id,
        )
        return None if bounds == (None,) * 6 else Window(*bounds)


def _predicates(value: str) -> tuple[str, ...]:
    try:
        given = json.loads(value)
    except ValueError:
        given = None
    if not isinstance(given, list) or not given or not all(isinstance(p, str) for p in given):
        raise CallerError("predicates is not a JSON list of SQL conditions", hint=_HINT)
    return tuple(given)


class OmdDataSource(DataSource):
    """PostgreSQL for Spark; `register` makes it known to a session."""

    may_push_filters = True

    def __init__(self, options: MutableMapping[str, str]) -> None:
        self._options = Options.parse(options)

    @classmethod
    def name(cls) -> str:
        """Return its name, as in ``format("omd")``."""
        return "omd"

    def schema(self) -> StructType:
        """Return the columns of the table or query, as Spark types."""
        return self.relation().schema()

    def reader(self, schema: StructType) -> Reader:
        """Return a reader of the columns of the table or query that the schema names.

        It takes over filters only when it is asked to. Spark keeps what a scan has handed over with
        the DataFrame, and gives it to all other scans of the same DataFrame: ``df.where(a)`` beside
        ``df.where(b)`` or beside ``df`` then loses rows, or has rows twice, without a word.
        """
        given = self._options
        split = Split(given.partition_column, given.partitions, given.predicates)
        relation = self.relation().only(schema)
        reader = Reader(given.url, relation, split, given.window, given.snapshot, given.block)
        if not (given.push_filters and self.may_push_filters):
            # Where Spark allows no pushdown it refuses a reader whose method is not its own one.
            vars(reader)["pushFilters"] = MethodType(DataSourceReader.pushFilters, reader)
        return reader

    def writer(self, schema: StructType, overwrite: bool) -> Writer:
        """Return a writer to the table; Spark calls it on the driver, once per write."""
        given = self._options
        planned = given.write_plan
        target = self.relation() if planned is None else Relation.planned(planned)
        ledger = None
        if given.module_instance is not None:
            number = given.write_number or next_write_number(given.url)
            name = str(target) if given.write_through is None else str(given.table)
            ledger = Ledger(given.module_instance, number, name)
        return Writer(
            given.url, target, schema, overwrite, ledger, given.write_through, given.end_mark
        )

    def relation(self) -> Relation:
        """Return the table or query as the server describes it."""
        given = self._options
        return Relation.describe(given.url, given.table, given.query, given.snapshot, given.block)


class Unfiltered(OmdDataSource):
    """The data source for a session that does not allow to push filters down."""

    may_push_filters = False


def next_write_number(url: str) -> int:
    """Return a number that no other write has."""
    with catalogue(url) as connection:
        row = connection.execute("SELECT omd.next_write_number()").fetchone()
    assert row is not None  # noqa: S101 - a function returns a row
    return int(row[0])

"""The data source ``omd``: tables of PostgreSQL for Spark, both ways, without a JVM jar.

Examples:
    spark.read.format("omd").option("table", "stg.flights").load()
    df.write.format("omd").option("table", "stg.flights").mode("append").save()

Options (case does not matter):
    url: libpq connection string; default: OMD_DSN, DATABASE_URL, libpq's own settings. Spark hides
        what an option of this name holds in plans and logs; that is why it is not called dsn.
    table: schema.table, quoted where an identifier needs it.
    query: read: a SELECT instead of a table.
    partitionColumn: read: split by ranges of this integer or date column.
    numPartitions: read: how many parts; default: one per 16 MB of a table, 8 at most.
    moduleInstance: write: the run that writes. A partition is committed once, and only while the
        run executes. Without it a write is a plain append: a partition that Spark tries again may
        be there twice.
    writeNumber: write: tells the writes of a run apart; default: a new one. Who names the one of a
        write before goes on with it, and must cut the rows into the same partitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource

from omd.errors import CallerError
from omd.spark.reader import Reader
from omd.spark.relation import Relation, catalogue
from omd.spark.writer import Ledger, Writer

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from pyspark.sql.types import StructType

__all__ = ["OmdDataSource"]

_OPTIONS = {
    "url": "url",
    "table": "table",
    "path": "table",  # what load("stg.flights") and save("stg.flights") set
    "query": "query",
    "partitioncolumn": "partition_column",
    "numpartitions": "partitions",
    "moduleinstance": "module_instance",
    "writenumber": "write_number",
}
_NUMBERS = {
    "partitions": "numPartitions",
    "module_instance": "moduleInstance",
    "write_number": "writeNumber",
}
_HINT = (
    "Its options are url, table, query, partitionColumn, numPartitions, moduleInstance and"
    " writeNumber."
)


@dataclass(frozen=True)
class Options:
    """The options of one read or write."""

    url: str = ""
    table: str | None = None
    query: str | None = None
    partition_column: str | None = None
    partitions: int | None = None
    module_instance: int | None = None
    write_number: int | None = None

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
            else:
                values[field] = value
        if ("table" in values) == ("query" in values):
            raise CallerError("the data source omd needs a table or a query", hint=_HINT)
        if "write_number" in values and "module_instance" not in values:
            raise CallerError("writeNumber says nothing without moduleInstance", hint=_HINT)
        return cls(**values)


class OmdDataSource(DataSource):
    """PostgreSQL for Spark; `omd.spark.register` makes it known to a session."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        self._options = Options.parse(options)

    @classmethod
    def name(cls) -> str:
        """Its name: ``format("omd")``."""
        return "omd"

    def schema(self) -> StructType:
        """The columns of the table or query, as Spark types."""
        return self._relation().schema()

    def reader(self, schema: StructType) -> Reader:  # noqa: ARG002 - the server's word counts
        """A reader of the table or query."""
        given = self._options
        return Reader(given.url, self._relation(), given.partition_column, given.partitions)

    def writer(self, schema: StructType, overwrite: bool) -> Writer:
        """A writer to the table; on the driver, once per write."""
        given = self._options
        target = self._relation()
        ledger = None
        if given.module_instance is not None:
            number = given.write_number or next_write_number(given.url)
            ledger = Ledger(given.module_instance, number, str(target))
        return Writer(given.url, target, schema, overwrite, ledger)

    def _relation(self) -> Relation:
        return Relation.describe(self._options.url, self._options.table, self._options.query)


def next_write_number(url: str) -> int:
    """A number that no other write has."""
    with catalogue(url) as connection:
        row = connection.execute("SELECT omd.next_write_number()").fetchone()
    assert row is not None  # noqa: S101 - a function answers
    return int(row[0])

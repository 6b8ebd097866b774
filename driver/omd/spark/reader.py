"""The way from PostgreSQL to Spark: partitions of a table or query as Arrow batches."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import adbc_driver_postgresql.dbapi as adbc
import psycopg
import pyarrow as pa
from psycopg import sql
from pyspark.sql.datasource import (
    DataSourceReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
)
from pyspark.sql.types import (
    DateType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from omd._core.error_codes import UnsupportedType
from omd._core.errors import CallerError, OmdError
from omd._core.names import operator
from omd.spark.arrow import arrow_schema
from omd.spark.failure import own_failure
from omd.spark.relation import Relation, catalogue, mover
from omd.spark.types import SEVERAL_DIMENSIONS, read_array

if TYPE_CHECKING:
    from omd.spark.window import Window

_BLOCKS_PER_PARTITION = 2048  # 16 MB
_MAX_PARTITIONS = 8  # without numPartitions; each partition needs a connection
_BATCH_BYTES = 4 * 1024 * 1024

_COMPARISONS: dict[type[Filter], str] = {
    EqualTo: "=",
    GreaterThan: ">",
    GreaterThanOrEqual: ">=",
    LessThan: "<",
    LessThanOrEqual: "<=",
}


@dataclass
class Part(InputPartition):
    """One partition: the SQL condition on its rows."""

    condition: sql.Composable


_ALL: sql.Composable = sql.SQL("true")
_SPLITS = (ShortType, IntegerType, LongType, DateType, TimestampType, TimestampNTZType)


@dataclass(frozen=True)
class Split:
    """The way in which a read is cut into partitions."""

    column: str | None = None  # cut it into ranges of this column
    number: int | None = None  # the number of parts; None for a number that suits the size
    # Cut it by these conditions, which must cover each row once; the other two attributes are not
    # used then.
    predicates: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.predicates and (self.column is not None or self.number is not None):
            raise CallerError(
                "predicates are the partitions: omit partitionColumn and numPartitions"
            )


class Reader(DataSourceReader):
    """Reads one table or query, or the slice of it that a load window defines."""

    def __init__(
        self,
        url: str,
        relation: Relation,
        split: Split,
        window: Window | None,
        snapshot: str | None,
        block: str | None = None,
    ) -> None:
        self.url = url
        self.relation = relation
        self.split = split
        self.window = window
        self.snapshot = snapshot
        self.block = block
        self.where: list[sql.Composable] = [] if window is None else [window.condition(relation)]

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Take over the filters that mean the same in PostgreSQL; return the others."""
        for filter_ in filters:
            condition = self._condition(filter_)
            if condition is None:
                yield filter_
            else:
                self.where.append(condition)

    def partitions(self) -> Sequence[InputPartition]:
        """Return the partitions: as given, or ranges of a column, or of the table's blocks."""
        if self.split.predicates:
            return [Part(sql.SQL(f"(\n{given}\n)")) for given in self.split.predicates]
        if self.split.column is not None:
            return self._by_column(self.split.column, self.split.number or _MAX_PARTITIONS)
        if self.window is not None:
            return self._by_window(self.window, self.split.number or 1)
        blocks = self.relation.blocks
        number = self.split.number or min(_MAX_PARTITIONS, -(-blocks // _BLOCKS_PER_PARTITION))
        if blocks == 0:
            return [Part(_ALL)]
        return _ranges(
            sql.SQL("ctid"), 0, blocks - 1, number, lambda block: sql.Literal(f"({block},0)")
        )

    def query(self, partition: InputPartition) -> str:
        """Return the SELECT that reads a partition."""
        assert isinstance(partition, Part)  # noqa: S101
        columns = self.relation.read_columns
        query = sql.SQL("SELECT {} FROM {} AS q WHERE {}").format(
            sql.SQL(", ").join(type_.expression(name) for name, type_ in columns.items()),
            self.relation.source,
            _all_of([partition.condition, *self.where]),
        )
        return query.as_string(None)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one partition, on an executor.

        Raises:
            TaskFailed: its snapshot has gone, or a type has no counterpart.
        """
        try:
            yield from self._read(partition)
        except OmdError as error:
            raise own_failure(error) from error

    def _read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        schema = arrow_schema(self.relation.schema())
        connection = mover(self.url, self.snapshot, self.block)
        try:
            with connection.cursor() as cursor:
                cursor.adbc_statement.set_options(
                    **{"adbc.postgresql.batch_size_hint_bytes": str(_BATCH_BYTES)}
                )
                cursor.execute(self.query(partition))
                for batch in cursor.fetch_record_batch():
                    yield converted(batch, schema, self.relation)
            self._require_kept(connection)
        except adbc.Error as error:
            several = re.search(rf'{SEVERAL_DIMENSIONS}, column "(.*)", ', str(error))
            if several is None:
                raise
            raise UnsupportedType(
                f'column "{several[1]}" of {self.relation} holds an array of several dimensions',
                hint="Read a query that casts it to text, or unnests it.",
            ) from error
        finally:
            connection.close()

    def _require_kept(self, connection: Any) -> None:
        """Refuse rows of a table that was rewritten between the snapshot and this read."""
        check = self.relation.rewritten if self.snapshot is not None else None
        if check is None:
            return
        with connection.cursor() as cursor:
            cursor.execute(check.as_string(None))
            if cursor.fetchone() != (False,):
                raise self.relation.rewritten_error()

    def _condition(self, filter_: Any) -> sql.Composable | None:
        if isinstance(filter_, Not):
            condition = self._condition(filter_.child)
            return None if condition is None else sql.SQL("NOT ({})").format(condition)
        attribute: tuple[str, ...] = getattr(filter_, "attribute", ())
        column = self.relation.columns.get(attribute[0]) if len(attribute) == 1 else None
        if column is None:
            return None
        name = sql.Identifier(attribute[0])
        if isinstance(filter_, IsNull):
            return sql.SQL("{} IS NULL").format(name)
        if isinstance(filter_, IsNotNull):
            return sql.SQL("{} IS NOT NULL").format(name)
        if not column.filterable:
            return None
        if isinstance(filter_, In):
            if not filter_.value or not all(map(_is_literal, filter_.value)):
                return None
            values = sql.SQL(", ").join(map(_literal, filter_.value))
            return sql.SQL("{} OPERATOR(pg_catalog.=) ANY (ARRAY[{}])").format(name, values)
        symbol = _COMPARISONS.get(type(filter_))
        # The database orders texts by its collation, Spark orders them by their bytes.
        if symbol is None or (symbol != "=" and isinstance(column.spark, StringType)):
            return None
        if not _is_literal(filter_.value):
            return None
        return _compare(name, symbol, _literal(filter_.value))

    def _by_window(self, window: Window, number: int) -> Sequence[InputPartition]:
        """Return ranges of the window's time, or of its ids when all rows are of one time.

        Rows of the same time are in the same range, so none of them is lost or read twice.
        """
        columns = [name for name in (window.time_column, window.id_column) if name is not None]
        for name in columns if number > 1 else ():
            parts = self._by_column(name, number)
            if len(parts) > 1:
                return parts
        return [Part(_ALL)]

    def _by_column(self, name: str, number: int) -> Sequence[InputPartition]:
        column = self.relation.columns.get(name)
        if column is None or not isinstance(column.spark, _SPLITS):
            raise CallerError(
                f"partitionColumn {name} is not an integer, date or timestamp column of"
                f" {self.relation}"
            )
        key = sql.Identifier(name)
        bounds = sql.SQL(
            "SELECT pg_catalog.min({0}), pg_catalog.max({0}) FROM {1} AS q WHERE {2}"
        ).format(key, self.relation.source, _all_of([_ALL, *self.where]))
        with catalogue(self.url, self.snapshot, self.block) as connection:
            try:
                low, high = connection.execute(bounds).fetchone() or (None, None)
            except psycopg.DataError as error:  # Python has no such value
                raise CallerError(f'column "{name}" of {self.relation}: {error}') from error
        if low is None or high is None:
            return [Part(_ALL)]
        if isinstance(low, int):
            return _ranges(key, low, high, number, sql.Literal)
        unit = timedelta(microseconds=1) if isinstance(low, datetime) else timedelta(days=1)
        return _ranges(
            key, 0, (high - low) // unit, number, lambda steps: _literal(low + steps * unit)
        )


def converted(batch: pa.RecordBatch, schema: pa.Schema, relation: Relation) -> pa.RecordBatch:
    """Return a batch of PostgreSQL as Spark expects it."""
    arrays = []
    for array, field in zip(batch.columns, schema, strict=True):
        try:
            arrays.append(read_array(array, field.type))
        except (pa.ArrowInvalid, ValueError) as error:
            raise CallerError(
                f'column "{field.name}" of {relation} does not fit into Spark: {error}',
                hint="Read a query that casts it, rounds it, or omits such rows.",
            ) from error
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _ranges(
    key: sql.Composable,
    low: int,
    high: int,
    number: int,
    literal: Callable[[int], sql.Composable],
) -> list[InputPartition]:
    """Return conditions that split [low, high]; both ends are open, NULLs are in the first."""
    width = high - low + 1
    number = min(number, width)
    if number <= 1:
        return [Part(_ALL)]
    cuts = [literal(low + width * part // number) for part in range(1, number)]
    below = _compare(key, "<", cuts[0])
    parts = [sql.SQL("({} OR {} IS NULL)").format(below, key) if key != sql.SQL("ctid") else below]
    parts += [
        _all_of([_compare(key, ">=", start), _compare(key, "<", end)])
        for start, end in itertools.pairwise(cuts)
    ]
    parts.append(_compare(key, ">=", cuts[-1]))
    return [Part(condition) for condition in parts]


def _compare(left: sql.Composable, symbol: str, right: sql.Composable) -> sql.Composed:
    return sql.SQL(" ").join([left, sql.SQL(operator(symbol)), right])


def _all_of(conditions: Sequence[sql.Composable]) -> sql.Composed:
    return sql.SQL(" AND ").join(conditions)


def _is_literal(value: Any) -> bool:
    return isinstance(value, (bool, int, str, Decimal, date))


def _literal(value: Any) -> sql.Composable:
    """Return a value with the schema of its type, which psycopg leaves out."""
    if not isinstance(value, date):
        return sql.Literal(value)
    if not isinstance(value, datetime):
        type_ = "date"
    else:
        type_ = "timestamp" if value.tzinfo is None else "timestamptz"
    return sql.SQL(f"{{}}::pg_catalog.{type_}").format(sql.Literal(value.isoformat()))

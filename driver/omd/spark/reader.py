"""PostgreSQL to Spark: partitions of a table or query as Arrow batches."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

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
)
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DateType, IntegerType, LongType, ShortType, StringType

from omd.errors import CallerError
from omd.spark.relation import Relation, catalogue, mover
from omd.spark.types import read_array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["Reader"]

_BLOCKS_PER_PARTITION = 2048  # 16 MB
_MAX_PARTITIONS = 8  # without numPartitions; a connection each
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


_ALL = sql.SQL("true")


class Reader(DataSourceReader):
    """Reads one table or query."""

    def __init__(
        self, url: str, relation: Relation, partition_column: str | None, partitions: int | None
    ) -> None:
        self.url = url
        self.relation = relation
        self.partition_column = partition_column
        self.wanted = partitions
        self.pushed: list[sql.Composable] = []

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Take over the filters that mean the same in PostgreSQL; hand back the others."""
        for filter_ in filters:
            condition = self._condition(filter_)
            if condition is None:
                yield filter_
            else:
                self.pushed.append(condition)

    def partitions(self) -> Sequence[InputPartition]:
        """Ranges of the partition column, or of the table's blocks."""
        if self.partition_column is not None:
            return self._by_column(self.partition_column)
        blocks = self.relation.blocks
        number = self.wanted or min(_MAX_PARTITIONS, -(-blocks // _BLOCKS_PER_PARTITION))
        if blocks == 0:
            return [Part(_ALL)]
        return _ranges(
            sql.SQL("ctid"), 0, blocks - 1, number, lambda block: sql.Literal(f"({block},0)")
        )

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """One partition, on an executor."""
        assert isinstance(partition, Part)  # noqa: S101
        columns = [
            sql.SQL("{0}::text AS {0}" if column.as_text else "{0}").format(sql.Identifier(name))
            for name, column in self.relation.columns.items()
        ]
        query = sql.SQL("SELECT {} FROM {} AS q WHERE {}").format(
            sql.SQL(", ").join(columns),
            self.relation.source,
            _all_of([partition.condition, *self.pushed]),
        )
        schema = to_arrow_schema(self.relation.schema(), timezone="UTC")
        connection = mover(self.url)
        try:
            with connection.cursor() as cursor:
                # One snapshot for all partitions is set here: SET TRANSACTION SNAPSHOT.
                cursor.adbc_statement.set_options(
                    **{"adbc.postgresql.batch_size_hint_bytes": str(_BATCH_BYTES)}
                )
                cursor.execute(query.as_string(None))
                for batch in cursor.fetch_record_batch():
                    arrays = [
                        read_array(array, field.type)
                        for array, field in zip(batch.columns, schema, strict=True)
                    ]
                    yield pa.RecordBatch.from_arrays(arrays, schema=schema)
        finally:
            connection.close()

    def _condition(self, filter_: Any) -> sql.Composable | None:
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
            values = sql.SQL(", ").join(map(sql.Literal, filter_.value))
            return sql.SQL("{} IN ({})").format(name, values)
        operator = _COMPARISONS.get(type(filter_))
        # Texts are ordered by the database's collation there and by their bytes here.
        if operator is None or (operator != "=" and isinstance(column.spark, StringType)):
            return None
        if not _is_literal(filter_.value):
            return None
        return _compare(name, operator, sql.Literal(filter_.value))

    def _by_column(self, name: str) -> Sequence[InputPartition]:
        column = self.relation.columns.get(name)
        splits = (ShortType, IntegerType, LongType, DateType)
        if column is None or not isinstance(column.spark, splits):
            raise CallerError(
                f"partitionColumn {name} is not an integer or date column of {self.relation}"
            )
        key = sql.Identifier(name)
        bounds = sql.SQL("SELECT min({0}), max({0}) FROM {1} AS q WHERE {2}").format(
            key, self.relation.source, _all_of([_ALL, *self.pushed])
        )
        with catalogue(self.url) as connection:
            low, high = connection.execute(bounds).fetchone() or (None, None)
        number = self.wanted or _MAX_PARTITIONS
        if low is None or high is None:
            return [Part(_ALL)]
        if isinstance(low, date):
            start: date = low
            return _ranges(
                key,
                0,
                (high - start).days,
                number,
                lambda day: sql.Literal(start + timedelta(day)),
            )
        return _ranges(key, low, high, number, sql.Literal)


def _ranges(
    key: sql.Composable,
    low: int,
    high: int,
    number: int,
    literal: Callable[[int], sql.Composable],
) -> list[InputPartition]:
    """Conditions that split [low, high] and lose nothing: open at both ends, NULLs first."""
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


def _compare(left: sql.Composable, operator: str, right: sql.Composable) -> sql.Composed:
    return sql.SQL(" ").join([left, sql.SQL(operator), right])


def _all_of(conditions: Sequence[sql.Composable]) -> sql.Composed:
    return sql.SQL(" AND ").join(conditions)


def _is_literal(value: Any) -> bool:
    """Whether filters with this value are pushed down; a datetime's zone could be mistaken."""
    return isinstance(value, (bool, int, str, Decimal, date)) and not isinstance(value, datetime)

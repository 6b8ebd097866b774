"""Current rows of the Logical Validation Layer: all of them, or those of some keys.

Everything that a run reads is of one moment. A full read is cut into partitions; where fewer than
a twentieth as many keys are wanted, the keys go up, and only their rows come back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from psycopg import sql
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from omd._core.snapshots import taking_over
from omd.spark.arrow import arrow_schema
from omd.spark.delivery.frames import forget
from omd.spark.delivery.frames import keep as keep_rows
from omd.spark.reader import Reader, Split, converted
from omd.spark.relation import Relation, catalogue, mover
from omd.spark.types import write_array

if TYPE_CHECKING:
    from omd.rooms.delivery.run import DeliveryRun

HASHES = ("acm_hash_a", "acm_hash_b")
RECORD_IND = "acm_record_ind"

_KEPT = StorageLevel.MEMORY_AND_DISK_DESER
_SHARE = 20
_FEW = 50_000  # so many rows are read faster than somebody could count which of them are wanted
_ROW_BYTES = 100  # of a table that was never analyzed
_WANTED = "omd_wanted"
_IS_CURRENT = sql.SQL("acm_record_ind OPERATOR(pg_catalog.<>) 'R'")


class Current:
    """The current rows of one entity.

    Args:
        run: the run that reads.
        table: ``schema.entity`` in the Logical Validation Layer.
    """

    def __init__(self, run: DeliveryRun, spark: SparkSession, table: str) -> None:
        schema, entity = table.split(".")
        self.table = f"{schema}._open_{entity}"
        self._run = run
        self._spark = spark
        self._read: dict[tuple[str, ...], DataFrame] = {}
        self._wanted: list[DataFrame] = []

    @cached_property
    def relation(self) -> Relation:
        """The table of open rows, as the server describes it."""
        return Relation.describe(
            self._run._reads.dsn, self.table, None, self._run._reads.snapshot()
        )

    @cached_property
    def about(self) -> int:
        """About how many rows there are, reckoned as the server's planner does."""
        with catalogue(self._run._reads.dsn) as connection:
            row = connection.execute(
                "SELECT c.reltuples, c.relpages, pg_catalog.pg_relation_size(c.oid)"
                " OPERATOR(pg_catalog./) pg_catalog.current_setting('block_size')::bigint"
                " FROM pg_catalog.pg_class AS c"
                " WHERE c.oid OPERATOR(pg_catalog.=) %s::pg_catalog.regclass",
                [self.table],
            ).fetchone()
        assert row is not None  # noqa: S101 - a cast to regclass found it
        tuples, pages, blocks = row
        per_block = tuples / pages if tuples >= 0 and pages > 0 else 8192 / _ROW_BYTES
        return int(per_block * blocks)

    def has_few_wanted(self, number: int) -> bool:
        """Return whether a look-up of so many keys costs less than to read all rows."""
        return number * _SHARE < self.about

    def all(self, columns: Sequence[str], *, keep: bool = False) -> DataFrame:
        """Return these columns of all current rows.

        Args:
            columns: what to read.
            keep: the rows are asked for again; they are kept until `release`.
        """
        wanted = tuple(columns)
        known = next((df for names, df in self._read.items() if set(wanted) <= set(names)), None)
        if known is None:
            known = self._whole(wanted, deleted=False)
            if keep:
                known = self._read[wanted] = keep_rows(known, _KEPT)
        return known.select(*wanted)

    def _whole(self, columns: Sequence[str], *, deleted: bool) -> DataFrame:
        """Return columns of all open rows, in partitions; `deleted`: the logically deleted too.

        A read by the data source would start several Python processes before its first row.
        """
        relation = self.relation.selecting(columns)
        reader = Reader(self._run._reads.dsn, relation, Split(), None, self._run._reads.snapshot())
        if not deleted:
            reader.where.append(_IS_CURRENT)
        parts = reader.partitions()

        def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield from reader.read(parts[number])

        numbers = self._spark.range(0, len(parts), 1, len(parts))
        return numbers.mapInArrow(read, relation.schema())

    def matching(
        self,
        names: Sequence[str],
        wanted: DataFrame,
        columns: Sequence[str],
        at_most: int | None = None,
        *,
        deleted: bool = False,
    ) -> DataFrame:
        """Return the current rows whose values of some columns are wanted.

        Args:
            names: the columns that are compared.
            wanted: distinct values of these columns, under the same names.
            columns: what to read.
            at_most: a number that the wanted values do not exceed; None: they are counted where
                that matters.
            deleted: return logically deleted rows too.
        """
        types = self.relation.columns
        values = wanted.select(
            *(F.col(name).try_cast(types[name].spark).alias(name) for name in names)
        ).dropna()
        few = at_most is not None and self.has_few_wanted(at_most)
        if not few and self.about > _FEW:
            values = keep_rows(values, _KEPT)
            self._wanted.append(values)
            few = self.has_few_wanted(values.count())
        if not few:
            rows = self._whole(columns, deleted=True) if deleted else self.all(columns, keep=True)
            return rows.join(values, list(names), "left_semi")
        relation = self.relation.selecting(columns)
        look_up = _look_up(
            self._run._reads.dsn,
            self._run._reads.snapshot(),
            relation,
            self.table,
            tuple(names),
            deleted,
        )
        schema = relation.schema()
        return values.mapInArrow(look_up, schema)

    def schema(self, columns: Sequence[str]) -> StructType:
        """Return the types of columns in Spark."""
        return self.relation.selecting(columns).schema()

    def release(self) -> None:
        """Forget what was read."""
        forget(*self._read.values(), *self._wanted)
        self._read.clear()
        self._wanted.clear()


def _look_up(
    url: str,
    snapshot: str,
    relation: Relation,
    table: str,
    names: tuple[str, ...],
    deleted: bool,
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that a task calls with the keys of its partition."""
    columns = list(relation.read_columns)

    def look_up(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import itertools

        import pyarrow as pa

        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        if first is None:
            return
        types = relation.columns

        def encoded(batch: pa.RecordBatch) -> pa.RecordBatch:
            arrays = [write_array(batch.column(i), types[n]) for i, n in enumerate(names)]
            return pa.RecordBatch.from_arrays(arrays, list(names))

        target = sql.Identifier(*table.split("."))
        query = sql.SQL(
            "SELECT {} FROM (SELECT t.* FROM {} AS t JOIN {} AS w ON {}{}) AS q"
        ).format(
            sql.SQL(", ").join(relation.columns[n].expression(n) for n in columns),
            target,
            sql.Identifier("pg_temp", _WANTED),
            # Texts of the layer are compared by their bytes, those of a new table are not.
            sql.SQL(" AND ").join(
                sql.SQL(
                    't.{0} OPERATOR(pg_catalog.=) w.{0} COLLATE pg_catalog."C"'
                    if pa.types.is_string(types[n].arrow)
                    else "t.{0} OPERATOR(pg_catalog.=) w.{0}"
                ).format(sql.Identifier(n))
                for n in names
            ),
            sql.SQL("" if deleted else " WHERE t.acm_record_ind OPERATOR(pg_catalog.<>) 'R'"),
        )
        schema = arrow_schema(relation.schema())
        connection: Any = mover(url)
        try:
            with connection.cursor() as cursor:
                for statement in taking_over(snapshot, "READ WRITE"):
                    cursor.execute(statement)
                head = encoded(first)
                cursor.adbc_ingest(
                    _WANTED,
                    pa.RecordBatchReader.from_batches(
                        head.schema, itertools.chain([head], map(encoded, filled))
                    ),
                    mode="create",
                    temporary=True,
                )
                cursor.execute(query.as_string(None))
                for batch in cursor.fetch_record_batch():
                    yield converted(batch, schema, relation)
        finally:
            connection.close()

    return look_up

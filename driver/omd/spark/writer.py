"""The way from Spark to PostgreSQL: Arrow batches by binary COPY, a transaction per partition."""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import adbc_driver_manager
import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from psycopg import sql
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from omd._core.error_codes import InputIncomplete, UnsupportedType
from omd._core.errors import CallerError, OmdError
from omd._core.names import qualified
from omd.spark.failure import TaskFailed, own_failure, server_failure
from omd.spark.relation import Relation, catalogue, mover
from omd.spark.types import write_array
from omd.spark.whole_input import is_whole

INSERT_DATETIME = "omd_insert_datetime"
RECORD_SOURCE = "omd_record_source"

# A run stamps these audit columns, but a target may lack them: only the instance id is required.
MAY_LACK = frozenset({INSERT_DATETIME, RECORD_SOURCE})


@dataclass(frozen=True)
class Ledger:
    """Lets a partition be committed once, and only while the run may write.

    Spark writes a partition again when its end was not reported, and twice at the same time when it
    speculates. It does not wait for the other tasks of a job that has failed.
    """

    module_instance_id: int
    write_number: int
    table: str

    def record(self, partition: int, rows: int, read: int) -> sql.Composed:
        """Return the last statement of a partition's transaction; it returns is_first and rows.

        The server refuses it where an earlier attempt has read another number of rows.
        """
        return sql.SQL(
            "CALL omd.record_write(p_module_instance_id => {}, p_write_number => {},"
            " p_partition_number => {}, p_table_code => {}, p_row_count => {}, p_read_count => {})"
        ).format(self.module_instance_id, self.write_number, partition, self.table, rows, read)

    def recorded(self, partition: int, read: int | None = None) -> sql.Composed:
        """Return the query for the rows that an earlier attempt has committed; NULL if none has.

        The server refuses it where that attempt has read another number of rows than is given.
        """
        return sql.SQL(
            "SELECT omd.recorded_write(p_module_instance_id => {}, p_write_number => {},"
            " p_partition_number => {}, p_table_code => {}, p_read_count => {})"
        ).format(self.module_instance_id, self.write_number, partition, self.table, read)


@dataclass
class Written(WriterCommitMessage):
    """The message of a task to the driver that its transaction is committed."""

    partition: int
    read: int  # rows; through a temporary table fewer may be written


class _Input:
    """The rows of a task, which are counted; an early end of them is refused where it is seen.

    Args:
        iterator: the batches.
        must_see: whether the end has to be seen.
    """

    def __init__(self, iterator: Iterator[pa.RecordBatch], must_see: bool = False) -> None:
        self._iterator = iterator
        self._must_see = must_see
        self.read = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._batches():
            self.read += batch.num_rows
            yield batch

    def require_whole(self) -> None:
        """Refuse rows that have ended early; call it at their end."""
        whole = self._is_whole()
        if whole is None and self._must_see:
            raise InputIncomplete(
                "with this version of Spark the end of the rows can't be checked",
                hint="Use run.write, which marks the end of an overwrite.",
            )
        if whole is False:
            raise InputIncomplete("the rows of this partition ended early; nothing is committed")

    def _batches(self) -> Iterator[pa.RecordBatch]:
        return self._iterator

    def _is_whole(self) -> bool | None:
        return is_whole()


class _Marked(_Input):
    """The rows of a task whose last row is a mark, and whose last column tells it."""

    _ended = False

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self._iterator:
            place = pc.index(batch.column(batch.num_columns - 1), True).as_py()
            if self._ended or place not in (-1, batch.num_rows - 1):
                raise InputIncomplete("rows came behind the mark of the end; nothing is committed")
            self._ended = place >= 0
            if rows := batch.num_rows - self._ended:
                yield batch.slice(0, rows)

    def _is_whole(self) -> bool:
        return self._ended


class Writer(DataSourceArrowWriter):
    """Writes one DataFrame to one table.

    A partition is written as a whole or not at all, and with a ledger once. Partitions that were
    committed before the job failed remain: they carry the Module Instance ID, and the next begin
    rolls them back.

    A task whose rows end early sees a normal end of them: Spark does not tell it that what feeds it
    has failed. So the ledger keeps how many rows an attempt has read, and another attempt that
    reads another number ends the run (docs/explanation/exactly-once.md, rule S1). An overwrite
    can't be rolled back, so its rows end with one that marks the end.

    A write may go through a temporary table: the rows are copied into it, and a CALL, whose one
    answer is the number of rows that it has written, takes them from there.
    """

    def __init__(
        self,
        url: str,
        target: Relation,
        schema: StructType,
        overwrite: bool,
        ledger: Ledger | None,
        through: str | None = None,
        is_marked: bool = False,
    ) -> None:
        self.url = url
        self.target = target
        if is_marked:
            schema = StructType(schema.fields[:-1])
        self.columns = _fitting(target, schema, MAY_LACK if ledger is not None else frozenset())
        self.overwrite = overwrite
        self.ledger = ledger
        self.through = through
        self.is_marked = is_marked  # the last column marks the last row, which is none of them

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Write one partition, on an executor: COPY, ledger, commit.

        Raises:
            TaskFailed: the server refused the rows, they do not fit, or they ended early.
        """
        context = TaskContext.get()
        partition = context.partitionId() if context is not None else 0
        try:
            if self.ledger is not None and context is not None and context.attemptNumber() > 0:
                read = self._read_again(self.ledger, partition, iterator)
                if read is not None:
                    return Written(partition, read)
            return Written(partition, self._copy(partition, iterator))
        except (psycopg.Error, adbc_driver_manager.Error) as error:
            if isinstance(error, OmdError) and error.diag.sqlstate is None:
                # The error is our own, not the server's.
                raise own_failure(error) from None
            raise server_failure(error, str(self.target), self.columns) from None

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Record the partitions without rows; Spark calls it when every partition is committed.

        They enter the ledger here, on the driver, which saves their tasks a connection. If the job
        is not deterministic, another attempt of such a partition may have rows: the ledger has
        these already, and the write fails, or they come later and are refused.
        """
        ledger = self.ledger
        empty = [
            message.partition
            for message in messages
            if isinstance(message, Written) and not message.read
        ]
        if ledger is None or not empty:
            return
        try:
            with catalogue(self.url) as connection:
                for partition in empty:
                    connection.execute(ledger.record(partition, 0, 0))
        except psycopg.Error as error:
            raise server_failure(error, str(self.target), self.columns) from None

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Do nothing: the next begin rolls back what was committed."""

    def _input(self, iterator: Iterator[pa.RecordBatch]) -> _Marked | _Input:
        return _Marked(iterator) if self.is_marked else _Input(iterator, self.overwrite)

    def _read_again(
        self, ledger: Ledger, partition: int, iterator: Iterator[pa.RecordBatch]
    ) -> int | None:
        """Count the rows of a partition that is committed; None where it is not."""
        with catalogue(self.url) as connection:
            if connection.execute(ledger.recorded(partition)).fetchone() in (None, (None,)):
                return None
        given = self._input(iterator)
        deque(given, maxlen=0)
        given.require_whole()
        with catalogue(self.url) as connection:
            connection.execute(ledger.recorded(partition, given.read))
        return given.read

    def _copy(self, partition: int, iterator: Iterator[pa.RecordBatch]) -> int:
        """Copy the rows, unless an earlier attempt has; return how many it has read."""
        given = self._input(iterator)
        failure: Exception | None = None

        def batches() -> Iterator[pa.RecordBatch]:
            nonlocal failure
            try:
                for batch in given:
                    yield self._converted(batch)
            except Exception as error:
                failure = error  # the ADBC driver would pass only its text on
                raise

        # The first batch gives the layout; without a batch no connection is needed.
        stream = batches()
        first = next(stream, None)
        if first is None and not (self.overwrite and partition == 0):
            given.require_whole()
            return 0
        connection = mover(self.url)
        try:
            if self.overwrite:
                self._truncate(connection, partition)
            if self.through is not None:
                self._create(connection)
            if first is not None:
                with connection.cursor() as cursor:
                    cursor.adbc_ingest(
                        self.target.table_name,
                        pa.RecordBatchReader.from_batches(
                            first.schema, itertools.chain([first], stream)
                        ),
                        mode="append",
                        db_schema_name=self.target.schema_name,
                    )
            given.require_whole()
            written = given.read
            if self.through is not None:
                (written,) = _answer(connection, sql.SQL(self.through))
            if self.ledger is not None:
                record = self.ledger.record(partition, written, given.read)
                is_first, _ = _answer(connection, record)
                if not is_first:
                    return given.read
            connection.commit()
        except adbc_driver_manager.Error:
            if failure is not None:
                raise failure from None
            raise
        finally:
            connection.close()  # this rolls back what is not committed
        return given.read

    def _converted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        arrays = []
        for name, (place, column) in self.columns.items():
            try:
                arrays.append(write_array(batch.column(place), column))
            except (pa.ArrowInvalid, ValueError) as error:
                raise TaskFailed(
                    f'column "{name}" of {self.target}: {error}',
                    "Filter such rows out, or convert them before.",
                ) from None
        return pa.RecordBatch.from_arrays(arrays, list(self.columns))

    def _create(self, connection: Any) -> None:
        columns = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(qualified(column.name)))
            for name, (_, column) in self.columns.items()
        )
        create = sql.SQL("CREATE TEMPORARY TABLE {} ({}) ON COMMIT DROP").format(
            sql.Identifier(str(self.target.table_name)), columns
        )
        with connection.cursor() as cursor:
            cursor.execute(create.as_string(None))

    def _truncate(self, connection: Any, partition: int) -> None:
        # One transaction removes the old rows and adds the new ones, so there is one partition.
        if partition != 0:
            raise TaskFailed(
                f"{self.target}: overwrite takes one partition",
                "Write df.coalesce(1), or use run.write, which does.",
            )
        # A job that reads the table it overwrites would wait for itself for ever, so the wait is
        # limited. A limit of the user's own is kept.
        _answer(
            connection,
            sql.SQL(
                "SELECT pg_catalog.set_config('lock_timeout', '5min', true)"
                " WHERE pg_catalog.current_setting('lock_timeout')"
                " OPERATOR(pg_catalog.=) '0'"
            ),
        )
        truncate = sql.SQL("TRUNCATE TABLE {}").format(self.target.source)
        with connection.cursor() as cursor:
            cursor.execute(truncate.as_string(None))


def _fitting(target: Relation, schema: StructType, may_lack: frozenset[str]) -> dict[str, Any]:
    """Return the place and the type of each column to write; raises if one does not fit."""
    if target.table_name is None:
        raise CallerError("a query can't be written to", hint="Name a table.")
    twice = [name for name, count in Counter(schema.names).items() if count > 1]
    if twice:
        raise CallerError(
            f'the rows for {target} have the column "{twice[0]}" twice',
            hint="Rename one, or drop it.",
        )
    columns = {}
    for place, field in enumerate(schema):
        column = target.columns.get(field.name)
        if column is None and field.name in may_lack:
            continue
        if column is None:
            raise CallerError(
                f'{target} has no column "{field.name}"',
                hint=f"Its columns are {', '.join(target.columns)}.",
            )
        if not column.accepts(field.dataType):
            raise UnsupportedType(
                f'column "{field.name}" of {target} does not take {field.dataType.simpleString()}',
                hint=f"Cast it to {column.spark.simpleString()}.",
            )
        columns[field.name] = (place, column)
    return columns


def _answer(connection: Any, query: sql.Composable) -> Any:
    """Return the row of a CALL or a SELECT, over a connection for Arrow."""
    with connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
        cursor.execute(query.as_string(None))
        return cursor.fetchone()

"""The way from Spark to PostgreSQL: Arrow batches by binary COPY, a transaction per partition."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import adbc_driver_manager
import psycopg
import pyarrow as pa
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

    def record(self, partition: int, rows: int) -> sql.Composed:
        """Return the last statement of a partition's transaction; it returns is_first and rows."""
        return sql.SQL(
            "CALL omd.record_write(p_module_instance_id => {}, p_write_number => {},"
            " p_partition_number => {}, p_table_code => {}, p_row_count => {})"
        ).format(self.module_instance_id, self.write_number, partition, self.table, rows)

    def recorded(self, partition: int) -> sql.Composed:
        """Return the query for the rows that an earlier attempt has committed; NULL if none has."""
        return sql.SQL(
            "SELECT omd.recorded_write(p_module_instance_id => {}, p_write_number => {},"
            " p_partition_number => {}, p_table_code => {})"
        ).format(self.module_instance_id, self.write_number, partition, self.table)


@dataclass
class Written(WriterCommitMessage):
    """The message of a task to the driver that its transaction is committed."""

    partition: int
    rows: int


class Writer(DataSourceArrowWriter):
    """Writes one DataFrame to one table.

    A partition is written as a whole or not at all, and with a ledger once. Partitions that were
    committed before the job failed remain: they carry the Module Instance ID, and the next begin
    rolls them back.

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
    ) -> None:
        self.url = url
        self.target = target
        self.columns = _fitting(target, schema, MAY_LACK if ledger is not None else frozenset())
        self.overwrite = overwrite
        self.ledger = ledger
        self.through = through

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Write one partition, on an executor: COPY, ledger, commit.

        Raises:
            TaskFailed: the server refused the rows, or they do not fit.
        """
        context = TaskContext.get()
        partition = context.partitionId() if context is not None else 0
        try:
            if self.ledger is not None and context is not None and context.attemptNumber() > 0:
                with catalogue(self.url) as connection:
                    answer = connection.execute(self.ledger.recorded(partition)).fetchone()
                if answer is not None and answer[0] is not None:
                    return Written(partition, answer[0])
            return Written(partition, self._copy(partition, iterator))
        except (psycopg.Error, adbc_driver_manager.Error) as error:
            if isinstance(error, OmdError) and error.diag.sqlstate is None:
                # The error is our own, not the server's.
                raise own_failure(error) from None
            raise server_failure(error, str(self.target), self.columns) from None

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Record the partitions without rows; Spark calls it when every partition is committed.

        They enter the ledger here, on the driver, which saves their tasks a connection. If the job
        is not deterministic, another attempt of such a partition may have rows: either the ledger
        has these already, or they come later and are refused.
        """
        ledger = self.ledger
        empty = [
            message.partition
            for message in messages
            if isinstance(message, Written) and not message.rows
        ]
        if ledger is None or not empty:
            return
        try:
            with catalogue(self.url) as connection:
                for partition in empty:
                    connection.execute(ledger.record(partition, 0))
        except psycopg.Error as error:
            raise server_failure(error, str(self.target), self.columns) from None

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Do nothing: the next begin rolls back what was committed."""

    def _copy(self, partition: int, iterator: Iterator[pa.RecordBatch]) -> int:
        """Copy the rows; returns how many this attempt, or an earlier one, has committed."""
        counted = 0
        failure: Exception | None = None

        def batches() -> Iterator[pa.RecordBatch]:
            nonlocal counted, failure
            try:
                for batch in iterator:
                    counted += batch.num_rows
                    yield self._converted(batch)
            except Exception as error:
                failure = error  # the ADBC driver would pass only its text on
                raise

        # The first batch gives the layout; without a batch no connection is needed.
        stream = batches()
        first = next(stream, None)
        if first is None and not (self.overwrite and partition == 0):
            _require_whole_input()
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
            _require_whole_input()
            if self.through is not None:
                (counted,) = _answer(connection, sql.SQL(self.through))
            if self.ledger is not None:
                is_first, rows = _answer(connection, self.ledger.record(partition, counted))
                if not is_first:
                    return int(rows)
            connection.commit()
        except adbc_driver_manager.Error:
            if failure is not None:
                raise failure from None
            raise
        finally:
            connection.close()  # this rolls back what is not committed
        return counted

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


def _require_whole_input() -> None:
    """Refuse to commit when the rows ended because the task failed or was killed.

    Spark then closes the stream to the Python worker, and pyarrow takes a closed stream for a
    complete one: half a partition would look like a whole one. After a complete stream Spark sends
    a mark, which is in the buffer of the worker's input. There is no interface to that input, so it
    is searched in the frames of the worker.
    """
    frame = sys._getframe()
    while frame is not None:
        source: Any = frame.f_locals.get("infile")
        if hasattr(source, "peek"):
            if source.peek(1):
                return
            raise InputIncomplete("the rows of this partition ended early; nothing is committed")
        frame = frame.f_back  # type: ignore[assignment]
    raise InputIncomplete("with this version of Spark the end of the rows can't be checked")

"""Spark to PostgreSQL: Arrow batches into binary COPY, one transaction per partition."""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from psycopg import sql
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from omd.errors import CallerError, OmdError
from omd.spark.relation import Relation, mover
from omd.spark.types import UnsupportedType, write_array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.types import StructType

__all__ = ["INSERT_DATETIME", "RECORD_SOURCE", "Fence", "Writer", "Written"]

INSERT_DATETIME = "omd_insert_datetime"
RECORD_SOURCE = "omd_record_source"

# Audit columns that a run stamps and a target need not have: only the instance id is a must.
MAY_LACK = frozenset({INSERT_DATETIME, RECORD_SOURCE})


class InputIncomplete(OmdError):  # noqa: N818 - named like the other errors of OMD
    """The rows of a partition stopped coming before their end: its task failed or was killed."""


@dataclass(frozen=True)
class Fence:
    """Keeps out the tasks of a run that has ended: one that was given up, or failed elsewhere.

    Spark does not wait for the other tasks of a job that failed. Without the fence one of them
    could commit its rows behind the rollback.
    """

    module_instance_id: int

    def take(self, cursor: Any) -> None:
        """Hold the run from now to the end of the transaction: it can't end in between.

        Raises:
            adbc_driver_manager.Error: it has ended (OM101), or its lease has passed (OM107).
        """
        call = sql.SQL("CALL omd.fence(p_module_instance_id => {})").format(self.module_instance_id)
        cursor.execute(call.as_string(None))


@dataclass
class Written(WriterCommitMessage):
    """What a task tells the driver when its transaction is committed."""

    rows: int


class Writer(DataSourceArrowWriter):
    """Writes one DataFrame to one table.

    A partition is there as a whole or not at all. Partitions that were committed before the job
    failed stay: they carry the Module Instance ID, and the next begin rolls them back.
    """

    def __init__(
        self,
        url: str,
        target: Relation,
        schema: StructType,
        overwrite: bool,
        fence: Fence | None,
        report: str | None,
    ) -> None:
        if target.table_name is None:
            raise CallerError("a query can't be written to", hint="Name a table.")
        for field in schema:
            column = target.columns.get(field.name)
            if column is None and fence is not None and field.name in MAY_LACK:
                continue
            if column is None:
                raise CallerError(
                    f'{target} has no column "{field.name}"',
                    hint=f"Its columns are {', '.join(target.columns)}.",
                )
            if not column.accepts(field.dataType):
                raise UnsupportedType(
                    f'column "{field.name}" of {target} does not take '
                    f"{field.dataType.simpleString()}",
                    hint=f"Cast it to {column.spark.simpleString()}.",
                )
        self.url = url
        self.target = target
        self.columns = {
            field.name: (place, target.columns[field.name])
            for place, field in enumerate(schema)
            if field.name in target.columns
        }
        self.overwrite = overwrite
        self.fence = fence
        self.report = report

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """One partition, on an executor: COPY, fence, commit."""
        counted = 0

        def batches() -> Iterator[pa.RecordBatch]:
            nonlocal counted
            for batch in iterator:
                counted += batch.num_rows
                yield self._converted(batch)

        # The first batch tells the layout; without one there is nothing to connect for.
        stream = batches()
        first = next(stream, None)
        if first is None and not (self.overwrite and _partition() == 0):
            _require_whole_input()
            return Written(0)
        connection = mover(self.url)
        try:
            with connection.cursor() as cursor:
                if self.overwrite:
                    self._truncate(cursor)
                if first is not None:
                    cursor.adbc_ingest(
                        self.target.table_name,
                        pa.RecordBatchReader.from_batches(
                            first.schema, itertools.chain([first], stream)
                        ),
                        mode="append",
                        db_schema_name=self.target.schema_name,
                    )
                _require_whole_input()
                if self.fence is not None:
                    self.fence.take(cursor)
                # Here, inside the transaction, comes the ledger of partitions.
            connection.commit()
        finally:
            connection.close()  # what is not committed is gone
        return Written(counted)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """On the driver, when every partition is committed: tell how many rows there were."""
        if self.report is not None:
            rows = sum(message.rows for message in messages if isinstance(message, Written))
            Path(self.report).write_text(str(rows), encoding="ascii")

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Nothing to do: the next begin rolls back what was committed."""

    def _converted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        arrays = []
        for name, (place, column) in self.columns.items():
            try:
                arrays.append(write_array(batch.column(place), column))
            except (pa.ArrowInvalid, ValueError) as error:
                raise CallerError(f'column "{name}" of {self.target}: {error}') from error
        return pa.RecordBatch.from_arrays(arrays, list(self.columns))

    def _truncate(self, cursor: Any) -> None:
        # The old rows go and the new ones come in one transaction, so there can only be one.
        if _partition() != 0:
            raise CallerError(
                "overwrite takes one partition",
                hint="Write df.coalesce(1), or use omd.spark.write, which does.",
            )
        truncate = sql.SQL("TRUNCATE TABLE {}").format(self.target.source)
        cursor.execute(truncate.as_string(None))


def _partition() -> int:
    context = TaskContext.get()
    return context.partitionId() if context is not None else 0


def _require_whole_input() -> None:
    """Refuse to commit when the rows stopped coming because the task failed or was killed.

    Spark closes the stream to the Python worker then, and pyarrow takes a closed stream for a
    finished one: half a partition would look like a whole one. Behind a finished stream Spark sends
    a mark, which waits in the buffer of the worker's input. There is no interface to that input, so
    it is looked up in the frames of the worker.
    """
    frame = sys._getframe()
    while frame is not None:
        source: Any = frame.f_locals.get("infile")
        if hasattr(source, "peek"):
            if source.peek(1):
                return
            raise InputIncomplete("the rows of this partition ended early; nothing is committed")
        frame = frame.f_back  # type: ignore[assignment]
    raise InputIncomplete("this version of Spark does not let the end of the rows be checked")

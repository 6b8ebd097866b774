"""One moment for many connections: a snapshot that is exported, held, and imported by tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from omd._core.conninfo import resolve_conninfo
from omd._core.error_codes import SnapshotGone

# The SQLSTATEs for a snapshot whose holder has ended: there is no such snapshot (before and since
# PostgreSQL 16), or no such process.
_GONE = frozenset({"22023", "42704", "55000"})


class HeldSnapshot:
    """An exported snapshot, held by a connection of its own until `close`.

    While it is held, the server keeps rows that were deleted since: VACUUM can't remove them.
    """

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(
            resolve_conninfo(url),
            application_name="omd spark snapshot",
            autocommit=True,
            prepare_threshold=None,  # behind a pooler the session is another's later
        )
        try:
            self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            # This transaction is idle on purpose, so the timeouts of the server must not end it.
            self._connection.execute(
                "SELECT pg_catalog.set_config(s.name, '0', true) FROM pg_catalog.pg_settings AS s"
                " WHERE s.name OPERATOR(pg_catalog.=)"
                " ANY ('{idle_in_transaction_session_timeout, transaction_timeout}')"
            )
            row = self._connection.execute("SELECT pg_catalog.pg_export_snapshot()").fetchone()
        except BaseException:
            self._connection.close()
            raise
        assert row is not None  # noqa: S101 - a function returns a row
        self.id: str = row[0]

    def is_held(self) -> bool:
        """Return whether the connection still works."""
        try:
            self._connection.execute("SELECT")
        except psycopg.Error:
            return False
        return True

    def close(self) -> None:
        """Release the snapshot; a later read from it fails with `SnapshotGone`."""
        self._connection.close()


@contextmanager
def snapshot(url: str = "") -> Iterator[str]:
    """Hold one moment of a database for reads without a run; yields the id for ``snapshot``.

    Args:
        url: libpq connection string; the default is that of the data source.

    Examples:
        with snapshot(dsn) as id:
            reader = spark.read.format("omd").option("url", dsn).option("snapshot", id)
            flights, carriers = reader.load("stg.flights"), reader.load("stg.carriers")
            flights.join(carriers, "carrier").write.parquet("joined")
    """
    held = HeldSnapshot(url)
    try:
        yield held.id
    finally:
        held.close()


def snapshot_error(error: Any) -> Any:
    """Return the error of a statement of `taking_over`; `SnapshotGone` where that is the cause."""
    if getattr(error, "sqlstate", None) not in _GONE:
        return error
    return SnapshotGone(
        "the snapshot of this DataFrame is not held any more: the run that read it has ended, or"
        " the connection that held it was lost",
        hint="Read again inside a run, and write there what must outlive it.",
    )


def showing(block: str) -> str:
    """Return the statement after which views show a block of changes, until the transaction ends.

    The block is the JSON text of its source, the position that it begins after, and its last id.
    """
    source_code, start_pos, start_id, end_id = json.loads(block)
    call = sql.SQL(
        "CALL omd.show_block(p_source_code => {}, p_start_pos => {}::pg_catalog.timestamptz,"
        " p_start_id => {}, p_end_id => {})"
    )
    values = map(sql.Literal, (source_code, start_pos, start_id, end_id))
    return call.format(*values).as_string(None)

"""One moment for many connections: a snapshot that is exported, held, and taken over by tasks."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from omd._core.link import resolve_conninfo
from omd.errors import OmdError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["HeldSnapshot", "SnapshotGone", "snapshot", "taking_over"]

# What the server says of a snapshot whose holder has gone: no such snapshot (before and since
# PostgreSQL 16), no such process.
_GONE = frozenset({"22023", "42704", "55000"})


class SnapshotGone(OmdError):  # noqa: N818 - named like the other errors of OMD
    """The snapshot that a DataFrame is to be read from is not held any more."""


class HeldSnapshot:
    """An exported snapshot, held by a connection of its own until `close`.

    While it is held, the server keeps what was deleted since: VACUUM can't remove it.
    """

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(
            resolve_conninfo(url), application_name="omd spark snapshot", autocommit=True
        )
        try:
            # A server's timeout for idle transactions is not meant for this one.
            self._connection.execute(
                "SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN"
                " ('idle_in_transaction_session_timeout', 'transaction_timeout')"
            )
            self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            row = self._connection.execute("SELECT pg_export_snapshot()").fetchone()
        except BaseException:
            self._connection.close()
            raise
        assert row is not None  # noqa: S101 - a function answers
        self.id: str = row[0]

    def is_held(self) -> bool:
        """Whether the connection still stands."""
        try:
            self._connection.execute("SELECT")
        except psycopg.Error:
            return False
        return True

    def close(self) -> None:
        """Let it go; what is read from it afterwards fails with `SnapshotGone`."""
        self._connection.close()


@contextmanager
def snapshot(url: str = "") -> Iterator[str]:
    """Hold one moment of a database for reads without a run; gives the id for ``snapshot``.

    Args:
        url: libpq connection string; default as for the data source.

    Examples:
        with omd.spark.snapshot(dsn) as id:
            reader = spark.read.format("omd").option("url", dsn).option("snapshot", id)
            flights, carriers = reader.load("stg.flights"), reader.load("stg.carriers")
            flights.join(carriers, "carrier").write.parquet("joined")
    """
    held = HeldSnapshot(url)
    try:
        yield held.id
    finally:
        held.close()


def taking_over(snapshot_id: str) -> tuple[str, str]:
    """The statements with which a transaction begins that looks at a held snapshot."""
    take = sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(snapshot_id))
    return "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", take.as_string(None)


def snapshot_error(error: Any) -> Any:
    """The error of a statement of `taking_over`, in our words where we know it."""
    if getattr(error, "sqlstate", None) not in _GONE:
        return error
    return SnapshotGone(
        "the snapshot of this DataFrame is gone: the run that read it has ended, or the connection"
        " that held it has broken",
        hint="Read again inside of a run, and write there what is to outlive it.",
    )

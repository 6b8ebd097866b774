"""Transactions that read from a snapshot which another session holds."""

from __future__ import annotations

from psycopg import sql


def taking_over(snapshot_id: str, access: str = "READ ONLY") -> tuple[str, str]:
    """Return the first statements of a transaction that reads from a held snapshot.

    READ WRITE is for one that makes temporary tables.
    """
    take = sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(snapshot_id))
    return f"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, {access}", take.as_string(None)

"""Transactions that read from a snapshot which another session holds."""

from __future__ import annotations

import json

from psycopg import sql


def taking_over(snapshot_id: str, access: str = "READ ONLY") -> tuple[str, str]:
    """Return the first statements of a transaction that reads from a held snapshot.

    READ WRITE is for one that makes temporary tables.
    """
    take = sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(snapshot_id))
    return f"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, {access}", take.as_string(None)


def showing(block: str) -> str:
    """Return the statement after which views show a block of changes, until the transaction ends.

    The block is the JSON text of its source, the position that it begins after, and its last id.
    """
    source_code, start_pos, start_id, end_id = json.loads(block)
    call = sql.SQL(
        "CALL omd.show_block(p_source_code => {}, p_start_pos => {}::timestamptz,"
        " p_start_id => {}, p_end_id => {})"
    )
    values = map(sql.Literal, (source_code, start_pos, start_id, end_id))
    return call.format(*values).as_string(None)

"""Families of tasks, and tasks that are created, claimed and ended."""

from __future__ import annotations

from typing import Any

from bench.turns import Connection
from psycopg.types.json import Jsonb


def new_family(conn: Connection, family: str, key: str = "{}") -> None:
    group = f"G{family}"
    criteria = Jsonb({"CODE": "text"})
    conn.execute("CALL omd_dispatch.register_family(%s, %s, %s)", (family, criteria, key))
    conn.execute(
        "CALL omd_dispatch.register_task_type(%s, 'T', 'PYTHON', 'm:f', %s)", (family, group)
    )
    register(conn, f"w{family}", group)


def register(conn: Connection, member: str, group: str) -> None:
    conn.execute("CALL omd_dispatch.register_backend(%s, %s, '1 day')", (group, member))


def create(conn: Connection, tasks: int, family: str = "F", batch: int = 500) -> None:
    for begin in range(0, tasks, batch):
        many = [{"criteria": {"CODE": str(begin + n)}} for n in range(min(batch, tasks - begin))]
        conn.execute("CALL omd_dispatch.create_tasks(%s, 'T', %s)", (family, Jsonb(many)))


def claim(conn: Connection, limit: int, member: str = "wF") -> list[Any]:
    """Claim tasks and complete them; return their numbers."""
    claimed = conn.execute(
        "SELECT task_id, claim_token FROM omd_dispatch.claim_tasks(%s, %s)", (member, limit)
    ).fetchall()
    results = [{"task_id": i, "claim_token": t, "outcome": "S"} for i, t in claimed]
    row = conn.execute(
        "CALL omd_dispatch.complete_tasks(%s, %s)", (member, Jsonb(results))
    ).fetchone()
    assert row is not None and row[0] == [], row
    return [i for i, _ in claimed]


def finish(conn: Connection, rows: int, code: str) -> None:
    """Insert finished rows as their owner, in the partitions that ``code`` says."""
    conn.execute(
        "INSERT INTO omd_dispatch.task_data_f (task_id, partition_code, task_type, lane, priority,"
        " execution_time, status, attempt, created_at, finished_at, outcome, func_code)"
        f" SELECT nextval('omd_dispatch.task_id'), {code}, 'T', 'GF', 5, now(), 'DONE', 1, now(),"
        f" now(), 'S', n::text FROM generate_series(1, {rows}) AS n".encode()
    )

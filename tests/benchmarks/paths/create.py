"""A task is created, and nobody claims it."""

from __future__ import annotations

from bench.dispatch import new_family
from bench.turns import Connection, Take, timed
from psycopg.types.json import Jsonb

CALLS, ROUNDS = 50, 60
CREATE = "CALL omd_dispatch.create_task('F', 'T', p_criteria => %s)"


def prepare(conn: Connection, size: float = 1) -> Take:
    new_family(conn, "F")
    return timed(lambda: conn.execute(CREATE, (Jsonb({"CODE": "a"}),)))

"""A task is created, claimed and completed; 1,000 wait already."""

from __future__ import annotations

from bench.dispatch import claim, create, new_family
from bench.turns import Connection, Take, timed
from psycopg.types.json import Jsonb

CALLS, ROUNDS = 20, 60
CREATE = "CALL omd_dispatch.create_task('F', 'T', p_criteria => %s)"


def prepare(conn: Connection, size: float = 1) -> Take:
    new_family(conn, "F")
    create(conn, 1000)

    def run() -> None:
        conn.execute(CREATE, (Jsonb({"CODE": "a"}),))
        assert claim(conn, 1)

    return timed(run)

"""Begin and success of one Module."""

from __future__ import annotations

from bench.control import module, run
from bench.turns import Connection, Take, timed

CALLS, ROUNDS = 50, 60


def prepare(conn: Connection, size: float = 1) -> Take:
    module(conn, "m_begin")
    return timed(lambda: run(conn, "m_begin"))

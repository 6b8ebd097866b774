"""A run ends, and its events are published."""

from __future__ import annotations

from bench.control import module, run
from bench.turns import Connection, Take, timed

CALLS, ROUNDS = 20, 40


def prepare(conn: Connection, size: float = 1) -> Take:
    conn.execute("CALL omd_event.register_sink('s', 'PULL')")
    module(conn, "m_publish")
    return timed(lambda: (run(conn, "m_publish"), conn.execute("CALL omd_event.publish()")))

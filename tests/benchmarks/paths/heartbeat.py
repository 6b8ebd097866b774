"""The lease of one run is renewed."""

from __future__ import annotations

from bench.control import module
from bench.turns import Connection, Take, timed

CALLS, ROUNDS = 50, 40


def prepare(conn: Connection, size: float = 1) -> Take:
    module(conn, "m_beat")
    row = conn.execute("CALL omd.begin_module('m_beat', p_lease => '1 day')").fetchone()
    assert row is not None and row[1] == "P", row
    return timed(lambda: conn.execute("CALL omd.heartbeat(%s, '1 day')", (row[0],)))

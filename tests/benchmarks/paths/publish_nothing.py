"""A round of the publisher in which nothing has happened, beside 1,000 open runs."""

from __future__ import annotations

from bench.control import ended, module
from bench.turns import Connection, Take, timed

CALLS, ROUNDS = 20, 40


def prepare(conn: Connection, size: float = 1) -> Take:
    conn.execute("CALL omd_event.register_sink('s', 'PULL')")
    for n in range(100):
        module(conn, f"m_{n}")
    ended(conn, max(10, round(1000 * size)), "E")
    while (conn.execute("CALL omd_event.publish()").fetchone() or (0,))[0]:
        pass
    return timed(lambda: conn.execute("CALL omd_event.publish()"))

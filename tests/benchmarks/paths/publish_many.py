"""The events of 10,000 runs are published."""

from __future__ import annotations

from bench.control import ended, module
from bench.turns import Connection, Take, seconds

ROUNDS = 12


def prepare(conn: Connection, size: float = 1) -> Take:
    conn.execute("CALL omd_event.register_sink('s', 'PULL')")
    for n in range(100):
        module(conn, f"m_{n}")

    def publish() -> None:
        while (conn.execute("CALL omd_event.publish()").fetchone() or (0,))[0]:
            pass

    def take() -> float:
        ended(conn, max(10, round(10_000 * size)))
        return seconds(publish)

    return take

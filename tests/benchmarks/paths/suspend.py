"""10,000 pending tasks are suspended until all are marked, and resumed."""

from __future__ import annotations

from bench.dispatch import create, new_family
from bench.turns import Connection, Take, timed

ROUNDS = 12


def prepare(conn: Connection, size: float = 1) -> Take:
    new_family(conn, "F")
    create(conn, max(10, round(10_000 * size)))

    def marked() -> None:
        while (conn.execute("CALL omd_dispatch.maintain()").fetchone() or (0, 0, 0))[2]:
            pass

    def run() -> None:
        (suspension, _) = conn.execute("CALL omd_dispatch.suspend('F')").fetchone() or (0, 0)
        marked()
        conn.execute("CALL omd_dispatch.resume(%s)", (suspension,))
        marked()

    return timed(run)

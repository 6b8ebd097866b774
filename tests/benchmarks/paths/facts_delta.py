"""A delta of a twentieth of 200,000 rows is loaded into the facts."""

from __future__ import annotations

from bench.delivery import changes, interface
from bench.turns import Connection, Take, seconds

ROUNDS = 9
LOAD = "CALL omd_facts.load('lines')"


def prepare(conn: Connection, size: float = 1) -> Take:
    rows, turns = max(100, round(200_000 * size)), iter(range(10**6))
    line = interface(conn, rows)
    conn.execute("CALL omd_facts.deploy('lines')")
    conn.execute(LOAD)

    def take() -> float:
        line.apply(line.write(changes(rows, 20, next(turns))))
        conn.execute("CHECKPOINT")
        taken = seconds(lambda: conn.execute(LOAD))
        line.settle()
        return taken

    return take

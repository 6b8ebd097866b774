"""A delta of a twentieth of 200,000 rows is applied."""

from __future__ import annotations

from bench.delivery import changes, interface
from bench.turns import Connection, Take

ROUNDS = 9


def prepare(conn: Connection, size: float = 1) -> Take:
    rows, turns = max(100, round(200_000 * size)), iter(range(10**6))
    line = interface(conn, rows)

    def take() -> float:
        delivery = line.write(changes(rows, 20, next(turns)))
        taken = line.apply(delivery)
        line.settle()
        return taken

    return take

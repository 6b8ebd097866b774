"""A delta of ten rows is loaded."""

from __future__ import annotations

import itertools

from bench.facts import load, set_up
from bench.turns import Connection, Take

CALLS, ROUNDS = 5, 20


def prepare(conn: Connection, size: float = 1) -> Take:
    conn.execute("CALL omd_delivery.register_tenant('t')")
    set_up(conn, "orders", changes=False)
    conn.execute("SET client_min_messages = error")
    days = itertools.count(1)

    def take() -> float:
        day = next(days)
        return load(conn, "orders", day, "n <= 10", "N" if day == 1 else "A")

    return take

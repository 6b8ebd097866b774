"""A delta of 20,000 of 200,000 rows is loaded into facts that keep changes."""

from __future__ import annotations

import itertools

from bench.facts import load, set_up
from bench.turns import Connection, Take

ROUNDS = 7


def prepare(conn: Connection, size: float = 1) -> Take:
    rows, days = max(100, round(200_000 * size)), itertools.count(2)
    conn.execute("CALL omd_delivery.register_tenant('t')")
    set_up(conn, "kept", changes=True)
    load(conn, "kept", 1, f"n <= {rows}", "N")
    conn.execute("VACUUM ANALYZE")
    return lambda: load(conn, "kept", next(days), f"n <= {rows} AND n %% 10 = 1", "A")

"""A delta over 2,500 keys with 100 closed versions each is applied."""

from __future__ import annotations

from bench.delivery import COLUMNS, interface
from bench.turns import Connection, Take

ROUNDS = 12
NAMES = f"n, {', '.join(COLUMNS)}"


def prepare(conn: Connection, size: float = 1) -> Take:
    keys, versions = max(100, round(10_000 * size)), 100
    line = interface(conn, keys)
    conn.execute(
        f"INSERT INTO lvl_lines.line SELECT {NAMES}, acm_start_dt - v * interval '1 day',"
        " acm_start_dt - (v - 1) * interval '1 day', 'A', 1, 1, 1"
        f" FROM lvl_lines.line CROSS JOIN generate_series(1, {versions}) AS v".encode()
    )
    line.settle()
    some = f"SELECT 'A', n FROM generate_series(1, {keys}, 4) AS n"
    return lambda: line.apply(line.write(some))

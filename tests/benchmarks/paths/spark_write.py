"""Spark writes 200,000 rows of seven mixed columns into a table."""

from __future__ import annotations

from bench.server import dsn_of
from bench.spark import written
from bench.turns import Connection, Take

ROUNDS = 10
NEEDS = "java"


def prepare(conn: Connection, size: float = 1) -> Take:
    return written(conn, dsn_of(conn), max(100, round(200_000 * size)))

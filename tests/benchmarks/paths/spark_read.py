"""Spark reads 200,000 rows of seven mixed columns from a table."""

from __future__ import annotations

from bench.server import dsn_of
from bench.spark import read
from bench.turns import Connection, Take

ROUNDS = 10
NEEDS = "java"


def prepare(conn: Connection, size: float = 1) -> Take:
    return read(conn, dsn_of(conn), max(100, round(200_000 * size)))

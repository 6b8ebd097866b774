"""A step of a topic over one new row of its source."""

from __future__ import annotations

from bench.lineage import make_topic, step
from bench.turns import Connection, Take, timed

CALLS, ROUNDS = 20, 40


def prepare(conn: Connection, size: float = 1) -> Take:
    make_topic(conn)
    return timed(lambda: step(conn))

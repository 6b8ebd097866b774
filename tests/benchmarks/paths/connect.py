"""The driver connects, and closes."""

from __future__ import annotations

from bench.server import dsn_of
from bench.turns import Connection, Take, timed

import omd

CALLS, ROUNDS = 10, 30


def prepare(conn: Connection, size: float = 1) -> Take:
    dsn = dsn_of(conn)
    return timed(lambda: omd.connect(dsn, lease=None).close())

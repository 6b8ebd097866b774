"""500 tasks are created by one call, and claimed and completed a hundred at a time."""

from __future__ import annotations

from bench.dispatch import claim, create, new_family
from bench.turns import Connection, Take, timed

ROUNDS = 40


def prepare(conn: Connection, size: float = 1) -> Take:
    new_family(conn, "F")

    def run() -> None:
        create(conn, 500)
        for _ in range(5):
            assert len(claim(conn, 100)) == 100

    return timed(run)

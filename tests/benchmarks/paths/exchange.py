"""A purge of a partition with 100,000 finished tasks."""

from __future__ import annotations

from bench.dispatch import finish, new_family
from bench.turns import Connection, Take, seconds

ROUNDS = 12


def prepare(conn: Connection, size: float = 1) -> Take:
    new_family(conn, "F")
    now = conn.execute("SELECT omd_dispatch._partition_code('DAY_RING', 8, now())").fetchone()
    assert now is not None
    code = (now[0] + 4) % 8

    def purge() -> None:
        row = conn.execute("CALL omd_dispatch.purge_partition('F', %s)", (code,)).fetchone()
        assert row is not None and row[0] == "PURGED", row

    def take() -> float:
        finish(conn, max(10, round(100_000 * size)), str(code))
        conn.execute("CHECKPOINT")
        return seconds(purge)

    return take

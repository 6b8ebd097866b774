"""The block of the newest change of 10,000 keys is read."""

from __future__ import annotations

from bench.facts import load, set_up
from bench.turns import Connection, Take, seconds

ROUNDS = 20
READ = "SELECT count(q), sum(length(q::text)) FROM changes_kept.orders AS q"


def prepare(conn: Connection, size: float = 1) -> Take:
    keys = max(10, round(10_000 * size))
    conn.execute("CALL omd_delivery.register_tenant('t')")
    set_up(conn, "kept", changes=True)
    load(conn, "kept", 1, f"n <= {20 * keys}", "N")
    load(conn, "kept", 2, f"n <= {keys}", "A")
    conn.execute("VACUUM ANALYZE")
    (newest,) = conn.execute("SELECT max(change_id) FROM omd_facts.change").fetchone() or (0,)

    def take() -> float:
        with conn.transaction():
            conn.execute("CALL omd_facts.show_changes('kept', %s, %s)", (newest - 1, newest))
            return seconds(lambda: conn.execute(READ).fetchall())

    return take

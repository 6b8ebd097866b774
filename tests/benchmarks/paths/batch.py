"""A Batch of ten Modules: begin and success of it and of each."""

from __future__ import annotations

from bench import control
from bench.turns import Connection, Take, timed

CALLS, ROUNDS = 5, 40


def prepare(conn: Connection, size: float = 1) -> Take:
    codes = [f"m_ten{number}" for number in range(10)]
    conn.execute("CALL omd.register_batch('b_ten')")
    for code in codes:
        control.module(conn, code)
        conn.execute("CALL omd.add_module_to_batch('b_ten', %s)", (code,))

    def run() -> None:
        row = conn.execute("CALL omd.begin_batch('b_ten')").fetchone()
        assert row is not None and row[1] == "P", row
        for code in codes:
            control.run(conn, code, row[0])
        conn.execute("CALL omd.batch_success(%s)", (row[0],))

    return timed(run)

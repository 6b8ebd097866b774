"""A begin takes back a run in the middle of an Iceberg table of 200 files."""

from __future__ import annotations

from bench.lake import open_lake
from bench.turns import Connection, Take, seconds

ROUNDS = 10


def prepare(conn: Connection, size: float = 1) -> Take:
    table = open_lake(conn, "undone")
    runs = [table.run(10)[0] for _ in range(max(4, round(20 * size)))]

    def take() -> float:
        runs.append(table.run(10)[0])
        table.control.calls.omd.set_next_run_indicator(
            "R", module_instance_id=runs.pop(len(runs) // 2)
        )
        run = table.control.module(table.module)
        taken = seconds(run.__enter__)
        run.__exit__(None, None, None)
        return taken

    return take

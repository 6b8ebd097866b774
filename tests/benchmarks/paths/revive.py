"""10,000 dead tasks are counted, and revived in one part."""

from __future__ import annotations

from bench.dispatch import new_family
from bench.turns import Connection, Take, seconds
from psycopg.types.json import Jsonb

ROUNDS = 12
GIVEN = Jsonb({"family_code": "F", "statuses": ["DEAD"]})
DEAD = """
    INSERT INTO omd_dispatch.task_data_f (
        task_id, partition_code, task_type, lane, priority, execution_time, status, attempt,
        created_at, finished_at, outcome, error, func_code
    )
    SELECT
        nextval('omd_dispatch.task_id'), n % 2, 'T', 'GF', 5, now(), 'DEAD', 3, now(), now(), 'F',
        'ValueError: no such row', n::text
    FROM generate_series(1, {tasks}) AS n
"""


def prepare(conn: Connection, size: float = 1) -> Take:
    tasks = max(10, round(10_000 * size))
    new_family(conn, "F")

    def run() -> None:
        (at,) = conn.execute("SELECT clock_timestamp()").fetchone() or (None,)
        counted = conn.execute("SELECT omd_dispatch.count_tasks(%s, %s)", (GIVEN, at)).fetchone()
        call = "CALL omd_dispatch.revive_tasks(%s, %s, %s)"
        answer = conn.execute(call, (GIVEN, at, tasks)).fetchone()
        assert answer is not None and (answer[0],) == counted == (tasks,), (answer, counted)

    def take() -> float:
        conn.execute("DELETE FROM omd_dispatch.task_data_f")
        conn.execute(DEAD.format(tasks=tasks).encode())
        conn.execute("VACUUM ANALYZE omd_dispatch.task_data_f")
        return seconds(run)

    return take

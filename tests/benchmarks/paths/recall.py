"""A step of the first of ten topics in a chain is recalled: the plan and the act."""

from __future__ import annotations

from bench.control import STAMP
from bench.turns import Connection, Take, seconds

ROUNDS = 7
CHAIN, BLOCKS = 10, 20
TABLE = (
    f"CREATE TABLE app.{{0}} (id bigint GENERATED ALWAYS AS IDENTITY, v bigint, {STAMP} bigint,"
    " omd_insert_datetime timestamptz NOT NULL DEFAULT clock_timestamp());"
    "CREATE INDEX ON app.{0} (omd_insert_datetime, id)"
)
SOURCE = """
    CREATE SCHEMA app;
    CREATE TABLE app.src (pos timestamptz, id bigint, v bigint);
    INSERT INTO app.src SELECT '2020-01-01'::timestamptz + n * interval '1 ms', n, n
        FROM generate_series(1, {last}) AS n;
    CREATE INDEX ON app.src (pos, id);
    CALL omd_lineage.register_topic('app.src', p_source_offset => 'HAND');
    CALL omd_lineage.set_offset(
        'app.src', '2020-01-01'::timestamptz + {last} * interval '1 ms', {last}
    );
"""
MIDDLE = """
    SELECT module_instance_id FROM omd.module_instance INNER JOIN omd.module USING (module_id)
    WHERE module_code = 'app.t1' ORDER BY 1 OFFSET {place} LIMIT 1
"""


def prepare(conn: Connection, size: float = 1) -> Take:
    rows = max(BLOCKS, round(20_000 * size))
    conn.execute(SOURCE.format(last=rows + 1).encode())
    for place in range(1, CHAIN + 1):
        before, pos = ("src", "pos") if place == 1 else (f"t{place - 1}", "omd_insert_datetime")
        conn.execute(TABLE.format(f"t{place}").encode())
        conn.execute(
            f"CREATE VIEW app.v{place} AS SELECT v FROM app.{before}"
            f" WHERE omd_lineage.in_block({pos}, id)".encode()
        )
        conn.execute(
            "CALL omd_lineage.register_topic(%s, %s, p_transforms => %s, p_repeat => '0',"
            " p_maxstep => %s, p_start_pos => '-infinity', p_pos_column => %s)",
            (f"app.t{place}", [f"app.{before}"], [f"app.v{place}"], rows // BLOCKS, pos),
        )
        step = f"CALL omd_lineage.step('app.t{place}')".encode()
        while (conn.execute(step).fetchone() or ("",))[0] == "DONE":
            pass
    conn.execute("VACUUM ANALYZE")
    run = conn.execute(MIDDLE.format(place=BLOCKS // 2).encode()).fetchone()
    assert run is not None
    plan = "CALL omd_provenance.plan_recall(p_module_instance_id => %s, p_reason => 'bench')"

    def recall() -> None:
        (recall_id, _, blocked) = conn.execute(plan, run).fetchone() or (0, 0, 1)
        assert not blocked
        conn.execute("CALL omd_provenance.recall(%s, p_wait => '0')", (recall_id,))

    def take() -> float:
        with conn.transaction(force_rollback=True):
            return seconds(recall)

    return take

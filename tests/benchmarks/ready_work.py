"""What could run now: the cost of ``omd_report.ready_work`` beside that of the ready list alone.

There are ``--topics`` topics with five dependencies each, 100 interfaces, of which half have a
delivery to load, and 1,000 stages that start at changes of facts, of which a tenth has some; one
Module in a hundred has failed. Bounds: at most 1.2 times the ready list, and under 150 ms; with a
million runs of stages in history at most 1.2 times as much as before. The two are read in turns,
and the figure is the median.

Run: ``python tests/benchmarks/ready_work.py [--dsn …] [--topics 10000] [--explain]``. Without a DSN
it starts an embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse

import psycopg
from bench.lineage import register
from bench.server import a_server, new_database
from bench.turns import Connection, Take, medians, timed

READY_WORK = b"SELECT * FROM omd_report.ready_work"

OTHERS = """
    INSERT INTO omd.module (
        module_code, area_code, table_code, platform_code, module_kind_code, engine_code
    )
    SELECT k.prefix || n, 'PRES', k.prefix || n, 'POSTGRES', k.kind, 'POSTGRES'
    FROM (VALUES ('facts.i', 'FACTS', 100), ('stage.s', 'STAGE', 1000)) AS k (prefix, kind, n_max)
    CROSS JOIN LATERAL generate_series(1, k.n_max) AS n;
    INSERT INTO omd_delivery.interface (interface_code, model_version)
    SELECT 'i' || n, 1 FROM generate_series(1, 100) AS n;
    INSERT INTO omd_facts.interface (interface_id, interface_code, model_version, module_id)
    SELECT i.interface_id, i.interface_code, 1, m.module_id
    FROM omd_delivery.interface AS i
    INNER JOIN omd.module AS m ON m.module_code = 'facts.' || i.interface_code;
    INSERT INTO omd_delivery.delta_queue (
        delivery_id, interface_id, snapshot_datetime, queue_status
    )
    SELECT
        i.interface_id * 1000 + n, i.interface_id, now(),
        CASE WHEN n > 900 AND i.interface_id % 2 = 0 THEN 'QUEUED' ELSE 'PERSISTED' END
    FROM omd_delivery.interface AS i
    CROSS JOIN generate_series(1, 999) AS n;
    INSERT INTO omd_decision.stage (stage_code, module_id, version, start_code, window_code)
    SELECT m.module_code, m.module_id, 1, 'NEWS', 'CHANGES'
    FROM omd.module AS m WHERE m.module_kind_code = 'STAGE';
    INSERT INTO omd_decision.stage_version (stage_id, version, definition, defined_by)
    SELECT s.stage_id, 1, '{}', 'bench' FROM omd_decision.stage AS s;
    INSERT INTO omd.source (source_code, source_kind_code, pos, id)
    SELECT 'facts.i' || n, 'FACTS', '2026-01-01 00:00:00+00', CASE n % 10 WHEN 0 THEN 6 ELSE 5 END
    FROM generate_series(0, 99) AS n;
    INSERT INTO omd.source_table (table_code, source_code)
    SELECT 'gdal_i' || n || '.e', 'facts.i' || n FROM generate_series(0, 99) AS n;
    INSERT INTO omd_decision.stage_source (stage_id, table_code)
    SELECT s.stage_id, 'gdal_i' || s.stage_id % 100 || '.e' FROM omd_decision.stage AS s;
    INSERT INTO omd.module_state (module_id, failures, looks, not_before, failed_since)
    SELECT m.module_id, 3, 0, now() + interval '1 hour', now()
    FROM omd.module AS m WHERE m.module_id % 100 = 0;
"""

RUNS = """
    INSERT INTO omd.module_instance (
        module_id, start_datetime, end_datetime, execution_status_code, processing_indicator,
        next_run_indicator
    )
    SELECT m.module_id, now(), now(), 'S', 'P', 'P'
    FROM omd.module AS m
    CROSS JOIN generate_series(1, {runs}) AS n
    WHERE m.module_kind_code = 'STAGE';
"""

# Each run, also those of before, has the window of a change.
WINDOWS = """
    INSERT INTO omd.source_control (
        module_instance_id, module_id, start_value, start_id, end_value, end_id, source_code
    )
    SELECT
        mi.module_instance_id, mi.module_id, '-infinity', 0, '2026-01-01 00:00:00+00', 5,
        p.source_code
    FROM omd.module_instance AS mi
    INNER JOIN omd_decision.stage AS s USING (module_id)
    INNER JOIN omd_decision.stage_source AS t USING (stage_id)
    INNER JOIN omd.source_table AS p USING (table_code)
    ON CONFLICT DO NOTHING;
"""


def read(conn: Connection, query: bytes) -> Take:
    """Return what reads all rows of a query."""
    return timed(lambda: conn.execute(query).fetchall())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn", help="a server where databases may be created")
    parser.add_argument("--topics", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=1000, help="of each stage, in history")
    parser.add_argument("--explain", action="store_true", help="print the plan of ready_work")
    args = parser.parse_args()
    with (
        a_server(args.dsn) as server,
        psycopg.connect(new_database(server, "bench_work"), autocommit=True) as conn,
    ):
        register(conn, args.topics)
        with conn.transaction():
            conn.execute("SET LOCAL session_replication_role = replica")
            conn.execute(OTHERS.encode())
            conn.execute(RUNS.format(runs=1).encode())
            conn.execute(WINDOWS.encode())
        conn.execute("VACUUM (ANALYZE)")
        ready_list = b"SELECT * FROM omd_report.lineage_ready"
        alone, work = medians(15, read(conn, ready_list), read(conn, READY_WORK))
        rows = len(conn.execute(READY_WORK).fetchall())
        print(
            f"ready_work over {args.topics:,} topics: {1e3 * work:.0f} ms for {rows:,} rows"
            f" (bound 150); against the ready list, {1e3 * alone:.0f} ms,"
            f" {work / alone:.2f} (bound 1.2)"
        )
        (whole,) = medians(15, read(conn, b"SELECT * FROM omd_report.work"))
        print(f"work: {1e3 * whole:.0f} ms")
        conn.execute((RUNS.format(runs=args.runs) + WINDOWS).encode())
        conn.execute("VACUUM (ANALYZE) omd.module_instance, omd.source_control")
        conn.execute("CHECKPOINT")
        (later,) = medians(15, read(conn, READY_WORK))
        print(f"with {1000 * args.runs:,} runs of stages in history {later / work:.2f} (bound 1.2)")
        if args.explain:
            for (line,) in conn.execute(b"EXPLAIN (ANALYZE, BUFFERS) " + READY_WORK):
                print(line)


if __name__ == "__main__":
    main()

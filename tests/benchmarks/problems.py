"""What is seen over all rooms: the cost of problems, flow and trace on a large platform.

There are ``--topics`` topics with five dependencies each, 100 interfaces with 100,000 changes,
1,000 stages with a million runs, of which some have read what is undone now, 1,000 Batches with a
hundred runs each, and 100 locations with 10,000 folders. Bounds: problems under 300 ms, a trace of
one step under 100 ms.

Run: ``python tests/benchmarks/problems.py [--dsn …] [--topics 10000] [--explain VIEW]``. Without a
DSN it starts an embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse

import psycopg
from bench.server import durable_server, new_database
from bench.lineage import register
from ready_work import OTHERS, RUNS, medians

MORE = """
    INSERT INTO omd.batch (batch_code, frequency_code)
    SELECT 'b' || n, 'Adhoc' FROM generate_series(1, 1000) AS n;
    INSERT INTO omd.batch_instance (
        batch_id, start_datetime, end_datetime, execution_status_code, processing_indicator,
        next_run_indicator
    )
    SELECT b.batch_id, now(), now(), CASE b.batch_id % 50 WHEN 0 THEN 'F' ELSE 'S' END, 'P', 'P'
    FROM omd.batch AS b CROSS JOIN generate_series(1, 100) AS n;
    INSERT INTO omd_delivery.tenant (tenant_code, tenant_name) VALUES ('t', 't');
    INSERT INTO omd_delivery.agreement (
        agreement_code, tenant_id, interface_id, layer_code, completeness, context, settings,
        options, arrival
    )
    SELECT
        'a' || i.interface_id, t.tenant_id, i.interface_id, 'LVL', 'PARTIAL', '{}', '{}', '{}',
        '{"location": "/drop"}'
    FROM omd_delivery.interface AS i CROSS JOIN omd_delivery.tenant AS t;
    INSERT INTO omd_delivery.arrival_location (agreement_id)
    SELECT a.agreement_id FROM omd_delivery.agreement AS a;
    INSERT INTO omd_delivery.delivery (
        agreement_id, interface_id, layer_code, snapshot_datetime, delivery_status
    )
    SELECT
        a.agreement_id, a.interface_id, 'LVL', now(),
        CASE WHEN n = 100 AND a.agreement_id % 10 = 0 THEN 'REFUSED' ELSE 'PERSISTED' END
    FROM omd_delivery.agreement AS a CROSS JOIN generate_series(1, 100) AS n;
    INSERT INTO omd_delivery.arrival (
        agreement_id, folder, snapshot_datetime, arrival_status, found_datetime, changed_datetime,
        delivery_id
    )
    SELECT
        d.agreement_id, d.delivery_id::text, now(), CASE d.delivery_status
            WHEN 'REFUSED' THEN 'REFUSED' ELSE 'DONE' END, now(), now(), d.delivery_id
    FROM omd_delivery.delivery AS d;
    INSERT INTO omd_facts.change (
        change_id, interface_id, change_kind, change_datetime, module_instance_id
    ) OVERRIDING SYSTEM VALUE
    SELECT 1000 * i.interface_id + n, i.interface_id, 'LOAD', now(), 1
    FROM omd_facts.interface AS i CROSS JOIN generate_series(1, 999) AS n;
    UPDATE omd_facts.change AS c
    SET undone_by_change_id = c.change_id + 1
    WHERE c.change_id % 100 = 50;
"""

# Each run of a stage reads two changes. A stage in fifty reads up to those that are undone next.
WINDOWS = """
    INSERT INTO omd.source_control (
        module_instance_id, module_id, start_value, end_value, start_id, end_id, source_code
    )
    SELECT
        r.module_instance_id, r.module_id, '-infinity', now(), r.upto - 2, r.upto,
        'facts.' || i.interface_code
    FROM (
        SELECT
            mi.module_instance_id,
            mi.module_id,
            1000 * (1 + mi.module_id % 100) + CASE mi.module_id % 50 WHEN 0 THEN 0 ELSE 1 END
            + row_number() OVER (PARTITION BY mi.module_id ORDER BY mi.module_instance_id) * 2
                % 900 AS upto
        FROM omd.module_instance AS mi
        INNER JOIN omd.module AS m ON mi.module_id = m.module_id
        WHERE m.module_kind_code = 'STAGE'
    ) AS r
    INNER JOIN omd_facts.interface AS i ON r.upto / 1000 = i.interface_id;
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn", help="a server where databases may be created")
    parser.add_argument("--topics", type=int, default=10_000)
    parser.add_argument("--explain", metavar="VIEW", help="print the plan of this view")
    args = parser.parse_args()
    with (
        durable_server(args.dsn) as server,
        psycopg.connect(new_database(server, "bench_problems"), autocommit=True) as conn,
    ):
        register(conn, args.topics)
        with conn.transaction():
            conn.execute("SET LOCAL session_replication_role = replica")
            for statements in (OTHERS, RUNS, MORE, WINDOWS):
                conn.execute(statements.encode())
        conn.execute("VACUUM (ANALYZE)")
        conn.execute("CHECKPOINT")
        (middle,) = conn.execute(
            "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY module_instance_id)"
            " FROM omd.source_control"
        ).fetchone() or (0,)
        bounds = {"problems": 300, "trace": 100}
        queries = {
            "problems": b"SELECT * FROM omd_report.problems",
            "flow": b"SELECT * FROM omd_report.flow",
            "flow_nodes": b"SELECT * FROM omd_report.flow_nodes",
            "work_summary": b"SELECT * FROM omd_report.work_summary",
            "trace": b"SELECT * FROM omd_provenance.trace(%d, 'BOTH', 1)" % middle,
        }
        for name, query in queries.items():
            (found,) = medians(conn, query, rounds=5)
            rows = len(conn.execute(query).fetchall())
            bound = f" (bound {bounds[name]})" if name in bounds else ""
            print(f"{name}: {found:.0f} ms for {rows:,} rows{bound}", flush=True)
            if args.explain == name:
                for (line,) in conn.execute(b"EXPLAIN (ANALYZE, BUFFERS) " + query):
                    print(line)


if __name__ == "__main__":
    main()

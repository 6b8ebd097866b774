"""Rule L16: the cost of the ready list, of an empty step, and of a chain of topics.

* ``ready list``: the time for ``--topics`` topics with five dependencies each, in milliseconds
  (bound: 100 for 10,000 topics), and three ratios: twice the topics (at most 2.5, that is linear),
  a million instances of history against none (at most 1.1), one topic of it against all.
* ``step``: a step over one row whose transform returns no row, from claim to commit, against a mere
  begin + success of a Module, side by side on one connection each. Bound: 3. A history of 3,000
  runs comes first, and new sessions afterwards: a session that has planned its queries for empty
  tables would be measured with plans that nobody has in daily work.
* ``chain``: ten topics, each reads the one before. The time from the insert of a row into the
  source until it is in the last table, with a scheduler whose next poll is in an hour. Bound:
  1 second; measured beside no other topics, and beside all those of the ready list.

Run: ``python tests/benchmarks/lineage.py [--dsn …] [--topics 10000]``. Without a DSN it
starts an embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import threading
import time
from typing import Any

import psycopg
from bench.server import durable_server, new_database
from control_overhead import MODULE, compare, control

from omd.cli.common import PROGRAM

TOPICS = """
    INSERT INTO omd_lineage.topic (
        topic, table_code, module_id, depends_on, processor, engine, transforms, delay, repeat,
        maxstep, before_sql, after_sql, source_offset, reload_method, advance_when_quiet,
        inactive_indicator, updated_by, updated_at
    )
    SELECT
        t.topic, t.topic, t.module_id, t.depends_on, t.processor, 'POSTGRES', t.transforms, '0',
        '1 hour', 1000, '{{}}', '{{}}', 'HAND', 'TRUNCATE', TRUE, 'N', 'benchmark', now()
    FROM (
        SELECT
            's.t' || n AS topic, NULL::integer AS module_id, '{{}}'::text[] AS depends_on,
            NULL AS processor, '{{}}'::text[] AS transforms
        FROM generate_series(1, {sources}) AS n
        UNION ALL
        SELECT
            m.module_code, m.module_id,
            ARRAY(
                SELECT 's.t' || (1 + (m.module_id * 7 + k * 13) % {sources})
                FROM generate_series(1, 5) AS k
            ),
            'STEP', '{{v.x}}'
        FROM omd.module AS m
        WHERE m.module_code ~ '^f[.]t'
    ) AS t;
"""


def register(conn: psycopg.Connection[Any], topics: int, *, is_analysed: bool = True) -> None:
    """Insert topics as their owner; ten thousand calls would take too long."""
    with conn.transaction():
        conn.execute("SET LOCAL ROLE omd_owner")
        conn.execute("DELETE FROM omd_lineage.dependency")
        conn.execute("DELETE FROM omd_lineage.offsets")
        conn.execute("DELETE FROM omd_lineage.topic")
        conn.execute(
            "INSERT INTO omd.module (module_code, area_code, table_code, platform_code,"
            " module_kind_code, engine_code)"
            " SELECT 'f.t' || n, 'PRES', 'f.t' || n, 'POSTGRES', 'TOPIC', 'POSTGRES'"
            " FROM generate_series(1, %s) AS n"
            " ON CONFLICT (module_code) DO NOTHING",
            (topics,),
        )
        conn.execute(TOPICS.format(sources=topics // 5).encode())
        conn.execute(
            "INSERT INTO omd_lineage.offsets (topic_id, topic, last, run, waiting_since)"
            " SELECT topic_id, topic, ROW(timestamptz '2024-01-01'"
            " + topic_id %% 1000 * interval '1 min', topic_id)::omd_lineage.row_position,"
            " now() - interval '2 hours', now() FROM omd_lineage.topic WHERE TRUE OR %s",
            (True,),
        )
        conn.execute("SELECT omd_lineage._resolve_dependencies(topic_id) FROM omd_lineage.topic")
    if not is_analysed:
        return
    for table in ("omd_lineage.topic", "omd_lineage.offsets", "omd_lineage.dependency"):
        conn.execute(f"VACUUM (FREEZE, ANALYZE) {table}".encode())


def ready_list(
    conn: psycopg.Connection[Any],
    where: str = "",
    view: str = "omd_lineage.ready_list",
    rounds: int = 15,
) -> float:
    """Return the median milliseconds to read all its columns."""
    times = []
    for n in range(rounds + 3):
        start = time.perf_counter()
        conn.execute(f"SELECT * FROM {view} {where}".encode()).fetchall()
        if n >= 3:
            times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def measure_ready_list(dsn: str, topics: int) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        register(conn, topics // 2)
        half = ready_list(conn)
        register(conn, topics)
        whole = ready_list(conn)
        one = ready_list(conn, "WHERE topic = 'f.t1'", "omd_lineage.ready_list_by_topic")
        print(f"ready list of {topics:,} topics: {whole:.0f} ms (bound for 10,000: 100)")
        print(f"against half of them {whole / half:.2f} (linear: 2); one topic: {one:.1f} ms")
        conn.execute(
            "INSERT INTO omd.module_instance (module_id, start_datetime, end_datetime,"
            " execution_status_code, processing_indicator, next_run_indicator)"
            " SELECT m.module_id, now(), now(), 'S', 'P', 'P' FROM omd.module AS m,"
            " generate_series(1, 1000000 / (SELECT count(*)::int FROM omd.module)) AS n"
        )
        conn.execute("VACUUM (ANALYZE) omd.module_instance")
        conn.execute("CHECKPOINT")
        history = ready_list(conn)
        again = ready_list(conn)
        print(
            f"with a million instances of history {(history + again) / 2 / whole:.2f} (bound 1.1)"
        )


def make_topic(conn: psycopg.Connection[Any]) -> None:
    """Make the topic public.fact, whose transform reads one row a step and returns none."""
    conn.execute("CREATE TABLE public.base (pos timestamptz, id bigint, PRIMARY KEY (pos, id))")
    conn.execute("CREATE TABLE public.fact (id bigint, omd_insert_module_instance_id bigint)")
    conn.execute(
        "CREATE VIEW public.transform AS SELECT b.id FROM public.base AS b"
        " WHERE omd_lineage.in_block(b.pos, b.id) AND b.id < 0"
    )
    conn.execute(
        "INSERT INTO public.base SELECT '2024-01-01'::timestamptz + n * interval '1 s', n"
        " FROM generate_series(1, 200000) AS n"
    )
    conn.execute("CALL omd_lineage.register_topic('public.base')")
    conn.execute(
        "CALL omd_lineage.register_topic('public.fact', ARRAY['public.base'], p_transforms =>"
        " ARRAY['public.transform'], p_maxstep => 1)"
    )


def measure_step(dsn: str, rounds: int, per_round: int) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        make_topic(conn)
        conn.execute("CALL omd.register_module(%s, 'HSTG', 'public.fact')", (MODULE,))
        for n in range(3000):
            step(conn)
            control(conn)(n)
        conn.execute("VACUUM ANALYZE")
    with (
        psycopg.connect(dsn, autocommit=True) as conn,
        psycopg.connect(dsn, autocommit=True) as other,
    ):
        left, right, ratio = compare(lambda _: step(conn), control(other), rounds, per_round)
    print(
        f"step over one row {1000 * left:.2f} ms, begin + success {1000 * right:.2f} ms,"
        f" ratio {ratio:.2f} (bound 3)"
    )


def step(conn: psycopg.Connection[Any]) -> None:
    """Take a step of the topic public.fact."""
    row = conn.execute("CALL omd_lineage.step('public.fact')").fetchone()
    assert row is not None and row[0] == "DONE", row


def measure_chain(dsn: str, topics: int, beside: str, rounds: int = 5) -> None:
    """Measure the time of a row through ``topics`` topics, started by a scheduler."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE TABLE public.c0 (pos timestamptz, id bigint, PRIMARY KEY (pos, id))")
        conn.execute("CALL omd_lineage.register_topic('public.c0')")
        for n in range(1, topics + 1):
            conn.execute(
                f"CREATE TABLE public.c{n} (pos timestamptz, id bigint,"
                f" omd_insert_module_instance_id bigint);"
                f"CREATE INDEX ON public.c{n} (pos, id);"
                f"CREATE VIEW public.v{n} AS SELECT b.pos, b.id FROM public.c{n - 1} AS b"
                f" WHERE omd_lineage.in_block(b.pos, b.id)".encode()
            )
            conn.execute(
                "CALL omd_lineage.register_topic(%s, ARRAY[%s], p_transforms => ARRAY[%s],"
                " p_repeat => '0')",
                (f"public.c{n}", f"public.c{n - 1}", f"public.v{n}"),
            )
        with subprocess.Popen(
            [*PROGRAM, "lineage", "run", "--poll", "3600", "--workers", "2", "--topic", "public.*"],
            env={**os.environ, "OMD_DSN": dsn},
            stderr=subprocess.PIPE,
        ) as scheduler:
            assert scheduler.stderr is not None
            scheduler.stderr.readline()
            threading.Thread(target=scheduler.stderr.read, daemon=True).start()
            try:
                times = [chain(conn, f"public.c{topics}", n) for n in range(rounds + 2)][2:]
            finally:
                scheduler.terminate()
    print(
        f"a row through a chain of {topics} topics beside {beside}:"
        f" {1000 * statistics.median(times):.0f} ms (bound 1000)"
    )


def chain(conn: psycopg.Connection[Any], last: str, number: int) -> float:
    """Insert a row, and one a second later since the newest instant waits for more; in seconds."""
    began = time.perf_counter()
    conn.execute(
        "INSERT INTO public.c0 VALUES (now() - interval '1 second', %s), (now(), -%s)",
        (number, number),
    )
    conn.execute("CALL omd_lineage.probe_sources()")
    query = f"SELECT FROM {last} WHERE id = %s AND pos > now() - interval '1 hour'".encode()
    while conn.execute(query, (number,)).rowcount == 0:
        assert time.perf_counter() - began < 60
        time.sleep(0.002)
    took = time.perf_counter() - began
    time.sleep(1.5)  # the rows of the next round come after those of this one
    return took


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--topics", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--per-round", type=int, default=200)
    args = parser.parse_args()
    with durable_server(args.dsn) as server:
        measure_step(new_database(server, "bench_step"), args.rounds, args.per_round)
        measure_chain(new_database(server, "bench_chain"), 10, "no other topics")
        ready = new_database(server, "bench_ready")
        measure_ready_list(ready, args.topics)
        measure_chain(ready, 10, f"{args.topics:,} other topics")


if __name__ == "__main__":
    main()

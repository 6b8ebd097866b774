"""Five years of a company's history, written by one INSERT a table, for ``scale.py``.

Run number n of all runs is a Module Instance with the ID n, so that each table can be written
without a look at another one. Which Module it is of follows from n: each tenth run is of one of the
``BUSY`` Modules, which the busy hour uses and which have a deep history; the others share the rest
evenly. All runs of a Module are one after the other, k = 0, 1, 2, …, and its windows follow each
other; each 97th run has failed, was rolled back by the next of its Module, and its window was
withdrawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench import dispatch, facts, paths
from bench.turns import Connection

YEARS = 5
FAMILY = "SCALE"
LIVE_TOPICS = 4
LIVE_FACTS = ("orders", "parts")


@dataclass(frozen=True)
class Size:
    """How much there is of everything; ``of`` says it for a fraction of the five years."""

    instances: int
    events: int
    topics: int
    interfaces: int
    stages: int
    ended: int
    pending: int
    ledger: int
    batches: int

    @classmethod
    def of(cls, scale: float, history: float) -> Size:
        """Return the sizes: so much of what is there now, and so much of what has been."""

        def now(whole: int, least: int) -> int:
            return max(least, round(whole * scale))

        def past(whole: int, least: int) -> int:
            return max(least, round(whole * history))

        return cls(
            instances=past(10_000_000, 1000),
            events=past(50_000_000, 5000),
            topics=now(100_000, 50),
            interfaces=now(2_000, 10),
            stages=now(5_000, 10),
            ended=past(20_000_000, 2000),
            pending=now(1_000_000, 1000),
            ledger=past(10_000_000, 1000),
            batches=now(1_000, 10),
        )


# What ten Modules write.
TARGETS = """
DO $$
BEGIN
    FOR n IN 0..{batches} - 1 LOOP
        EXECUTE format(
            'CREATE TABLE public.target%s (omd_insert_module_instance_id bigint)', n
        );
    END LOOP;
END
$$
"""

# The sources of the many topics: a scheduler looks at each.
SOURCES = """
DO $$
BEGIN
    FOR n IN {first}..{last} LOOP
        EXECUTE format(
            'CREATE TABLE t.s%s (pos timestamptz, id bigint, PRIMARY KEY (pos, id))', n
        );
    END LOOP;
END
$$
"""


# What the hour works with has tables, and is declared by the calls that everybody uses.
def live(conn: Connection) -> None:
    """Declare the Modules, topics, interfaces and stages that the hour runs."""
    conn.execute("CREATE TABLE public.target (omd_insert_module_instance_id bigint)")
    conn.execute("CALL omd.register_batch('b_live')")
    for n in range(10):
        conn.execute("CALL omd.register_module(%s, 'HSTG', 'public.target')", (f"live.m{n}",))
        conn.execute("CALL omd.add_module_to_batch('b_live', %s)", (f"live.m{n}",))
    conn.execute("CREATE TABLE public.base (pos timestamptz, id bigint, PRIMARY KEY (pos, id))")
    conn.execute("CALL omd_lineage.register_topic('public.base')")
    for n in range(1, LIVE_TOPICS + 1):
        source = "base" if n == 1 else f"topic{n - 1}"
        conn.execute(
            f"CREATE TABLE public.topic{n}"
            " (pos timestamptz, id bigint, omd_insert_module_instance_id bigint);"
            f" CREATE INDEX ON public.topic{n} (pos, id);"
            f" CREATE VIEW public.transform{n} AS SELECT s.pos, s.id FROM public.{source} AS s"
            " WHERE omd_lineage.in_block(s.pos, s.id)".encode()
        )
        conn.execute(
            "CALL omd_lineage.register_topic(%s, %s, p_transforms => %s, p_repeat => '0')",
            (f"public.topic{n}", [f"public.{source}"], [f"public.transform{n}"]),
        )
    conn.execute("CALL omd_delivery.register_tenant('t')")
    for interface in LIVE_FACTS:
        facts.set_up(conn, interface, changes=False)
    paths.prepare("stage", conn)
    # One run of each shows that it works, and makes its Module.
    conn.execute("CALL omd_decision.run_stage('s')")
    dispatch.new_family(conn, FAMILY)
    conn.execute("CALL omd_event.register_sink('scale', 'PULL')")


# The Modules by their kind, in the order in which runs are dealt to them; and which busy ones.
MODULES = """
INSERT INTO omd.module (
    module_code, area_code, table_code, platform_code, module_kind_code, engine_code
)
SELECT
    k.prefix || n, CASE k.kind WHEN 'JOB' THEN 'HSTG' ELSE 'PRES' END,
    CASE k.kind WHEN 'JOB' THEN 'public.target' || (n - 1) / 10 ELSE k.prefix || n END,
    'POSTGRES', k.kind, CASE WHEN k.kind <> 'JOB' THEN 'POSTGRES' END
FROM (
    VALUES
    (1, 'run.m', 'JOB', {batches} * 10), (2, 'f.t', 'TOPIC', {topics} - {sources}),
    (3, 'facts.i', 'FACTS', {interfaces}), (4, 'stage.s', 'STAGE', {stages})
) AS k (position, prefix, kind, number)
CROSS JOIN LATERAL generate_series(1, k.number) AS n
ORDER BY k.position, n
"""

DEALT = """
CREATE TABLE public.scale_module AS
SELECT
    m.module_id, m.module_code, m.module_kind_code AS kind, m.table_code, b.is_busy,
    row_number() OVER (PARTITION BY b.is_busy ORDER BY m.module_id) - 1 AS idx
FROM omd.module AS m
CROSS JOIN LATERAL (
    SELECT m.module_code !~ '^(run[.]m|f[.]t|facts[.]i|stage[.]s)[0-9]+$' AS is_busy
) AS b
WHERE m.module_kind_code IN ('JOB', 'TOPIC', 'FACTS', 'STAGE');
ALTER TABLE public.scale_module ADD PRIMARY KEY (is_busy, idx);
ANALYZE public.scale_module
"""

# The runs from {first} to {last}: of which Module, which of its runs (k), which came before and
# which comes after.
RUNS = """
(
    SELECT
        n, m.module_id, m.module_code, m.kind, m.table_code, m.idx, m.is_busy, d.k,
        now() - make_interval(days => {days}) + n * (interval '1 second' * {seconds}) AS at,
        now() - make_interval(days => {days})
        + n * (interval '1 second' * {seconds}) + interval '2 seconds' AS ended,
        n % 97 = 0 AS is_failed, s.before_n, s.after_n,
        CASE WHEN d.k > 0 THEN s.before_n % 97 = 0 ELSE FALSE END AS rolls_back,
        -- A Batch Instance has the number of the run of its first Module.
        CASE
            WHEN m.kind = 'JOB' AND m.is_busy THEN n - 10 * m.idx
            WHEN m.kind = 'JOB'
                THEN (r.rank - m.idx % 10) + (r.rank - m.idx % 10 - 1) / 9
            ELSE 0
        END AS batch_n
    FROM generate_series({first}::bigint, {last}) AS n
    CROSS JOIN LATERAL (SELECT n - n / 10 AS rank, n % 10 = 0 AS is_busy) AS r
    CROSS JOIN LATERAL (
        SELECT
            CASE WHEN r.is_busy THEN (n / 10 - 1) % {busy} ELSE (r.rank - 1) % {others} END AS idx,
            CASE WHEN r.is_busy THEN (n / 10 - 1) / {busy} ELSE (r.rank - 1) / {others} END AS k
    ) AS d
    CROSS JOIN LATERAL (
        SELECT
            CASE
                WHEN r.is_busy THEN n - 10 * {busy}
                ELSE (r.rank - {others}) + (r.rank - {others} - 1) / 9
            END AS before_n,
            CASE
                WHEN r.is_busy THEN n + 10 * {busy}
                ELSE (r.rank + {others}) + (r.rank + {others} - 1) / 9
            END AS after_n
    ) AS s
    INNER JOIN public.scale_module AS m ON m.is_busy = r.is_busy AND m.idx = d.idx
) AS r
"""

# A position of the windows of a Module: its k-th run ends at the k-th minute.
POSITION = "timestamptz '2021-01-01 00:00+00' + {k} * interval '1 minute'"

DEFINITIONS = {
    "omd.batch": """
INSERT INTO omd.batch (batch_code, frequency_code)
SELECT 'batch' || n, 'Daily' FROM generate_series(1, {batches}) AS n
""",
    "omd.batch_module": """
INSERT INTO omd.batch_module (batch_id, module_id, sequence)
SELECT b.batch_id, m.module_id, m.idx % 10
FROM public.scale_module AS m
INNER JOIN omd.batch AS b ON b.batch_code = 'batch' || 1 + m.idx / 10
WHERE m.kind = 'JOB' AND NOT m.is_busy
""",
    "omd_lineage.topic (sources)": """
INSERT INTO omd_lineage.topic (
    topic, table_code, depends_on, engine, transforms, delay, repeat, maxstep, before_sql,
    after_sql, source_offset, reload_method, advance_when_quiet, inactive_indicator, updated_by,
    updated_at
)
SELECT
    't.s' || n, 't.s' || n, '{{}}', 'POSTGRES', '{{}}', '0', '1 hour', 1000, '{{}}', '{{}}',
    'HAND', 'DELETE', TRUE, 'N', 'benchmark', now()
FROM generate_series(1, {sources}) AS n
""",
    "omd_lineage.topic": """
INSERT INTO omd_lineage.topic (
    topic, table_code, module_id, depends_on, processor, engine, transforms, delay, repeat,
    maxstep, before_sql, after_sql, source_offset, reload_method, advance_when_quiet,
    inactive_indicator, updated_by, updated_at
)
SELECT
    m.table_code, m.table_code, m.module_id,
    ARRAY(
        SELECT 't.s' || 1 + (m.idx * 7 + k * 13) % {sources} FROM generate_series(1, 5) AS k
    ),
    'STEP', 'POSTGRES', '{{v.x}}', '0', '1 hour', 1000, '{{}}', '{{}}', 'HAND', 'DELETE', TRUE,
    'N', 'benchmark', now()
FROM public.scale_module AS m
WHERE m.kind = 'TOPIC' AND NOT m.is_busy
""",
    "omd_lineage.dependency": """
INSERT INTO omd_lineage.dependency (
    topic_id, ordinal, source_topic_id, is_single, depends_on, table_code
)
SELECT t.topic_id, d.ordinal, s.topic_id, TRUE, d.depends_on, s.table_code
FROM omd_lineage.topic AS t
CROSS JOIN LATERAL unnest(t.depends_on) WITH ORDINALITY AS d (depends_on, ordinal)
INNER JOIN omd_lineage.topic AS s ON s.topic = d.depends_on
WHERE t.updated_by = 'benchmark'
""",
    "omd.module_declaration": """
INSERT INTO omd.module_declaration (module_id, origin, inputs, after_id, looked_upto,
    looked_datetime)
SELECT
    t.module_id, 'ROOM',
    (
        SELECT jsonb_agg(
            jsonb_build_object('id', 'id', 'pos', 'pos', 'kind', 'WINDOW', 'table', d.depends_on)
        )
        FROM unnest(t.depends_on) AS d (depends_on)
    ),
    0, {instances}, now()
FROM omd_lineage.topic AS t
WHERE t.updated_by = 'benchmark' AND t.module_id IS NOT NULL
""",
    "omd.module_input": """
INSERT INTO omd.module_input (
    declaration_id, table_code, declared_code, read_kind, module_id, pos_column, id_column, after_id
)
SELECT d.declaration_id, s.depends_on, s.depends_on, 'WINDOW', t.module_id, 'pos', 'id', 0
FROM omd_lineage.topic AS t
INNER JOIN omd.module_declaration AS d USING (module_id)
CROSS JOIN LATERAL (SELECT DISTINCT unnest(t.depends_on) AS depends_on) AS s
WHERE t.updated_by = 'benchmark'
""",
    "omd_delivery.interface": """
INSERT INTO omd_delivery.interface (interface_code, model_version)
SELECT 'i' || n, 1 FROM generate_series(1, {interfaces}) AS n
""",
    "omd_delivery.agreement": """
INSERT INTO omd_delivery.agreement (
    agreement_code, tenant_id, interface_id, layer_code, completeness, context, settings, options
)
SELECT i.interface_code, t.tenant_id, i.interface_id, 'LVL', 'PARTIAL', '{{}}', '{{}}', '{{}}'
FROM omd_delivery.interface AS i
CROSS JOIN omd_delivery.tenant AS t
WHERE i.interface_code ~ '^i[0-9]+$'
""",
    "omd_facts.interface": """
INSERT INTO omd_facts.interface (
    interface_id, interface_code, model_version, module_id, traveling_now
)
SELECT i.interface_id, i.interface_code, 1, m.module_id, now()
FROM omd_delivery.interface AS i
INNER JOIN public.scale_module AS m
    ON m.module_code = 'facts.' || i.interface_code AND NOT m.is_busy
""",
    "omd_decision.stage": """
INSERT INTO omd_decision.stage (stage_code, module_id, version, start_code, window_code)
SELECT m.module_code, m.module_id, 1, 'NEWS', 'CHANGES'
FROM public.scale_module AS m
WHERE m.kind = 'STAGE' AND NOT m.is_busy
""",
    "omd_decision.stage_version": """
INSERT INTO omd_decision.stage_version (stage_id, version, definition, defined_by)
SELECT s.stage_id, 1, v.definition, 'benchmark'
FROM omd_decision.stage AS s
CROSS JOIN omd_decision.stage_version AS v
INNER JOIN omd_decision.stage AS o ON o.stage_id = v.stage_id AND o.stage_code = 's'
WHERE s.stage_code <> 's'
""",
    "omd.source": """
INSERT INTO omd.source (source_code, source_kind_code, pos, id)
SELECT 'facts.i' || n, 'FACTS', '-infinity', 0 FROM generate_series(1, {interfaces}) AS n
""",
    "omd.source_table": """
INSERT INTO omd.source_table (table_code, source_code)
SELECT 'gdal_i' || n || '.e', 'facts.i' || n FROM generate_series(1, {interfaces}) AS n
""",
    "omd_decision.stage_source": """
INSERT INTO omd_decision.stage_source (stage_id, table_code)
SELECT s.stage_id, 'gdal_i' || 1 + s.stage_id % {interfaces} || '.e'
FROM omd_decision.stage AS s
WHERE s.stage_code <> 's'
""",
    "omd.source_reader": """
INSERT INTO omd.source_reader (module_id, table_code, source_code)
SELECT s.module_id, t.table_code, p.source_code
FROM omd_decision.stage AS s
INNER JOIN omd_decision.stage_source AS t USING (stage_id)
INNER JOIN omd.source_table AS p USING (table_code)
WHERE s.stage_code <> 's'
ON CONFLICT DO NOTHING
""",
    "omd.module_state": """
INSERT INTO omd.module_state (module_id, failures, looks, not_before, failed_since)
SELECT m.module_id, 3, 0, now() + interval '1 hour', now()
FROM public.scale_module AS m
WHERE m.idx % 100 = 7 AND NOT m.is_busy
ON CONFLICT DO NOTHING
""",
}

# Each is written in parts of a million runs.
HISTORY = {
    "omd.batch_instance": """
INSERT INTO omd.batch_instance (
    batch_instance_id, batch_id, start_datetime, end_datetime, execution_status_code,
    processing_indicator, next_run_indicator, started_by, has_proceeded
)
OVERRIDING SYSTEM VALUE
SELECT r.n, b.batch_id, r.at, r.ended, 'S', 'P', 'P', 'benchmark', TRUE
FROM {runs}
INNER JOIN omd.batch AS b
    ON b.batch_code = CASE WHEN r.is_busy THEN 'b_live' ELSE 'batch' || 1 + r.idx / 10 END
WHERE r.kind = 'JOB' AND r.batch_n = r.n
ORDER BY r.n
""",
    "omd.module_instance": """
INSERT INTO omd.module_instance (
    module_instance_id, module_id, batch_instance_id, rolled_back_by_module_instance_id,
    start_datetime, end_datetime, rows_inserted, execution_status_code, processing_indicator,
    next_run_indicator, rollback_instance_array, started_by, success_order, newest_instance_id,
    has_proceeded
)
OVERRIDING SYSTEM VALUE
SELECT
    r.n, r.module_id, r.batch_n,
    CASE WHEN r.is_failed AND r.after_n <= {instances} THEN r.after_n END, r.at, r.ended,
    r.k % 1000,
    CASE WHEN r.is_failed THEN 'F' ELSE 'S' END, 'P',
    CASE WHEN r.is_failed AND r.after_n > {instances} THEN 'R' ELSE 'P' END,
    CASE WHEN r.rolls_back THEN ARRAY[r.before_n] ELSE '{{}}' END, 'benchmark',
    CASE WHEN NOT r.is_failed THEN r.n END, r.n, TRUE
FROM {runs}
ORDER BY r.n
""",
    "omd.source_control": """
INSERT INTO omd.source_control (
    module_instance_id, start_id, end_id, start_value, end_value, module_id, source_code,
    is_taken_back
)
SELECT
    r.n, r.k - r.rolls_back::integer, r.k + 1, {position_start}, {position_k1}, r.module_id,
    CASE WHEN r.kind = 'STAGE' THEN s.source_code END, r.is_failed AND r.after_n <= {instances}
FROM {runs}
LEFT JOIN omd.source_reader AS s ON r.kind = 'STAGE' AND s.module_id = r.module_id
WHERE r.kind = 'TOPIC' OR s.module_id IS NOT NULL
ORDER BY r.n
""",
    "omd.run_input": """
INSERT INTO omd.run_input (module_instance_id, table_code, source_instances)
SELECT
    r.n, 'in.t' || (r.module_id * 7 + i) % 1000,
    CASE WHEN i = 0 AND r.n > 1000 THEN ARRAY[r.n - 1000, r.n - 999] END
FROM {runs}
CROSS JOIN generate_series(0, {inputs}) AS i
WHERE r.kind = 'JOB'
ORDER BY r.n, i
ON CONFLICT DO NOTHING
""",
    "omd.write_ledger": """
INSERT INTO omd.write_ledger (
    module_instance_id, write_number, row_count, write_datetime, partition_number, table_code
)
SELECT r.n, 1, 100, r.ended, 0, r.table_code
FROM {runs}
WHERE r.kind = 'JOB'
ORDER BY r.n
""",
    "omd_lineage.log": """
INSERT INTO omd_lineage.log (
    module_instance_id, rows, max_id, ts, min_ts, max_ts, topic_id, topic, query_id
)
SELECT
    r.n, 100, r.k + 1, r.ended, {position_k}, {position_k1}, t.topic_id, t.topic,
    'pid 1, transaction ' || r.n
FROM {runs}
INNER JOIN omd_lineage.topic AS t USING (module_id)
WHERE r.kind = 'TOPIC' AND NOT r.is_failed
ORDER BY r.n
""",
    "omd_delivery.delivery": """
INSERT INTO omd_delivery.delivery (
    delivery_id, agreement_id, interface_id, layer_code, snapshot_datetime, delivery_status,
    verdict, delete_type, include_existing, context, reasons, created_datetime, status_datetime,
    created_by
)
OVERRIDING SYSTEM VALUE
SELECT
    r.n, a.agreement_id, f.interface_id, 'LVL', {position_k1}, 'PERSISTED', 'ACCEPTED', 'LOGICAL',
    TRUE, '{{}}', '[]', r.at, r.ended, 'benchmark'
FROM {runs}
INNER JOIN omd_facts.interface AS f USING (module_id)
INNER JOIN omd_delivery.agreement AS a USING (interface_id)
WHERE r.kind = 'FACTS'
ORDER BY r.n
""",
    "omd_delivery.delivery_event": """
INSERT INTO omd_delivery.delivery_event (
    delivery_id, from_status, to_status, event, attempt, editor, event_datetime
)
SELECT r.n, e.from_status, e.to_status, e.event, 0, 'benchmark', r.ended
FROM {runs}
CROSS JOIN (
    VALUES
    (NULL, 'RECEIVED', 'insert_delivery'), ('ACCEPTED', 'PERSISTED', 'finish_queue_item')
) AS e (from_status, to_status, event)
WHERE r.kind = 'FACTS'
ORDER BY r.n
""",
    "omd_delivery.delta_queue": """
INSERT INTO omd_delivery.delta_queue (
    delivery_id, interface_id, snapshot_datetime, queue_status, queued_datetime, started_datetime,
    finished_datetime, module_instance_id, model_version
)
SELECT r.n, f.interface_id, {position_k1}, 'PERSISTED', r.at, r.at, r.ended, r.n, 1
FROM {runs}
INNER JOIN omd_facts.interface AS f USING (module_id)
WHERE r.kind = 'FACTS'
ORDER BY r.n
""",
    "omd_facts.load_log": """
INSERT INTO omd_facts.load_log (
    module_instance_id, interface_id, queue_id, delivery_id, load_kind, transaction_datetime,
    entity_ids, row_counts, former_marks, loaded_datetime
)
SELECT
    r.n, q.interface_id, q.queue_id, q.delivery_id, 'LOAD', q.snapshot_datetime, '{{}}', '{{}}',
    '{{}}', q.finished_datetime
FROM {runs}
INNER JOIN omd_delivery.delta_queue AS q ON q.delivery_id = r.n
WHERE r.kind = 'FACTS' AND NOT r.is_failed
ORDER BY r.n
""",
    "omd_decision.run": """
INSERT INTO omd_decision.run (
    module_instance_id, stage_id, stage_version, ruleset_id, ruleset_version, content_hash, engine,
    batch_size, effective_at, begun_at, waves, attempts, cycles, invocations
)
SELECT
    r.n, s.stage_id, 1, v.ruleset_id, v.version, v.content_hash, 'POSTGRES', 1, r.at, r.at, 1, 1, 1,
    1
FROM {runs}
INNER JOIN omd_decision.stage AS s USING (module_id)
CROSS JOIN omd_decision.ruleset_version AS v
WHERE r.kind = 'STAGE'
ORDER BY r.n
""",
    "omd_decision.cycle": """
INSERT INTO omd_decision.cycle (module_instance_id, cycle_no, invocation_no, inputs, outputs)
SELECT r.n, 1, 1, '{{"a": [1]}}', '{{"o": 1}}'
FROM {runs}
WHERE r.kind = 'STAGE'
ORDER BY r.n
""",
    "omd.event_log": """
INSERT INTO omd.event_log (
    module_instance_id, event_datetime, event_type_code, event_return_code_details, event_detail
)
SELECT r.n, r.ended, 2, 'P0001', 'The source answered nothing.'
FROM {runs}
WHERE r.is_failed
ORDER BY r.n
""",
    "omd_event.event": """
INSERT INTO omd_event.event (
    event_number, event_type, subject_type, subject_id, code, started_datetime, event_datetime,
    published_datetime, event_uuid, detail
)
SELECT
    (r.n - 1) * {per_run} + e,
    CASE
        WHEN e = 1 THEN 'RUN_BEGAN'
        WHEN e = 2 AND r.is_failed THEN 'RUN_FAILED'
        WHEN e = 2 THEN 'RUN_SUCCEEDED'
        ELSE 'LAKE_COMMITTED'
    END,
    CASE WHEN e <= 2 THEN 'MODULE' ELSE 'LAKE_COMMIT' END, r.n, r.module_code, r.at,
    CASE WHEN e = 1 THEN r.at ELSE r.ended END, r.ended, NULL, '{{}}'
FROM {runs}
CROSS JOIN generate_series(1, {per_run}) AS e
ORDER BY r.n, e
""",
    "omd_dispatch.task_data_scale (ended)": """
INSERT INTO omd_dispatch.task_data_scale (
    task_id, partition_code, task_type, lane, priority, execution_time, status, attempt, created_at,
    finished_at, outcome, error, func_code
)
SELECT
    (n - 1) * {ended_per_run} + e, ({today} + 7 - (n * 6 / {instances})) % 8, 'T',
    'G' || '{family}', 5, d.at,
    CASE WHEN n % 1000 = 0 AND e = 1 THEN 'DEAD' ELSE 'DONE' END, 1, d.at, d.at,
    CASE WHEN n % 1000 = 0 AND e = 1 THEN 'F' ELSE 'S' END,
    CASE WHEN n % 1000 = 0 AND e = 1 THEN 'ValueError: no such row' END, n % 1000
FROM generate_series({first}::bigint, {last}) AS n
CROSS JOIN generate_series(1, {ended_per_run}) AS e
CROSS JOIN LATERAL (
    SELECT now() - make_interval(days => 1 + (n * 6 / {instances})::integer) AS at
) AS d
""",
}

# What follows from the history.
AFTER = {
    "omd_dispatch.task_data_scale (pending)": """
INSERT INTO omd_dispatch.task_data_scale (
    task_id, partition_code, task_type, lane, priority, execution_time, status, attempt, created_at,
    func_code
)
SELECT
    {ended_per_run} * {instances} + n, {today}, 'T', 'G' || '{family}', 5,
    now() + (n - {pending} / 2) * interval '1 second' * 7200 / {pending}, 'PENDING', 0, now(),
    n % 1000
FROM generate_series(1, {pending}) AS n
""",
    "omd_lineage.offsets": """
INSERT INTO omd_lineage.offsets (
    topic_id, topic, last, run, waiting_since, processor, state, rows, is_full
)
SELECT
    t.topic_id, t.topic, ROW({position_w}, w.k)::omd_lineage.row_position,
    now() - interval '2 hours', now(), t.processor,
    CASE WHEN t.module_id IS NULL THEN '' ELSE 'DONE' END, 100, TRUE
FROM omd_lineage.topic AS t
LEFT JOIN (
    SELECT s.module_id, max(s.end_id) AS k
    FROM omd.source_control AS s
    INNER JOIN omd.module_instance AS i USING (module_instance_id)
    WHERE i.execution_status_code = 'S'
    GROUP BY s.module_id
) AS o ON o.module_id = t.module_id
CROSS JOIN LATERAL (
    -- A twentieth of the sources has news.
    SELECT coalesce(
        o.k,
        {instances} / ({others} * 10 / 9 + 1) + CASE t.topic_id % 20 WHEN 0 THEN 5 ELSE 0 END
    ) AS k
) AS w
WHERE t.updated_by = 'benchmark'
""",
    "omd.source (positions)": """
UPDATE omd.source AS s SET pos = {position_w}, id = w.k
FROM (
    SELECT c.source_code, max(c.end_id) AS k
    FROM omd.source_control AS c
    WHERE c.source_code ~ '^facts[.]i[0-9]'
    GROUP BY c.source_code
) AS w
WHERE w.source_code = s.source_code
""",
    "omd_facts.interface (marks)": """
UPDATE omd_facts.interface AS f SET traveling_now = w.snapshot_datetime
FROM (
    SELECT q.interface_id, max(q.snapshot_datetime) AS snapshot_datetime
    FROM omd_delivery.delta_queue AS q
    GROUP BY q.interface_id
) AS w
WHERE w.interface_id = f.interface_id
""",
    "omd_event.setting": """
UPDATE omd_event.setting SET
    event_number = (SELECT max(e.event_number) FROM omd_event.event AS e),
    module_instance_id = {instances}, batch_instance_id = {instances},
    keep = make_interval(days => {days} - 1)
""",
    "omd_event.sink": """
UPDATE omd_event.sink SET
    event_number = (SELECT max(e.event_number) FROM omd_event.event AS e),
    taken_upto = (SELECT max(e.event_number) FROM omd_event.event AS e)
""",
}

# The live topics go on where their history ends.
LIVE_OFFSETS = """
UPDATE omd_lineage.offsets AS o SET last = ROW({position_w}, w.k)::omd_lineage.row_position
FROM (
    SELECT t.topic_id, s.end_id AS k
    FROM omd_lineage.topic AS t
    CROSS JOIN LATERAL (
        SELECT max(c.end_id) AS end_id FROM omd.source_control AS c
        INNER JOIN omd.module_instance AS i USING (module_instance_id)
        WHERE c.module_id = t.module_id AND i.execution_status_code = 'S'
    ) AS s
    WHERE t.updated_by <> 'benchmark'
) AS w
WHERE w.topic_id = o.topic_id
"""

SEQUENCES = {
    "omd.module_instance_module_instance_id_seq": "omd.module_instance (module_instance_id)",
    "omd.batch_instance_batch_instance_id_seq": "omd.batch_instance (batch_instance_id)",
    "omd.success_order": "omd.module_instance (module_instance_id)",
    "omd_delivery.delivery_delivery_id_seq": "omd_delivery.delivery (delivery_id)",
    "omd_dispatch.task_id": "omd_dispatch.task_data_scale (task_id)",
}

# Each counts what must not be: a row that refers to one that isn't there, or that no call leaves.
CHECKS = {
    "runs without a Module": "SELECT count(*) FROM omd.module_instance AS i WHERE NOT EXISTS"
    " (SELECT FROM omd.module AS m WHERE m.module_id = i.module_id) AND i.module_instance_id > 0",
    "runs without their Batch Instance": "SELECT count(*) FROM omd.module_instance AS i"
    " WHERE i.batch_instance_id <> 0 AND NOT EXISTS (SELECT FROM omd.batch_instance AS b"
    " WHERE b.batch_instance_id = i.batch_instance_id)",
    "rollbacks of another Module": "SELECT count(*) FROM omd.module_instance AS i"
    " INNER JOIN omd.module_instance AS o"
    " ON o.module_instance_id = i.rolled_back_by_module_instance_id"
    " WHERE o.module_id <> i.module_id OR NOT i.module_instance_id = ANY"
    " (o.rollback_instance_array)",
    "windows without a run of that Module": "SELECT count(*) FROM omd.source_control AS s"
    " WHERE NOT EXISTS (SELECT FROM omd.module_instance AS i"
    " WHERE i.module_instance_id = s.module_instance_id AND i.module_id = s.module_id)",
    "windows that leave a gap": "SELECT count(*) FROM (SELECT s.start_id, lag(s.end_id) OVER"
    " (PARTITION BY s.module_id ORDER BY s.module_instance_id) AS former FROM omd.source_control"
    " AS s WHERE NOT s.is_taken_back) AS w WHERE w.former <> w.start_id",
    "dependencies without a topic": "SELECT count(*) FROM omd_lineage.dependency AS d"
    " WHERE NOT EXISTS (SELECT FROM omd_lineage.topic AS t WHERE t.topic_id = d.source_topic_id)",
    "deliveries without an agreement": "SELECT count(*) FROM omd_delivery.delivery AS d"
    " WHERE NOT EXISTS (SELECT FROM omd_delivery.agreement AS a"
    " WHERE a.agreement_id = d.agreement_id AND a.interface_id = d.interface_id)",
    "loads without a delivery": "SELECT count(*) FROM omd_facts.load_log AS l"
    " WHERE NOT EXISTS (SELECT FROM omd_delivery.delivery AS d"
    " WHERE d.delivery_id = l.delivery_id)",
    "decisions without a stage": "SELECT count(*) FROM omd_decision.run AS r"
    " WHERE NOT EXISTS (SELECT FROM omd_decision.stage_version AS s"
    " WHERE s.stage_id = r.stage_id AND s.version = r.stage_version)",
}


def scalar(conn: Connection, query: str, *given: object) -> Any:
    """Return the one value of a query."""
    row = conn.execute(query.encode(), given).fetchone()
    assert row is not None
    return row[0]


def fill(conn: Connection, size: Size, say: Callable[[str], None], years: int = YEARS) -> None:
    """Write everything into a database where OMD has just been installed; check and analyse it."""
    live(conn)
    days = years * 365
    sources = size.topics // 5
    fixed: dict[str, Any] = {
        "batches": size.batches,
        "topics": size.topics,
        "sources": sources,
        "interfaces": size.interfaces,
        "stages": size.stages,
        "instances": size.instances,
        "pending": size.pending,
        "per_run": size.events // size.instances,
        "ended_per_run": size.ended // size.instances,
        "family": FAMILY,
        "days": days,
        "seconds": days * 86400 / size.instances,
        "position_k": POSITION.format(k="r.k"),
        "position_start": POSITION.format(k="(r.k - r.rolls_back::integer)"),
        "position_k1": POSITION.format(k="(r.k + 1)"),
        "position_w": POSITION.format(k="w.k"),
        "today": "omd_dispatch._partition_code('DAY_RING', 8, now())",
    }

    def take(name: str, statement: str, **more: object) -> None:
        with conn.transaction():
            # No trigger writes an edit or an event of what has long been told.
            conn.execute("SET LOCAL session_replication_role = replica")
            conn.execute("SET LOCAL work_mem = '256MB'")
            conn.execute(statement.format(**fixed, **more).encode())

    def part(name: str, statements: dict[str, str], last: int | None) -> None:
        for table, statement in statements.items():
            start = time.perf_counter()
            if last is None:
                take(table, statement)
            else:
                for first in range(1, last + 1, 1_000_000):
                    bounds = {"first": first, "last": min(first + 999_999, last)}
                    take(
                        table,
                        statement,
                        **bounds,
                        runs=RUNS.format(**fixed, **bounds) if "{runs}" in statement else "",
                    )
            say(f"{name}: {table} {time.perf_counter() - start:.1f} s")

    # What the calls of live() have left is not part of the history.
    with conn.transaction():
        conn.execute("SET LOCAL session_replication_role = replica")
        for table in ("omd.module_instance", "omd_decision.run", "omd_decision.cycle"):
            conn.execute(f"DELETE FROM {table} WHERE module_instance_id > 0".encode())
    conn.execute(TARGETS.format(batches=size.batches).encode())
    conn.execute("CREATE SCHEMA t")
    for first in range(1, sources + 1, 1000):  # each has locks to its end
        last = min(first + 999, sources)
        conn.execute(SOURCES.format(first=first, last=last).encode())
    take("omd.module", MODULES)
    for statement in DEALT.split(";\n"):
        conn.execute(statement.encode())
    for name, is_busy in (("busy", True), ("others", False)):
        fixed[name] = scalar(
            conn, "SELECT count(*) FROM public.scale_module WHERE is_busy = %s", is_busy
        )
    fixed["inputs"] = max(0, ledger_inputs(conn, size) - 1)
    part("definitions", DEFINITIONS, None)
    conn.execute("ANALYZE")
    part("history", HISTORY, size.instances)
    conn.execute("ANALYZE")
    part("after", {**AFTER, "omd_lineage.offsets (live)": LIVE_OFFSETS}, None)
    for sequence, column in SEQUENCES.items():
        table, name = column.rstrip(")").split(" (")
        conn.execute(f"SELECT setval('{sequence}', greatest(1, max({name}))) FROM {table}".encode())
    start = time.perf_counter()
    conn.execute("VACUUM (ANALYZE)")
    say(f"VACUUM (ANALYZE) {time.perf_counter() - start:.1f} s")
    for name, query in CHECKS.items():
        wrong = scalar(conn, query)
        assert not wrong, f"{wrong} {name}"
    say(f"{len(CHECKS)} checks of the references hold")
    conn.execute("CHECKPOINT")


def ledger_inputs(conn: Connection, size: Size) -> int:
    """Return how many inputs a run of a JOB records, so that the ledger has its rows.

    The ledger is the windows (of topics and of stages), the writes and the inputs of runs.
    """
    kinds = dict(
        conn.execute(
            "SELECT kind, count(*) FROM public.scale_module WHERE NOT is_busy GROUP BY kind"
        ).fetchall()
    )
    whole = sum(kinds.values())
    windows = size.instances * (kinds["TOPIC"] + kinds["STAGE"]) / whole
    jobs = size.instances * kinds["JOB"] / whole
    return max(1, round((size.ledger - windows - jobs) / jobs))


def small(conn: Connection, size: float = 1) -> None:
    """Fill a database with a two-hundredth of a company, or a part of that."""
    fill(conn, Size.of(size / 200, size / 200), lambda _: None)

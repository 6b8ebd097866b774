"""Topics, and their steps."""

from __future__ import annotations

from bench.turns import Connection

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


def register(conn: Connection, topics: int, *, is_analysed: bool = True) -> None:
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


def make_topic(conn: Connection) -> None:
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


def step(conn: Connection) -> None:
    """Take a step of the topic public.fact."""
    row = conn.execute("CALL omd_lineage.step('public.fact')").fetchone()
    assert row is not None and row[0] == "DONE", row


def copies(conn: Connection, schema: str, source: str, topics: list[str]) -> None:
    """Make the schema with a table that is a source, and topics that each copy its rows."""
    conn.execute(
        f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.{source} (pos timestamptz, id bigint);"
        f"CREATE INDEX ON {schema}.{source} (pos, id);"
        f"CALL omd_lineage.register_topic('{schema}.{source}')".encode()
    )
    for name in topics:
        conn.execute(
            f"CREATE TABLE {schema}.{name} (pos timestamptz, id bigint,"
            f" omd_insert_module_instance_id bigint); CREATE INDEX ON {schema}.{name} (pos, id);"
            f"CREATE VIEW {schema}.v_{name} AS SELECT b.pos, b.id FROM {schema}.{source} AS b"
            " WHERE omd_lineage.in_block(b.pos, b.id);"
            f"CALL omd_lineage.register_topic('{schema}.{name}', ARRAY['{schema}.{source}'],"
            f" p_transforms => ARRAY['{schema}.v_{name}'], p_repeat => '0')".encode()
        )

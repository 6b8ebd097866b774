"""What depends on a commit is asked for alone: others cost nothing, whatever the statistics say.

The database was never analysed. Rows are counted, and no time is.
"""

from __future__ import annotations

import contextlib
from functools import cache
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg.types.string import TextLoader

from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from support.scenes import Built, Place

    Connection = psycopg.Connection[Any]

# A chain of topics, a stage that reads its last table, and an interface.
CHAIN = """
    CREATE SCHEMA app;
    CREATE TABLE app.c0 (pos timestamptz, id bigint);
    CREATE INDEX ON app.c0 (pos, id);
    CALL omd_lineage.register_topic('app.c0');
    INSERT INTO app.c0 VALUES (now() - interval '2 minutes', 1), (now() - interval '1 minute', 2);
"""
TOPICS = 3
# 2,000 topics with five dependencies each, on 400 sources, 500 stages and 100 interfaces.
OTHERS = """
    INSERT INTO omd.module (
        module_code, area_code, table_code, platform_code, module_kind_code, engine_code
    )
    SELECT k.prefix || n, 'PRES', k.prefix || n, 'POSTGRES', k.kind, 'POSTGRES'
    FROM (
        VALUES ('f.t', 'TOPIC', 2000), ('facts.i', 'FACTS', 100), ('stage.s', 'STAGE', 500)
    ) AS k (prefix, kind, n_max)
    CROSS JOIN LATERAL generate_series(1, k.n_max) AS n;
    INSERT INTO omd_lineage.topic (
        topic, table_code, module_id, depends_on, processor, engine, transforms, delay, repeat,
        maxstep, before_sql, after_sql, source_offset, reload_method, advance_when_quiet,
        inactive_indicator, updated_by, updated_at
    )
    SELECT
        t.topic, t.topic, t.module_id, t.depends_on, t.processor, 'POSTGRES', t.transforms, '0',
        '1 hour', 1000, '{}', '{}', 'HAND', 'TRUNCATE', TRUE, 'N', 'test', now()
    FROM (
        SELECT
            's.t' || n AS topic, NULL::integer AS module_id, '{}'::text[] AS depends_on,
            NULL AS processor, '{}'::text[] AS transforms
        FROM generate_series(1, 400) AS n
        UNION ALL
        SELECT
            m.module_code, m.module_id,
            ARRAY(
                SELECT 's.t' || (1 + (m.module_id * 7 + k * 13) % 400)
                FROM generate_series(1, 5) AS k
            ),
            'STEP', '{v.x}'
        FROM omd.module AS m WHERE m.module_kind_code = 'TOPIC' AND m.module_code LIKE 'f.t%'
    ) AS t;
    INSERT INTO omd_lineage.offsets (topic_id, topic, last, run, waiting_since)
    SELECT
        t.topic_id, t.topic,
        ROW(timestamptz '2024-01-01' + t.topic_id * interval '1 min', 1)::omd_lineage.row_position,
        now() - interval '2 hours', now()
    FROM omd_lineage.topic AS t WHERE t.topic LIKE ANY(ARRAY['s.t%', 'f.t%']);
    SELECT omd_lineage._resolve_dependencies(t.topic_id)
    FROM omd_lineage.topic AS t WHERE t.topic LIKE 'f.t%';
    INSERT INTO omd_delivery.interface (interface_code, model_version)
    SELECT 'i' || n, 1 FROM generate_series(1, 100) AS n;
    INSERT INTO omd_facts.interface (interface_id, interface_code, model_version, module_id)
    SELECT i.interface_id, i.interface_code, 1, m.module_id
    FROM omd_delivery.interface AS i
    INNER JOIN omd.module AS m ON m.module_code = 'facts.' || i.interface_code;
    INSERT INTO omd_delivery.delta_queue (
        delivery_id, interface_id, snapshot_datetime, queue_status
    )
    SELECT i.interface_id * 1000 + n, i.interface_id, now(),
        CASE WHEN n > 15 THEN 'QUEUED' ELSE 'PERSISTED' END
    FROM omd_delivery.interface AS i CROSS JOIN generate_series(1, 20) AS n;
    INSERT INTO omd_decision.stage (stage_code, module_id, version, start_code, window_code)
    SELECT m.module_code, m.module_id, 1, 'NEWS', 'CHANGES'
    FROM omd.module AS m WHERE m.module_kind_code = 'STAGE';
    INSERT INTO omd_decision.stage_version (stage_id, version, definition, defined_by)
    SELECT s.stage_id, 1, '{}', 'test' FROM omd_decision.stage AS s;
    INSERT INTO omd.source (source_code, source_kind_code, pos, id)
    SELECT 'facts.i' || n, 'FACTS', '2026-01-01 00:00:00+00', 6 FROM generate_series(1, 100) AS n;
    INSERT INTO omd.source_table (table_code, source_code)
    SELECT 'gdal_i' || n || '.e', 'facts.i' || n FROM generate_series(1, 100) AS n;
    INSERT INTO omd_decision.stage_source (stage_id, table_code)
    SELECT s.stage_id, 'gdal_i' || 1 + s.stage_id % 100 || '.e' FROM omd_decision.stage AS s;
"""
READ = """
    SELECT coalesce(sum(s.seq_tup_read + coalesce(s.idx_tup_fetch, 0)), 0)::bigint AS rows
    FROM pg_stat_xact_all_tables AS s WHERE s.schemaname LIKE 'omd%'
"""
# What is asked after a commit, or for a few.
QUERIES = {
    "near": "SELECT * FROM omd_lineage.ready_near('{app.c1}')",
    "a topic": "SELECT * FROM omd_lineage.ready_list_by_topic WHERE topic = 'app.c2'",
    "topics": "SELECT * FROM omd_lineage.ready_list_by_topic"
    " WHERE topic = ANY('{app.c1,app.c2}') AND is_ready",
    "tasks of a topic": "SELECT * FROM omd_report.ready_tasks_near('{app.c1}', '{app.c1}', '[]')",
    "tasks of nothing": "SELECT * FROM omd_report.ready_tasks_near('{}', '{app.x}', '[]')",
    "readers": "SELECT * FROM omd_report.lineage_graph WHERE source_topic = 'app.c1'",
}


@pytest.fixture
def dsn(
    scene_place: Place, new_database: Callable[..., AbstractContextManager[str]]
) -> Iterator[str]:
    """A database of its own: that of other tests is analysed now and then."""
    scene_place.is_settled = True
    with new_database(scene_place.original) as dsn:
        yield dsn


@pytest.fixture
def conn(connect: Callable[..., Connection]) -> Connection:
    """A connection to it."""
    return connect()


def lay_chain(conn: Connection) -> None:
    """Make topics app.c1 to app.c3 over the source app.c0; the first is ready. Work is on."""
    conn.adapters.register_loader("timestamptz", TextLoader)  # a first block has no start
    conn.execute(CHAIN.encode())
    for n in range(1, TOPICS + 1):
        conn.execute(
            f"CREATE TABLE app.c{n} (pos timestamptz, id bigint,"
            " omd_insert_module_instance_id bigint);"
            f"CREATE INDEX ON app.c{n} (pos, id);"
            f"CREATE VIEW app.v{n} AS SELECT b.pos, b.id FROM app.c{n - 1} AS b"
            " WHERE omd_lineage.in_block(b.pos, b.id);"
            f"CALL omd_lineage.register_topic('app.c{n}', ARRAY['app.c{n - 1}'],"
            f" p_transforms => ARRAY['app.v{n}'], p_repeat => '0')".encode()
        )
    conn.execute("CALL omd_lineage.probe_sources()")
    conn.execute("CALL omd_dispatch.set_work(TRUE)")


@pytest.fixture
def chain(conn: Connection) -> Connection:
    lay_chain(conn)
    return conn


def add_others(conn: Connection) -> None:
    """Add them, without statistics."""
    with conn.transaction():
        conn.execute("SET LOCAL session_replication_role = replica")
        conn.execute(OTHERS.encode())


def lay_both(flow: Flow) -> None:
    lay_chain(flow.conn)
    add_others(flow.conn)


@pytest.fixture
def beside(built: Built, connect: Callable[..., Connection]) -> Connection:
    """The chain beside the others, in a new session."""
    built(Flow, lay_both)
    return connect()


def rows_read(conn: Connection, query: str) -> int:
    """Return how many rows of tables of OMD a query has read; its plan is kept."""
    for _ in range(2):
        with conn.transaction(force_rollback=True):
            conn.execute(query.encode())
    with conn.transaction(force_rollback=True):
        before = conn.execute(READ.encode()).fetchone()
        conn.execute(query.encode())
        after = conn.execute(READ.encode()).fetchone()
    assert before is not None
    assert after is not None
    return int(after["rows"] - before["rows"])


@pytest.fixture(scope="module")
def asked(
    new_database: Callable[..., AbstractContextManager[str]],
) -> Callable[[str], dict[str, tuple[int, int, int]]]:
    """A function that asks all queries in one database, each in sessions of its own.

    It returns the rows that each has read: alone, beside the others, and there in a new session.
    """

    @cache
    def asked(statistics: str) -> dict[str, tuple[int, int, int]]:
        with new_database() as dsn, contextlib.ExitStack() as stack:

            def session() -> Connection:
                conn = psycopg.connect(dsn, autocommit=True, row_factory=dict_row)
                return stack.enter_context(contextlib.closing(conn))

            chain = session()
            lay_chain(chain)
            if statistics == "of nothing":  # the pages are there, and no rows
                with chain.transaction(force_rollback=True):
                    add_others(chain)
            if statistics != "none":
                chain.execute("ANALYZE")
            kept = {name: session() for name in QUERIES}
            alone = {name: rows_read(kept[name], query) for name, query in QUERIES.items()}
            add_others(chain)
            for conn in kept.values():  # makes plans anew, as in the session that has added them
                conn.execute("SET session_replication_role = replica")
                conn.execute("RESET session_replication_role")
            return {
                name: (alone[name], rows_read(kept[name], query), rows_read(session(), query))
                for name, query in QUERIES.items()
            }

    return asked


@pytest.mark.parametrize("statistics", ["none", "of before", "of nothing"])
@pytest.mark.parametrize("name", QUERIES)
def test_what_is_asked_of_a_few_reads_no_other_rows_beside_many(
    asked: Callable[[str], dict[str, tuple[int, int, int]]], name: str, statistics: str
) -> None:
    alone, kept, fresh = asked(statistics)[name]
    assert max(kept, fresh) <= alone + 10, (alone, kept, fresh)


@pytest.mark.usefixtures("by_hand")
def test_a_step_reads_no_other_rows_beside_many(beside: Connection) -> None:
    def read() -> int:
        beside.execute("SELECT pg_stat_force_next_flush()")
        row = beside.execute(
            "SELECT sum(s.seq_tup_read + coalesce(s.idx_tup_fetch, 0))::bigint AS rows"
            " FROM pg_stat_all_tables AS s WHERE s.schemaname LIKE 'omd%'"
        ).fetchone()
        assert row is not None
        return int(row["rows"])

    for _ in range(2):
        beside.execute("CALL omd_lineage.step('app.c3')")
    before = read()
    beside.execute("CALL omd_lineage.step('app.c3')")
    assert read() - before < 200


@pytest.mark.parametrize(
    ("codes", "interface", "most"),
    [
        (["facts.i7"], None, 500),  # and the stages that read it; interfaces are few
        ([], "i7", 300),
        (["stage.s7"], None, 100),
    ],
)
def test_facts_and_stages_are_asked_for_by_what_was_committed(
    beside: Connection, codes: list[str], interface: str | None, most: int
) -> None:
    told = beside.execute(
        "SELECT coalesce(jsonb_agg(to_jsonb(i)), '[]')::text AS news FROM ("
        " SELECT interface_id FROM omd_delivery.interface WHERE interface_code = %s) AS i",
        [interface],
    ).fetchone()
    assert told is not None
    news = told["news"]
    query = f"SELECT * FROM omd_report.ready_tasks_near('{{{','.join(codes)}}}', '{{}}', '{news}')"
    rows = beside.execute(query.encode()).fetchall()
    found = {(row["task_type"], row["code"], row["kind"]) for row in rows}
    if codes == ["facts.i7"]:
        stages = {row for row in found if row[2] == "STAGE"}
        assert len(stages) == 5
        assert found - stages == {("DATABASE", "facts.i7", "FACTS")}
    elif codes:
        assert found == {("DATABASE", "stage.s7", "STAGE")}
    else:
        assert found == {("DATABASE", "facts.i7", "FACTS")}
    assert rows_read(beside, query) <= most


def test_what_is_near_is_ready_as_the_whole_list_says(beside: Connection) -> None:
    beside.adapters.register_loader("timestamptz", TextLoader)
    codes = [
        row["module_code"]
        for row in beside.execute(
            "SELECT module_code FROM omd.module WHERE module_code ~ '[05]$' ORDER BY 1"
        )
    ]
    near = beside.execute(
        "SELECT code, kind FROM omd_report.ready_tasks_near(%s, '{}', '[]')", (codes,)
    ).fetchall()
    whole = beside.execute("SELECT * FROM omd_report.work_tasks_database").fetchall()
    listed = {(row["code"], row["kind"]) for row in whole}
    found = {(row["code"], row["kind"]) for row in near}
    assert found <= listed
    assert {row for row in listed if row[0] in codes} <= found
    assert len(near) == len(found)
    assert len(found) > 100


def test_what_is_switched_off_is_not_near(chain: Connection) -> None:
    query = "SELECT * FROM omd_report.ready_tasks_near('{}', '{app.c1}', '[]')"
    assert [row["code"] for row in chain.execute(query.encode())] == ["app.c1"]
    chain.execute("CALL omd_dispatch.set_work(FALSE)")
    assert chain.execute(query.encode()).fetchall() == []


def test_a_topic_with_a_live_task_is_not_near(chain: Connection) -> None:
    query = "SELECT * FROM omd_report.ready_tasks_near('{app.c1}', '{}', '[]')"
    chain.execute(
        "CALL omd_dispatch.create_task('WORK', 'DATABASE', '{\"CODE\": \"app.c1\","
        ' "KIND": "TOPIC"}\')'
    )
    assert chain.execute(query.encode()).fetchall() == []


def test_tables_said_by_hand_do_not_hold_up_those_that_a_look_moves(beside: Connection) -> None:
    beside.execute("CALL omd_lineage.probe_sources()")  # each is looked at once
    beside.execute("INSERT INTO app.c0 VALUES (now() - interval '1 second', 3), (now(), 4)")
    with beside.transaction(force_rollback=True):
        before = beside.execute(READ.encode()).fetchone()
        moved = beside.execute("CALL omd_lineage.probe_sources()").fetchone()
        looked = beside.execute(
            "SELECT count(*) AS n FROM omd_lineage.source_probe WHERE probed_at >= now()"
        ).fetchone()
        assert before is not None
    assert moved == {"p_moved": 1}
    assert looked is not None
    assert 1 < looked["n"] < 400

"""The scheduler runs steps in PostgreSQL over a few connections, as a role with few rights."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    Connection = psycopg.Connection[dict[str, Any]]

# What docs/how-to/dispatch/run-everything-by-itself.md tells to grant, and nothing else.
GRANTS = """
CREATE ROLE omd_test_scheduler LOGIN IN ROLE omd_runner;
GRANT USAGE ON SCHEMA stg, etl, fact TO omd_test_scheduler;
GRANT SELECT ON ALL TABLES IN SCHEMA stg, etl TO omd_test_scheduler;
GRANT SELECT, INSERT, DELETE ON ALL TABLES IN SCHEMA fact TO omd_test_scheduler;
"""
LINKS = 5  # a chain of topics: each reads the one before


@pytest.fixture
def chain(conn: Connection, dsn: str) -> Iterator[str]:
    """stg.t0 feeds fact.t1, which feeds fact.t2 …; returns the DSN of a role with few rights."""
    conn.execute("CREATE SCHEMA stg; CREATE SCHEMA etl; CREATE SCHEMA fact")
    conn.execute("CREATE TABLE stg.t0 (pos timestamptz, id bigint)")
    conn.execute("CREATE INDEX ON stg.t0 (pos, id)")
    conn.execute("CALL omd_lineage.register_topic('stg.t0')")
    for n in range(1, LINKS + 1):
        base = f"{'fact' if n > 1 else 'stg'}.t{n - 1}"
        conn.execute(
            f"CREATE TABLE fact.t{n} (pos timestamptz, id bigint,"
            f" omd_insert_module_instance_id bigint);"
            f"CREATE INDEX ON fact.t{n} (pos, id);"
            f"CREATE VIEW etl.t{n} AS SELECT b.pos, b.id FROM {base} AS b"
            f" WHERE omd_lineage.in_block(b.pos, b.id)".encode()
        )
        conn.execute(
            "CALL omd_lineage.register_topic(%s, ARRAY[%s], p_transforms => ARRAY[%s],"
            " p_repeat => '0')",
            [f"fact.t{n}", base, f"etl.t{n}"],
        )
    conn.execute(GRANTS)
    try:
        yield f"{dsn} user=omd_test_scheduler"
    finally:
        conn.execute("DROP OWNED BY omd_test_scheduler; DROP ROLE omd_test_scheduler")


@contextlib.contextmanager
def scheduler(dsn: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [Path(sys.executable).with_name("omd"), "worker", "--kind", "TOPIC", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMD_DSN": dsn},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def until(process: subprocess.Popen[str], pattern: str) -> str:
    told = ""
    assert process.stderr is not None
    for line in process.stderr:
        told += line
        if re.search(pattern, line):
            return told
    raise AssertionError(f"ended without telling {pattern}:\n{told}")


def children(process: subprocess.Popen[str]) -> list[str]:
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def insert(conn: Connection, number: int) -> None:
    # Each topic ends before the instant up to which the one before it is complete.
    conn.execute("INSERT INTO stg.t0 SELECT clock_timestamp(), %s", [number])
    conn.execute("CALL omd_lineage.probe_sources()")


def test_a_role_without_other_rights_runs_a_chain_in_one_process_over_few_connections(
    chain: str, conn: Connection
) -> None:
    rights = conn.execute(
        "SELECT rolsuper, rolbypassrls, rolcreaterole FROM pg_roles"
        " WHERE rolname = 'omd_test_scheduler'"
    ).fetchone()
    assert rights is not None
    assert not any(rights.values())
    with scheduler(chain, "--workers", "2", "--poll", "3600") as process:
        until(process, "polling every 3600 s")
        for n in range(LINKS + 3):
            insert(conn, n)
        # The chain moves on with notifications alone: the next poll is in an hour.
        until(process, rf"fact\.t{LINKS}: DONE")
        sessions = conn.execute(
            "SELECT count(*) AS n FROM pg_stat_activity WHERE usename = 'omd_test_scheduler'"
        ).fetchone()
        assert sessions is not None
        assert sessions["n"] <= 5  # they ask, listen, publish, and two work
        assert children(process) == []
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    rows = conn.execute(f"SELECT count(*), count(DISTINCT id) AS n FROM fact.t{LINKS}").fetchone()
    assert rows is not None
    assert rows["count"] == rows["n"] >= 1


def test_what_a_step_has_set_is_gone_in_the_next_step_of_the_connection(
    chain: str, conn: Connection
) -> None:
    conn.execute("CREATE TABLE fact.seen (topic text, setting text, application text, who text)")
    conn.execute("GRANT INSERT ON fact.seen TO omd_test_scheduler")
    conn.execute(
        "CALL omd_lineage.register_topic('fact.t1', p_before_sql => ARRAY["
        "'SELECT set_config(''omd_test.x'', ''left'', false), pg_advisory_lock(4711),"
        " set_config(''application_name'', ''left'', false)',"
        "'SET ROLE omd_runner; RESET ROLE'])"
    )
    for n in (2, 3):
        conn.execute(
            "CALL omd_lineage.register_topic(%s, p_before_sql => ARRAY["
            "'INSERT INTO fact.seen SELECT current_setting(''omd_lineage.topic''),"
            " coalesce(nullif(current_setting(''omd_test.x'', true), ''''), ''none''),"
            " current_setting(''application_name''), current_user'])",
            [f"fact.t{n}"],
        )
    for n in range(4):
        insert(conn, n)
    with scheduler(chain, "--until-quiet") as process:
        assert process.wait(timeout=60) == 0
    rows = conn.execute("SELECT DISTINCT setting, application, who FROM fact.seen").fetchall()
    assert [tuple(row.values()) for row in rows] == [("none", "omd-cli-step", "omd_test_scheduler")]


def test_a_topic_that_fails_leaves_its_connection_to_the_others(
    chain: str, conn: Connection
) -> None:
    conn.execute(
        "CALL omd_lineage.register_topic('fact.t2',"
        " p_before_sql => ARRAY['SELECT pg_terminate_backend(pg_backend_pid())'])"
    )
    conn.execute(
        "CREATE TABLE fact.other (LIKE fact.t1);"
        "GRANT SELECT, INSERT, DELETE ON fact.other TO omd_test_scheduler"
    )
    conn.execute(
        "CALL omd_lineage.register_topic('fact.other', ARRAY['stg.t0'],"
        " p_transforms => ARRAY['etl.t1'], p_repeat => '0')"
    )
    for n in range(4):
        insert(conn, n)
    with scheduler(chain, "--until-quiet") as process:
        assert process.stderr is not None
        told = process.stderr.read()
        assert process.wait(timeout=60) == 1
    assert "fact.t2: AnswerLost: the connection was lost during CALL omd_lineage.step" in told
    assert re.search(r"fact\.t1: DONE", told)
    assert re.search(r"fact\.other: DONE", told)

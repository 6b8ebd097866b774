"""Modules without SQL were of kind SPARK; after an upgrade they are programs, of the kind JOB."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from omd.programs import install
from support.released import oldest

KINDS = "SELECT module_code, module_kind_code, engine_code FROM omd.module ORDER BY module_code"

COUNT = """
    INSERT INTO omd_event.counter (metric_name, label_key, sample_name, labels, value)
    VALUES ('omd_runs_undone_total', sha256(convert_to('omd_runs_undone_total' || %s::jsonb::text,
        'UTF8')), 'omd_runs_undone_total', %s, %s)
"""


@pytest.fixture
def conn(upgraded: str) -> Any:
    """A database of the release with a Module of each sort; that of a job is suspended."""
    with psycopg.connect(upgraded, autocommit=True) as conn:
        for code, how in (("sql", "executable => 'SELECT 1'"), ("worker", "job => 'jobs:load'")):
            conn.execute(f"CALL omd.register_module('{code}', 'HSTG', 'dwh.t', p_{how})".encode())
        conn.execute("CALL omd_dispatch.suspend('WORK', p_criteria => '{\"KIND\": \"SPARK\"}')")
        for kind, value in (("SPARK", 5), ("JOB", 2), ("SQL", 1)):
            conn.execute(COUNT, [*[Jsonb({"kind": kind})] * 2, value])
        assert conn.execute(KINDS).fetchall() == [
            ("m", "SPARK", "SPARK"), ("sql", "SQL", "POSTGRES"), ("worker", "SPARK", "SPARK")
        ]  # fmt: skip
        yield conn


def programs(conn: psycopg.Connection[Any]) -> None:
    """Assert that the Modules of the fixture are programs, each with who begins it."""
    assert conn.execute(KINDS).fetchall() == [
        ("m", "JOB", None), ("sql", "SQL", "POSTGRES"), ("worker", "JOB", "SPARK")
    ]  # fmt: skip
    gone = conn.execute("SELECT FROM omd.module_kind WHERE module_kind_code = 'SPARK'")
    assert gone.fetchall() == []
    checked = "SELECT convalidated FROM pg_constraint WHERE conname = 'ck_module_kind_engine'"
    assert conn.execute(checked).fetchall() == [(True,)]
    counted = "SELECT labels ->> 'kind', value FROM omd_event.counter ORDER BY value"
    assert conn.execute(counted).fetchall() == [("SQL", 1), ("JOB", 7)]
    work = "SELECT code, state, reason FROM omd_report.work WHERE code <> 'sql' ORDER BY code"
    assert conn.execute(work).fetchall() == [
        ("m", "FAILED", "WAITS_FOR_A_PERSON"), ("worker", "PAUSED", "SUSPENDED")
    ]  # fmt: skip


@oldest
def test_modules_without_sql_are_programs_after_an_upgrade(conn: Any) -> None:
    edits = "SELECT l::text FROM omd.event_log AS l WHERE l::text !~* 'omd.purge'"
    before = conn.execute(edits).fetchall()
    install.install(conn)
    programs(conn)
    # Nobody has changed a definition.
    assert conn.execute(edits).fetchall() == before
    install.install(conn)
    programs(conn)


@oldest
def test_psql_makes_them_programs_too(conn: Any, upgraded: str, psql: Any) -> None:
    done = psql(upgraded, install.sql_root() / install.MANIFEST)
    assert done.returncode == 0, done.stderr
    programs(conn)


@oldest
def test_programs_go_on_while_their_rows_wait_to_follow(conn: Any, upgraded: str) -> None:
    """The rows follow the routines, and the routines take both: nothing is refused meanwhile."""
    with (
        ThreadPoolExecutor(1) as pool,
        psycopg.connect(upgraded) as late,
        psycopg.connect(upgraded) as reader,
        psycopg.connect(upgraded, autocommit=True) as other,
    ):
        late.execute("SELECT FROM omd.error_catalogue WHERE sqlstate_code = 'OM206' FOR UPDATE")
        upgrade = pool.submit(install.install, other)
        try:
            until(conn, upgrade, f"pg_blocking_pids({other.info.backend_pid}) <> '{{}}'")
            reader.execute("LOCK TABLE omd.module IN ACCESS SHARE MODE")
            late.rollback()
            until(conn, upgrade, "to_regclass('omd.own_kind') IS NOT NULL")
            assert conn.execute(KINDS).fetchall()[0] == ("m", "SPARK", "SPARK")
            call = "CALL omd.run_module('m', p_executable => 'SELECT 1')"
            run, status, *_ = conn.execute(call).fetchone()
            assert status == "S"
            stands = "SELECT p_standing FROM omd._recall_runs(ARRAY[%s::bigint])"
            assert conn.execute(stands, [run]).fetchone() == ([run],)
            conn.execute("CALL omd.register_module('new', 'HSTG', 'dwh.t')")
            assert ("new", "JOB", None) in conn.execute(KINDS).fetchall()
            (failed, *_) = conn.execute("CALL omd.begin_module('m')").fetchone()
            conn.execute("CALL omd.module_failure(%s)", [failed])
            assert not upgrade.done()
        finally:
            late.close()
            reader.close()
        upgrade.result(timeout=60)
    conn.execute("DELETE FROM omd.module WHERE module_code = 'new'")
    programs(conn)


def until(conn: psycopg.Connection[Any], upgrade: Future[Any], is_so: str) -> None:
    """Return when the condition holds, while the upgrade is at work."""
    while conn.execute(f"SELECT {is_so}".encode()).fetchone() == (False,):
        assert not upgrade.done(), upgrade.result()

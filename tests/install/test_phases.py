"""An upgrade in phases: each in transactions of its own, while OMD is used, and after a kill."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omd.programs import install
from support import next_release
from support.autovacuum import autovacuum
from support.programs import BIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["autovacuum"]
pytestmark = pytest.mark.server

ROWS = 25_000
SCENE = """
    CREATE SCHEMA dwh;
    CREATE TABLE dwh.t (omd_insert_module_instance_id bigint);
    CALL omd.register_module('m', 'HSTG', 'dwh.t');
"""
MANY = f"""
    INSERT INTO omd.module_instance (module_id, start_datetime, end_datetime,
        execution_status_code, processing_indicator, next_run_indicator)
    SELECT 1, now(), now(), 'S', 'P', 'P' FROM generate_series(1, {ROWS})
"""
DEAD = "UPDATE omd.module_instance SET rows_input = 1"
INSTALL = (
    "import sys, pathlib, psycopg, omd.programs.install;"
    "conn = psycopg.connect(sys.argv[1], autocommit=True);"
    "omd.programs.install.install(conn, pathlib.Path(sys.argv[2]))"
)


@pytest.fixture
def next_tree(tree):
    next_release.make(tree)
    return tree


@pytest.fixture
def conn(dsn) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        for statement in SCENE.split(";\n"):
            conn.execute(statement.encode())
        yield conn


def steps(conn: psycopg.Connection[Any]) -> dict[str, tuple[Any, ...]]:
    """Return the steps of the release of the tests, as far as they have come."""
    rows = conn.execute(
        "SELECT step_code, phase, ended_at IS NOT NULL, rows_done, error FROM omd_report.upgrade"
        " WHERE step_code = ANY(%s)",
        [list(next_release.STEPS)],
    )
    return {row[0]: row[1:] for row in rows.fetchall()}


def require_done(conn: psycopg.Connection[Any], rows: int) -> None:
    """Everything of the release is there, and nothing that is invalid."""
    phases = {
        name: (text.partition("\n")[0].removeprefix("-- phase: "), True, 0, None)
        for name, text in next_release.STEPS.items()
    }
    phases["V902__fill"] = ("backfill", True, rows, None)
    assert steps(conn) == phases
    assert conn.execute(
        "SELECT count(*) FILTER (WHERE doubled IS DISTINCT FROM 2 * module_instance_id)"
        " FROM omd.module_instance"
    ).fetchone() == (0,)
    found = conn.execute(
        "SELECT a.attnotnull, i.indisvalid, NOT EXISTS (SELECT FROM pg_constraint"
        " WHERE conname = 'ck_module_instance_doubled')"
        " FROM pg_attribute AS a CROSS JOIN pg_index AS i"
        " WHERE a.attrelid = 'omd.module_instance'::regclass AND a.attname = 'doubled'"
        " AND i.indexrelid = 'omd.ix_module_instance_doubled'::regclass"
    )
    assert found.fetchone() == (True, True, True)
    conn.execute("SELECT FROM omd_report.doubled")
    assert conn.execute("SELECT count(*) FROM pg_index WHERE NOT indisvalid").fetchone() == (0,)


@contextmanager
def loads(dsn: str) -> Iterator[list[str]]:
    """A session that begins and ends runs all the time; yields its errors."""
    errors: list[str] = []
    over = threading.Event()
    count = 0

    def run() -> None:
        nonlocal count
        with psycopg.connect(dsn, autocommit=True) as session:
            while count == 0 or not over.is_set():
                try:
                    row = session.execute("CALL omd.begin_module('m')").fetchone()
                    session.execute("CALL omd.module_success(%s)", [row[0]])
                    count += 1
                except psycopg.Error as error:
                    errors.append(str(error))
                    return

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield errors
    finally:
        over.set()
        thread.join(60)
        assert not thread.is_alive()
    assert count > 0


def upgrade(dsn: str, root: Any, way: str, psql: Callable[..., Any]) -> None:
    if way == "omd":
        with psycopg.connect(dsn, autocommit=True) as conn:
            install.install(conn, root)
    else:
        done = psql(dsn, root / install.MANIFEST)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("way", ["omd", "psql"])
def test_an_upgrade_goes_through_all_phases_while_runs_go_on(conn, dsn, next_tree, psql, way):
    conn.execute(MANY)
    with loads(dsn) as errors:
        upgrade(dsn, next_tree.root, way, psql)
    assert errors == []
    rows = steps(conn)["V902__fill"][2]
    assert rows >= ROWS
    require_done(conn, rows)
    install.install(conn, next_tree.root)
    assert not install.needs_install(conn, next_tree.root)


@pytest.mark.parametrize("way", ["omd", "psql"])
def test_a_new_database_is_built_with_them(empty_dsn, dsn, next_tree, psql, dump, way):
    upgrade(empty_dsn, next_tree.root, way, psql)
    upgrade(dsn, next_tree.root, way, psql)
    assert dump(empty_dsn) == dump(dsn)


KILLED_AT = [*next_release.STEPS, "chunk", "index", "install"]


@pytest.mark.kill
@pytest.mark.parametrize("way", ["omd", "psql"])
@pytest.mark.parametrize("at", KILLED_AT)
def test_a_killed_upgrade_goes_on(conn, dsn, next_tree, psql, way, at):
    """The installer is killed while it waits for another session; the next one ends the work."""
    conn.execute(MANY)
    command = (
        [sys.executable, "-c", INSTALL, dsn, str(next_tree.root)]
        if way == "omd"
        else [BIN / "psql", "--no-psqlrc", "-q", "-f", next_tree.manifest, dsn]
    )
    with psycopg.connect(dsn) as other, psycopg.connect(dsn) as second:
        blocks(other, "V905__index" if at == "index" else at)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(conn, other, process)
            if at == "index":
                # CREATE INDEX CONCURRENTLY has made its index when it waits for a writer.
                second.execute("UPDATE omd.module_instance SET module_id = 1"
                               " WHERE module_instance_id = 1")  # fmt: skip
                let_go(other)
                wait_for(conn, second, process)
        finally:
            process.kill()
            process.wait()
        # Until the installation has committed, the old version works.
        is_old = conn.execute("SELECT to_regclass('omd_report.doubled') IS NULL").fetchone()
        assert is_old == (at != "V907__finish",)
        if at not in ("chunk", "index"):
            with loads(dsn) as errors:
                pass
            assert errors == []
        if at == "index":
            invalid = conn.execute("SELECT count(*) FROM pg_index WHERE NOT indisvalid")
            assert invalid.fetchone() == (1,)
        conn.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE %s = ANY (pg_blocking_pids(pid)) OR %s = ANY (pg_blocking_pids(pid))",
            [other.info.backend_pid, second.info.backend_pid],
        )
        let_go(other)
        second.rollback()
    with loads(dsn) as errors:
        upgrade(dsn, next_tree.root, way, psql)
    assert errors == []
    rows = steps(conn)["V902__fill"][2]
    assert rows >= ROWS
    require_done(conn, rows)


def blocks(other: psycopg.Connection[Any], at: str) -> None:
    """Hold what the installer wants at that place."""
    if at == "chunk":  # the last of three
        other.execute("SELECT FROM omd.module_instance WHERE module_instance_id = 24000 FOR UPDATE")
        return
    # Not by a transaction: the filling waits for all that are older.
    other.autocommit = True
    other.execute(
        "CREATE FUNCTION dwh.wait() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN PERFORM pg_advisory_xact_lock(42); RETURN new; END'"
    )
    other.execute(
        f"CREATE TRIGGER wait BEFORE INSERT ON omd.upgrade_step FOR EACH ROW"
        f" WHEN (new.step_code = '{at}') EXECUTE FUNCTION dwh.wait()".encode()
    )
    if at == "install":  # psql deletes its entries late in the installation
        other.execute(
            "CREATE TRIGGER wait BEFORE DELETE ON omd.installed_file"
            " FOR EACH STATEMENT EXECUTE FUNCTION dwh.wait()"
        )
    other.execute("GRANT USAGE ON SCHEMA dwh TO omd_owner")
    other.execute("SELECT pg_advisory_lock(42)")


def let_go(other: psycopg.Connection[Any]) -> None:
    if other.autocommit:
        other.execute("SELECT pg_advisory_unlock_all()")
    else:
        other.rollback()


def wait_for(
    conn: psycopg.Connection[Any],
    other: psycopg.Connection[Any],
    process: subprocess.Popen[bytes],
) -> None:
    """Return when a session waits for the other one."""
    waits = "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"
    deadline = time.monotonic() + 120
    while conn.execute(waits, [other.info.backend_pid]).fetchone() == (0,):
        assert process.poll() is None, "the installer has ended"
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("way", ["omd", "psql"])
def test_an_expansion_lets_others_pass_and_names_who_is_in_the_way(conn, dsn, next_tree, way):
    """A lock is waited for 200 ms, then 2 s pass; after the time of --wait it ends."""
    with psycopg.connect(dsn) as other:
        other.execute("SELECT FROM omd.module_instance")
        pid = other.info.backend_pid
        with loads(dsn) as errors:
            if way == "omd":
                with (
                    psycopg.connect(dsn, autocommit=True) as installer,
                    pytest.raises(
                        install.InstallError, match=rf"in the way: .*\b{pid}\b"
                    ) as caught,
                ):
                    install.install(installer, next_tree.root, wait=timedelta(seconds=3))
                assert caught.value.sqlstate == "55P03"
            else:
                command = [
                    "psql",
                    "--no-psqlrc",
                    "-q",
                    "-v",
                    "wait=3",
                    "-f",
                    next_tree.manifest,
                    dsn,
                ]
                done = subprocess.run(
                    [BIN / command[0], *command[1:]], capture_output=True, text=True, check=False
                )
                assert done.returncode == 3
                assert f"{pid}" in done.stderr
        assert errors == []
        if way == "omd":
            assert "waited" in steps(conn)["V901__add"][3]
    assert conn.execute("SELECT to_regclass('omd_report.doubled')").fetchone() == (None,)


@pytest.mark.parametrize("way", ["omd", "psql", "script"])
def test_an_autovacuum_does_not_hold_an_upgrade_up(
    conn, dsn, next_tree, psql, tmp_path, autovacuum, way
):
    """It ends for who waits longer for it than an expansion, which stops loads while it waits."""

    def fill() -> None:
        for statement in (MANY, "SET ROLE omd_owner", DEAD, "RESET ROLE"):
            conn.execute(statement.encode())

    with autovacuum("omd.module_instance", fill), loads(dsn) as errors:
        if way == "script":
            script = tmp_path / "upgrade.sql"
            script.write_text("\n".join(install.script(conn, next_tree.root)))
            done = psql(dsn, script)
            assert (done.returncode, done.stderr) == (0, "")
        else:
            upgrade(dsn, next_tree.root, way, psql)
    assert errors == []
    rows = steps(conn)["V902__fill"][2]
    require_done(conn, rows)


def test_installers_take_turns_and_the_second_finds_nothing_to_do(conn, dsn, next_tree):
    conn.execute(MANY)
    done: list[int] = []

    def run() -> None:
        with psycopg.connect(dsn, autocommit=True) as session:
            found = install.install(session, next_tree.root)
            done.append(sum(step.action.value not in ("keep", "run") for step in found))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(bool, done)) == [False, False, True]
    require_done(conn, ROWS + 1)  # the placeholder too


def test_a_filled_column_is_filled_again_for_those_who_were_older(conn, dsn, next_tree):
    """A transaction that is older than the filling writes a row without the value behind it."""
    conn.execute(MANY)
    # The trigger that fills it comes after the filling, with the check.
    add, create, trigger = next_release.ADD.partition("CREATE FUNCTION")
    for name, text in (
        ("V901__add", add),
        ("V903__check", next_release.CHECK + create + trigger),
    ):
        (next_tree.root / f"migrations/{name}.sql").write_text(text)
        next_tree.relist(name)
    with psycopg.connect(dsn) as older, psycopg.connect(dsn, autocommit=True) as watcher:
        older.execute("SELECT pg_current_xact_id()")
        thread = threading.Thread(target=upgrade, args=(dsn, next_tree.root, "omd", None))
        thread.start()
        filled = "SELECT rows_done FROM omd_report.upgrade WHERE step_code = 'V902__fill'"
        deadline = time.monotonic() + 60
        while watcher.execute(filled).fetchone() != (ROWS + 1,):
            assert time.monotonic() < deadline
        older.execute(MANY.replace(f"(1, {ROWS})", "(1, 1)"))
        older.commit()
        thread.join(60)
    require_done(conn, ROWS + 2)

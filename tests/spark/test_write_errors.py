"""Failed writes: their errors, and what they leave behind."""

from __future__ import annotations

import io
import os
import signal
import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from pyspark.errors import PySparkException

import omd
import omd.programs.install
from omd.programs import embedded
from omd.spark.failure import failure_in, own_failure
from omd.spark.whole_input import is_whole
from support.server import SETTINGS, VERSION

from .conftest import AUDIT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

COLUMNS = (
    "id bigint UNIQUE, small smallint, amount numeric(5,2), key uuid, doc jsonb, note text,"
    " short varchar(3), needed text NOT NULL DEFAULT 'x', tens bigint CHECK (tens < 10),"
    " other bigint REFERENCES t.other, made bigint GENERATED ALWAYS AS (id) STORED"
)


@pytest.fixture
def module(conn: Any, target: Callable[..., str]) -> str:
    conn.execute("CREATE SCHEMA t; CREATE TABLE t.other (id bigint PRIMARY KEY)")
    return target(COLUMNS)


def refused(
    spark: SparkSession, control: omd.Control, module: str, *expressions: str, **options: Any
) -> omd.errors.OmdError:
    """Return the error of a write of four partitions, the last of which holds only the row 33."""
    df = spark.range(0, 40, 1, 4).where("id < 30 OR id = 33")
    with pytest.raises(omd.errors.OmdError) as caught, control.module(module) as run:
        run.write(df.selectExpr(*expressions), **options)
    error = caught.value
    assert "Traceback" not in error.message
    assert "\n" not in error.message
    assert error.hint
    return error


def assert_clean_after_the_next_begin(conn: Any, control: omd.Control, module: str) -> None:
    log = "SELECT execution_status_code AS s, next_run_indicator AS n FROM omd.module_instance"
    assert conn.execute(f"{log} ORDER BY module_instance_id DESC LIMIT 1").fetchone() == {
        "s": "F",
        "n": "R",
    }
    with control.module(module):
        assert conn.execute("SELECT count(*) AS n FROM t.target").fetchone() == {"n": 0}


@pytest.mark.parametrize(
    ("expressions", "message", "hint"),
    [
        (["id AS nosuch"], 't.target has no column "nosuch"', "Its columns are id, small,"),
        (["string(id) AS small"], 'column "small" of t.target does not take string', "smallint"),
        (["double(id) AS amount"], 'column "amount" of t.target does not take double', "decimal"),
        (["struct(id) AS note"], 'column "note" of t.target does not take struct', "string"),
        (["id", "id"], 'the rows for t.target have the column "id" twice', "Rename one"),
    ],
    ids=["extra column", "wrong type", "inexact type", "nested type", "same name twice"],
)
def test_what_can_not_fit_is_refused_before_a_row_moves(
    spark: SparkSession,
    conn: Any,
    control: omd.Control,
    module: str,
    expressions: list[str],
    message: str,
    hint: str,
) -> None:
    error = refused(spark, control, module, *expressions)
    assert message in error.message
    assert hint in (error.hint or "")
    assert conn.execute("SELECT count(*) AS n FROM omd.write_ledger").fetchone() == {"n": 0}
    assert_clean_after_the_next_begin(conn, control, module)


BAD = "CASE WHEN id = 33 THEN {} ELSE {} END"


@pytest.mark.parametrize(
    ("expression", "sqlstate", "message", "hint"),
    [
        (BAD.format(99, 1) + " AS tens", "23514", "t.target: new row", "Filter such rows out"),
        (BAD.format(9, "NULL") + " AS other", "23503", "(Key (other)=(9) is not", "Load the rows"),
        (BAD.format(3, "id") + " AS id", "23505", "(Key (id)=(3) already exists.)", "duplicates"),
        (BAD.format("NULL", "'x'") + " AS needed", "23502", 'column "needed" of t.target', "Fill"),
        (BAD.format(40000, 1) + " AS small", None, 'column "small" of t.target: ', "Filter"),
        (BAD.format(1000000, 1) + " AS amount", "22003", 'column "amount" of t.target', "widen"),
        (BAD.format("'no'", "NULL") + " AS key", None, 'column "key" of t.target', "convert"),
        (BAD.format("'{'", "'{}'") + " AS doc", "22P02", 'column "doc" of t.target', "Start"),
        (
            BAD.format("'a\\u0000b'", "''") + " AS note",
            "22021",
            'column "note" of t.target',
            "Remove",
        ),
        (BAD.format("'long'", "''") + " AS short", "22001", 'column "short" of t.target', "widen"),
        ("id AS made", "42P10", 'column "made" is a generated column', "Start"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) == 5 else "",
)
def test_what_the_server_refuses_names_table_column_and_the_way_out(
    spark: SparkSession,
    conn: Any,
    control: omd.Control,
    module: str,
    expression: str,
    sqlstate: str | None,
    message: str,
    hint: str,
) -> None:
    error = refused(spark, control, module, expression)
    assert isinstance(error, omd.errors.WriteFailed)
    assert isinstance(error.__cause__, PySparkException)
    assert error.sqlstate == sqlstate
    assert message in error.message
    assert "t.target" in error.message
    assert hint in (error.hint or "")
    told = conn.execute("SELECT event_detail AS d FROM omd_report.event_log").fetchone()
    assert told["d"].startswith(f"omd.errors.WriteFailed: {error.message}")
    assert_clean_after_the_next_begin(conn, control, module)


def test_a_missing_column_is_told_from_a_null(
    spark: SparkSession, conn: Any, control: omd.Control, module: str
) -> None:
    conn.execute("ALTER TABLE t.target ALTER needed DROP DEFAULT")
    error = refused(spark, control, module, "id")
    assert 'column "needed" of t.target' in error.message
    assert "The rows lack this column" in (error.hint or "")
    assert_clean_after_the_next_begin(conn, control, module)


def test_a_missing_table_is_named(
    spark: SparkSession, conn: Any, control: omd.Control, module: str
) -> None:
    error = refused(spark, control, module, "id", table="t.nosuch")
    assert isinstance(error, omd.errors.lookup("OM202"))
    assert "there is no table t.nosuch" in error.message
    assert_clean_after_the_next_begin(conn, control, module)


def test_a_write_without_the_right_to_says_what_to_grant(
    spark: SparkSession, conn: Any, control: omd.Control, module: str
) -> None:
    conn.execute("DROP ROLE IF EXISTS loader")
    conn.execute(
        "CREATE ROLE loader LOGIN BYPASSRLS IN ROLE omd_runner; GRANT USAGE ON SCHEMA t TO loader"
    )
    conn.execute("GRANT SELECT, DELETE ON t.target TO loader")
    try:
        with omd.connect(f"{control._dsn} user=loader") as loader:
            error = refused(spark, loader, module, "id")
            assert error.sqlstate == "42501"
            assert "Grant the role INSERT" in (error.hint or "")
            assert_clean_after_the_next_begin(conn, loader, module)
    finally:
        conn.execute("DROP OWNED BY loader; DROP ROLE loader")


def test_an_overwrite_of_what_somebody_reads_gives_up(
    spark: SparkSession, conn: Any, control: omd.Control, module: str
) -> None:
    with omd.connect(f"{control._dsn} options='-c lock_timeout=300'") as hasty:
        with conn.transaction():
            conn.execute("SELECT FROM t.target")
            error = refused(spark, hasty, module, "id", mode="overwrite")
        assert error.sqlstate == "55P03"
        assert "persist() the DataFrame first" in (error.hint or "")
        assert_clean_after_the_next_begin(conn, hasty, module)


def copying(dsn: str, then: Callable[[Any], None]) -> Any:
    """A step of the job that repeats its rows until they are seen to enter a table, and does this.

    More rows than all buffers take, or the table would not be reached while they move.
    """

    def step(batches: Any) -> Any:
        deadline = time.monotonic() + 60
        with psycopg.connect(dsn, autocommit=True) as connection:
            for batch in batches:
                while not connection.execute("SELECT 1 FROM pg_stat_progress_copy").fetchall():
                    assert time.monotonic() < deadline
                    yield batch
                then(connection)
                for _ in range(1000):
                    yield batch

    return step


def test_a_connection_that_is_cut_while_rows_move(
    spark: SparkSession, conn: Any, control: omd.Control, module: str, dsn: str
) -> None:
    df = spark.range(0, 100, 1, 1).selectExpr("'x' AS note")

    def cut(connection: Any) -> None:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_progress_copy")

    with pytest.raises(omd.errors.WriteFailed) as caught, control.module(module) as run:
        run.write(df.mapInArrow(copying(dsn, cut), "note string"))
    assert caught.value.message.startswith("t.target: the connection was lost")
    assert "its begin rolls back" in (caught.value.hint or "")
    assert_clean_after_the_next_begin(conn, control, module)


@pytest.mark.kill
def test_a_server_that_crashes_while_rows_move(
    spark: SparkSession, new_home: Callable[[], Path]
) -> None:
    home = new_home()
    embedded.start(home, version=VERSION, settings=SETTINGS)
    dsn = embedded.dsn(home, "postgres")

    pid = embedded.status(home).pid
    assert pid is not None

    df = spark.range(0, 100, 1, 1).selectExpr("'x' AS note")

    def crash(connection: Any) -> None:
        connection.close()
        os.kill(pid, signal.SIGQUIT)
        embedded.start(home)

    with psycopg.connect(dsn, autocommit=True) as conn:
        omd.programs.install.install(conn)
        conn.execute(f"CREATE SCHEMA t; CREATE TABLE t.target (note text, {AUDIT})")
    with omd.connect(dsn) as control:
        control.calls.omd.register_module(
            "m_t", area_code="HSTG", table_code="t.target", table_type_code="HSTG"
        )
        with pytest.raises(omd.errors.WriteFailed) as caught, control.module("m_t") as run:
            run.write(df.mapInArrow(copying(dsn, crash), "note string"))
        assert caught.value.message.startswith("t.target: the connection was lost")
        with psycopg.connect(dsn, autocommit=True, row_factory=psycopg.rows.dict_row) as conn:
            assert_clean_after_the_next_begin(conn, control, "m_t")


def test_rows_that_end_early_are_not_committed() -> None:
    """Spark has closed the stream of a task that is killed; a mark ends that of one that is not."""

    def ending(left: bytes) -> bool | None:
        infile = io.BufferedReader(io.BytesIO(left))  # noqa: F841 - it is looked for by this name
        return is_whole()

    assert ending(b"the mark")
    assert ending(b"") is False
    assert is_whole() is None
    printed = own_failure(omd.errors.lookup("OM144")("the rows ended early", hint="run it again"))
    error = failure_in(RuntimeError(f"Job aborted: {type(printed).__name__}: {printed}"))
    assert type(error) is omd.errors.lookup("OM144")
    assert (error.message, error.hint) == ("the rows ended early", "run it again")

"""Steps whose transforms run on Spark (docs/explanation/lineage.md, rule L8)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
import omd.spark
from omd import errors
from omd.doors.lineage import Lineage
from omd.programs.cli.worker import _STEP
from omd.rooms.control.rows import ModuleExecutionLogRow
from omd.rooms.lineage.codes import StepResult
from omd.spark.lineage import view_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    Connection = psycopg.Connection[dict[str, Any]]

pytestmark = pytest.mark.spark

SCHEMA = """
CREATE SCHEMA stg; CREATE SCHEMA fact;
CREATE TABLE stg.a (pos timestamptz, id bigint, v int);
CREATE INDEX ON stg.a (pos, id);
INSERT INTO stg.a
SELECT timestamptz '2020-01-01 12:00+00' + i * interval '1 minute', i, i
  FROM generate_series(1, 11) AS i;
CREATE TABLE stg."the names" (pos timestamptz, id bigint, name text);
CREATE INDEX ON stg."the names" (pos, id);
INSERT INTO stg."the names" VALUES
('2020-01-01 11:00+00', 1, 'one'), ('2020-01-01 13:00+00', 2, 'two');
CREATE TABLE fact.a (
    id bigint, name text, omd_insert_module_instance_id bigint, omd_insert_datetime timestamptz,
    omd_record_source text
);
GRANT USAGE ON SCHEMA stg, fact TO omd_owner;
GRANT ALL ON ALL TABLES IN SCHEMA stg, fact TO omd_owner;
"""
JOIN = "SELECT b.id, n.name FROM block AS b LEFT JOIN `stg_the names` AS n ON n.id = b.v"

# A test puts its obstacles for a step here; the transform `steps_of_tests:job` calls them.
job: Callable[[omd.Run, Any], Any]


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return omd.spark.session("local[2]", {"spark.log.level": "OFF"})


@pytest.fixture
def room(dsn: str) -> Iterator[Lineage]:
    """stg.a (10 rows and one that waits) and stg."the names" feed fact.a, in blocks of 4."""
    with omd.connect(dsn) as control:
        with control.transaction() as connection:
            connection.execute(SCHEMA)
        lineage = Lineage(control)
        lineage.register_topic("stg.a")
        lineage.register_topic('stg."the names"')
        lineage.register_topic(
            "fact.a",
            depends_on=["stg.a", 'stg."the names"'],
            transforms=[JOIN],
            engine="SPARK",
            maxstep=4,
            repeat=timedelta(0),
        )
        yield lineage


@pytest.fixture
def call(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, room: Lineage
) -> Callable[[Callable[[omd.Run, SparkSession], Any]], None]:
    """A function that makes a function the second transform of fact.a, by module:function."""
    (tmp_path / "steps_of_tests.py").write_text("job = None\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "steps_of_tests", raising=False)
    import importlib

    module = importlib.import_module("steps_of_tests")

    def make(function: Callable[[omd.Run, SparkSession], Any]) -> None:
        monkeypatch.setattr(module, "job", function)
        room.register_topic("fact.a", transforms=[JOIN, "steps_of_tests:job"])

    return make


def rows(conn: Connection) -> list[tuple[int, str | None]]:
    found = conn.execute("SELECT id, name FROM fact.a ORDER BY id, name")
    return [(row["id"], row["name"]) for row in found]


FIRST = [(1, "one"), (2, "two"), (3, None), (4, None)]


def test_a_block_goes_through_sql_to_the_destination(
    room: Lineage, spark: SparkSession, conn: Connection
) -> None:
    outcome = room.step("fact.a", spark=spark)
    assert (outcome.status, outcome.facts["rows"], outcome.error) == ("S", 4, None)
    assert rows(conn) == FIRST
    [stamps] = conn.execute(
        "SELECT DISTINCT omd_insert_module_instance_id AS id FROM fact.a"
    ).fetchall()
    assert stamps["id"] == outcome.instance_id
    [log] = conn.execute("SELECT * FROM omd_lineage.log").fetchall()
    assert (log["rows"], log["nulls"], log["max_id"]) == (4, {"name": 2}, 4)
    [run] = room._control.report(ModuleExecutionLogRow, module_instance_id=outcome.instance_id)
    assert (run.execution_status_code, run.rows_inserted) == ("S", 4)
    assert (run.execution_context or {})["platform"] == "spark"
    while (outcome := room.step("fact.a", spark=spark)).succeeded:
        pass
    assert (outcome.status, outcome.reason) == ("C", "NOJOBS")
    assert [id_ for id_, _ in rows(conn)] == list(range(1, 11))
    assert room._control.report("lineage_gaps") == []


def test_a_check_of_a_transform_has_its_place_in_the_log(
    room: Lineage, spark: SparkSession, conn: Connection, call: Any
) -> None:
    def checked(run: omd.Run, spark: SparkSession) -> DataFrame:
        return spark.sql(
            "SELECT id, 'x' AS name, id > 3 AS check_small, CAST(NULL AS boolean) AS check_none"
            " FROM block"
        )

    call(checked)
    outcome = room.step("fact.a", spark=spark)
    assert outcome.facts["rows"] == 8, outcome.detail
    [log] = conn.execute("SELECT nulls FROM omd_lineage.log").fetchall()
    assert log["nulls"]["check_small"] == 3
    assert "check_none" not in log["nulls"]


def test_a_function_is_a_transform_and_sees_the_same_views(
    room: Lineage, spark: SparkSession, conn: Connection, call: Any
) -> None:
    def more(run: omd.Run, spark: SparkSession) -> DataFrame:
        assert run._reads.window is not None
        assert run._reads.window.end_id == 4
        assert spark.table("block").count() == spark.table("stg_a").count() == 4
        return spark.sql(
            "SELECT id + 100 AS id, CAST(NULL AS string) AS name, 'theirs' AS omd_record_source,"
            " CAST(NULL AS bigint) AS omd_insert_module_instance_id FROM stg_a"
        )

    call(more)
    outcome = room.step("fact.a", spark=spark)
    assert outcome.facts["rows"] == 8, outcome.detail
    assert rows(conn) == [*FIRST, *((i + 100, None) for i in range(1, 5))]
    log = conn.execute("SELECT nulls FROM omd_lineage.log").fetchall()
    assert log == [{"nulls": {"name": 6}}]
    # The stamp is that of the step, whatever the transform brings along.
    stamps = (
        "SELECT DISTINCT omd_insert_module_instance_id AS id, omd_record_source AS s FROM fact.a"
    )
    assert conn.execute(stamps).fetchall() == [{"id": outcome.instance_id, "s": "fact.a"}]
    assert not spark.catalog.tableExists("block")


def test_an_error_is_recorded_and_the_same_block_comes_again(
    room: Lineage, spark: SparkSession, conn: Connection, call: Any
) -> None:
    blocks = []

    def breaks(run: omd.Run, spark: SparkSession) -> DataFrame:
        blocks.append(run._reads.window)
        if len(blocks) < 3:
            raise ZeroDivisionError("on purpose")
        return spark.sql("SELECT 0 AS id, 'last' AS name")

    call(breaks)
    for _ in range(2):
        outcome = room.step("fact.a", spark=spark)
        assert (outcome.status, outcome.reason) == ("F", "ERROR")
        assert isinstance(outcome.error, ZeroDivisionError)
        assert outcome.detail == "ZeroDivisionError: on purpose"
        assert rows(conn) == FIRST  # of the first transform; the next begin rolls back
        conn.execute("INSERT INTO stg.a VALUES ('2020-01-01 12:04:30+00', 5, 1)")
    assert room.step("fact.a", spark=spark).succeeded
    assert len(set(blocks)) == 1
    assert rows(conn) == [(0, "last"), *FIRST]
    first, second = room._control.report("lineage_errors", order_by=["event_id"])
    assert first.error_code == "ZeroDivisionError"
    assert "on purpose" in (first.error or "")
    assert (first.end_pos, first.end_id) == (second.end_pos, second.end_id)


def test_a_step_that_is_released_while_it_runs_cannot_commit(
    room: Lineage, spark: SparkSession, conn: Connection, call: Any
) -> None:
    def released(run: omd.Run, spark: SparkSession) -> DataFrame:
        room.release("fact.a")
        return spark.sql("SELECT 0 AS id, 'late' AS name")

    call(released)
    outcome = room.step("fact.a", spark=spark)
    assert (outcome.status, outcome.reason) == ("F", "ERROR")
    assert isinstance(outcome.error, errors.lookup("OM108"))
    assert conn.execute("SELECT count(*) AS n FROM omd_lineage.log").fetchone() == {"n": 0}
    room.register_topic("fact.a", transforms=[JOIN])
    assert room.step("fact.a", spark=spark).succeeded
    assert rows(conn) == FIRST


def test_who_is_overtaken_cannot_commit(
    room: Lineage, spark: SparkSession, conn: Connection, call: Any
) -> None:
    def overtaken(run: omd.Run, spark: SparkSession) -> DataFrame:
        room.release("fact.a")
        other = room.begin_step("fact.a", lease=timedelta(minutes=5))
        assert other.outcome is StepResult.RUN
        return spark.sql("SELECT 0 AS id, 'late' AS name")

    call(overtaken)
    outcome = room.step("fact.a", spark=spark)
    assert (outcome.status, outcome.reason) == ("F", "ERROR")
    [row] = room.ready_list("fact.a")
    assert row.reason == "HELD"


def test_a_transform_that_cannot_be_found_is_told(
    room: Lineage, spark: SparkSession, conn: Connection, call: Any
) -> None:
    room.register_topic("fact.a", transforms=["no.where:job"])
    outcome = room.step("fact.a", spark=spark)
    assert isinstance(outcome.error, errors.lookup("OM207"))
    call(lambda run, spark: 42)
    outcome = room.step("fact.a", spark=spark)
    assert isinstance(outcome.error, errors.lookup("OM207"))
    assert "int" in str(outcome.error)


def test_statements_before_and_after_run_around_the_transforms(
    room: Lineage, spark: SparkSession, conn: Connection
) -> None:
    room.register_topic(
        "fact.a",
        transforms=["SELECT id, name FROM before"],
        before_sql=["CREATE OR REPLACE TEMP VIEW before AS SELECT id, 'x' AS name FROM block"],
        after_sql=["DROP VIEW before"],
    )
    assert room.step("fact.a", spark=spark).facts["rows"] == 4
    assert not spark.catalog.tableExists("before")


def test_a_reload_replaces_all(room: Lineage, spark: SparkSession, conn: Connection) -> None:
    conn.execute("INSERT INTO fact.a VALUES (0, 'old')")
    room.register_topic(
        "fact.a",
        processor="RELOAD",
        transforms=["SELECT id FROM block", "SELECT id + 100 AS id, 'x' AS name FROM stg_a"],
    )
    outcome = room.step("fact.a", spark=spark)
    assert outcome.succeeded, outcome.detail
    assert [id_ for id_, _ in rows(conn)] == [*range(1, 12), *range(101, 112)]


def test_a_failed_step_is_rolled_back_on_spark_where_its_rows_are(
    room: Lineage, spark: SparkSession, conn: Connection, call: Any
) -> None:
    room.register_topic(
        "lake.a",
        depends_on=["stg.a"],
        transforms=["SELECT id FROM block"],
        engine="SPARK",
        platform_code="SPARK",
        area_code="HSTG",  # which has a rollback for Parquet
        maxstep=4,
    )
    room._control.calls.omd.register_module("lake.a", table_format_code="PARQUET")
    spark.sql("CREATE DATABASE IF NOT EXISTS lake")
    try:
        room.register_topic("lake.a", transforms=["SELECT id FROM block", "no.where:job"])
        assert room.step("lake.a", spark=spark).status == "F"
        room.register_topic("lake.a", transforms=["SELECT id FROM block"])
        outcome = room.step("lake.a", spark=spark)
        assert (outcome.status, outcome.facts["rows"]) == ("S", 4), outcome.detail
        found = spark.sql("SELECT id, omd_insert_module_instance_id FROM lake.a").collect()
        assert sorted(map(tuple, found)) == [(i, outcome.instance_id) for i in range(1, 5)]
    finally:
        spark.sql("DROP DATABASE lake CASCADE")


def test_no_rows_are_fine(room: Lineage, spark: SparkSession, conn: Connection) -> None:
    room.register_topic("fact.a", transforms=["SELECT id, 'x' AS name FROM block WHERE id < 0"])
    outcome = room.step("fact.a", spark=spark)
    assert (outcome.succeeded, outcome.facts["rows"]) == (True, 0), outcome.detail


def test_a_step_asked_for_twice_is_held_and_starts_no_spark(room: Lineage) -> None:
    room.begin_step("fact.a", lease=timedelta(minutes=1))

    def never() -> Any:
        raise AssertionError("no session is needed")

    assert room.step("fact.a", session=never).reason == "MUTEX"


def test_a_session_that_does_not_start_is_an_error_of_the_step(room: Lineage) -> None:
    def broken() -> Any:
        raise OSError("no Java here")

    with omd.connect(room._control._dsn) as control:
        control._spark = None
        outcome = Lineage(control).step("fact.a", session=broken)
    if outcome.error is not None:  # otherwise the active session of another test was used
        assert isinstance(outcome.error, OSError)
        [row] = room.ready_list("fact.a")
        assert (row.attempts, row.hostid) == (1, "")


@pytest.mark.parametrize(
    ("table", "name"),
    [("stg.a", "stg_a"), ('stg."the names"', "stg_the names"), ('"a.b"."c""d"', 'a.b_c"d')],
)
def test_a_view_is_named_after_its_table(table: str, name: str) -> None:
    assert view_name(table) == name


# Processes of a worker --------------------------------------------------------------------------


def test_a_worker_runs_a_step_on_spark(
    room: Lineage, omd_command: Any, dsn: str, conn: Connection
) -> None:
    done = omd_command("worker", "--kind", "TOPIC", "--once", "--master", "local[1]", dsn=dsn)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "fact.a: DONE, 4 rows (instance " in done.stderr
    assert rows(conn) == FIRST


def test_sigterm_fails_a_step_on_spark_and_the_next_one_takes_its_block(
    room: Lineage, dsn: str, conn: Connection, tmp_path: Path
) -> None:
    (tmp_path / "slow_steps.py").write_text(
        "import pathlib, time\n"
        "def job(run, spark):\n"
        f"    pathlib.Path({str(tmp_path / 'runs')!r}).touch()\n"
        "    spark.sparkContext.parallelize([1], 1).map(lambda _: time.sleep(120)).collect()\n"
    )
    room.register_topic("fact.a", transforms=[JOIN, "slow_steps:job"])
    command = [*_STEP, "local[1]", "fact.a"]
    environment = {**os.environ, "OMD_DSN": dsn, "PYTHONPATH": str(tmp_path)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 120
    while not (tmp_path / "runs").exists():
        assert time.monotonic() < until
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 143, said
    [error] = room._control.report("lineage_errors")
    assert error.error_code == "omd.Terminated"
    room.register_topic("fact.a", transforms=[JOIN])
    again = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert rows(conn) == FIRST


def test_a_block_by_the_id_alone(room: Lineage, conn: Connection, spark: SparkSession) -> None:
    conn.execute(
        "CREATE TABLE stg.i (i int PRIMARY KEY); INSERT INTO stg.i SELECT generate_series(1, 5);"
        "CREATE TABLE fact.i (i int, omd_insert_module_instance_id bigint);"
        "GRANT ALL ON ALL TABLES IN SCHEMA stg, fact TO omd_owner"
    )
    room.register_topic("stg.i", pos_column="", id_column="i")
    room.register_topic(
        "fact.i",
        depends_on=["stg.i"],
        transforms=["SELECT i FROM block"],
        engine="SPARK",
        maxstep=3,
    )
    told = [room.step("fact.i", spark=spark) for _ in range(3)]
    assert [(step.status, step.facts["rows"]) for step in told[:2]] == [("S", 3), ("S", 2)]
    assert told[2].reason == "NOJOBS"
    found = conn.execute("SELECT i FROM fact.i ORDER BY i").fetchall()
    assert [row["i"] for row in found] == [1, 2, 3, 4, 5]

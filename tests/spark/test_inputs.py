"""A job says what it reads before it reads it, so that a run at work is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import omd

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_a_job_records_its_reads_before_it_reads(
    conn: Any, dsn: str, spark: SparkSession, target: Callable[..., str]
) -> None:
    conn.execute(
        "CREATE SCHEMA IF NOT EXISTS t; CREATE TABLE t.a (id bigint, at timestamptz);"
        "CREATE TABLE t.b (id bigint); CREATE VIEW t.v AS SELECT * FROM t.b;"
        "CREATE TABLE t.c (id bigint);"
        "CREATE FUNCTION t.dark() RETURNS bigint LANGUAGE plpgsql AS"
        " $$ BEGIN RETURN (SELECT count(*) FROM t.c); END $$"
    )

    def seen() -> list[tuple[str, str]]:
        rows = conn.execute("SELECT * FROM omd_report.run_inputs ORDER BY table_code").fetchall()
        return [(row["table_code"], row["read_kind"]) for row in rows]

    def unknown() -> int:
        return len(conn.execute("SELECT * FROM omd_report.unknown_runs").fetchall())

    code = target("id bigint")
    with omd.connect(dsn, spark=spark) as control:
        with control.module(code) as run:
            assert unknown() == 1
            run.read(spark, "t.v")
            assert seen() == [("t.b", "ALL")]
            run.read(spark, "t.v")
            run.window(end_value=None, end_id=7)
            run.read(spark, "t.a", window=(None, "id"))
            assert seen() == [("t.a", "ALL"), ("t.b", "ALL")]
            run.read(spark, query="SELECT c.id FROM t.c")
            assert seen() == [("t.a", "ALL"), ("t.b", "ALL"), ("t.c", "ALL")]
            assert unknown() == 0
            (row,) = conn.execute(
                "SELECT count(*) AS n FROM omd_provenance.modules_reading('{t.b}')"
            ).fetchall()
            assert row["n"] == 1
        with control.module(code) as run:
            run.read(spark, query="SELECT t.dark() AS id")
            assert unknown() == 1
        assert control.calls.omd_provenance.readers_of(run.instance_id) == []

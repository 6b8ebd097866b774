"""What the data source sends springs no trap of somebody who may create in public."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import omd
import omd.spark
from support.strangers import assert_nothing_happened, plant

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FILES = sorted((Path(omd.__file__).parent / "spark").rglob("*.py"))


def test_reads_and_writes_spring_no_trap(
    spark: SparkSession, conn: Any, dsn: str, target: Callable[..., str]
) -> None:
    module = target("id bigint, tags text[]")
    conn.execute(
        "CREATE TABLE t.source AS SELECT i AS id, i::numeric(9, 2) AS price, 'n' || i AS name,"
        " ARRAY['a'] AS tags, gen_random_uuid() AS key, date '2013-07-01' + i AS day,"
        " timestamptz '2013-07-01 00:00+00' + i * interval '1 hour' AS at"
        " FROM generate_series(1, 20) AS i"
    )
    hostile = plant(dsn, FILES, "pg_catalog,public")  # ADBC has names of its own
    with omd.connect(hostile) as control, control.module(module) as run:
        run.window(end_value=dt.datetime(2013, 7, 2, tzinfo=dt.timezone.utc), end_id=20)
        for condition, rows in (
            ("id IN (1, 2, 3)", 3),
            ("name IN ('n1', 'n2') AND price IN (1, 2, 30)", 2),
            ("day IN (DATE'2013-07-02', DATE'2013-07-03')", 2),
            ("day > DATE'2013-07-11' AND NOT at <= TIMESTAMP'2013-07-01 12:00:00+00:00'", 8),
        ):
            df = run.read(spark, "t.source", window=("at", "id"), numPartitions=2)
            assert df.where(condition).count() == rows, condition
        by_blocks = run.read(spark, "t.source", partitionColumn="day", numPartitions=3)
        assert by_blocks.where("at > TIMESTAMP'2013-07-01 12:00:00+00:00'").count() == 8
        run.write(run.read(spark, "t.source").select("id", "tags"))
    assert conn.execute("SELECT count(*) AS n FROM t.target").fetchone() == {"n": 20}
    assert_nothing_happened(dsn)

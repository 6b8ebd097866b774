"""Spark's processes read and write through PgBouncer in transaction mode."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
from support.pooler import bouncing

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_partitions_are_read_and_written_through_a_pooler_once_each(
    spark: SparkSession, conn: Any, dsn: str, target: Callable[..., str]
) -> None:
    module = target("id bigint")
    conn.execute("CREATE TABLE t.source AS SELECT id FROM generate_series(1, 1000) AS id")
    stop = threading.Event()

    def others(through: str) -> None:
        """Use the server connections meanwhile, so that none stays with one client."""
        with omd.connect(through) as control:
            while not stop.is_set():
                control.calls.omd.module_definition(module)

    with bouncing(dsn, size=6) as through:
        thread = threading.Thread(target=others, args=(through,))
        thread.start()
        try:
            with omd.connect(through) as control:
                for mode in ("append", "overwrite"):
                    with control.module(module) as run:
                        rows = run.read(spark, "t.source")
                        partitions = 3 if mode == "append" else 1
                        written = run.write(rows.repartition(partitions), mode=mode)
                        assert written == 1000
        finally:
            stop.set()
            thread.join()
        assert conn.execute("SELECT count(*), sum(id) FROM t.target").fetchone() == {
            "count": 1000, "sum": 500500
        }  # fmt: skip
        with psycopg.connect(through, autocommit=True, prepare_threshold=None) as any_of_them:
            assert any_of_them.execute(
                "SELECT count(*) FROM pg_prepared_statements"
            ).fetchone() == (0,)
            assert any_of_them.execute("SHOW lock_timeout").fetchone() == ("0",)

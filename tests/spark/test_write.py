"""The ledger of the data source: rows that are written again count once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812

import omd
from omd._core.link import Link
from omd.spark.failure import failure_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def module(target: Callable[..., str]) -> str:
    return target("id bigint")


def save(run: omd.Run, df: DataFrame, mode: str = "append", **options: object) -> None:
    """Write by the data source alone, under a number of the caller's own."""
    told = {"url": run.dsn, "table": "t.target", "moduleInstance": run.instance_id}
    stamped = run.stamp(df).write.format("omd").mode(mode)
    stamped.options(**{name: str(value) for name, value in (told | options).items()}).save()


def there(conn: Any) -> list[int]:
    return [row["id"] for row in conn.execute("SELECT id FROM t.target ORDER BY id")]


def counted(conn: Any) -> list[tuple[int, int]]:
    """Return the partitions and rows of each write, as the ledger has them."""
    return [
        (row["partition_count"], row["row_count"])
        for row in conn.execute("SELECT * FROM omd_report.write_log ORDER BY write_number")
    ]


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_a_partition_that_is_written_again_counts_as_the_first_attempt_wrote_it(
    spark: SparkSession, conn: Any, control: omd.Control, module: str, mode: str
) -> None:
    with control.module(module) as run:
        for start in (0, 100):
            save(run, spark.range(start, start + 4, 1, 1), mode, writeNumber=7)
        for rows in (7, 0):  # one of the two attempts has not read all
            with pytest.raises(PySparkException) as caught:
                save(run, spark.range(0, rows, 1, 1), mode, writeNumber=7)
            assert type(failure_in(caught.value)) is omd.errors.lookup("OM144")
        assert there(conn) == [0, 1, 2, 3]
        assert counted(conn) == [(1, 4)]


def test_a_stamp_is_never_before_the_start_of_the_run_whatever_clock_spark_has(
    spark: SparkSession, conn: Any, control: omd.Control, module: str
) -> None:
    """The clock of the server is a century ahead of that of Spark."""
    with control.module(module) as run:
        conn.execute(
            "SET ROLE omd_owner; UPDATE omd.module_instance"
            " SET start_datetime = '2126-01-01 00:00:00.000001+00'"
            f" WHERE module_instance_id = {run.instance_id}; RESET ROLE"
        )
        run.write(spark.range(0, 3, 1, 3))
        [row] = conn.execute(
            "SELECT DISTINCT r.omd_insert_datetime = i.start_datetime AS same FROM t.target AS r"
            " INNER JOIN omd.module_instance AS i"
            " ON r.omd_insert_module_instance_id = i.module_instance_id"
        ).fetchall()
        assert row["same"]
        conn.execute(
            "SET ROLE omd_owner; UPDATE omd.module_instance SET start_datetime = now()"
            f" WHERE module_instance_id = {run.instance_id}; RESET ROLE"
        )


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_a_partition_that_was_finished_without_rows_stays_without(
    spark: SparkSession, conn: Any, control: omd.Control, module: str, mode: str
) -> None:
    with control.module(module) as run:
        save(run, spark.range(0, 0, 1, 1), mode, writeNumber=7)
        with pytest.raises(PySparkException, match="with 0 rows read, and another one has read 4"):
            save(run, spark.range(0, 4, 1, 1), mode, writeNumber=7)
    assert there(conn) == []
    assert counted(conn) == [(1, 0)]


def test_partitions_that_are_missing_are_made_up_for(
    spark: SparkSession, conn: Any, control: omd.Control, module: str
) -> None:
    broken = F.when(F.col("id") == 3, F.raise_error(F.lit("no"))).otherwise(F.col("id"))
    df = spark.range(0, 4, 1, 4)
    with control.module(module) as run:
        with pytest.raises(PySparkException, match="no"):
            save(run, df.withColumn("id", broken.cast("bigint")), writeNumber=7)
        save(run, df, writeNumber=7)
    assert there(conn) == [0, 1, 2, 3]
    assert counted(conn) == [(4, 4)]


def test_writes_of_a_run_are_told_apart_without_a_number(
    spark: SparkSession, conn: Any, control: omd.Control, module: str
) -> None:
    with control.module(module) as run:
        for _ in range(2):
            save(run, spark.range(0, 2, 1, 2))
    assert there(conn) == [0, 0, 1, 1]
    assert counted(conn) == [(2, 2), (2, 2)]


def test_a_run_writes_to_several_tables(
    spark: SparkSession, conn: Any, control: omd.Control, module: str
) -> None:
    conn.execute('CREATE TABLE t."O ther" (LIKE t.target)')
    with control.module(module) as run:
        assert run.write(spark.range(3)) == 3
        assert run.write(spark.range(5), 't."O ther"') == 5
    tables = "SELECT table_code AS t, row_count AS n FROM omd_report.write_log ORDER BY row_count"
    found = [tuple(row.values()) for row in conn.execute(tables)]
    assert found == [("t.target", 3), ("t.O ther", 5)]
    log = conn.execute("SELECT rows_inserted AS n FROM omd_report.module_execution_log").fetchone()
    assert log == {"n": 8}


def test_a_write_looks_at_the_table_once(
    spark: SparkSession, conn: Any, control: omd.Control, module: str
) -> None:
    with control.module(module, lease=None) as run:
        opened, sessions = backends(conn), established(conn)
        run.write(spark.range(0, 4, 1, 1))
        deadline = time.monotonic() + 10
        while backends(conn) > opened and time.monotonic() < deadline:
            time.sleep(0.02)  # the server counts a session when it has ended
        # The check and the partition open one each; a worker's first write opens one for the types.
        assert established(conn) - sessions in (2, 3)
        assert there(conn) == [0, 1, 2, 3]


def backends(conn: Any) -> int:
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    return int(conn.execute(query).fetchone()["count"])


def established(conn: Any) -> int:
    query = "SELECT sessions FROM pg_stat_database WHERE datname = current_database()"
    return int(conn.execute(query).fetchone()["sessions"])


def test_a_write_asks_the_database_once_before_and_once_after(
    spark: SparkSession, control: omd.Control, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    execute = Link.execute

    def noted(link: Link, query: bytes, *rest: Any, **named: Any) -> Any:
        if link is control._link:
            asked.append(query.decode())
        return execute(link, query, *rest, **named)

    with control.module(module) as run:
        assert run._module.platform_code == "POSTGRES"  # a block asks once what its Module is
        monkeypatch.setattr(Link, "execute", noted)
        run.write(spark.range(3))
        monkeypatch.undo()
    before, after = asked
    assert '"begin_write"' in before
    assert '"write_log"' in after


def test_a_write_without_a_run_is_a_plain_append(spark: SparkSession, conn: Any, dsn: str) -> None:
    conn.execute("CREATE TABLE plain (id bigint)")
    for _ in range(2):
        spark.range(0, 2, 1, 2).write.format("omd").options(url=dsn, table="plain").mode(
            "append"
        ).save()
    assert conn.execute("SELECT count(*) AS n FROM plain").fetchone() == {"n": 4}
    assert counted(conn) == []


def test_a_write_number_needs_a_run(spark: SparkSession, conn: Any, dsn: str) -> None:
    conn.execute("CREATE TABLE plain (id bigint)")
    writer = spark.range(1).write.format("omd").options(url=dsn, table="plain", writeNumber="1")
    with pytest.raises(PySparkException, match="writeNumber needs moduleInstance"):
        writer.mode("append").save()


@pytest.mark.parametrize("count", [0, 5])
def test_a_run_that_was_given_up_writes_nothing(
    spark: SparkSession, conn: Any, control: omd.Control, module: str, count: int
) -> None:
    with (  # noqa: PT012
        pytest.raises(omd.errors.lookup("OM101")),
        control.module(module) as run,
    ):
        conn.execute("CALL omd.module_failure(%s)", [run.instance_id])
        run.write(spark.range(count))
    assert there(conn) == []

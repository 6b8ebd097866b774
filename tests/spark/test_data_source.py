"""The data source ``omd``: rows are written and read exactly, or not at all."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812

import omd
import omd.spark
from omd.spark.job import stamp

from .conftest import SECRET

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

TYPES = {
    "b": "boolean",
    "i2": "smallint",
    "i4": "integer",
    "i8": "bigint",
    "f4": "real",
    "f8": "double precision",
    "n": "numeric(38, 10)",
    "n0": "numeric(5)",
    "n_any": "numeric",
    "t": "text",
    "v": "varchar(10)",
    "c": "char(4)",
    "d": "date",
    "ts": "timestamp",
    "tz": "timestamptz",
    "by": "bytea",
    "u": "uuid",
    "j": "json",
    "jb": "jsonb",
    "a4": "integer[]",
    "at": "text[]",
}
ROWS = """
    (true, 1, 2, 3, 1.5, 2.5, 1.0000000001, 7, 0.5, 'é€😀', 'v', 'c', '2013-03-10',
     '2013-03-10 02:30:00.123456', '2013-03-10 02:30:00.123456+00', '\\x00ff',
     '6a9f9b1e-0001-4a4e-8f57-0123456789ab', '{"a": [1, null]}', '{"a": [1, null]}',
     '{1,NULL,-3}', '{a,NULL,"b,c"}'),
    (false, -32768, -2147483648, -9223372036854775808, -3.4e38, -1.7e308,
     -9999999999999999999999999999.9999999999, -99999, -12345678901234567890.000000000000000001,
     '', '', '', '0001-01-01', '0001-01-01', '1000-01-01 00:00+00', '',
     '00000000-0000-0000-0000-000000000000', 'null', '{}', '{}', '{}'),
    (true, 32767, 2147483647, 9223372036854775807, 'Infinity', 5e-324,
     9999999999999999999999999999.9999999999, 99999, 0, ' x ', '0123456789', 'abcd', '9999-12-31',
     '9999-12-31 23:59:59.999999', '9999-12-31 23:59:59.999999+00', '\\xdeadbeef',
     'ffffffff-ffff-ffff-ffff-ffffffffffff', '[]', '"é"', '{2147483647}', '{"",NULL}'),
    (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
     NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
"""


def write(run: omd.Run, df: DataFrame, **options: Any) -> int:
    return run.write(df, **options)


def message(error: pytest.ExceptionInfo[BaseException]) -> str:
    return str(error.value)


def test_every_type_survives_the_way_to_spark_and_back(
    spark: SparkSession, conn: Any, control: omd.Control, target: Callable[..., str]
) -> None:
    columns = ", ".join(f"{name} {type_}" for name, type_ in TYPES.items())
    module = target(columns)
    conn.execute(f"CREATE TABLE t.source ({columns})")
    conn.execute(f"INSERT INTO t.source VALUES {ROWS}")

    with control.module(module) as run:
        assert write(run, run.read(spark, "t.source")) == 4

    names = ", ".join(f"{name}::text" for name in TYPES)
    there = conn.execute(f"SELECT {names} FROM t.target ORDER BY i4").fetchall()
    source = conn.execute(f"SELECT {names} FROM t.source ORDER BY i4").fetchall()
    # Spark's decimal has a fixed scale, so a numeric without a scale may change its trailing zeros.
    for row in (*there, *source):
        row["n_any"] = row["n_any"] and Decimal(row["n_any"])
    assert there == source


def test_values_reach_spark_as_its_own_types(spark: SparkSession, dsn: str) -> None:
    query = (
        "SELECT 1.50::numeric(4,2) n, '2013-07-01 12:00+02'::timestamptz tz, "
        "'2013-07-01 12:00'::timestamp ts, date '2013-07-01' d, ARRAY[1,2] a"
    )
    df = spark.read.format("omd").option("url", dsn).option("query", query).load()

    assert dict(df.dtypes) == {
        "n": "decimal(4,2)",
        "tz": "timestamp",
        "ts": "timestamp_ntz",
        "d": "date",
        "a": "array<int>",
    }
    row = df.withColumn("utc", F.date_format("tz", "HH:mm")).collect()[0]
    assert row.n == Decimal("1.50")
    assert row.utc == "10:00"
    assert row.ts == dt.datetime(2013, 7, 1, 12)  # noqa: DTZ001
    assert row.d == dt.date(2013, 7, 1)
    assert row.a == [1, 2]


def test_a_write_counts_the_rows_of_all_its_partitions(
    spark: SparkSession, conn: Any, control: omd.Control, target: Callable[..., str]
) -> None:
    module = target("id bigint")
    with control.module(module) as run:
        assert write(run, spark.range(0, 10_007, 1, 5)) == 10_007
        assert write(run, spark.range(20_000, 20_003, 1, 2)) == 3
        instance = run.instance_id

    there = conn.execute("SELECT count(*) n, count(DISTINCT id) d FROM t.target").fetchone()
    assert there == {"n": 10_010, "d": 10_010}
    log = conn.execute(
        "SELECT rows_inserted FROM omd_report.module_execution_log WHERE module_instance_id = %s",
        [instance],
    ).fetchone()
    assert log == {"rows_inserted": 10_010}


def test_an_empty_frame_is_written_and_read(
    spark: SparkSession, conn: Any, control: omd.Control, target: Callable[..., str]
) -> None:
    module = target("id bigint")
    with control.module(module) as run:
        assert write(run, spark.range(0)) == 0
        assert run.read(spark, "t.target").count() == 0
        write(run, spark.range(5))
        assert write(run, spark.range(0), mode="overwrite") == 0
    assert conn.execute("SELECT count(*) n FROM t.target").fetchone() == {"n": 0}


def test_overwrite_replaces_all_rows_or_none(
    spark: SparkSession, conn: Any, control: omd.Control, target: Callable[..., str]
) -> None:
    module = target("id bigint", area_code="STG", table_type_code="STG")
    with control.module(module) as run:
        write(run, spark.range(0, 100, 1, 4))
        assert write(run, spark.range(1000, 1300, 1, 4), mode="overwrite") == 300
    kept = conn.execute("SELECT min(id), count(*) FROM t.target").fetchone()
    assert kept == {"min": 1000, "count": 300}

    with pytest.raises(PySparkException), control.module(module) as run:
        write(run, failing_at(spark.range(0, 5000, 1, 4), 4000), mode="overwrite")
    assert conn.execute("SELECT min(id), count(*) FROM t.target").fetchone() == kept


def test_overwrite_of_several_partitions_is_refused(
    spark: SparkSession, conn: Any, control: omd.Control, target: Callable[..., str], dsn: str
) -> None:
    target("id bigint")
    writer = spark.range(0, 10, 1, 2).write.format("omd").option("url", dsn)
    conn.execute("CREATE TABLE t.plain (id bigint)")
    with pytest.raises(PySparkException) as error:
        writer.option("table", "t.plain").mode("overwrite").save()
    assert "overwrite takes one partition" in message(error)


def failing_at(df: DataFrame, number: int) -> DataFrame:
    failure = F.raise_error(F.lit("out of data")).cast("bigint")
    return df.withColumn("id", F.when(F.col("id") == number, failure).otherwise(F.col("id")))


def test_a_failed_write_leaves_whole_partitions_that_the_next_begin_rolls_back(
    spark: SparkSession, conn: Any, control: omd.Control, target: Callable[..., str]
) -> None:
    module = target("id bigint")
    # Four partitions of 1000; row 2500 is in the middle of the third, behind several Arrow batches.
    broken = failing_at(spark.range(0, 4000, 1, 4), 2500)
    with pytest.raises(PySparkException, match="out of data"), control.module(module) as run:
        write(run, broken)

    parts = conn.execute(
        "SELECT id / 1000 AS part, count(*) FROM t.target WHERE omd_insert_module_instance_id = %s"
        " GROUP BY 1 ORDER BY 1",
        [run.instance_id],
    ).fetchall()
    # The third can't begin before one of the first two has ended.
    assert parts
    assert all(part["count"] == 1000 and part["part"] != 2 for part in parts)

    with control.module(module) as again:
        assert again.instance_array == [run.instance_id]
        write(again, spark.range(0, 4000, 1, 4))
    there = conn.execute("SELECT count(*) n, count(DISTINCT id) d FROM t.target").fetchone()
    assert there == {"n": 4000, "d": 4000}


def test_a_task_that_outlives_its_run_commits_nothing(
    spark: SparkSession, conn: Any, control: omd.Control, target: Callable[..., str], dsn: str
) -> None:
    module = target("id bigint")
    with pytest.raises(omd.errors.lookup("OM101")), control.module(module) as run:
        write(run, spark.range(0, 100, 1, 1).mapInArrow(ending(dsn, run), "id bigint"))
    assert conn.execute("SELECT count(*) n FROM t.target").fetchone() == {"n": 0}


def ending(dsn: str, run: omd.Run) -> Any:
    """The job continues after somebody else has ended its run."""
    instance = run.instance_id

    def job(batches: Any) -> Any:
        import psycopg

        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("CALL omd.module_failure(p_module_instance_id => %s)", [instance])
        yield from batches

    return job


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"numPartitions": 4},
        {"partitionColumn": "id", "numPartitions": 5},
        {"partitionColumn": "maybe", "numPartitions": 3},
        {"partitionColumn": "day"},
    ],
)
def test_a_read_in_parts_gives_each_row_once(
    spark: SparkSession,
    conn: Any,
    control: omd.Control,
    target: Callable[..., str],
    options: dict[str, Any],
) -> None:
    module = target("id bigint")
    conn.execute(
        "CREATE TABLE t.source AS SELECT i AS id, nullif(i % 7, 0)::int AS maybe,"
        " date '2013-01-01' + (i % 365)::int AS day, repeat('x', 50) AS pad"
        " FROM generate_series(-500::bigint, 20000) AS i"
    )
    with control.module(module) as run:
        df = run.read(spark, "t.source", **options)
        if options:
            assert df.rdd.getNumPartitions() > 1
        assert df.agg(F.count("*"), F.countDistinct("id"), F.sum("id")).collect()[0] == (
            20501,
            20501,
            sum(range(-500, 20001)),
        )


def test_a_query_is_read(
    spark: SparkSession, control: omd.Control, target: Callable[..., str]
) -> None:
    module = target("id bigint")
    with control.module(module) as run:
        query = (
            "SELECT i AS id, i * 2 AS double FROM generate_series(1, 100) AS i -- all of them;\n;"
        )
        df = run.read(spark, query=query, partitionColumn="id", numPartitions=2)
        assert df.agg(F.sum("double")).collect()[0][0] == 10100


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("id = 5", 1),
        ("id > 5 AND id <= 7", 2),
        ("id IN (1, 2, 99)", 2),
        ("name = 'it''s \\\\ 3'", 1),
        ("name IS NULL", 1),
        ("amount >= 2.5 AND NOT flag", 3),
        ("day < DATE'2013-01-03'", 2),
        ("name LIKE 'it%'", 9),
        ("name > 'it''s \\\\ 5'", 4),
        ("at > TIMESTAMP'2013-01-01 05:00:00'", 5),
    ],
)
def test_a_filter_means_the_same_there_and_here(
    spark: SparkSession, conn: Any, dsn: str, condition: str, count: int
) -> None:
    conn.execute(
        """
        CREATE TABLE filtered AS
        SELECT i AS id, CASE WHEN i < 10 THEN 'it''s \\ ' || i END AS name,
               (i / 2.0)::numeric(5,2) AS amount,
               i % 2 = 0 AS flag, date '2013-01-01' + (i - 1) AS day,
               timestamptz '2013-01-01 00:00+00' + i * interval '1 hour' AS at
          FROM generate_series(1, 10) AS i
        """
    )
    df = spark.read.format("omd").option("url", dsn).option("table", "filtered").load()
    assert df.where(condition).count() == count
    assert df.where(condition).toPandas().shape[0] == count


def test_filters_are_left_to_the_server(spark: SparkSession, conn: Any, dsn: str) -> None:
    conn.execute("CREATE TABLE filtered AS SELECT i AS id FROM generate_series(1, 10) AS i")
    read = spark.read.format("omd").option("url", dsn).option("table", "filtered")
    for pushed in ("true", "false"):
        df = read.option("pushFilters", pushed).load().where("id > 3")
        plan = df._jdf.queryExecution().optimizedPlan().toString()
        assert ("Filter" in plan) == (pushed == "false")
        assert df.count() == 7
    with pytest.raises(PySparkException, match="pushFilters is not true or false"):
        read.option("pushFilters", "yes").load()


def test_a_dataframe_that_is_used_twice_keeps_its_rows(
    spark: SparkSession, conn: Any, dsn: str
) -> None:
    """Spark gives the filters that one scan has handed over to all scans of the DataFrame."""
    conn.execute("CREATE TABLE used AS SELECT i AS id, i % 3 AS v FROM generate_series(1, 20) AS i")
    df = spark.read.format("omd").option("url", dsn).option("table", "used").load()
    assert df.where("id = 7").count() == 1
    assert df.count() == 20
    assert df.where("id < 5").union(df.where("id >= 5")).count() == 20
    assert df.where("v = 1").join(df, "id").count() == 7
    assert df.where("id = 7 OR v = 0").count() == 7


def test_a_stamp_tells_the_run_and_keeps_the_record_source(
    spark: SparkSession, conn: Any, control: omd.Control, target: Callable[..., str]
) -> None:
    history = "omd_effective_date date, omd_expiry_date date, omd_current_record_indicator text"
    module = target(f"id bigint, {history}")
    with control.module(module) as run:
        carried = spark.range(1).selectExpr(
            "id", "bigint(999) AS omd_insert_module_instance_id", "'crm' AS omd_record_source"
        )
        write(run, stamp(run, carried, effective_date=dt.date(2013, 1, 1)))
        write(run, spark.range(1, 2))
    first, second = conn.execute("SELECT * FROM t.target ORDER BY id").fetchall()
    assert first["omd_insert_module_instance_id"] == run.instance_id
    assert first["omd_record_source"] == "crm"
    assert first["omd_effective_date"] == dt.date(2013, 1, 1)
    assert first["omd_expiry_date"] == dt.date(9999, 12, 31)
    assert first["omd_current_record_indicator"] == "Y"
    assert second["omd_record_source"] == module


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"table": "no.such"}, "there is no table no.such"),
        ({"query": "SELECT int4range(1, 2) AS r"}, 'column "r" has the type int4range'),
        ({"query": "SELECT 1::numeric(50, 2) AS n"}, 'column "n": numeric(50,2) does not fit'),
        ({"table": "pg_class", "query": "SELECT 1"}, "needs a table or a query"),
        ({"tabel": "x"}, "has no option tabel"),
        ({"query": "SELECT 1 AS a", "numPartitions": "0"}, "numPartitions is not a number above 0"),
        ({"query": "SELECT 'x' AS a", "partitionColumn": "a"}, "not an integer, date or timestamp"),
    ],
)
def test_a_wrong_read_is_refused(
    spark: SparkSession, dsn: str, options: dict[str, str], complaint: str
) -> None:
    with pytest.raises(PySparkException) as error:
        spark.read.format("omd").options(url=dsn, **options).load().collect()
    assert complaint in message(error)


def test_no_credentials_in_plans_events_or_errors(
    spark: SparkSession,
    conn: Any,
    control: omd.Control,
    target: Callable[..., str],
    event_log: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    module = target("id bigint")
    with control.module(module) as run:
        assert SECRET in run.dsn
        df = run.read(spark, "t.target")
        df.explain(True)
        write(run, df.select("id"))
    with pytest.raises(PySparkException) as error, control.module(module) as run:
        write(run, failing_at(spark.range(10), 5))
    assert SECRET not in message(error)
    assert SECRET not in capfd.readouterr().out
    assert SECRET not in str(conn.execute("SELECT * FROM omd_report.event_log").fetchall())
    logs = [file.read_bytes() for file in event_log.rglob("*") if file.is_file()]
    assert any(b"SparkListenerSQLExecutionStart" in log for log in logs)
    assert not any(SECRET.encode() in log for log in logs)

"""Reads: one moment for all partitions, load windows, partitions, filters and columns."""

from __future__ import annotations

import datetime as dt
import json
import time
from typing import TYPE_CHECKING, Any

import psycopg
import pyarrow as pa
import pytest
from psycopg.conninfo import make_conninfo
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812

import omd
import omd.spark
from omd.errors import CallerError, lookup
from omd.spark.failure import TaskFailed
from omd.spark.snapshots import snapshot as held_snapshot
from omd.spark.source import OmdDataSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from omd.spark.reader import Reader

pytestmark = pytest.mark.spark

UTC = dt.timezone.utc
NOON = dt.datetime(2013, 7, 1, 12, tzinfo=UTC)
ROWS = 3000


@pytest.fixture
def source(conn: Any) -> str:
    """A table of 3000 rows in some 30 blocks; all values are 0, and each time has two rows."""
    conn.execute(
        """
        CREATE SCHEMA IF NOT EXISTS t;
        CREATE TABLE t.source WITH (autovacuum_enabled = off) AS
        SELECT i AS id, 0 AS value, repeat('x', 60) AS pad,
               timestamptz '2013-07-01 00:00+00' + (i / 2) * interval '1 minute' AS changed_at
          FROM generate_series(0, 2999) AS i
        """
    )
    return "t.source"


@pytest.fixture
def module(target: Callable[..., str]) -> str:
    return target("id bigint")


def rewrite(conn: Any) -> None:
    """Write a new version of every row to another block, and replace half of the rows."""
    conn.execute("UPDATE t.source SET value = 1")
    conn.execute(
        "WITH gone AS (DELETE FROM t.source WHERE id % 2 = 0 RETURNING *)"
        " INSERT INTO t.source SELECT id + 10000, 2, pad, changed_at FROM gone"
    )
    conn.execute("VACUUM t.source")  # it must leave the rows that a snapshot still sees


def reader(dsn: str, **options: Any) -> Reader:
    """Return the reader as Spark would make it, without Spark."""
    source = OmdDataSource({"url": dsn, **{name: str(value) for name, value in options.items()}})
    return source.reader(source.schema())


def parts(reader: Reader, column: str = "id") -> list[list[Any]]:
    """Return the values of a column by partition, as tasks read them one after another."""
    tables = (pa.Table.from_batches(reader.read(part)) for part in _filled(reader))
    return [table.column(column).to_pylist() for table in tables]


def _filled(reader: Reader) -> Iterator[Any]:
    for part in reader.partitions():
        if next(reader.read(part), None) is not None:
            yield part


def holders(conn: Any) -> int:
    query = "SELECT count(*) n FROM pg_stat_activity WHERE application_name = 'omd spark snapshot'"
    return int(conn.execute(query).fetchone()["n"])


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# One moment -------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"partitionColumn": "id"}])
def test_a_table_rewritten_between_the_partitions_is_read_as_it_was(
    spark: SparkSession,
    conn: Any,
    control: omd.Control,
    module: str,
    source: str,
    options: dict[str, Any],
) -> None:
    with control.module(module) as run:
        df = run.read(spark, source, numPartitions=5, **options)
        assert df.rdd.getNumPartitions() == 5
        rows = df.select("id", "value").toLocalIterator()  # one partition after the other
        seen = [next(rows)]
        rewrite(conn)
        seen += rows
        assert sorted(seen) == [(i, 0) for i in range(ROWS)]


def test_a_partition_that_is_read_again_gives_the_same_rows(
    spark: SparkSession, conn: Any, control: omd.Control, module: str, source: str
) -> None:
    with control.module(module) as run:
        partitions = run.read(spark, source, numPartitions=3).select("id", "value").rdd
        first = partitions.glom().collect()
        rewrite(conn)
        assert partitions.glom().collect() == first


def test_all_reads_of_a_run_see_one_moment_until_it_writes(
    spark: SparkSession, conn: Any, control: omd.Control, module: str, source: str
) -> None:
    with control.module(module) as run:
        before = run.read(spark, "t.target")
        run.read(spark, source)
        conn.execute("DELETE FROM t.source")
        assert run.read(spark, source).count() == ROWS
        assert holders(conn) == 1
        run.write(spark.range(5))
        assert before.count() == 0
        assert run.read(spark, "t.target").count() == 5
        conn.execute("CREATE TABLE t.made_by_the_job AS SELECT 1 AS one")
        with pytest.raises(lookup("OM202")):
            run.read(spark, "t.made_by_the_job")
        run.snapshot(renew=True)
        assert run.read(spark, "t.made_by_the_job").count() == 1


@pytest.mark.parametrize("ends", ["well", "badly"])
def test_a_dataframe_outlives_its_run_by_no_read(
    spark: SparkSession, conn: Any, control: omd.Control, module: str, source: str, ends: str
) -> None:
    try:
        with control.module(module) as run:
            df = run.read(spark, source)
            planned = df.rdd
            assert planned.count() == ROWS
            assert ends == "well"
    except AssertionError:
        assert ends == "badly"
    wait_until(lambda: holders(conn) == 0)
    for use in (planned.count, df.count):
        with pytest.raises(Exception, match="the run that read it has ended"):
            use()
    with pytest.raises(CallerError, match="has ended"):
        run.read(spark, source)


def test_a_run_that_is_lost_lets_its_snapshot_go(
    spark: SparkSession, conn: Any, control: omd.Control, module: str, source: str
) -> None:
    lease = dt.timedelta(seconds=2)
    with pytest.raises(omd.errors.LeaseLost), control.module(module, lease=lease) as run:  # noqa: PT012
        run.read(spark, source)
        assert holders(conn) == 1
        conn.execute("CALL omd.module_failure(%s)", [run.instance_id])
        wait_until(lambda: run._lease.is_lost and holders(conn) == 0)


def test_a_broken_holder_is_told_and_the_next_read_has_another(
    spark: SparkSession, conn: Any, control: omd.Control, module: str, source: str
) -> None:
    with control.module(module) as run:
        df = run.read(spark, source)
        conn.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE application_name = 'omd spark snapshot'"
        )
        with pytest.raises(PySparkException, match="or the connection that held it was lost"):
            df.count()
        assert run.read(spark, source).count() == ROWS


@pytest.mark.parametrize(
    "statement",
    ["TRUNCATE t.source", "VACUUM FULL t.source", "ALTER TABLE t.source ALTER id TYPE text"],
)
def test_a_table_that_lost_its_old_rows_is_not_read_as_if_it_were_empty(
    conn: Any, dsn: str, source: str, statement: str
) -> None:
    with held_snapshot(dsn) as snapshot:
        planned = reader(dsn, table=source, numPartitions=3, snapshot=snapshot)
        first, *others = planned.partitions()
        assert list(planned.read(first))
        conn.execute(statement)
        # On an executor the text is all that reaches the driver.
        with pytest.raises(TaskFailed, match=r"(?s)emptied or rewritten.*SQLSTATE: OM145"):
            list(planned.read(others[0]))
        with pytest.raises(omd.errors.lookup("OM145"), match="emptied or rewritten"):
            reader(dsn, table=source, snapshot=snapshot)
    assert conn.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()["count"] == 0


def test_reads_without_a_run_share_a_snapshot_that_is_given(
    spark: SparkSession, conn: Any, dsn: str, source: str
) -> None:
    with held_snapshot(dsn) as snapshot:
        reader = spark.read.format("omd").option("url", dsn).option("snapshot", snapshot)
        rewrite(conn)
        df = reader.load(source)
        assert df.agg(F.sum("id"), F.sum("value")).collect()[0] == (sum(range(ROWS)), 0)
    with pytest.raises(PySparkException, match=r"(?s)is not held any more.*SQLSTATE: OM143"):
        df.count()


def test_a_server_that_ends_idle_transactions_leaves_the_snapshot(
    conn: Any, dsn: str, source: str
) -> None:
    impatient = make_conninfo(dsn, options="-c idle_in_transaction_session_timeout=50")
    with held_snapshot(impatient) as snapshot:
        conn.execute("SELECT pg_sleep(0.2)")  # four times the timeout of the server
        assert sum(map(len, parts(reader(dsn, table=source, snapshot=snapshot)))) == ROWS


# Load windows -----------------------------------------------------------------------------------


def test_two_runs_read_each_row_once_ties_at_the_bounds_included(
    spark: SparkSession, conn: Any, control: omd.Control, module: str, source: str
) -> None:
    seen: list[int] = []
    # 1000 and 1001 are of the same time: the end is between them.
    ends = [(NOON - dt.timedelta(minutes=220), 1000), (NOON, 1440), (NOON + dt.timedelta(5), 0)]
    for end_value, end_id in ends:
        with control.module(module) as run:
            run.window(end_value=end_value, end_id=end_id)
            df = run.read(spark, source, window=("changed_at", "id"), numPartitions=3)
            assert df.rdd.getNumPartitions() == 3
            seen += [row.id for row in df.select("id").collect()]
        conn.execute(
            "INSERT INTO t.source SELECT 5000 + %s, 0, '', %s",
            [len(seen), end_value + dt.timedelta(minutes=1)],
        )
    assert len(seen) == len(set(seen)) == ROWS + 2


def test_the_window_of_a_failed_run_is_read_by_the_next(
    spark: SparkSession, conn: Any, control: omd.Control, module: str, source: str
) -> None:
    def take(end: dt.datetime) -> list[int]:
        with control.module(module) as run:
            run.window(end_value=end)
            ids = [row.id for row in run.read(spark, source, window="changed_at").collect()]
            if fails:
                raise ValueError
        return ids

    fails = False
    first = take(NOON)
    fails = True
    with pytest.raises(ValueError):  # noqa: PT011 - the job's own
        take(NOON + dt.timedelta(hours=1))
    fails = False
    second = take(NOON + dt.timedelta(hours=2))
    assert sorted(first) == list(range(1442))
    assert sorted(second) == list(range(1442, 1442 + 240))


def window(columns: tuple[str | None, str | None], *bounds: Any) -> dict[str, Any]:
    names = ("windowTimeColumn", "windowIdColumn", "windowStart", "windowStartId")
    names += ("windowEnd", "windowEndId")
    given = dict(zip(names, (*columns, *bounds), strict=True))
    return {name: value for name, value in given.items() if value is not None}


BOTH = window(
    ("changed_at", "id"), "2013-07-01T01:00:00+00:00", 121, "2013-07-01T02:00:00+00:00", 240
)


@pytest.mark.parametrize("number", [1, 5])
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (BOTH, range(122, 241)),
        (
            window(
                ("changed_at", None),
                "2013-07-01T01:00:00+00:00",
                None,
                "2013-07-01T02:00:00Z",
                None,
            ),
            range(122, 242),
        ),
        (window((None, "id"), None, 121, None, 240), range(122, 241)),
        (
            window(("changed_at", "id"), "-infinity", -(2**63), "2013-07-01T00:01:00+00:00", 2),
            range(3),
        ),
        # The window before had no id: all rows of its last instant are read.
        (
            window(
                ("changed_at", "id"),
                "2013-07-01T01:00:00+00:00",
                None,
                "2013-07-01T02:00:00+00:00",
                240,
            ),
            range(122, 241),
        ),
        # All rows are of one time, so they are split by id.
        (
            window(
                ("changed_at", "id"),
                "2013-07-01T01:00:00+00:00",
                120,
                "2013-07-01T01:00:00+00:00",
                121,
            ),
            range(121, 122),
        ),
    ],
)
def test_a_window_in_parts_is_the_window(
    dsn: str, source: str, options: dict[str, Any], expected: range, number: int
) -> None:
    given = {name: str(value).replace("Z", "+00:00") for name, value in options.items()}
    read = parts(reader(dsn, table=source, numPartitions=number, **given))
    assert sorted(id_ for part in read for id_ in part) == list(expected)
    assert number == 1 or len(expected) < 2 or len(read) > 1


@pytest.mark.parametrize("number", [1, 4])
def test_a_window_is_served_by_the_index(conn: Any, dsn: str, source: str, number: int) -> None:
    conn.execute("CREATE INDEX ON t.source (changed_at, id); ANALYZE t.source")
    part_of = reader(dsn, table=source, numPartitions=number, **BOTH)
    for part in part_of.partitions():
        query = "EXPLAIN (FORMAT JSON) " + part_of.query(part)
        plan = conn.execute(query).fetchone()["QUERY PLAN"]
        told = json.dumps(plan)
        assert "Index" in told
        assert "Seq Scan" not in told
        assert told.count("ROW(changed_at, id) >") + told.count("ROW(changed_at, id) <") >= 2
        assert '"Filter"' not in told


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
@pytest.mark.parametrize("type_", ["timestamptz", "timestamp", "date"])
def test_an_instant_is_an_instant_in_every_time_zone(
    conn: Any, dsn: str, zone: str, type_: str
) -> None:
    conn.execute("SET TimeZone = 'UTC'")
    conn.execute(
        f"CREATE TABLE zoned AS SELECT i AS id,"
        f" (timestamp '2013-07-01' + i * interval '1 day')::{type_} AS at"
        f" FROM generate_series(0, 9) AS i"
    )
    there = make_conninfo(dsn, options=f"-c TimeZone={zone}")
    # 2013-07-03 20:00 in New York is midnight in UTC.
    bounds = ("2013-07-03T20:00:00-04:00", None, "2013-07-06T00:00:00+00:00", None)
    options = window(("at", None), *bounds)
    assert parts(reader(there, table="zoned", **options)) == [[4, 5]]
    assert parts(reader(there, table="zoned", numPartitions=2, **options)) == [[4], [5]]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (window(("changed_at", None), None, None, None, 5), "does not fit the columns"),
        (window((None, "id"), None, None, "2013-07-01T00:00:00+00:00", 5), "does not fit"),
        (window((None, None), None, 1, None, None), "needs a time column"),
        (window((None, "id"), "2013-07-01T00:00:00+00:00", None, None, 5), "starts at the time"),
        (window(("pad", None), "-infinity", None, "2013-07-01T00:00:00+00:00", None), "not a time"),
        (window((None, "pad"), None, 1, None, 2), "not an integer column"),
        (window(("changed_at", None), "2013-07-01", None, "2013-07-02", None), "not an instant"),
        ({"windowEndId": "x"}, "windowEndId is not an integer"),
        ({"predicates": "id = 1"}, "not a JSON list"),
        ({"predicates": '["true"]', "numPartitions": 3}, "predicates are the partitions"),
    ],
)
def test_wrong_options_of_a_read_are_refused(
    dsn: str, source: str, options: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(CallerError, match=complaint):
        reader(dsn, table=source, **options)


def test_a_window_must_be_there_and_have_a_zone(
    spark: SparkSession, control: omd.Control, module: str, source: str
) -> None:
    with control.module(module) as run:
        with pytest.raises(CallerError, match="has no load window yet"):
            run.read(spark, source, window="changed_at")
        with pytest.raises(CallerError, match="has no time zone"):
            run.window(end_value=dt.datetime(2013, 7, 1))  # noqa: DTZ001
        assert run._reads.window is None
        assert run.window(end_value=NOON).start_value is None


# Partitions, columns, filters -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "least"),
    [
        ({"numPartitions": 4}, 3),
        ({"partitionColumn": "changed_at", "numPartitions": 4}, 4),
        ({"partitionColumn": "id"}, 8),
        ({"predicates": '["id < 5", "id >= 5 OR false -- others"]'}, 2),
    ],
)
def test_partitions_hold_each_row_once(
    dsn: str, source: str, options: dict[str, Any], least: int
) -> None:
    read = parts(reader(dsn, table=source, **options))
    assert len(read) >= least
    assert sorted(id_ for part in read for id_ in part) == list(range(ROWS))


def test_predicates_are_the_partitions(
    spark: SparkSession, control: omd.Control, module: str, source: str
) -> None:
    with control.module(module) as run:
        df = run.read(spark, source, predicates=["id < 5", "id >= 2990"], columns=["id"])
        assert [len(part) for part in df.rdd.glom().collect()] == [5, 10]
        assert df.columns == ["id"]


def test_only_the_named_columns_are_asked_for(
    spark: SparkSession, conn: Any, control: omd.Control, module: str, dsn: str, source: str
) -> None:
    given = spark.read.format("omd").options(url=dsn, table=source).schema("value int, id int")
    assert given.load().where("id = 7").collect() == [(0, 7)]
    with pytest.raises(PySparkException, match=r'column "id" of t\.source is read as int'):
        given.schema("id bigint").load().collect()
    with control.module(module) as run:
        with pytest.raises(CallerError, match='has no column "nosuch"'):
            run.read(spark, source, columns=["nosuch"])
        with pytest.raises(lookup("OM202")):
            run.read(spark, "no.such")


def test_two_columns_of_one_name_are_refused(dsn: str) -> None:
    with pytest.raises(CallerError, match="two columns of the query have the same name"):
        reader(dsn, query="SELECT 1 AS a, 2 AS a")


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_filters_on_times_are_left_to_the_server(
    spark: SparkSession, conn: Any, dsn: str, source: str, zone: str
) -> None:
    there = make_conninfo(dsn, options="-c TimeZone=Asia/Tokyo")
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        df = (
            spark.read.format("omd")
            .options(
                url=there,
                pushFilters="true",
                query="SELECT id, changed_at, changed_at AT TIME ZONE 'UTC' AS local FROM t.source",
            )
            .load()
        )
        for condition in (
            "changed_at <= TIMESTAMP'2013-07-01 01:00:00+00:00'",
            "local <= TIMESTAMP_NTZ'2013-07-01 01:00:00'",
            "NOT changed_at > TIMESTAMP'2013-07-01 03:00:00+02:00' AND id <> 3000",
        ):
            found = df.where(condition)
            assert found.count() == 122
            plan = found._jdf.queryExecution().optimizedPlan().toString()
            assert "Filter" not in plan
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def test_a_loose_collation_is_not_asked_about_equality(
    spark: SparkSession, conn: Any, dsn: str
) -> None:
    try:
        conn.execute(
            "CREATE COLLATION loose"
            " (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
    except psycopg.errors.FeatureNotSupported:  # the embedded server; Debian's has it
        pytest.skip("a server without ICU")
    conn.execute("CREATE TABLE loosely (a text COLLATE loose, b text)")
    conn.execute("INSERT INTO loosely VALUES ('x', 'x'), ('X', 'X')")
    for options in ({"table": "loosely"}, {"query": "SELECT b AS c, a FROM loosely"}):
        df = spark.read.format("omd").options(url=dsn, **options).load()
        assert [row.a for row in df.where("a = 'x'").collect()] == ["x"]


def test_a_role_with_nothing_but_select_can_read(
    conn: Any, connect: Callable[..., psycopg.Connection[Any]], dsn: str, source: str
) -> None:
    conn.execute(
        "DROP ROLE IF EXISTS omd_test_only_reads; CREATE ROLE omd_test_only_reads;"
        "GRANT USAGE ON SCHEMA t TO omd_test_only_reads;"
        "GRANT SELECT ON t.source TO omd_test_only_reads"
    )
    try:
        limited = make_conninfo(dsn, options="-c role=omd_test_only_reads")
        with held_snapshot(limited) as snapshot:
            read = parts(reader(limited, table=source, snapshot=snapshot, numPartitions=2))
        assert sum(map(len, read)) == ROWS
    finally:
        conn.execute("DROP OWNED BY omd_test_only_reads; DROP ROLE omd_test_only_reads")

"""Iceberg tables: what a run writes is visible when it has succeeded, and is taken back if not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyiceberg.table import StaticTable
from pyspark.sql import functions as F  # noqa: N812

import omd
from omd._core.link import Link
from omd.errors import CallerError, lookup
from omd.rooms.lake.rows import LakeFoldersRow
from omd.tables.maintenance import maintain

from .histories import HISTORY, chain, versions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

STAMP = "omd_insert_module_instance_id"


class Lake:
    """The namespace lake in a folder, with Modules that load its tables."""

    def __init__(self, conn: Any, control: omd.Control, spark: SparkSession, folder: Path) -> None:
        self.conn, self.control, self.spark, self.folder = conn, control, spark, folder
        control.calls.omd_lake.register_namespace("lake", str(folder))

    def module(self, table: str = "t", **registered: Any) -> str:
        self.control.calls.omd.register_module(
            f"m_{table}",
            platform_code="SPARK",
            **{
                "table_code": f"lake.{table}",
                "area_code": "HSTG",
                "table_type_code": "HSTG",
                "table_format_code": "ICEBERG",
                **registered,
            },
        )
        return f"m_{table}"

    def run(self, module: str) -> omd.Run:
        return self.control.module(module, spark=self.spark)

    def fail(self, module: str, job: Callable[[omd.Run], object]) -> int:
        """Let a run do a job, and then fail."""

        def failing(run: omd.Run) -> None:
            job(run)
            raise Stop

        outcome = self.control.run(module, failing, spark=self.spark)
        assert isinstance(outcome.error, Stop), outcome.error
        return outcome.instance_id

    def rows(self, first: int, last: int, note: str = "n") -> Any:
        return self.spark.range(first, last).selectExpr("id", f"'{note}' AS note")

    def seen(self, table: str = "t") -> list[dict[str, Any]]:
        """What an independent reader sees."""
        row = self.conn.execute(
            "SELECT metadata_location FROM omd_lake.iceberg_tables WHERE table_name = %s", [table]
        ).fetchone()
        return StaticTable.from_metadata(row["metadata_location"]).scan().to_arrow().to_pylist()

    def ids(self, table: str = "t") -> list[int]:
        return sorted(row["id"] for row in self.seen(table))

    def operations(self, table: str = "t") -> list[str]:
        rows = self.conn.execute(
            "SELECT operation FROM omd_lake.table_commit WHERE table_code = %s ORDER BY commit_id",
            [f"lake.{table}"],
        ).fetchall()
        return [row["operation"] for row in rows]


@pytest.fixture
def lake(conn: Any, control: omd.Control, spark: SparkSession, tmp_path: Path) -> Lake:
    return Lake(conn, control, spark, tmp_path)


class Stop(Exception):  # noqa: N818
    """The job fails."""


def test_two_writes_become_visible_together_with_the_success_and_readers_agree(lake: Lake) -> None:
    with lake.run(lake.module()) as run:
        assert run.write(lake.rows(0, 5)) == 5
        run.write(lake.rows(5, 8))
        assert lake.ids() == []
        assert run.read(lake.spark, "lake.t").count() == 8  # the run itself sees it
    assert lake.ids() == list(range(8))
    row = lake.seen()[0]
    assert row[STAMP] == run.instance_id
    assert lake.operations() == ["APPEND"]
    with lake.run("m_t") as second:
        read = second.read(lake.spark, "lake.t")
        assert sorted(r.id for r in read.collect()) == list(range(8))
        second.write(lake.rows(100, 101), mode="overwrite")
        assert read.count() == 8
        assert [r.id for r in second.read(lake.spark, "lake.t").collect()] == [100]
    assert lake.ids() == [100]


@pytest.mark.parametrize("format", ["ICEBERG", "DELTA"])
def test_a_write_into_a_table_asks_the_database_once_before_and_the_block_commits_it(
    lake: Lake, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    execute = Link.execute

    def noted(link: Link, query: bytes, *rest: Any, **named: Any) -> Any:
        if link is lake.control._link:
            asked.append(query.decode())
        return execute(link, query, *rest, **named)

    with lake.run(lake.module(table_format_code=format)) as run:
        run.write(lake.rows(0, 2))  # it creates the table
        monkeypatch.setattr(Link, "execute", noted)
        run.write(lake.rows(2, 4))
        monkeypatch.undo()
    (before,) = asked
    assert '"omd_lake"."begin_write"' in before
    folders = lake.control.report(LakeFoldersRow)
    assert [row.folder_state for row in folders] == ["COMMITTED"] * 2


def test_a_failed_run_is_taken_back_whether_it_had_committed_or_not(lake: Lake) -> None:
    module = lake.module()
    with lake.run(module) as run:
        run.write(lake.rows(0, 3))

    def half(run: omd.Run) -> None:
        run.write(lake.rows(3, 6))
        run.commit()
        run.write(lake.rows(6, 9))

    failed = lake.fail(module, half)
    assert lake.ids() == [0, 1, 2, 3, 4, 5]
    folders = list((lake.folder / "t/data/omd").glob(f"{failed}/*"))
    assert len(folders) == 2
    with lake.run(module) as run:
        assert lake.ids() == [0, 1, 2]
        run.write(lake.rows(6, 7), mode="overwrite")
    assert len(list(folders[0].parent.glob("*"))) == 1  # what was never committed is removed
    assert lake.operations() == ["APPEND", "APPEND", "UNDO", "OVERWRITE"]

    def overwriting(run: omd.Run) -> None:
        run.write(lake.rows(7, 8), mode="overwrite")
        run.commit()

    lake.fail(module, overwriting)
    assert lake.ids() == [7]
    with lake.run(module):
        assert lake.ids() == [6]


def test_files_that_hold_rows_of_other_runs_are_rewritten_without_those_of_the_failed_one(
    lake: Lake,
) -> None:
    module = lake.module()
    with lake.run(module) as run:
        run.write(lake.rows(0, 2).coalesce(1))

    def committed(run: omd.Run) -> None:
        run.write(lake.rows(2, 4).coalesce(1))
        run.commit()

    lake.fail(module, committed)
    _compact(lake)  # by another engine, which puts the rows of both runs into one file
    assert lake.ids() == [0, 1, 2, 3]
    with lake.run(module) as again:
        assert lake.ids() == [0, 1]
        assert {row[STAMP] for row in lake.seen()} == {run.instance_id}
        again.write(lake.rows(4, 5))
    assert lake.ids() == [0, 1, 4]


def _compact(lake: Lake) -> None:
    """Commit one file with all rows in place of those that are live, without a run."""
    from omd.rooms.lake.calls import LakeCalls
    from omd.spark.parquet import fitting, read_files, write_files
    from omd.tables.footers import data_files
    from omd.tables.iceberg_run import record_of
    from omd.tables.names import below
    from omd.tables.run import LakeRun
    from omd.tables.schema import spark_schema
    from omd.tables.staging import EVERYTHING, Change, stage

    with lake.run(lake.module("reader")) as run:
        table = LakeRun(run).table("lake.t")
        schema = spark_schema(table.metadata.schema)
        paths = [str(path) for path in sorted((lake.folder / "t/data").rglob("*.parquet"))]
        rows = fitting(read_files(lake.spark, schema, paths), schema, "t", frozenset()).coalesce(1)
    folder = f"{table.metadata.location}/data/omd/0/0"
    _, uris = write_files(rows, folder, [])
    files = data_files(table.io, below(folder, uris), table.metadata.schema, table.metadata.spec)
    change = Change("COMPACT", added=files, removed=EVERYTHING)
    with lake.control.transaction():
        calls = LakeCalls(lake.control._link)
        calls.open_commit(None, ["lake.t"])
        staged = stage(table.io, table.metadata, change)
        calls.commit_tables(None, [record_of("lake.t", table.metadata, staged, change, [])])


def test_a_history_ends_the_versions_before_and_a_rollback_opens_them_again(lake: Lake) -> None:
    module = lake.module(**HISTORY)

    with lake.run(module) as first:
        first.write(
            versions(lake.spark, (1, "a", "2020-01-01"), (2, "x", "2020-01-01")), mode="history"
        )
    before = chain(lake.seen())
    assert before == [
        (1, "a", "2020-01-01", "9999-12-31", "Y", None),
        (2, "x", "2020-01-01", "9999-12-31", "Y", None),
    ]

    def late(run: omd.Run) -> None:
        run.write(
            versions(lake.spark, (1, "c", "2022-01-01"), (3, "z", "2022-01-01")), mode="history"
        )
        run.write(versions(lake.spark, (1, "b", "2021-01-01")), mode="history")
        run.commit()

    ended = lake.fail(module, late)
    assert chain(lake.seen()) == [
        (1, "a", "2020-01-01", "2021-01-01", "N", ended),
        (1, "b", "2021-01-01", "2022-01-01", "N", None),
        (1, "c", "2022-01-01", "9999-12-31", "Y", None),
        (2, "x", "2020-01-01", "9999-12-31", "Y", None),
        (3, "z", "2022-01-01", "9999-12-31", "Y", None),
    ]
    with lake.run(module) as third:
        assert chain(lake.seen()) == before
        third.write(versions(lake.spark, (2, "y", "2021-01-01")), mode="history")
    assert chain(lake.seen()) == [
        (1, "a", "2020-01-01", "9999-12-31", "Y", None),
        (2, "x", "2020-01-01", "2021-01-01", "N", third.instance_id),
        (2, "y", "2021-01-01", "9999-12-31", "Y", None),
    ]


def test_every_type_and_partition_is_read_back_by_spark_and_by_another_reader(lake: Lake) -> None:
    spark = lake.spark
    before = spark.conf.get("spark.sql.parquet.outputTimestampType")
    rows = spark.sql(
        """SELECT id, cast(id AS tinyint) AS small, cast(id AS decimal(20, 3)) / 4 AS amount,
           CASE WHEN id % 2 = 0 THEN double('NaN') ELSE id / 3 END AS x, id > 5 AS flag,
           CASE WHEN id % 3 = 0 THEN NULL WHEN id % 3 = 1 THEN '' ELSE concat('ä/%', id) END AS t,
           cast(cast(id AS string) AS binary) AS raw, date_add(date'1969-12-30', int(id)) AS d,
           timestamp'1969-12-31 22:30:00 UTC' + make_interval(0, 0, 0, 0, int(id)) AS ts,
           timestamp_ntz'2020-01-01 00:00:00' AS local,
           named_struct('a', id, 'b', named_struct('c', string(id))) AS st
           FROM range(12)"""
    )
    partition_by = ["months(d)", "hours(ts)", "truncate(2, t)", "t", "truncate(5, small)"]
    with lake.run(lake.module()) as run:
        assert run.write(rows.repartition(2), partition_by=partition_by) == 12
        assert spark.conf.get("spark.sql.parquet.outputTimestampType") == before
    with lake.run("m_t") as run:
        read = run.read(spark, "lake.t")
        audit = [name for name in read.columns if name.startswith("omd_")]
        assert read.drop(*audit).dtypes == [
            (name, "int" if name == "small" else type) for name, type in rows.dtypes
        ]
        same = read.drop(*audit).withColumn("small", read.small.cast("tinyint"))
        assert same.exceptAll(rows).count() == rows.exceptAll(same).count() == 0
        run.write(rows.where("id = 1").select("id", "small", "d", "ts"))
    told = {row["id"]: row for row in lake.seen() if row[STAMP] == 1}
    for row in rows.collect():
        for name in ("t", "d", "amount", "flag", "local"):
            assert told[row.id][name] == row[name], name
    late = [row for row in lake.seen() if row[STAMP] != 1]
    assert [(row["id"], row["t"], row["st"]) for row in late] == [(1, None, None)]
    table = StaticTable.from_metadata(_location(lake))
    assert len(list(table.scan(row_filter="t == ''").plan_files())) == 4
    assert table.scan(row_filter="ts < '1970-01-01T00:00:00+00:00'").to_arrow().num_rows == 3


def _location(lake: Lake) -> str:
    found = lake.control.calls.omd_lake.find_table("lake.t").metadata_location
    assert found is not None
    return found


def test_rows_that_do_not_fit_are_refused_before_anything_is_visible(lake: Lake) -> None:
    module = lake.module()
    refused = [
        (lake.spark.sql("SELECT 1 AS id, array(1) AS list"), lookup("OM242"), "array"),
        (lake.spark.sql("SELECT 1 AS a, 2 AS A"), CallerError, "differ at most in case"),
    ]
    for rows, error, told in refused:
        with pytest.raises(error, match=told), lake.run(module) as run:
            run.write(rows)
    with lake.run(module) as run:
        run.write(lake.rows(0, 1))
        with pytest.raises(CallerError, match='no column "more"'):
            run.write(lake.rows(0, 1).withColumnRenamed("note", "more"))
        with pytest.raises(lookup("OM242"), match="note"):
            run.write(lake.spark.sql("SELECT 1L AS id, named_struct('a', 1) AS note"))
        with pytest.raises(CallerError, match="partitioned otherwise"):
            run.write(lake.rows(0, 1), partition_by=["id"])
    assert lake.ids() == [0]


def test_a_run_reads_one_moment_as_of_another_and_the_window_since_the_last_run(lake: Lake) -> None:
    for table in ("t", "u"):
        lake.module(table)
    for table, first in (("t", 0), ("u", 10), ("t", 20)):
        with lake.run(f"m_{table}") as run:
            run.write(lake.rows(first, first + 2))
    spark = lake.spark

    def ids(rows: Any) -> list[int]:
        return sorted(row.id for row in rows.collect())

    moments = lake.conn.execute(
        "SELECT commit_datetime, snapshot_id FROM omd_lake.table_commit ORDER BY 1"
    ).fetchall()
    lake.module("v")
    with lake.run("m_v") as reader:
        assert ids(reader.read(spark, "lake.t")) == [0, 1, 20, 21]
        with lake.run("m_u") as writer:
            writer.write(lake.rows(30, 31))
        assert ids(reader.read(spark, "lake.u", columns=["id"])) == [10, 11]
        assert ids(reader.read(spark, "lake.t", as_of=moments[1]["commit_datetime"])) == [0, 1]
        assert ids(reader.read(spark, "lake.t", as_of=moments[0]["snapshot_id"])) == [0, 1]
        with pytest.raises(omd.errors.lookup("OM021")):
            reader.read(spark, "lake.t", as_of=42)
        assert reader.window(table="lake.t").end_id == 2
        assert ids(reader.read(spark, "lake.t", window=True)) == [0, 1, 20, 21]
    with lake.run("m_t") as run:
        run.write(lake.rows(40, 41))
    with lake.run("m_v") as reader:
        reader.window(table="lake.t")
        assert ids(reader.read(spark, "lake.t", window=True)) == [40]


def test_maintenance_joins_small_files_and_a_rollback_still_finds_the_run(lake: Lake) -> None:
    module = lake.module()
    with lake.run(module) as first:
        first.write(lake.rows(0, 1))
    with lake.run(module) as many:
        many.write(lake.rows(10, 70).repartition(6))
    before = lake.seen()
    done = maintain(lake.control, spark=lake.spark)
    assert [(row.action, row.files) for row in done] == [("COMPACT", 6)]
    assert sorted(lake.seen(), key=str) == sorted(before, key=str)
    assert len(list(StaticTable.from_metadata(_location(lake)).scan().plan_files())) == 2
    assert maintain(lake.control, spark=lake.spark) == []
    lake.control.calls.omd.set_next_run_indicator("R", module_instance_id=many.instance_id)
    with lake.run(module) as again:
        assert again.instance_array == [many.instance_id]
        assert lake.ids() == [0]
    # Once its runs ended long ago, no rollback is to be expected: their files are joined.
    for n in range(4):
        with lake.run(module) as run:
            run.write(lake.rows(n + 1, n + 2).coalesce(1))
    lake.conn.execute("SET session_replication_role = replica")
    lake.conn.execute(
        "UPDATE omd.module_instance SET start_datetime = start_datetime - interval '40 days',"
        " end_datetime = end_datetime - interval '40 days' WHERE module_instance_id > 0"
    )
    assert [row.files for row in maintain(lake.control, spark=lake.spark)] == [5]
    assert lake.ids() == [0, 1, 2, 3, 4]


def test_a_history_whose_table_has_moved_on_ends_the_run_and_leaves_nothing(lake: Lake) -> None:
    module = lake.module(**HISTORY)
    lake.module("other", table_code="lake.t")
    row = lake.spark.sql("SELECT 1L AS id, 'a' AS note, date'2020-01-01' AS omd_effective_date")

    def overtaken(run: omd.Run) -> None:
        run.write(row, mode="history")
        with lake.run("m_other") as other:
            other.write(row.withColumn("id", F.lit(2).cast("bigint")), mode="append")

    outcome = lake.control.run(module, overtaken, spark=lake.spark)
    assert isinstance(outcome.error, omd.errors.lookup("OM120"))
    assert lake.ids() == [2]
    assert outcome.status == "F"


def test_a_step_reads_the_commits_of_its_block_and_commits_rows_offset_and_success_at_once(
    lake: Lake,
) -> None:
    source = lake.module()
    target = lake.module("u")
    lineage = lake.control._lineage
    lineage.register_topic("lake.t", source_offset="LAKE")
    lineage.register_topic(
        "lake.u",
        depends_on=["lake.t"],
        transforms=["SELECT id, concat(note, '!') AS note FROM block"],
        engine="SPARK",
        module_code=target,
        platform_code="SPARK",
        area_code="HSTG",
        repeat="0",
    )
    for first in (0, 10):
        with lake.run(source) as run:
            run.write(lake.rows(first, first + 2))
        lineage.probe_sources()
        outcome = lineage.step("lake.u", spark=lake.spark)
        assert (outcome.status, outcome.facts["rows"]) == ("S", 2), outcome
    assert lake.ids("u") == [0, 1, 10, 11]
    assert {row["note"] for row in lake.seen("u")} == {"n!"}

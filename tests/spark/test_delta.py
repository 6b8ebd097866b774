"""Delta tables: the log is extended under the fence, and what it shows too early is taken back."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import omd
from omd.errors import CallerError
from omd.tables.delta import Delta, DeltaChange
from omd.tables.maintenance import maintain

from .histories import HISTORY, chain, versions

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

JOB = Path(__file__).with_name("delta_job.py")


class Stop(Exception):  # noqa: N818
    """The job fails."""


@pytest.fixture
def folder(control: omd.Control, tmp_path: Path) -> Path:
    control.calls.omd_lake.register_namespace("lake", str(tmp_path))
    for name in ("t", "reader"):
        control.calls.omd.register_module(
            f"m_{name}",
            area_code="HSTG",
            table_code=f"lake.{name}",
            table_type_code="HSTG",
            platform_code="SPARK",
            table_format_code="DELTA",
        )
    return tmp_path / "t"


def seen(folder: Path) -> list[int]:
    return sorted(row["id"] for row in DeltaTable(folder).to_pyarrow_table().to_pylist())


def test_a_run_commits_fails_and_is_taken_back_as_on_iceberg(
    control: omd.Control, spark: SparkSession, folder: Path, conn: Any
) -> None:
    def rows(first: int, last: int) -> Any:
        return spark.sql(
            f"""SELECT id, id % 2 AS half, array(id) AS list, cast(id AS decimal(9, 2)) AS amount,
                date_add(date'2020-01-01', int(id)) AS d, current_timestamp() AS at
                FROM range({first}, {last})"""
        )

    def fail(job: Callable[[omd.Run], object]) -> omd.Outcome[Any]:
        def failing(run: omd.Run) -> None:
            job(run)
            run.commit()
            raise Stop

        outcome = control.run("m_t", failing, spark=spark)
        assert isinstance(outcome.error, Stop), outcome.error
        return outcome

    with control.module("m_t", spark=spark) as run:
        run.write(rows(0, 4), partition_by=["half"])
        assert seen(folder) == []
        assert run.read(spark, "lake.t").count() == 4
        with pytest.raises(CallerError, match="names no key"):
            run.write(rows(0, 1), mode="history")
    assert seen(folder) == [0, 1, 2, 3]
    fail(lambda run: run.write(rows(10, 12)))
    assert seen(folder) == [0, 1, 2, 3, 10, 11]
    with control.module("m_t", spark=spark) as second:
        assert seen(folder) == [0, 1, 2, 3]
        second.write(rows(4, 5))
    fail(lambda run: run.write(rows(20, 21), mode="overwrite"))
    assert seen(folder) == [20]
    with control.module("m_t", spark=spark) as third:
        assert seen(folder) == [0, 1, 2, 3, 4]
        third.write(rows(5, 6))
    commits = conn.execute(
        "SELECT operation, sequence_number, commit_datetime FROM omd_lake.table_commit ORDER BY 2"
    ).fetchall()
    assert [row["operation"] for row in commits] == [
        "APPEND",
        "APPEND",
        "UNDO",
        "APPEND",
        "OVERWRITE",
        "UNDO",
        "APPEND",
    ]
    assert [row["sequence_number"] for row in commits] == [1, 2, 3, 4, 5, 6, 7]
    with control.module("m_reader", spark=spark) as reader:
        found = reader.read(spark, "lake.t")
        assert sorted(r.id for r in found.collect()) == [0, 1, 2, 3, 4, 5]
        assert dict(found.dtypes)["list"] == "array<bigint>"
        assert reader.read(spark, "lake.t", as_of=1).count() == 4
        assert reader.read(spark, "lake.t", as_of=commits[3]["commit_datetime"]).count() == 5
        with pytest.raises(omd.errors.lookup("OM021")):
            reader.read(spark, "lake.t", as_of=99)
        reader.window(table="lake.t")
        window = reader.read(spark, "lake.t", window=True)
        assert window.count() == 6
    rows_seen = DeltaTable(folder).to_pyarrow_table(filters=[("half", "=", 1)])
    assert sorted(rows_seen["id"].to_pylist()) == [1, 3, 5]


def test_a_commit_that_was_never_recorded_is_found_in_the_log_and_taken_back(
    control: omd.Control, spark: SparkSession, folder: Path
) -> None:
    with control.module("m_t", spark=spark) as run:
        run.write(spark.range(3))

    def half(run: omd.Run) -> None:
        """Extend the log as a commit does, and die before the transaction ends."""
        run.write(spark.range(3, 5))
        (pending,) = run._reads.uncommitted.delta.values()  # type: ignore[union-attr]
        change = DeltaChange("APPEND", pending.added, [])
        number = pending.writes[0][0]
        Delta(pending.location).commit(change, "m_t", run.instance_id, number)
        pending.added.clear()
        raise Stop

    assert isinstance(control.run("m_t", half, spark=spark).error, Stop)
    assert seen(folder) == [0, 1, 2, 3, 4]
    with control.module("m_t", spark=spark):
        assert seen(folder) == [0, 1, 2]


def held(folder: Path) -> list[tuple[Any, ...]]:
    """What an independent reader sees of a history."""
    return chain(DeltaTable(folder).to_pyarrow_table().to_pylist())


def test_a_history_ends_the_versions_before_and_a_rollback_opens_them_again(
    control: omd.Control, spark: SparkSession, folder: Path, conn: Any
) -> None:
    for module in ("m_h", "m_other"):
        control.calls.omd.register_module(
            module,
            table_code="lake.t",
            platform_code="SPARK",
            table_format_code="DELTA",
            **HISTORY,
        )
    with control.module("m_h", spark=spark) as first:
        first.write(versions(spark, (1, "a", "2020-01-01"), (2, "x", "2020-01-01")), mode="history")
    before = held(folder)
    assert before == [
        (1, "a", "2020-01-01", "9999-12-31", "Y", None),
        (2, "x", "2020-01-01", "9999-12-31", "Y", None),
    ]

    def late(run: omd.Run) -> None:
        run.write(versions(spark, (1, "c", "2022-01-01"), (3, "z", "2022-01-01")), mode="history")
        run.write(versions(spark, (1, "b", "2021-01-01")), mode="history")
        assert run.read(spark, "lake.t").count() == 5
        run.commit()
        raise Stop

    outcome = control.run("m_h", late, spark=spark)
    assert isinstance(outcome.error, Stop), outcome.error
    ended = outcome.instance_id
    assert held(folder) == [
        (1, "a", "2020-01-01", "2021-01-01", "N", ended),
        (1, "b", "2021-01-01", "2022-01-01", "N", None),
        (1, "c", "2022-01-01", "9999-12-31", "Y", None),
        (2, "x", "2020-01-01", "9999-12-31", "Y", None),
        (3, "z", "2022-01-01", "9999-12-31", "Y", None),
    ]
    with control.module("m_h", spark=spark) as third:
        assert held(folder) == before
        third.write(versions(spark, (2, "y", "2021-01-01")), mode="history")
    expected = [
        (1, "a", "2020-01-01", "9999-12-31", "Y", None),
        (2, "x", "2020-01-01", "2021-01-01", "N", third.instance_id),
        (2, "y", "2021-01-01", "9999-12-31", "Y", None),
    ]
    assert held(folder) == expected

    def overtaken(run: omd.Run) -> None:
        run.write(versions(spark, (3, "o", "2021-01-01")), mode="history")
        with control.module("m_other", spark=spark) as other:
            other.write(versions(spark, (4, "p", "2021-01-01")), mode="history")

    outcome = control.run("m_h", overtaken, spark=spark)
    assert isinstance(outcome.error, omd.errors.lookup("OM120")), outcome.error
    expected.append((4, "p", "2021-01-01", "9999-12-31", "Y", None))
    assert held(folder) == expected

    def beside_maintenance(run: omd.Run) -> None:
        run.write(versions(spark, (1, "q", "2023-01-01")), mode="history")
        maintain(control, keep=timedelta(0), spark=spark)

    outcome = control.run("m_h", beside_maintenance, spark=spark)  # an expiry is no other row
    assert outcome.error is None, outcome.error
    told = conn.execute("SELECT operation FROM omd_lake.table_commit ORDER BY commit_id").fetchall()
    assert [row["operation"] for row in told] == [
        "HISTORY",
        "HISTORY",
        "UNDO",
        "HISTORY",
        "HISTORY",
        "EXPIRE",
        "HISTORY",
    ]


def test_a_history_killed_between_commit_and_success_is_taken_back_and_loses_no_row(
    control: omd.Control, spark: SparkSession, folder: Path, dsn: str
) -> None:
    control.calls.omd.register_module(
        "m_h",
        table_code="lake.h",
        platform_code="SPARK",
        table_format_code="DELTA",
        **HISTORY,
    )
    folder = folder.parent / "h"
    with control.module("m_h", spark=spark) as run:
        run.write(versions(spark, (1, "a", "2020-01-01"), (2, "x", "2020-01-01")), mode="history")
    before = held(folder)
    done = subprocess.run([sys.executable, JOB, dsn], check=False)
    assert done.returncode == 9
    killed = run.instance_id + 1
    assert (1, "a", "2020-01-01", "2021-01-01", "N", killed) in held(folder)
    control.calls.omd.module_failure(killed)
    # The files of the killed run hold rows of others, so maintenance leaves its folder alone.
    assert maintain(control, ["lake.h"], keep=timedelta(days=1)) == []
    assert len(held(folder)) == 3
    with control.module("m_h", spark=spark):
        assert held(folder) == before
    assert maintain(control, ["lake.h"], keep=timedelta(days=1)) == []
    assert held(folder) == before


def test_maintenance_joins_small_files_and_a_rollback_still_finds_the_run(
    control: omd.Control, spark: SparkSession, folder: Path, conn: Any
) -> None:
    with control.module("m_t", spark=spark) as first:
        first.write(spark.range(1))
    with control.module("m_t", spark=spark) as many:
        many.write(spark.range(10, 70).repartition(6))
    before = DeltaTable(folder).to_pyarrow_table().sort_by("id")
    assert maintain(control, keep=timedelta(days=1), dry_run=True) == [
        *maintain(control, keep=timedelta(days=1), spark=spark)
    ]
    assert DeltaTable(folder).to_pyarrow_table().sort_by("id") == before
    assert len(DeltaTable(folder).file_uris()) == 2
    assert maintain(control, spark=spark) == []
    with control.module("m_reader", spark=spark) as reader:
        reader.window(table="lake.t")
        assert reader.read(spark, "lake.t", window=True).count() == 61
    assert [(row.action, row.files) for row in maintain(control, keep=timedelta(0))] == [
        ("EXPIRE", 6)
    ]
    assert DeltaTable(folder).to_pyarrow_table().sort_by("id") == before
    control.calls.omd.set_next_run_indicator("R", module_instance_id=many.instance_id)
    with control.module("m_t", spark=spark) as again:
        assert again.instance_array == [many.instance_id]
        assert seen(folder) == [0]
    # Once its runs ended long ago, no rollback is to be expected: their files are joined.
    for n in range(4):
        with control.module("m_t", spark=spark) as run:
            run.write(spark.range(n + 1, n + 2).coalesce(1))
    conn.execute("SET session_replication_role = replica")
    conn.execute(
        "UPDATE omd.module_instance SET start_datetime = start_datetime - interval '40 days',"
        " end_datetime = end_datetime - interval '40 days' WHERE module_instance_id > 0"
    )
    assert [row.files for row in maintain(control, spark=spark)] == [5]
    assert seen(folder) == [0, 1, 2, 3, 4]
    # If one is taken back nevertheless, the rows of the others are written again.
    control.calls.omd.set_next_run_indicator("R", module_instance_id=run.instance_id)
    with control.module("m_t", spark=spark):
        assert seen(folder) == [0, 1, 2, 3]


def test_a_read_holds_rows_of_other_engines_and_a_window_does_not(
    control: omd.Control, spark: SparkSession, folder: Path
) -> None:
    with control.module("m_t", spark=spark) as run:
        run.write(spark.range(2))
    stamped = DeltaTable(folder).to_pyarrow_table().slice(0, 1)
    other = stamped.set_column(0, "id", pa.array([10], pa.int64()))
    nulls = [n for n in other.column_names if n != "id"]
    for name in nulls:
        place = other.column_names.index(name)
        other = other.set_column(place, name, pa.nulls(1, other.schema.field(name).type))
    write_deltalake(folder, other, mode="append")
    with control.module("m_reader", spark=spark) as reader:
        assert sorted(r.id for r in reader.read(spark, "lake.t").collect()) == [0, 1, 10]
        reader.window(table="lake.t")
        window = reader.read(spark, "lake.t", window=True)
        assert sorted(r.id for r in window.collect()) == [0, 1]
    lineage = control._lineage
    lineage.register_topic("lake.t", source_offset="LAKE")
    lineage.register_topic(
        "lake.reader",
        depends_on=["lake.t"],
        transforms=["SELECT id + 100 AS id FROM block"],
        engine="SPARK",
        module_code="m_reader",
        platform_code="SPARK",
        area_code="HSTG",
        repeat="0",
    )
    lineage.probe_sources()
    outcome = lineage.step("lake.reader", spark=spark)
    assert (outcome.status, outcome.facts["rows"]) == ("S", 2), outcome
    assert seen(folder.parent / "reader") == [100, 101]

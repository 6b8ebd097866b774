"""Delta tables: the log is extended under the fence, and what it shows too early is taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable

import omd
from omd.errors import CallerError
from omd.lake.delta import Delta, DeltaChange

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


class Stop(Exception):  # noqa: N818
    """The job fails."""


@pytest.fixture
def folder(control: omd.Control, tmp_path: Path) -> Path:
    control.lake.register_namespace("lake", str(tmp_path))
    for name in ("t", "reader"):
        control.register_module(
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

    def fail(job: Callable[[omd.ModuleRun], object]) -> omd.Outcome[Any]:
        def failing(run: omd.ModuleRun) -> None:
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
        with pytest.raises(CallerError, match="history"):
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
        with pytest.raises(omd.errors.NothingKept):
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

    def half(run: omd.ModuleRun) -> None:
        """Extend the log as a commit does, and die before the transaction ends."""
        run.write(spark.range(3, 5))
        (pending,) = run.uncommitted.delta.values()  # type: ignore[union-attr]
        change = DeltaChange("APPEND", pending.added, [])
        number = pending.writes[0][0]
        Delta(pending.location).commit(change, "m_t", run.module_instance_id, number)
        pending.added.clear()
        raise Stop

    assert isinstance(control.run("m_t", half, spark=spark).error, Stop)
    assert seen(folder) == [0, 1, 2, 3, 4]
    with control.module("m_t", spark=spark):
        assert seen(folder) == [0, 1, 2]

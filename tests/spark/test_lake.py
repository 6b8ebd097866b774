"""Targets that Spark writes: plain Parquet, with a partition for each run."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

import omd

from .lake_job import ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

COLUMN = "omd_insert_module_instance_id"
JOB = Path(__file__).with_name("lake_job.py")


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """The folder of the database lake."""
    spark.sql(f"CREATE DATABASE lake LOCATION '{tmp_path}/lake'")
    yield tmp_path / "lake"
    spark.sql("DROP DATABASE lake CASCADE")


@pytest.fixture(params=["managed", "external"])
def table(request: pytest.FixtureRequest, spark: SparkSession, lake: Path, tmp_path: Path) -> Path:
    """The folder of the table lake.t, which run.write creates, or somebody else has."""
    if request.param == "managed":
        return lake / "t"
    spark.sql(
        "CREATE TABLE lake.t (id bigint, note string, omd_record_source string,"
        f" {COLUMN} bigint) USING parquet PARTITIONED BY ({COLUMN}) LOCATION '{tmp_path}/t'"
    )
    return tmp_path / "t"


@pytest.fixture
def module(control: omd.Control) -> Callable[..., str]:
    def register(area: str = "HSTG", **registered: Any) -> str:
        control.calls.omd.register_module(
            "m_lake",
            area_code=area,
            table_code="lake.t",
            table_type_code=area,
            platform_code="SPARK",
            **{"table_format_code": "PARQUET", **registered},
        )
        return "m_lake"

    return register


def rows(spark: SparkSession) -> dict[int, int]:
    """Return the number of rows of each run, as the catalogue has them."""
    return dict(map(tuple, spark.table("lake.t").groupBy(COLUMN).count().collect()))  # type: ignore[arg-type]


def files(table: Path) -> set[int]:
    """Return the runs that have files."""
    return {int(file.parent.name.split("=")[1]) for file in table.rglob("*=*/*.parquet")}


@contextlib.contextmanager
def failing(control: omd.Control, code: str, spark: SparkSession) -> Iterator[omd.Run]:
    """A run that fails at the end of the block."""
    with contextlib.suppress(ZeroDivisionError), control.module(code, spark=spark) as run:
        yield run
        raise ZeroDivisionError


def runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def notes(spark: SparkSession, number: int) -> DataFrame:
    return spark.range(0, number, 1, 3).selectExpr("id", "'x' AS note")


def test_a_write_is_a_partition_and_is_counted(
    spark: SparkSession, control: omd.Control, conn: Any, table: Path, module: Callable[..., str]
) -> None:
    with control.module(module(), spark=spark) as run:
        assert run.write(notes(spark, 100)) == 100
        assert run.write(notes(spark, 7)) == 7
        assert run.write(notes(spark, 0)) == 0
    assert rows(spark) == {run.instance_id: 107}
    read = spark.table("lake.t").select("id", "note", "omd_record_source").distinct().collect()
    assert len(read) == 100
    assert {tuple(row)[1:] for row in read} == {("x", "m_lake")}
    log = conn.execute("SELECT rows_inserted AS n FROM omd_report.module_execution_log").fetchone()
    assert log == {"n": 107}


def test_a_failed_run_is_gone_after_the_next_begin_files_and_all(
    spark: SparkSession, control: omd.Control, table: Path, module: Callable[..., str]
) -> None:
    code = module()
    with control.module(code, spark=spark) as good:
        good.write(notes(spark, 10))
    with failing(control, code, spark) as bad:
        bad.write(notes(spark, 10))
    # A job that is killed before it has informed the catalogue leaves this.
    with failing(control, code, spark) as orphan:
        notes(spark, 5).write.parquet(f"{table}/{COLUMN}={orphan.instance_id}")
    assert files(table) == {good.instance_id, orphan.instance_id}

    with control.module(code, spark=spark) as again:
        assert again.instance_array == [orphan.instance_id]
        assert files(table) == {good.instance_id}
        again.write(notes(spark, 3))
    spark.sql("MSCK REPAIR TABLE lake.t")
    assert rows(spark) == {good.instance_id: 10, again.instance_id: 3}


def test_the_files_of_a_run_that_failed_do_not_come_back(
    spark: SparkSession, control: omd.Control, table: Path, module: Callable[..., str]
) -> None:
    code = module()
    with failing(control, code, spark) as bad:
        bad.write(notes(spark, 10))
    with control.module(code, spark=spark):
        assert files(table) == set()
    spark.sql("MSCK REPAIR TABLE lake.t")
    assert rows(spark) == {}


def test_staging_is_replaced_by_each_run_and_by_each_write(
    spark: SparkSession, control: omd.Control, table: Path, module: Callable[..., str]
) -> None:
    code = module("STG")
    for number in (10, 20):
        with control.module(code, spark=spark) as run:
            run.write(notes(spark, 5), mode="overwrite")
            assert run.write(notes(spark, number), mode="overwrite") == number
        assert rows(spark) == {run.instance_id: number}
        assert files(table) == {run.instance_id}
    with control.module(code, spark=spark) as run:
        run.write(notes(spark, 5), mode="overwrite")
        assert run.write(notes(spark, 5).where("id < 0"), mode="overwrite") == 0
    assert rows(spark) == {}
    with failing(control, code, spark) as bad:
        bad.write(notes(spark, 1), mode="overwrite")
    with control.module(code, spark=spark):
        assert files(table) == set()


def test_a_run_that_failed_before_its_table_was_there_is_rolled_back(
    spark: SparkSession, control: omd.Control, lake: Path, module: Callable[..., str]
) -> None:
    code = module()
    with failing(control, code, spark):
        pass
    with control.module(code, spark=spark) as run:
        run.write(notes(spark, 1))
    assert rows(spark) == {run.instance_id: 1}


@pytest.mark.parametrize(
    ("partitioning", "column", "message"),
    [
        ("", "id", f"is not partitioned by {COLUMN} alone"),
        (f"PARTITIONED BY ({COLUMN})", "id AS nosuch", 'has no column "nosuch"'),
    ],
)
def test_a_table_that_does_not_fit_is_refused(
    spark: SparkSession,
    control: omd.Control,
    lake: Path,
    module: Callable[..., str],
    partitioning: str,
    column: str,
    message: str,
) -> None:
    spark.sql(f"CREATE TABLE lake.t (id bigint, {COLUMN} bigint) USING parquet {partitioning}")
    with (
        pytest.raises(omd.errors.OmdError, match=message),
        control.module(module(), spark=spark) as run,
    ):
        run.write(spark.range(3).selectExpr(column))


@pytest.mark.kill
def test_a_job_that_is_killed_leaves_nothing_behind(
    conn: Any, dsn: str, module: Callable[..., str], tmp_path: Path
) -> None:
    module()

    def start(then: str, **pipes: Any) -> subprocess.Popen[str]:
        arguments = [sys.executable, JOB, tmp_path, dsn, then]
        return subprocess.Popen(arguments, cwd=tmp_path, text=True, **pipes)

    victim = start("wait", stderr=subprocess.PIPE)
    assert victim.stderr is not None
    assert any("writing" in line for line in victim.stderr)
    everybody = psutil.Process(victim.pid).children(recursive=True)
    victim.kill()
    for process in everybody:
        process.kill()
    victim.wait()
    while any(map(runs, everybody)):  # the metastore allows one process
        pass
    with conn.transaction():
        # Without its guard the row can be changed, and the test need not wait.
        conn.execute("SET LOCAL session_replication_role = replica")
        conn.execute("UPDATE omd.module_instance SET lease_expires_at = now() - interval '1 s'")

    told = start("end", stdout=subprocess.PIPE).communicate()[0]
    assert told.split(maxsplit=1) == ["2", f"[(2, {ROWS})]\n"]
    table = tmp_path / "warehouse" / "lake.db" / "t"
    assert files(table) == {2}
    assert not list(table.rglob("_temporary"))

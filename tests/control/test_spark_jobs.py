"""The Spark jobs of a run are tagged, and cancelled when the run has to stop."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import omd
from omd.rooms.control.codes import ProcessingIndicator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.wire import Wire

    Row = Callable[[int], dict[str, Any]]

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from omd.spark import session

    spark = session()
    yield spark
    spark.stop()


def wait_until(condition: Callable[[], Any], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def sleep_on_executors(spark: Any) -> None:
    spark.sparkContext.parallelize(range(2), 2).map(lambda _: time.sleep(60)).collect()


def add_up(spark: Any) -> None:
    spark.range(10**15).selectExpr("sum(sqrt(id) % 7)").collect()


@pytest.mark.parametrize("job", [sleep_on_executors, add_up])
def test_a_lost_lease_cancels_the_jobs_of_the_run(
    control: omd.Control, conn: Any, spark: Any, job: Callable[[Any], None]
) -> None:
    def load(run: omd.Run) -> None:
        conn.execute("CALL omd.module_failure(%s, 'given up')", [run.instance_id])
        job(spark)

    outcome = control.run("m_alone", load, spark=spark, lease=timedelta(seconds=2))
    assert isinstance(outcome.error, omd.errors.LeaseLost)
    cause = outcome.error.__cause__
    assert cause is not None
    assert f"omd-{outcome.instance_id}" in str(cause)


@pytest.mark.alone
def test_a_driver_that_is_cut_off_stops_its_jobs_before_its_lease_ends(
    control: omd.Control, wire: Wire, spark: Any, module_row: Row
) -> None:
    lease = timedelta(seconds=6)
    with omd.connect(wire.dsn, lease=lease, patience=timedelta(0), spark=spark) as cut:
        started = time.monotonic()
        with pytest.raises(omd.errors.LeaseLost) as caught, cut.module("m_alone") as run:  # noqa: PT012
            try:
                wire.refusing = True
                sleep_on_executors(spark)
            finally:
                took = time.monotonic() - started
                wire.refusing = False
    assert f"omd-{run.instance_id}" in str(caught.value.__cause__)
    assert took < lease.total_seconds()
    assert module_row(run.instance_id)["execution_status_code"] == "F"


def test_a_frozen_driver_stops_its_jobs_when_it_goes_on(
    control: omd.Control, dsn: str, events: Callable[..., Any], tmp_path: Path
) -> None:
    """The JVM continues while the driver is frozen; the fence stops its writes."""
    works = tmp_path / "works"
    program = textwrap.dedent(f"""
        import omd, pathlib, time
        from datetime import timedelta
        from omd.spark import session
        spark = session()

        def work(_):
            pathlib.Path({str(works)!r}).touch()
            time.sleep(120)

        with omd.connect({dsn!r}, spark=spark, lease=timedelta(seconds=3)) as control:
            with control.module("m_alone") as run:
                print(run.instance_id, flush=True)
                spark.sparkContext.parallelize([1], 1).map(work).collect()
    """)
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    frozen = int(process.stdout.readline())
    wait_until(works.exists)
    process.send_signal(signal.SIGSTOP)
    begun = []

    def taken_over() -> bool:
        begun[:] = [control.calls.omd.begin_module("m_alone")]
        return begun[0].processing_indicator is ProcessingIndicator.PROCEED

    try:
        wait_until(taken_over)
    finally:
        process.send_signal(signal.SIGCONT)
    _, said = process.communicate(timeout=60)
    assert begun[0].instance_array == [frozen]
    assert process.returncode == 1
    assert f"omd-{frozen}" in said  # the job was cancelled by its tag
    assert "LeaseLost" in said
    assert len(events(module=frozen)) == 1


def test_the_tag_is_gone_after_the_block_and_the_application_is_recorded(
    control: omd.Control, spark: Any, module_row: Row
) -> None:
    with control.module("m_alone", spark=spark) as run:
        assert set(spark.sparkContext.getJobTags()) == {run._tag}
        assert spark.range(3).count() == 3
    assert set(spark.sparkContext.getJobTags()) == set()
    context = module_row(run.instance_id)["execution_context"]
    assert context["platform"] == "spark"
    assert context["application_id"] == spark.sparkContext.applicationId


def test_the_active_session_is_found(control: omd.Control, spark: Any) -> None:
    with control.module("m_alone") as run:
        assert run._reads.spark is spark
        assert set(spark.sparkContext.getJobTags()) == {run._tag}


def test_a_rollback_on_spark_is_executed_by_the_session(
    control: omd.Control, spark: Any, module_row: Row, tmp_path: Any
) -> None:
    spark.sql(f"CREATE DATABASE lake LOCATION '{tmp_path}'")
    spark.sql("CREATE TABLE lake.t (omd_insert_module_instance_id BIGINT) USING parquet")
    try:
        control.calls.omd.register_module(
            "m_alone", platform_code="SPARK", area_code="STG", table_code="lake.t"
        )

        def load(run: omd.Run, *, fail: bool) -> None:
            spark.sql(f"INSERT INTO lake.t VALUES ({run.instance_id})")
            if fail:
                raise ValueError

        failed = control.run("m_alone", lambda run: load(run, fail=True), spark=spark)
        assert failed.status == "F"
        done = control.run("m_alone", lambda run: load(run, fail=False), spark=spark)
        assert done.succeeded, done.error
        found = spark.sql("SELECT omd_insert_module_instance_id FROM lake.t").collect()
        assert [row[0] for row in found] == [done.instance_id]
    finally:
        spark.sql("DROP DATABASE lake CASCADE")


def test_sigterm_stops_a_driver_that_waits_for_spark(
    control: omd.Control, dsn: str, module_row: Row, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    program = textwrap.dedent(f"""
        import omd, pathlib, time
        from omd.spark import session

        def work(_):
            pathlib.Path({str(begun)!r}).touch()
            time.sleep(120)

        spark = session()
        with omd.connect({dsn!r}, spark=spark) as control:
            with control.module("m_alone") as run:
                print(run.instance_id, flush=True)
                try:
                    spark.sparkContext.parallelize([1], 1).map(work).collect()
                finally:
                    print(spark.range(3).count(), flush=True)
    """)
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    module = int(process.stdout.readline())
    wait_until(begun.exists)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 143, said
    assert module_row(module)["execution_status_code"] == "F"

"""A process that has started Spark waits for the next task, which finds nothing of the last."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from dispatch.conftest import Room
from support.workers import Process, until

pytestmark = [pytest.mark.spark, pytest.mark.kill]

JOB = """
import os
from omd.spark import session

VERSION = 1

def job(run):
    spark = session()
    with run.connect() as conn:
        conn.execute(
            "INSERT INTO app.seen VALUES (%s, %s, %s, %s)",
            [os.getpid(), VERSION, spark.catalog.tableExists("mine"),
             spark.conf.get("spark.sql.shuffle.partitions") == "77"],
        )
    spark.range(3).createOrReplaceTempView("mine")
    spark.conf.set("spark.sql.shuffle.partitions", "77")
"""


def test_a_process_with_spark_takes_the_next_task_and_keeps_nothing_of_the_last(
    room: Room, start: Callable[..., Process], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "job_of_user.py"
    module.write_text(JOB)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    room.conn.execute("CREATE SCHEMA app; CREATE TABLE app.seen (pid int, version int,"
                      " has_view boolean, has_setting boolean)")  # fmt: skip
    room.call("omd.register_module", module_code="m", area_code="HSTG", table_code="app.seen")
    room.type("JOB", family_code="RUN", handler="MODULE", target="job_of_user:job")
    worker = start("--master", "local[1]")

    def next_one() -> tuple[int, int, bool, bool]:
        task = room.create("m", family_code="RUN", task_type="JOB")
        until(lambda: room.task(task, "run")["status"] != "PENDING"
              and room.task(task, "run")["status"] != "CLAIMED")  # fmt: skip
        row = room.task(task, "run")
        assert (row["status"], row["attempt"]) == ("DONE", 1), [row, *worker.told]
        (seen,) = room.rows("DELETE FROM app.seen RETURNING pid, version, has_view, has_setting")
        return tuple(seen.values())  # type: ignore[return-value]

    first = next_one()
    assert first[1:] == (1, False, False)
    assert next_one() == first

    # A process that was killed while it waited costs no attempt.
    os.kill(first[0], signal.SIGKILL)
    second = next_one()
    assert second[0] != first[0]

    # New code is run by the next task.
    module.write_text(module.read_text().replace("VERSION = 1", "VERSION = 2"))
    third = next_one()
    assert third[0] != second[0]
    assert third[1:] == (2, False, False)

    # The process ends with its worker.
    worker.signal(signal.SIGTERM)
    worker.ends()
    until(lambda: not Path(f"/proc/{third[0]}").exists())

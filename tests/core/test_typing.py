"""The public API under ``mypy --strict`` in a user's project."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

PROGRAM = """\
from datetime import datetime, timezone

import omd
import omd.dispatch
import omd.spark
from pyspark.sql import DataFrame, SparkSession


def job(run: omd.Run, spark: SparkSession, df: DataFrame) -> None:
    reveal_type(run.read(spark, "stg.t", columns=["id"]))
    reveal_type(run.write(df, mode="overwrite"))
    reveal_type(run.stamp(df, record_source="there"))
    reveal_type(run.instance_id)
    reveal_type(run.instance_array)
    run.write(df, mode="replace")  # error
    run.write("no rows")  # error
    run.module_instance_id  # error


spark = omd.spark.session()
df = spark.range(1)


def handle(task: omd.dispatch.Task, batch: omd.Batch) -> None:
    reveal_type(task.control)
    reveal_type(task.control.module("m_x").code)
    reveal_type(batch.run("m_x", lambda run: run.code))
    reveal_type(batch.instance_id)


with omd.connect() as control:
    reveal_type(control.calls.omd.begin_module("m_x"))
    reveal_type(control.calls.omd.register_batch("b", "Daily"))
    reveal_type(control.calls.omd.previous_module_instance("m_x"))
    reveal_type(control.calls.omd.run_batch("b"))
    reveal_type(control.calls.omd_lineage)
    reveal_type(control.calls.omd_lineage.plan("fact.a").end_pos)
    control.calls.omd_lineage.set_offset("stg.h", datetime.now(timezone.utc), id="4")  # error
    control.calls.omd_lineages  # error
    control.lineage  # error
    control.begin_module("m_x")  # error
    reveal_type(control.facts.export("x", "/x"))
    control.facts.deploy("x")  # error
    reveal_type(control.run("m_x", lambda run: run.instance_id))
    reveal_type(control.run("m_x"))
    reveal_type(control.run_batch("b"))
    reveal_type(control.lineage)
    reveal_type(control.lineage.plan("fact.a").end_pos)
    reveal_type(control.lineage.step("fact.a").status)
    control.lineage.set_offset("stg.h", datetime.now(timezone.utc), id="4")  # error
    control.lineages  # error
    reveal_type(control.run("m_x", lambda run: run.module_instance_id))
    reveal_type(control.module("m_x").control)
    reveal_type(control.batch("b").batch("c").control)
    control.run("m_x", lambda run: job(run, spark, df))
    control.module("m_x", batch_instance_id=1)  # error
    try:
        control.calls.omd.module_success(1, rows_inserted=4)
    except omd.errors.StateError as error:
        reveal_type(error.hint)
"""

REVEALED = [
    "pyspark.sql.dataframe.DataFrame",
    "int",
    "pyspark.sql.dataframe.DataFrame",
    "int",
    "list[int]",
    "omd.doors.control.Control",
    "omd.doors.control.Control",
    "omd.doors.control.Control",
    "omd.doors.control.Control",
    "omd.rooms.control.outcome.Outcome[omd.doors.control.Control]",
    "omd.rooms.control.rows.BeginModuleAnswer",
    "int",
    "omd.rooms.control.rows.PreviousModuleInstanceRow | None",
    "omd.rooms.control.rows.RunBatchAnswer",
    "omd.rooms.lineage.calls.LineageCalls",
    "datetime.datetime | None",
    "omd.rooms.control.codes.ExecutionStatus",
    "omd.rooms.control.outcome.Outcome[int]",
    "omd.doors.control.Control",
    "omd.doors.control.Control",
    "str | None",
]


def test_the_signatures_are_the_true_ones_in_a_user_s_project(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-color-output", "job.py"],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT / "driver")},
    )
    revealed = re.findall(r'Revealed type is "(.*)"', done.stdout)
    found = [re.sub(r"Union\[(.*), None\]", r"\1 | None", told) for told in revealed]
    found = [told.replace("builtins.", "") for told in found]
    assert found == REVEALED, done.stdout
    wrong = {int(line) for line in re.findall(r"job\.py:(\d+): error", done.stdout)}
    marked = {n for n, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# error")}
    assert wrong == marked, done.stdout

"""Jobs of the kill test: each is a process of its own, forked where all is imported already.

A line on stdin is a job, as JSON; its process is told on stdout, and then how it has ended.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyspark.sql import SparkSession

import omd
from omd.tables.delta import Delta, delta_files
from omd.tables.delta_run import DeltaPending
from omd.tables.footers import data_files
from omd.tables.run import lake_run

TABLES = ("lake.one", "lake.two")
ROWS = 3
COLUMN = "omd_insert_module_instance_id"
SCHEMA: dict[str, Any] = {
    "type": "struct",
    "fields": [
        {"name": name, "type": "long", "nullable": True, "metadata": {}} for name in ("id", COLUMN)
    ],
}
_OURS = str(Path(omd.__file__).parent)


def write(run: omd.Run, code: str, mode: str) -> None:
    """What `run.write` does for an Iceberg table, with pyarrow in place of Spark."""
    lake = lake_run(run)
    table = lake.table_for(code, SCHEMA, None)
    number, folder = lake.announce(table.code, table.metadata.location)
    rows = rows_of(run).select(table.metadata.schema.column_names[:2])
    schema = schema_to_pyarrow(table.metadata.schema)
    for name in schema.names[2:]:
        rows = rows.append_column(name, pa.nulls(ROWS, schema.field(name).type))
    path = put(rows.cast(schema), folder)
    files = data_files(table.io, [path], table.metadata.schema, table.metadata.spec)
    lake.written(table, number, ROWS, files, mode)


def write_delta(run: omd.Run, code: str, mode: str) -> None:
    """The same for a Delta table."""
    lake = lake_run(run)
    location = run._control.calls.omd_lake.find_table(code, table_format_code="DELTA").location
    assert location is not None
    table = Delta.find(location) or Delta.create(location, SCHEMA, ())
    number, folder = lake.announce(code, location)
    rows = rows_of(run)
    for field in table.spark_schema["fields"][2:]:
        type_ = pa.timestamp("us", "UTC") if field["type"] == "timestamp" else pa.string()
        rows = rows.append_column(field["name"], pa.nulls(ROWS, type_))
    path = put(rows, folder)
    pending = lake.delta.setdefault(code, DeltaPending(code, location))
    if mode == "overwrite":
        pending.overwritten()
    pending.writes.append((number, ROWS))
    pending.added += delta_files(location, [path], table.spark_schema, ())


def rows_of(run: omd.Run) -> pa.Table:
    return pa.table({"id": list(range(ROWS)), COLUMN: [run.instance_id] * ROWS})


def put(rows: pa.Table, folder: str) -> str:
    Path(folder).mkdir(parents=True)
    pq.write_table(rows, f"{folder}/part-0.parquet")
    return f"{folder}/part-0.parquet"


def job(dsn: str, module: str, format: str, remote: str | None, mode: Any) -> None:
    spark: Any = None
    if remote is not None:
        spark = SparkSession.builder.remote(remote).getOrCreate()
    with (
        omd.connect(dsn, lease=None, spark=spark, application_name=module) as control,
        control.module(module) as run,
    ):
        for code in TABLES:
            if spark is not None:
                run.write(spark.range(0, ROWS, 1, 2), code, mode=mode)
            else:
                (write if format == "ICEBERG" else write_delta)(run, code, mode)
                run.rows(inserted=ROWS)


class Countdown:
    """Kills the process when it has executed so many lines of OMD; 0 lets it live."""

    def __init__(self, lines: int) -> None:
        self.lines = lines
        self.done = 0

    def __call__(self, frame: Any, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(_OURS):
            return None
        if event == "line":
            self.done += 1
            if self.done == self.lines:
                os.kill(os.getpid(), signal.SIGKILL)
        return self


def child(told: dict[str, Any]) -> None:
    lines = Countdown(told.pop("lines"))
    sys.settrace(lines)
    job(**told)
    sys.settrace(None)
    print(json.dumps({"lines": lines.done}), flush=True)


def main() -> None:
    for module in ("pyspark.sql.connect.session", "omd.spark.delta", "omd.spark.tables"):
        importlib.import_module(module)  # what is imported here, no job imports
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            code = 1
            try:
                child(json.loads(line))
                code = 0
            except BaseException:  # noqa: BLE001 - it is told on stderr
                traceback.print_exc()
            finally:
                os._exit(code)
        print(json.dumps({"pid": pid}), flush=True)
        _, status = os.waitpid(pid, 0)
        print(json.dumps({"status": os.waitstatus_to_exitcode(status)}), flush=True)


if __name__ == "__main__":
    main()

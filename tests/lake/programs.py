"""Runs on lake tables without Spark: what they write, they write with pyarrow."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.io.pyarrow import schema_to_pyarrow

import omd
from omd.rooms.lake.calls import LakeCalls
from omd.tables.footers import data_files
from omd.tables.run import LakeRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from omd.rooms.control.run import Run

COLUMN = "omd_insert_module_instance_id"
SCHEMA: dict[str, Any] = {
    "type": "struct",
    "fields": [
        {"name": name, "type": "long", "nullable": True, "metadata": {}} for name in ("id", COLUMN)
    ],
}


def lake_of(run: Run) -> LakeRun:
    run._reads.uncommitted = run._reads.uncommitted or LakeRun(run)
    assert isinstance(run._reads.uncommitted, LakeRun)
    return run._reads.uncommitted


def write(run: Run, code: str, ids: list[int], mode: str = "append") -> None:
    """What `run.write` does, with pyarrow in place of Spark."""
    lake = lake_of(run)
    table = lake.table_for(code, SCHEMA, None)
    number, folder = lake.announce(table.code, table.metadata.location)
    path = f"{folder}/part-0.parquet"
    Path(folder).mkdir(parents=True)
    rows = pa.table(
        {"id": ids, COLUMN: [run.instance_id] * len(ids)},
        schema=schema_to_pyarrow(table.metadata.schema),
    )
    pq.write_table(rows, path)
    files = data_files(table.io, [path], table.metadata.schema, table.metadata.spec)
    lake.written(table, number, len(ids), files, mode)


def write_delta(run: Run, code: str, ids: list[int], mode: str = "append") -> None:
    """The same for a Delta table."""
    from omd.tables.delta import Delta, delta_files
    from omd.tables.delta_run import DeltaPending

    lake = lake_of(run)
    location = run._control.calls.omd_lake.find_table(code, table_format_code="DELTA").location
    assert location is not None
    table = Delta.find(location) or Delta.create(location, SCHEMA, ())
    number, folder = lake.announce(code, location)
    Path(folder).mkdir(parents=True)
    rows = {"id": ids, COLUMN: [run.instance_id] * len(ids)}
    pq.write_table(pa.table(rows), f"{folder}/part-0.parquet")
    pending = lake.delta.setdefault(code, DeltaPending(code, location))
    if mode == "overwrite":
        pending.overwritten()
    pending.writes.append((number, len(ids)))
    pending.added += delta_files(location, [f"{folder}/part-0.parquet"], table.spark_schema, ())


def die(*_: Any) -> None:
    os._exit(9)


def main(dsn: str, module: str, point: str, kind: str = "ICEBERG", *tables: str) -> None:
    """Run a Module that writes its instance id into two tables, and die at a point."""
    if point == "expired":
        from omd.tables import delta_maintenance, expiry
        from omd.tables.maintenance import maintain

        expiry.delete_files = delta_maintenance.delete_files = die
        with omd.connect(dsn, lease=None) as control:
            maintain(control, keep=timedelta(0))
    put = write if kind == "ICEBERG" else write_delta
    if point in ("landed", "undone"):  # a log is extended, and nothing is recorded
        LakeCalls.commit_tables = die  # type: ignore[method-assign]
    with omd.connect(dsn, lease=None) as control, control.module(module) as run:
        print(run.instance_id, flush=True)
        for code in tables or ("lake.one", "lake.two"):
            put(run, code, [run.instance_id])
        lake = lake_of(run)
        if point == "files":
            die()
        elif point == "landed":
            lake.commit()
        elif point == "staged":
            lake.commit(before=die)
        elif point == "half":
            first, *_ = lake._pending.values()
            lake._committed_elsewhere([first])
            die()
        elif point == "swapped":
            lake.commit(finish=die)
        elif point == "committed":
            lake.commit()
            die()
        elif point == "recorded":

            def finish(link: Any) -> None:
                run._report_success(link)
                die()

            lake.commit(finish)


if __name__ == "__main__":
    main(*sys.argv[1:])


def forty_commits(
    control: omd.Control,
    dsn: str,
    table_format: str,
    put: Callable[[Run, str, list[int]], None],
) -> list[int]:
    """Let eight sessions make five runs each into lake.one; return the runs, in order."""
    for n in range(8):
        control._omd.register_module(
            f"m_{n}",
            area_code="HSTG",
            table_code="lake.one",
            table_type_code="HSTG",
            platform_code="SPARK",
            table_format_code=table_format,
        )

    def session(n: int) -> list[int]:
        done = []
        with omd.connect(dsn, lease=None) as mine:
            for _ in range(5):
                with mine.module(f"m_{n}") as run:
                    put(run, "lake.one", [run.instance_id])
                done.append(run.instance_id)
        return done

    with ThreadPoolExecutor(8) as pool:
        return sorted(id for done in pool.map(session, range(8)) for id in done)

"""Lake tables to which runs append files that are known already."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from bench.control import STAMP
from bench.server import dsn_of
from bench.turns import Connection
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.manifest import DataFile

import omd
from omd.tables.footers import data_files
from omd.tables.run import LakeRun

COLUMNS = ["id", STAMP, *(f"c{n}" for n in range(8))]
SCHEMA: dict[str, Any] = {
    "type": "struct",
    "fields": [
        {"name": name, "type": "long", "nullable": True, "metadata": {}} for name in COLUMNS
    ],
}


def clocked(work: Callable[[], object]) -> tuple[float, float]:
    """Return the elapsed seconds and those of CPU of this process."""
    start, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - cpu


def register(control: omd.Control, name: str) -> None:
    """Register the Module ``m_name`` of the table ``lake.name``."""
    control.calls.omd.register_module(
        f"m_{name}",
        area_code="HSTG",
        table_code=f"lake.{name}",
        table_type_code="HSTG",
        platform_code="SPARK",
        table_format_code="ICEBERG",
    )


class Appender:
    """Appends files that are known already, as runs of one Module."""

    def __init__(self, control: omd.Control, code: str, module: str) -> None:
        self.control, self.code, self.module = control, code, module
        with control.module(module) as run:
            table = LakeRun(run).table_for(code, SCHEMA, None)
        path = Path(table.metadata.location) / "data" / "model.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        values = {name: list(range(10)) for name in COLUMNS}
        pq.write_table(pa.table(values, schema=schema_to_pyarrow(table.metadata.schema)), path)
        (self.model,) = data_files(
            table.io, [str(path)], table.metadata.schema, table.metadata.spec
        )
        self.path = path

    def file(self, instance: int, number: int) -> DataFile:
        """Return a file of a run; it is a link to the one file that there is."""
        path = self.path.with_name(f"{instance}-{number}.parquet")
        if not path.exists():
            path.hardlink_to(self.path)
        stamp = instance.to_bytes(8, "little")
        bounds = [{**b, 2: stamp} for b in (self.model.lower_bounds, self.model.upper_bounds)]
        file = DataFile(*self.model._data)
        file._data[1], file._data[10], file._data[11] = str(path), *bounds
        file.spec_id = 0
        return file

    def run(self, files: int = 1) -> tuple[int, tuple[float, float]]:
        """Commit some files as a run; return it, and what the commit alone took."""
        run = self.control.module(self.module)
        run.__enter__()
        lake = run._reads.uncommitted = LakeRun(run)
        table = lake.table(self.code)
        number, _ = lake.announce(table.code, table.metadata.location)
        added = [self.file(run.instance_id, n) for n in range(files)]
        lake.written(table, number, 10 * files, added, "append")
        return run.instance_id, clocked(lambda: run.__exit__(None, None, None))


def open_lake(conn: Connection, name: str) -> Appender:
    """Return a table in a folder that is removed when the program ends."""
    warnings.filterwarnings("ignore")
    folder = tempfile.mkdtemp(prefix="omd-lake-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    control = omd.connect(dsn_of(conn), lease=None)
    atexit.register(control.close)
    control.calls.omd_lake.register_namespace("lake", folder)
    register(control, name)
    return Appender(control, f"lake.{name}", f"m_{name}")

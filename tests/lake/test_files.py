"""Files, manifests and metadata without Spark and without a database."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.expressions import EqualTo
from pyiceberg.io import load_file_io
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.manifest import DataFile
from pyiceberg.schema import Schema
from pyiceberg.table import StaticTable
from pyiceberg.types import DoubleType, LongType, NestedField, StringType, TimestamptzType

from omd.errors import CallerError, lookup
from omd.tables.footers import data_files, require_rows
from omd.tables.metadata import Metadata
from omd.tables.plan import plan_read
from omd.tables.schema import iceberg_schema, partition_spec, spark_schema
from omd.tables.staging import EVERYTHING, Change, live_entries, stage
from omd.tables.undo import INSTANCE, plan_undo

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "run", LongType(), required=False),
    NestedField(3, "x", DoubleType(), required=False),
    NestedField(4, "t", StringType(), required=False),
    NestedField(5, "at", TimestamptzType(), required=False),
)


class Table:
    """A table in a folder."""

    def __init__(self, folder: Path, partition_by: Sequence[str] = ()) -> None:
        self.folder = folder
        (folder / "metadata").mkdir()
        self.io = load_file_io({}, str(folder))
        spec = partition_spec(SCHEMA, partition_by)
        self.metadata = Metadata.new(str(folder), SCHEMA, spec).write(self.io)
        self.number = 0

    def file(self, options: dict[str, Any] | None = None, **columns: Any) -> str:
        self.number += 1
        path = self.folder / f"{self.number}.parquet"
        fields = [field.with_nullable(True) for field in schema_to_pyarrow(SCHEMA)]
        rows = len(columns["id"])
        values = {field.name: columns.get(field.name, [None] * rows) for field in fields}
        pq.write_table(pa.table(values, schema=pa.schema(fields)), path, **(options or {}))
        return str(path)

    def read(self, path: str) -> DataFile:
        (file,) = data_files(self.io, [path], SCHEMA, self.metadata.spec)
        return file

    def commit(self, change: Change) -> None:
        self.metadata = stage(self.io, self.metadata, change).metadata

    def ids(self, where: Any = None) -> list[int]:
        table = StaticTable.from_metadata(self.metadata.file)
        found = table.scan(row_filter=where) if where is not None else table.scan()
        return sorted(found.to_arrow()["id"].to_pylist())


def test_files_that_would_make_a_table_wrong_are_refused(tmp_path: Path) -> None:
    table = Table(tmp_path, ["truncate(1, t)"])
    now = datetime(2020, 1, 1, tzinfo=timezone.utc)
    old = {"use_deprecated_int96_timestamps": True}
    for told, path in (
        ("INT96", table.file(old, id=[1], at=[now])),
        ('NULL in the required column "id"', table.file(id=[None], t=["a"])),
        ("several partitions", table.file(id=[1, 2], t=["a", "b"])),
        ("several partitions", table.file(id=[1, 2], t=["a", None])),
    ):
        with pytest.raises(lookup("OM123"), match=told):
            table.read(path)
    bare = tmp_path / "bare.parquet"
    pq.write_table(pa.table({"id": [1]}), bare)
    with pytest.raises(lookup("OM123"), match="field ids"):
        table.read(str(bare))
    with pytest.raises(lookup("OM123"), match="written 3 rows, and its files hold 2"):
        require_rows(2, 3, "lake.t")
    assert data_files(table.io, [table.file(id=[])], SCHEMA, table.metadata.spec) == []
    with pytest.raises(CallerError, match='no column "y"'):
        partition_spec(SCHEMA, ["y"])


def test_a_column_with_nan_has_no_bounds_and_is_found_by_every_filter(tmp_path: Path) -> None:
    table = Table(tmp_path)
    long = "é" * 40
    paths = [
        table.file(id=[1, 2], run=[1, 1], x=[float("nan"), 2.0], t=[long, None]),
        table.file(id=[3], run=[2], x=[-0.0], t=["b"]),
    ]
    files = [table.read(path) for path in paths]
    assert 2 in files[0].lower_bounds
    table.commit(Change("APPEND", added=files))
    assert table.ids() == [1, 2, 3]
    assert table.ids(EqualTo("t", long)) == [1]
    assert table.ids(EqualTo("x", 0.0)) == [3]
    assert table.ids(EqualTo("x", 2.0)) == [2]


def test_many_small_manifests_are_merged_and_a_rollback_reads_only_what_may_hold_its_rows(
    tmp_path: Path,
) -> None:
    table = Table(tmp_path)
    for run in range(1, 131):
        path = table.file(id=[run], run=[run])
        table.commit(Change("APPEND", added=[table.read(path)], properties={INSTANCE: str(run)}))
    manifests = table.metadata.manifests(table.io)
    assert len(manifests) < 40
    entries = [entry for manifest in manifests for entry in live_entries(table.io, manifest)]
    numbers = {entry.data_file.file_path: entry.sequence_number for entry in entries}
    assert numbers == {f"{tmp_path}/{run}.parquet": run for run in range(1, 131)}
    undo = plan_undo(table.io, table.metadata, "run", [7, 120], since=7)
    assert sorted(map(sorted, undo.removed.values())) == [  # type: ignore[type-var]
        [f"{tmp_path}/120.parquet"],
        [f"{tmp_path}/7.parquet"],
    ]
    assert not undo.mixed
    table.commit(Change("UNDO", removed=undo.removed, properties={"omd.undone-instances": "7,120"}))
    assert table.ids() == [run for run in range(1, 131) if run not in (7, 120)]
    assert plan_undo(table.io, table.metadata, "run", [7, 120], since=7).is_empty
    table.commit(Change("OVERWRITE", removed=EVERYTHING))
    assert table.ids() == []
    snapshot = table.metadata.snapshot
    assert snapshot is not None
    assert snapshot["summary"]["deleted-data-files"] == "128"
    assert snapshot["summary"]["operation"] == "delete"


def test_what_plain_readers_would_read_wrong_is_refused(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.commit(Change("APPEND", added=[table.read(table.file(id=[1]))]))
    assert len(plan_read(table.io, table.metadata, table.metadata.snapshot).files) == 1
    mapped = {**table.metadata.document, "properties": {"schema.name-mapping.default": "[]"}}
    bare = tmp_path / "1.parquet"
    pq.write_table(pa.table({"id": [1]}), bare)
    with pytest.raises(lookup("OM222"), match="without field ids"):
        plan_read(table.io, Metadata(mapped), table.metadata.snapshot)
    version = tmp_path / "v3.json"
    version.write_text('{"format-version": 3}')
    with pytest.raises(lookup("OM222"), match="version 3"):
        _ = Metadata.read(table.io, str(version)).spec
    with pytest.raises(CallerError, match="at most in case"):
        iceberg_schema({"fields": [{"name": n, "type": "long"} for n in ("a", "A")]})
    assert spark_schema(SCHEMA)["fields"][0]["metadata"] == {"parquet.field.id": 1}

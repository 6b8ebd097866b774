"""Other writers on the same tables: pyiceberg and delta-rs return to former versions, overwrite,
delete and vacuum between the runs of OMD, of which some are taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyiceberg.expressions import EqualTo
from pyiceberg.table import CommitTableResponse

import omd
import omd.lake
from omd.rooms.control.rows import EventLogRow
from omd.rooms.lake.rows import LakeTablesRow
from omd.tables.iceberg_catalog import OmdCatalog

from .programs import COLUMN, write, write_delta
from .test_crashes import control, seen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["control"]

MODULES = ("m_lake", "m_other")


class Engine(OmdCatalog):
    """An engine that was granted DML on the catalogue: its commits are not recorded."""

    def __init__(self, control: omd.Control, conn: Any) -> None:
        super().__init__(control)
        self._conn = conn

    def commit_table(self, table: Any, requirements: Any, updates: Any) -> CommitTableResponse:
        current = self.load_table(table.name())
        staged = self._update_and_stage_table(current, table.name(), requirements, updates)
        self._write_metadata(staged.metadata, staged.io, staged.metadata_location)
        self._conn.execute(
            "UPDATE omd_lake.iceberg_tables SET metadata_location = %s WHERE table_name = %s"
            " AND metadata_location = %s",
            [staged.metadata_location, table.name()[-1], current.metadata_location],
        )
        now = self.load_table(table.name())
        return CommitTableResponse.model_construct(
            metadata=now.metadata, metadata_location=now.metadata_location
        )


def rows_of(ids: list[int], instance: int | None = None) -> pa.Table:
    return pa.table({"id": ids, COLUMN: pa.array([instance] * len(ids), pa.int64())})


@pytest.fixture
def modules(control: omd.Control, request: pytest.FixtureRequest) -> omd.Control:
    """The connection; m_lake and m_other load lake.one, in the format of the test."""
    for module in MODULES:
        control.calls.omd.register_module(
            module,
            area_code="HSTG",
            table_code="lake.one",
            table_type_code="HSTG",
            platform_code="SPARK",
            table_format_code=getattr(request, "param", "ICEBERG"),
        )
    return control


def put(
    control: omd.Control, ids: list[int], mode: str = "append", module: str = "m_lake", **how: Any
) -> int:
    with control.module(module) as run:
        how.get("write", write)(run, "lake.one", ids, mode)
    return run.instance_id


def take_back(control: omd.Control, instance: int, module: str = "m_lake") -> None:
    control.calls.omd.set_next_run_indicator("R", module_instance_id=instance)
    with control.module(module):
        pass


def engine(control: omd.Control, conn: Any, kind: str) -> OmdCatalog:
    return Engine(control, conn) if kind == "engine" else omd.lake.catalog(control)


def problem(control: omd.Control) -> str | None:
    (row,) = control.report(LakeTablesRow, table_code="lake.one")
    return row.problem


def told(control: omd.Control) -> str:
    return "\n".join(row.event_detail or "" for row in control.report(EventLogRow))


@pytest.mark.parametrize("kind", ["engine", "catalogue"])
def test_what_is_live_again_after_a_return_to_a_former_snapshot_is_not_doubled(
    modules: omd.Control, conn: Any, kind: str
) -> None:
    put(modules, [1])
    catalog = engine(modules, conn, kind)
    before = catalog.load_table("lake.one").current_snapshot().snapshot_id
    mistaken = put(modules, [2], "overwrite", "m_other")
    catalog.load_table("lake.one").manage_snapshots().rollback_to_snapshot(before).commit()
    put(modules, [3])
    take_back(modules, mistaken, "m_other")
    assert seen(modules, "lake.one") == [1, 3]
    # What one of two overwrites has removed twice comes back once.
    both = [put(modules, [4], "overwrite", "m_other")]
    table = catalog.load_table("lake.one")
    table.manage_snapshots().set_current_snapshot(
        next(
            s.parent_snapshot_id
            for s in table.snapshots()
            if s.summary["omd.module-instance-id"] == str(both[0])
        )
    ).commit()
    both.append(put(modules, [5], "overwrite", "m_other"))
    for instance in both:
        modules.calls.omd.set_next_run_indicator("R", module_instance_id=instance)
    with modules.module("m_other"):
        pass
    assert seen(modules, "lake.one") == [1, 3]
    assert problem(modules) is None


def test_an_overwrite_that_somebody_has_returned_from_hides_nothing_and_gives_nothing_back(
    modules: omd.Control, conn: Any
) -> None:
    put(modules, [1, 2])
    first = put(modules, [3], "overwrite")
    catalog = Engine(modules, conn)
    after_first = catalog.load_table("lake.one").current_snapshot().snapshot_id
    put(modules, [4], "overwrite", "m_other")
    table = catalog.load_table("lake.one")
    table.manage_snapshots().set_current_snapshot(after_first).commit()
    # The second overwrite does not stand, so the rows before the first one come back.
    take_back(modules, first)
    assert seen(modules, "lake.one") == [1, 2]
    snapshot = catalog.load_table("lake.one").current_snapshot().snapshot_id
    left = put(modules, [5], "overwrite")
    table = catalog.load_table("lake.one")
    table.manage_snapshots().set_current_snapshot(snapshot).commit()
    catalog.load_table("lake.one").delete(EqualTo("id", 1))
    # What was deleted after the return to a snapshot before the overwrite does not come back.
    take_back(modules, left)
    assert seen(modules, "lake.one") == [2]


@pytest.mark.parametrize("how", ["overwrite", "delete"])
@pytest.mark.parametrize("kind", ["engine", "catalogue"])
def test_what_another_engine_has_removed_with_all_the_rest_stays_away_and_is_told(
    modules: omd.Control, conn: Any, kind: str, how: str
) -> None:
    put(modules, [1, 2, 3])
    mistaken = put(modules, [4], "overwrite")
    overwritten = Engine(modules, conn).load_table("lake.one").current_snapshot().snapshot_id
    table = engine(modules, conn, kind).load_table("lake.one")
    if how == "overwrite":
        table.overwrite(rows_of([5]))
    else:
        table.delete()
        Engine(modules, conn).load_table("lake.one").append(rows_of([5]))
    put(modules, [6], module="m_other")
    take_back(modules, mistaken)
    assert seen(modules, "lake.one") == [5, 6]
    by = next(s for s in table.refresh().snapshots() if s.summary.operation.value == "delete")
    for text in (problem(modules), told(modules)):
        for part in (
            "lake.one",
            f"run {mistaken} ",
            "3 row",
            str(overwritten),
            str(by.snapshot_id),
        ):
            assert part in (text or "")
    assert modules.calls.omd_lake.settle_withheld("Lake.One") == 1
    assert problem(modules) is None
    assert modules.calls.omd_lake.settle_withheld("lake.one") == 0
    with pytest.raises(omd.errors.lookup("OM020")):
        modules.calls.omd_lake.settle_withheld("lake.three")


def test_a_delete_of_some_files_or_a_rewrite_by_another_engine_keeps_nothing_away(
    modules: omd.Control, conn: Any
) -> None:
    put(modules, [1])
    put(modules, [2])
    mistaken = put(modules, [4], "overwrite")
    put(modules, [5], module="m_other")
    Engine(modules, conn).load_table("lake.one").delete(EqualTo("id", 5))
    take_back(modules, mistaken)
    assert seen(modules, "lake.one") == [1, 2]
    assert problem(modules) is None


# Delta --------------------------------------------------------------------------------------------

delta = pytest.mark.parametrize("modules", ["DELTA"], indirect=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "one"


@pytest.fixture
def held(folder: Path) -> Callable[[], list[int]]:
    def read() -> list[int]:
        table = DeltaTable(folder)
        paths = table.file_uris()
        assert len(paths) == len(set(paths))
        return sorted(table.to_pyarrow_table()["id"].to_pylist())

    return read


@delta
def test_what_a_restore_of_delta_has_brought_back_is_not_doubled(
    modules: omd.Control, folder: Path, held: Callable[[], list[int]]
) -> None:
    put(modules, [1], write=write_delta)
    both = []
    for n in (2, 3):
        both.append(put(modules, [n], "overwrite", "m_other", write=write_delta))
        DeltaTable(folder).restore(1)
    put(modules, [4], write=write_delta)
    for instance in both:
        modules.calls.omd.set_next_run_indicator("R", module_instance_id=instance)
    with modules.module("m_other"):
        pass
    assert held() == [1, 4]
    # An overwrite that somebody has returned from does not stand.
    first = put(modules, [5], "overwrite", write=write_delta)
    version = DeltaTable(folder).version()
    put(modules, [6], "overwrite", "m_other", write=write_delta)
    DeltaTable(folder).restore(version)
    take_back(modules, first)
    assert held() == [1, 4]


@delta
@pytest.mark.parametrize(
    ("how", "expected"),
    [("overwrite", [5]), ("delete", [5]), ("where", [1, 2, 5]), ("part", [1, 2, 5])],
)
def test_of_delta_the_commit_info_tells_whether_another_engine_has_removed_all(
    modules: omd.Control,
    folder: Path,
    held: Callable[[], list[int]],
    how: str,
    expected: list[int],
) -> None:
    put(modules, [1, 2], write=write_delta)
    mistaken = put(modules, [4], "overwrite", write=write_delta)
    if how == "overwrite":
        write_deltalake(folder, rows_of([5]), mode="overwrite")
    elif how == "part":
        write_deltalake(folder, rows_of([4]), mode="overwrite", predicate="id = 4")
    else:
        DeltaTable(folder).delete("id = 4" if how == "where" else None)
    removed_all = DeltaTable(folder).version()
    if how != "overwrite":
        write_deltalake(folder, rows_of([5]), mode="append")
    take_back(modules, mistaken)
    assert [n for n in held() if n != 4] == expected
    text = problem(modules)
    if expected == [5]:
        for part in (f"run {mistaken} ", "2 row", "snapshot 2 ", f"snapshot {removed_all},"):
            assert part in (text or "")
            assert part in told(modules)
    else:
        assert text is None


@delta
def test_what_a_vacuum_has_deleted_does_not_come_back_and_the_event_log_says_so(
    modules: omd.Control, folder: Path, held: Callable[[], list[int]]
) -> None:
    put(modules, [1, 2], write=write_delta)
    put(modules, [3], write=write_delta)
    mistaken = put(modules, [4], "overwrite", write=write_delta)
    table = DeltaTable(folder)
    # One file is left, as of a VACUUM that was stopped.
    files = sorted(folder.glob("data/omd/*/*/*.parquet"), key=lambda path: path.stat().st_mtime_ns)
    spared = files[1].read_bytes()
    table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    assert not files[0].exists()
    files[1].write_bytes(spared)
    take_back(modules, mistaken)
    assert held() == [3]
    for part in (f"run {mistaken} ", "2 row", "deleted their files"):
        assert part in told(modules)
        assert part in (problem(modules) or "")

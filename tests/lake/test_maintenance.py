"""Maintenance, the commands, and the catalogue for pyiceberg, over real files."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyiceberg.table import StaticTable
from pyiceberg.types import StringType

import omd
import omd.lake
from omd.programs.report.lake_table import described
from omd.rooms.control.rows import ModuleExecutionLogRow
from omd.tables.maintenance import maintain

from .programs import COLUMN, lake_of, write
from .test_crashes import control, kill_at, seen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["control"]


def fill(control: omd.Control, *modes: str) -> None:
    """Write the rows 0, 1, … into the table one, each by a run of its own in its mode."""
    for n, mode in enumerate(modes):
        with control.module("m_lake") as run:
            write(run, "lake.one", [n], mode)


def test_how_long_snapshots_and_rollbacks_count_is_set_in_the_database(
    control: omd.Control, dsn: str, omd_here: Callable[..., Any]
) -> None:
    def terms() -> tuple[timedelta | None, timedelta | None]:
        [row] = control.report("lake_tables")
        return row.keep_snapshots, row.settled_after

    def set_to(code: str, value: str) -> None:
        control.calls.omd.set_parameter(code, value, module_code="omd_lake_maintain")

    fill(control, "append", "overwrite")
    assert terms() == (timedelta(days=5), timedelta(days=30))
    assert maintain(control) == []
    set_to("settled_after", "12 hours")
    set_to("keep_snapshots", "0 days")
    assert terms() == (timedelta(0), timedelta(hours=12))
    assert omd_here("maintain", "--dry-run", dsn=dsn).returncode == 0
    assert [row.action for row in maintain(control, dry_run=True)] == ["EXPIRE"]
    assert maintain(control, keep=timedelta(days=1), dry_run=True) == []
    for wrong in ("soon", "-1 day", "1 year"):
        set_to("keep_snapshots", wrong)
        assert terms() == (None, timedelta(hours=12))
        with pytest.raises(omd.errors.ConfigurationError, match="keep_snapshots"):
            maintain(control)


def test_maintenance_removes_only_what_no_kept_snapshot_and_no_living_run_needs(
    control: omd.Control, dsn: str, tmp_path: Path, omd_here: Callable[..., Any]
) -> None:
    def paths() -> set[Path]:
        return {path for path in tmp_path.rglob("*") if path.is_file()}

    fill(control, "append", "overwrite", "append")
    killed = kill_at(dsn, "files")
    control.calls.omd.module_failure(killed)
    everything = paths()
    told = json.loads(
        omd_here("maintain", "--keep", "0 days", "--dry-run", "--output", "json", dsn=dsn).stdout
    )
    assert {(row["table_code"], row["action"]) for row in told} == {
        ("lake.one", "REMOVE_FOLDER"),
        ("lake.two", "REMOVE_FOLDER"),
        ("lake.one", "EXPIRE"),
    }
    assert paths() == everything
    assert maintain(control, keep=timedelta(days=1))[-1].action == "REMOVE_FOLDER"
    assert seen(control, "lake.one") == [1, 2]
    done = maintain(control, ["lake.one"], keep=timedelta(0))
    assert [(row.action, row.files) for row in done] == [("EXPIRE", 8)]
    assert seen(control, "lake.one") == [1, 2]
    assert len(everything) - len(paths()) == 8 + 2 - 1  # a version of the metadata is new
    # The overwrite can't give back any more what it removed, and says so.
    of_one = ("report", "lake_commits", "--where", "table_code=lake.one")
    assert "EXPIRE" in omd_here(*of_one, dsn=dsn).stdout
    assert "lake.one" in omd_here("report", "lake_tables", dsn=dsn).stdout
    shown = described(control, "lake.one")
    assert f"{COLUMN} long" in shown["columns"]
    assert str(tmp_path / "one") in shown["location"]


def test_a_crash_between_an_expiry_and_its_deletions_leaves_nothing_for_ever(
    control: omd.Control, dsn: str, tmp_path: Path
) -> None:
    def paths() -> set[str]:
        found = (path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*"))
        return {str(path) for path in found if path.suffix}

    fill(control, "append", "overwrite", "append")
    before = paths()
    for n in (3, 4):  # the second time there is nothing to expire but what the first has left
        kill_at(dsn, "expired")
        (dead,) = control.report(ModuleExecutionLogRow, execution_status_code="E")
        control.calls.omd.module_failure(dead.module_instance_id)
        assert paths() >= before
        with control.module("m_lake") as run:
            write(run, "lake.one", [n])
    kept = timedelta(days=1)  # nothing more expires
    planned = maintain(control, keep=kept, dry_run=True)
    done = maintain(control, keep=kept)
    assert done == planned
    assert [row.action for row in done] == ["EXPIRE"]
    assert seen(control, "lake.one") == [1, 2, 3, 4]
    location = control.calls.omd_lake.find_table("lake.one").metadata_location
    assert location is not None
    table = StaticTable.from_metadata(location)
    named = {location, *(entry.metadata_file for entry in table.metadata.metadata_log)}
    for snapshot in table.snapshots():
        named.add(snapshot.manifest_list)
        for manifest in snapshot.manifests(table.io):
            named.add(manifest.manifest_path)
            named |= {e.data_file.file_path for e in manifest.fetch_manifest_entry(table.io)}
    left = {f"{tmp_path}/one/{path}" for path in paths()}
    assert left <= named
    assert maintain(control, keep=kept) == []
    maintain(control, keep=timedelta(0))
    assert not [path for path in paths() if "/00000-" in path]  # nor the first, empty version
    assert seen(control, "lake.one") == [1, 2, 3, 4]


def test_an_expiry_passes_over_metadata_of_the_former_format(
    control: omd.Control, tmp_path: Path
) -> None:
    fill(control, *["overwrite"] * 3)
    (first,) = (tmp_path / "one" / "metadata").glob("00000-*.json")
    told = json.loads(first.read_text())
    # A table of format 1 need not have an identity, nor a list of snapshots.
    old = {key: told[key] for key in told if key not in ("table-uuid", "snapshots")}
    first.write_text(json.dumps({**old, "format-version": 1}))
    assert [row.action for row in maintain(control, keep=timedelta(0))] == ["EXPIRE"]
    assert seen(control, "lake.one") == [2]
    assert first.exists()


def test_pyiceberg_creates_changes_and_fills_tables_beside_the_runs(control: omd.Control) -> None:
    catalog = omd.lake.catalog(control)
    with control.module("m_lake") as run:
        write(run, "lake.one", [1])
    table = catalog.load_table("lake.one")
    with table.update_schema() as change:
        change.rename_column("id", "number").add_column("note", StringType())
    table.append(pa.table({"number": [2], "note": ["x"]}))
    with control.module("m_lake") as run:
        lake = lake_of(run)
        assert lake.table("lake.one").metadata.schema.column_names == ["number", COLUMN, "note"]
        assert len(lake.live_files(lake.table("lake.one"))) == 2
    found = StaticTable.from_metadata(catalog.load_table("lake.one").metadata_location)
    rows = found.scan().to_arrow().sort_by("number").to_pylist()
    assert [(row["number"], row["note"]) for row in rows] == [(1, None), (2, "x")]
    made = catalog.create_table(("lake", 'My "T'), table.schema())
    assert catalog.list_tables("lake") == [("lake", 'My "T'), ("lake", "one")]
    assert made.scan().to_arrow().num_rows == 0
    operations = control.report(omd.rooms.lake.rows.LakeCommitsRow, order_by=["commit_id"])
    assert [row.operation for row in operations] == ["APPEND", "SCHEMA", "APPEND"]


@pytest.fixture(autouse=True)
def rows() -> None:
    import omd.rooms.lake.rows  # noqa: F401


def test_an_expiry_leaves_a_table_alone_that_had_its_name_and_folder_before(
    control: omd.Control, conn: Any
) -> None:
    fill(control, *["overwrite"] * 3)
    # Another engine renames the table, which stays in its folder, and a new one gets its name.
    conn.execute("UPDATE omd_lake.iceberg_tables SET table_name = 'old'")
    former = omd.lake.catalog(control).load_table("lake.old")
    omd.lake.catalog(control).create_table("lake.one", former.schema())
    fill(control, *["append"] * 4)
    maintain(control, ["lake.one"], keep=timedelta(0))
    assert seen(control, "lake.one") == [0, 1, 2, 3]
    assert seen(control, "lake.old") == [2]
    location = control.calls.omd_lake.find_table(
        "lake.old", table_format_code="ICEBERG"
    ).metadata_location
    assert location is not None
    static = StaticTable.from_metadata(location)
    for snapshot in static.snapshots():
        assert static.scan(snapshot_id=snapshot.snapshot_id).to_arrow().num_rows == 1

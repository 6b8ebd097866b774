"""The maintenance of lake tables: what nobody needs any more is removed, small files are joined.

Only files that a snapshot or an announced write names are ever deleted.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from pyarrow.fs import FileSelector

from omd._core import engines
from omd.control.rows import ModuleExecutionLogRow
from omd.lake.calls import LakeCalls
from omd.lake.compaction import groups, runs_of
from omd.lake.elsewhere import settings_of
from omd.lake.files import file_io, filesystem, remove_folder
from omd.lake.metadata import Metadata
from omd.lake.rows import LakeCommitsRow, LakeFoldersRow, LakeTablesRow
from omd.lake.run import LakeRun, module_of, removable
from omd.lake.staging import live_entries

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pyiceberg.io import FileIO
    from pyiceberg.manifest import ManifestFile
    from pyspark.sql import SparkSession

    from omd.control.room import Control
    from omd.control.run import ModuleRun

__all__ = ["Done", "maintain"]

MODULE = "omd_lake_maintain"

INSERT_INSTANCE = "omd_insert_module_instance_id"

_SETTLED = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Done:
    """What maintenance did, or would do."""

    table_code: str
    action: str
    files: int
    bytes: int


def maintain(
    control: Control,
    tables: Sequence[str] = (),
    *,
    keep: timedelta = timedelta(days=5),
    dry_run: bool = False,
    spark: SparkSession | None = None,
) -> list[Done]:
    """Remove folders that were never committed, and what only old snapshots need; join small files.

    Args:
        control: the connection.
        tables: the tables; none: all that are in the catalogue.
        keep: for how long snapshots are kept; the current one is kept for ever.
        dry_run: only return what would be done.
        spark: the session that joins files; by default one is started when there are any.
    """
    lake = control.lake
    codes = [lake.find_table(code, table_format_code="ICEBERG").table_code for code in tables]
    found = lake.report(LakeTablesRow, order_by=("table_code",), table_code=codes or None)
    catalogued = [row.table_code for row in found if row.metadata_location is not None]
    if dry_run:
        return [
            *_remove_folders(control, codes, dry_run=True),
            *(done for code in catalogued for done in _expire(control, None, code, keep)),
            *(done for code in catalogued for done in _compact(control, None, code)),
        ]
    lake.register_maintenance()
    with control.module(MODULE, spark=spark) as run:
        return [
            *_remove_folders(control, codes, dry_run=False),
            *(
                done
                for code in catalogued
                for done in _expire(control, run.module_instance_id, code, keep)
            ),
            *(done for code in catalogued for done in _compact(control, run, code)),
        ]


def _remove_folders(control: Control, codes: Sequence[str], *, dry_run: bool) -> list[Done]:
    done = []
    rows = control.lake.report(
        LakeFoldersRow,
        order_by=("table_code", "module_instance_id"),
        folder_state="ABANDONED",
        table_code=list(codes) or None,
    )
    for row in removable(rows):
        if row.folder is not None:
            settings = settings_of(row.table_code)
            files, size = _size(row.folder, settings)
            done.append(Done(row.table_code, "REMOVE_FOLDER", files, size))
            if not dry_run:
                remove_folder(row.folder, settings)
        if not dry_run:
            control.lake.record_folder_removal(
                row.module_instance_id, row.write_number, row.table_code
            )
    return done


def _size(folder: str, settings: Mapping[str, str] | None) -> tuple[int, int]:
    system, path = filesystem(folder, settings)
    selector = FileSelector(path, allow_not_found=True, recursive=True)
    files = [info for info in system.get_file_info(selector) if info.is_file]
    return len(files), sum(info.size for info in files)


def _expire(control: Control, instance: int | None, code: str, keep: timedelta) -> Iterable[Done]:
    """Commit a version without old snapshots, then delete what only they needed."""
    if instance is None:
        table = LakeRun.open(control.lake.find_table(code, table_format_code="ICEBERG"))
        old = _old_snapshots(table.metadata, keep)
        needed = _needed_only_by(table.io, table.metadata, old)
    else:
        with control.long_call() as link:
            link.set(lock_timeout="5min", idle_in_transaction_session_timeout="10min")
            with link.transaction():
                calls = LakeCalls(link)
                (location,) = calls.open_commit(instance, [code])
                io = file_io(location)
                metadata = Metadata.read(io, location)
                old = _old_snapshots(metadata, keep)
                if not old:
                    return
                needed = _needed_only_by(io, metadata, old)
                after = metadata.without_snapshots(old).write(io)
                commit = {
                    "table": code,
                    "format": "ICEBERG",
                    "from": location,
                    "to": after.file,
                    "sequence_number": after.sequence_number,
                    "snapshot_id": after.document["current-snapshot-id"],
                    "operation": "EXPIRE",
                }
                calls.commit_tables(instance, [commit])
    if not old:
        return
    for row in control.lake.report(LakeCommitsRow, table_code=code, snapshot_id=list(old)):
        if row.metadata_location is not None:
            needed.setdefault(row.metadata_location, 0)
    if instance is not None:
        _delete(needed)
    yield Done(code, "EXPIRE", len(needed), sum(needed.values()))


def _compact(control: Control, run: ModuleRun | None, code: str) -> Iterable[Done]:
    """Join the small files of a table, and exchange them in one commit."""
    table = LakeRun.open(control.lake.find_table(code, table_format_code="ICEBERG"))
    module = module_of(control, code)
    column = INSERT_INSTANCE if module is None else module.insert_instance_column
    if column not in table.metadata.schema.column_names:
        return
    runs = runs_of(table.io, table.metadata, column)
    found = groups(table.io, table.metadata, column, _settled(control, runs))
    if not found:
        return
    done = Done(code, "COMPACT", sum(len(g.files) for g in found), sum(g.bytes for g in found))
    if run is None:
        yield done
        return
    engine = engines.engine("SPARK")
    if run.spark is None:
        run.spark = engine.session(is_brief=True, quiet=True)
    run.attach(run.spark)
    joined = [(group, engine.join_files(run, run.spark, table, column, group)) for group in found]
    if LakeRun(run).exchange(table.code, joined):
        yield done


def _settled(control: Control, runs: Collection[int]) -> set[int]:
    """Return the runs that ended so long ago that no rollback of them is to be expected."""
    rows = control.report(ModuleExecutionLogRow, module_instance_id=sorted(runs) or [0])
    until = datetime.now(timezone.utc) - _SETTLED
    return {
        row.module_instance_id
        for row in rows
        if row.end_datetime is not None and row.end_datetime < until
    }


def _old_snapshots(metadata: Metadata, keep: timedelta) -> set[int]:
    """Return the snapshots that are neither young nor named by a branch or a tag."""
    until = (time.time() - keep.total_seconds()) * 1000
    named = {ref["snapshot-id"] for ref in metadata.document.get("refs", {}).values()}
    named.add(metadata.document["current-snapshot-id"])
    return {
        told["snapshot-id"]
        for told in metadata.document["snapshots"]
        if told["timestamp-ms"] < until and told["snapshot-id"] not in named
    }


def _needed_only_by(io: FileIO, metadata: Metadata, old: Collection[int]) -> dict[str, int]:
    """Return the files, and their sizes, that no snapshot needs besides the old ones."""
    needed: dict[str, int] = {}
    only_old: dict[str, ManifestFile] = {}
    kept: dict[str, ManifestFile] = {}
    for told in metadata.document["snapshots"]:
        is_old = told["snapshot-id"] in old
        if is_old:
            needed[told["manifest-list"]] = 0
        for manifest in metadata.manifests(io, told):
            (only_old if is_old else kept)[manifest.manifest_path] = manifest
    for path in kept:
        only_old.pop(path, None)
    for manifest in only_old.values():
        needed[manifest.manifest_path] = manifest.manifest_length
        for entry in live_entries(io, manifest):
            needed[entry.data_file.file_path] = entry.data_file.file_size_in_bytes
    for manifest in kept.values():
        for entry in live_entries(io, manifest):
            needed.pop(entry.data_file.file_path, None)
    return needed


def _delete(paths: Iterable[str]) -> None:
    for path in paths:
        with suppress(FileNotFoundError):
            file_io(path).delete(path)

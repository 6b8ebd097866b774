"""The maintenance of lake tables: what nobody needs any more is removed, small files are joined.

Only files that a snapshot or an announced write names are ever deleted.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from omd._core import engines
from omd.control.rows import ModuleExecutionLogRow
from omd.lake.compaction import groups, small_files
from omd.lake.elsewhere import catalog_name, settings_of
from omd.lake.errors import LakeTableUnreadable
from omd.lake.expiry import expire
from omd.lake.files import remove_folder, sizes_in
from omd.lake.rows import LakeFoldersRow, LakeTablesRow
from omd.lake.run import LakeRun, module_of, removable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from pyiceberg.manifest import DataFile
    from pyspark.sql import SparkSession

    from omd.control.room import Control
    from omd.control.run import ModuleRun
    from omd.lake.compaction import Group

__all__ = ["Done", "maintain"]

_log = logging.getLogger("omd.lake")

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
    if dry_run:
        return list(_maintained(control, None, codes, keep))
    lake.register_maintenance()
    with control.module(MODULE, spark=spark) as run:
        return list(_maintained(control, run, codes, keep))


def _maintained(
    control: Control, run: ModuleRun | None, codes: Sequence[str], keep: timedelta
) -> Iterator[Done]:
    yield from _remove_folders(control, codes, dry_run=run is None)
    rows = control.lake.report(
        LakeTablesRow, order_by=("table_code",), table_code=list(codes) or None
    )
    for step in (_expire, _compact):
        for row in rows:
            is_ours = catalog_name(row.table_code) is None
            if row.metadata_location is not None or (is_ours and row.table_format_code == "DELTA"):
                try:
                    done = step(control, run, row, keep)
                except LakeTableUnreadable as error:
                    _log.warning("%s is left as it is: %s", row.table_code, error)
                    continue
                if done is not None:
                    yield done


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
            files = sizes_in(row.folder, settings, recursive=True)
            done.append(Done(row.table_code, "REMOVE_FOLDER", len(files), sum(files.values())))
            if not dry_run:
                remove_folder(row.folder, settings)
        if not dry_run:
            control.lake.record_folder_removal(
                row.module_instance_id, row.write_number, row.table_code
            )
    return done


def _expire(
    control: Control, run: ModuleRun | None, row: LakeTablesRow, keep: timedelta
) -> Done | None:
    """Let old snapshots or versions expire, and delete what only they need."""
    code = row.table_code
    if row.metadata_location is not None:
        files = expire(control, None if run is None else run.module_instance_id, code, keep)
    else:
        from omd.lake import delta_maintenance  # the extra delta is needed

        files = delta_maintenance.expire(run, code, _folder(control, code), keep)
    return None if files is None else Done(code, "EXPIRE", len(files), sum(files.values()))


def _compact(
    control: Control, run: ModuleRun | None, row: LakeTablesRow, _keep: timedelta
) -> Done | None:
    """Join the small files of a table, and exchange them in one commit."""
    code = row.table_code
    module = module_of(control, code)
    column = INSERT_INSTANCE if module is None else module.insert_instance_column
    found: Sequence[Group[Any]]
    if row.metadata_location is not None:
        found = _compact_iceberg(control, run, code, column)
    else:
        from omd.lake import delta_maintenance  # the extra delta is needed

        found = delta_maintenance.compact(
            run,
            _session,
            code,
            _folder(control, code),
            column,
            lambda runs: _settled(control, runs),
        )
    if not found:
        return None
    return Done(code, "COMPACT", sum(len(g.files) for g in found), sum(g.bytes for g in found))


def _compact_iceberg(
    control: Control, run: ModuleRun | None, code: str, column: str
) -> Sequence[Group[DataFile]]:
    table = LakeRun.open(control.lake.find_table(code, table_format_code="ICEBERG"))
    if column not in table.metadata.schema.column_names:
        return []
    small = small_files(table.io, table.metadata, column)
    found = groups(small, _settled(control, {owner for _, owner, _, _ in small}))
    if not found or run is None:
        return found
    engine = engines.engine("SPARK")
    spark = _session(run)
    joined = [(group, engine.join_files(run, spark, table, column, group)) for group in found]
    return found if LakeRun(run).exchange(table.code, joined) else []


def _session(run: ModuleRun) -> SparkSession:
    """Return the session that joins files; one is started if there is none."""
    if run.spark is None:
        run.spark = engines.engine("SPARK").session(is_brief=True, quiet=True)
    run.attach(run.spark)
    return run.spark


def _folder(control: Control, code: str) -> str:
    location = control.lake.find_table(code, table_format_code="DELTA").location
    assert location is not None  # noqa: S101 - a table of two parts has one
    return location


def _settled(control: Control, runs: Collection[int]) -> set[int]:
    """Return the runs that ended so long ago that no rollback of them is to be expected."""
    rows = control.report(ModuleExecutionLogRow, module_instance_id=sorted(runs) or [0])
    until = datetime.now(timezone.utc) - _SETTLED
    return {
        row.module_instance_id
        for row in rows
        if row.end_datetime is not None and row.end_datetime < until
    }

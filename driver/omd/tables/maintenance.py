"""The maintenance of lake tables: what nobody needs any more is removed, small files are joined.

Only files that a snapshot or an announced write names are ever deleted.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from pyiceberg.manifest import DataFile

from omd._core.engines import SPARK
from omd._core.errors import ConfigurationError
from omd.rooms.control.rows import ModuleExecutionLogRow
from omd.rooms.lake.calls import LakeCalls
from omd.rooms.lake.rows import LakeFoldersRow, LakeTablesRow
from omd.tables.compaction import Group, groups, small_files
from omd.tables.elsewhere import catalog_name, settings_of
from omd.tables.expiry import expire
from omd.tables.files import sizes_in
from omd.tables.folders import line_of, removals, remove, reraise_of_run
from omd.tables.run import LakeRun, lake_run, module_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from omd.rooms.control.blocks import Blocks
    from omd.rooms.control.connection import Connection
    from omd.rooms.control.run import Run

_log = logging.getLogger("omd.lake")

MODULE = "omd_lake_maintain"

INSERT_INSTANCE = "omd_insert_module_instance_id"


@dataclass(frozen=True, slots=True)
class Done:
    """What maintenance did, or would do."""

    table_code: str
    # REMOVE_FOLDER, EXPIRE or COMPACT; PASSED_OVER: the table, or a folder of it, could not be
    # read or may not be deleted.
    action: str
    files: int  # how many files went, or were joined
    bytes: int  # their size
    problem: str | None = None  # why it was passed over


@dataclass(frozen=True, slots=True)
class _Terms:
    """What the parameters of the Module omd_lake_maintain say."""

    keep_snapshots: timedelta
    settled_after: timedelta


def maintain(
    control: Blocks,
    tables: Sequence[str] = (),
    *,
    keep: timedelta | None = None,
    dry_run: bool = False,
    spark: SparkSession | None = None,
) -> list[Done]:
    """Remove folders that were never committed, and what only old snapshots need; join small files.

    Args:
        control: the connection.
        tables: the tables; none: all that are in the catalogue.
        keep: for how long snapshots are kept; by default as the parameter keep_snapshots of the
            Module omd_lake_maintain says. The current one is kept for ever.
        dry_run: only return what would be done.
        spark: the session that joins files; by default one is started when there are any.

    Returns:
        What was done. What could not be read is passed over, and is in it with its problem.

    Raises:
        ConfigurationError: a parameter of omd_lake_maintain is no number of days or hours.
    """
    lake = LakeCalls(control._link)
    codes = [lake.find_table(code, table_format_code="ICEBERG").table_code for code in tables]
    if dry_run:
        return list(_maintained(control, None, codes, keep))
    lake.register_maintenance()
    with control.module(MODULE, spark=spark) as run:
        return list(_maintained(control, run, codes, keep))


def _maintained(
    control: Connection, run: Run | None, codes: Sequence[str], keep: timedelta | None
) -> Iterator[Done]:
    passed = set()
    rows = LakeCalls(control._link).report(
        LakeTablesRow, order_by=("table_code",), table_code=list(codes) or None
    )
    terms = [_terms_in(row, keep) for row in rows]  # refused before anything is done
    for done in removed_folders(control, codes, dry_run=run is None):
        _tell(control, run, done)
        yield done
    for step in (_expire, _compact):
        for row, term in zip(rows, terms, strict=True):
            is_ours = catalog_name(row.table_code) is None
            is_delta = is_ours and row.table_format_code == "DELTA"
            if row.table_code in passed or not (row.metadata_location is not None or is_delta):
                continue
            try:
                result = step(control, run, row, term)
            except Exception as error:  # noqa: BLE001 - one table stops no other
                reraise_of_run(error)
                passed.add(row.table_code)
                if run is not None:
                    lake_run(run).forget()
                result = Done(row.table_code, "PASSED_OVER", 0, 0, line_of(error))
            if result is not None:
                _tell(control, run, result)
                yield result


def _tell(control: Connection, run: Run | None, done: Done) -> None:
    """Log what is passed over."""
    if done.problem is None:
        return
    _log.warning("%s is passed over: %s", done.table_code, done.problem)
    if run is not None:
        control._omd.log_event(
            f"{done.table_code} is passed over: {done.problem}",
            module_instance_id=run.instance_id,
            event_type_code=6,
        )


def removed_folders(control: Connection, codes: Sequence[str], *, dry_run: bool) -> Iterator[Done]:
    """Remove the folders of writes that were never committed; yield what was done."""
    rows = LakeCalls(control._link).report(
        LakeFoldersRow,
        order_by=("table_code", "module_instance_id"),
        folder_state="ABANDONED",
        table_code=list(codes) or None,
    )
    for row, problem in removals(LakeCalls(control._link), rows):
        done = None
        try:
            if problem is None and row.folder is not None:
                settings = settings_of(row.table_code)
                files = sizes_in(row.folder, settings, recursive=True)
                done = Done(row.table_code, "REMOVE_FOLDER", len(files), sum(files.values()))
            if problem is None and not dry_run:
                remove(LakeCalls(control._link), row)
        except Exception as error:  # noqa: BLE001 - one table stops no other
            reraise_of_run(error)
            problem = line_of(error)
        if problem is not None:
            done = Done(row.table_code, "PASSED_OVER", 0, 0, f"{row.folder}: {problem}")
        if done is not None:
            yield done


def _expire(control: Connection, run: Run | None, row: LakeTablesRow, terms: _Terms) -> Done | None:
    """Let old snapshots or versions expire, and delete what only they need."""
    code, keep = row.table_code, terms.keep_snapshots
    if row.metadata_location is not None:
        files = expire(control, None if run is None else run.instance_id, code, keep)
    else:
        from omd.tables import delta_maintenance  # the extra delta is needed

        files = delta_maintenance.expire(run, code, _folder(control, code), keep)
    return None if files is None else Done(code, "EXPIRE", len(files), sum(files.values()))


def _compact(
    control: Connection, run: Run | None, row: LakeTablesRow, terms: _Terms
) -> Done | None:
    """Join the small files of a table, and exchange them in one commit."""
    code = row.table_code
    module = module_of(control, code)
    column = INSERT_INSTANCE if module is None else module.insert_instance_column
    chosen: Sequence[Group[Any]]
    if row.metadata_location is not None:
        chosen = _compact_iceberg(control, run, code, column, terms)
    else:
        from omd.tables import delta_maintenance  # the extra delta is needed

        chosen = delta_maintenance.compact(
            run,
            session_of,
            code,
            _folder(control, code),
            column,
            lambda runs: _settled(control, runs, terms.settled_after),
        )
    if not chosen:
        return None
    return Done(code, "COMPACT", sum(len(g.files) for g in chosen), sum(g.bytes for g in chosen))


def _compact_iceberg(
    control: Connection, run: Run | None, code: str, column: str, terms: _Terms
) -> Sequence[Group[DataFile]]:
    table = LakeRun.open(LakeCalls(control._link).find_table(code, table_format_code="ICEBERG"))
    if column not in table.metadata.schema.column_names:
        return []
    small = small_files(table.io, table.metadata, column)
    chosen = groups(
        small, _settled(control, {owner for _, owner, _, _ in small}, terms.settled_after)
    )
    if not chosen or run is None:
        return chosen
    engine = run._control._engines[SPARK]
    spark = session_of(run)
    joined = [(group, engine.join_files(run, spark, table, column, group)) for group in chosen]
    return chosen if LakeRun(run).exchange(table.code, joined) else []


def session_of(run: Run) -> SparkSession:
    """Return the session that rewrites files; one is started if there is none."""
    if run._reads.spark is None:
        run._reads.spark = run._control._engines[SPARK].session(is_brief=True, quiet=True)
    run.attach(run._reads.spark)
    return run._reads.spark


def _folder(control: Connection, code: str) -> str:
    location = LakeCalls(control._link).find_table(code, table_format_code="DELTA").location
    assert location is not None  # noqa: S101 - a table of two parts has one
    return location


def _settled(control: Connection, runs: Collection[int], after: timedelta) -> set[int]:
    """Return the runs that ended so long ago that no rollback of them is to be expected."""
    rows = control.report(ModuleExecutionLogRow, module_instance_id=sorted(runs) or [0])
    until = datetime.now(timezone.utc) - after
    return {
        row.module_instance_id
        for row in rows
        if row.end_datetime is not None and row.end_datetime < until
    }


def _terms_in(row: LakeTablesRow, keep: timedelta | None) -> _Terms:
    """Return the terms that a row shows, with a time to keep snapshots that the caller may have.

    Raises:
        ConfigurationError: a parameter of maintenance is no number of days or hours.
    """
    kept, settled = row.keep_snapshots if keep is None else keep, row.settled_after
    if kept is None or settled is None:
        code = "keep_snapshots" if kept is None else "settled_after"
        raise ConfigurationError(
            f"the parameter {code} of the Module {MODULE} is no number of days or hours",
            hint=f"omd call set_parameter --parameter-code {code} --parameter-value '5 days'"
            f" --module-code {MODULE}",
        )
    return _Terms(kept, settled)

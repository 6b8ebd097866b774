"""The maintenance of a Delta table: old versions expire, small files are joined.

Old versions expire by a commit without files. It orders the expiry among the commits of the table:
a rollback that was planned before it does not give back what is deleted after it. The files of the
log tell what only old versions need, so they go last, and a crash before that loses nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import unquote

from omd._core.engines import SPARK
from omd._core.error_codes import LakeConflict
from omd.tables.compaction import SMALL, Group, Small, groups
from omd.tables.delta import Delta, DeltaFile
from omd.tables.delta_log import DeltaLog, Version
from omd.tables.delta_run import DeltaPending
from omd.tables.delta_versions import oldest
from omd.tables.expiry import within
from omd.tables.files import delete_files, lies_within, sizes_of
from omd.tables.run import LakeRun, lake_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from omd.rooms.control.run import Run

_log = logging.getLogger("omd.lake")


def expire(run: Run | None, code: str, location: str, keep: timedelta) -> dict[str, int] | None:
    """Let old versions expire, but the newest, and delete what only they need.

    Args:
        run: the run; None: nothing is changed.
        keep: for how long versions are kept; longer where the table says so.

    Returns:
        The files that went, or would go, with their sizes; None: there is nothing to do.
    """
    table = Delta.find(location)
    if table is None:
        return None
    table.require_readable()
    log = DeltaLog(location)
    kept_for = max(keep, table.retention).total_seconds()
    versions = log.versions(log.numbers)
    first = _first_kept(versions, (time.time() - kept_for) * 1000)
    if first is None:
        return None
    kept = oldest(location, [number for number in log.numbers if number >= first])
    if run is not None:
        lake = LakeRun(run)
        number = run._control._omd.next_write_number()
        lake.delta[code] = DeltaPending(code, location, "EXPIRE", number=number)
        try:
            lake.commit()
        except LakeConflict as conflict:
            _log.info("nothing of %s expires: %s", code, conflict)
            return None
        log = DeltaLog(location)
        versions += log.versions(n for n in log.numbers if n > versions[-1].number)
    needed = _needed_only_before(kept, versions)
    if run is not None:
        for version in (kept, Delta(location)):
            version.checkpoint()
        delete_files(needed)
        if all(lies_within(location, [f"{location}/_delta_log/x"])):
            log.remove_before(kept.version)
    return needed


def _first_kept(versions: Sequence[Version], until: float) -> int | None:
    """Return the oldest version that stays; None if none has to go.

    A version that leaves the table as it is, such as an expiry, is neither the newest one nor a
    reason for another expiry.
    """
    changes = [version.number for version in versions if version.changes]
    if not changes:
        return None
    young = (version.number for version in versions if version.written_at >= until)
    first = min(next(young, changes[-1]), changes[-1])
    return first if changes[0] < first else None


def _needed_only_before(kept: Delta, versions: Sequence[Version]) -> dict[str, int]:
    """Return the files, with their sizes, that only versions before one need.

    A file outside of the folder of the table belongs to another one, of which this is a clone.
    """
    needed = {file.path for file in kept.files()}
    needed.update(
        path for version in versions if version.number > kept.version for path in version.added
    )
    gone = {
        path
        for version in versions
        if version.number <= kept.version
        for path in version.removed
        if path not in needed
        and not path.startswith("/")
        and "://" not in path
        and not unquote(path).startswith(("/", "_delta_log/"))
        and ".." not in unquote(path).split("/")
    }
    sizes = sizes_of([f"{kept.location}/{unquote(path)}" for path in sorted(gone)])
    return within(kept.location, kept.location, sizes)


def compact(
    run: Run | None,
    spark: Callable[[Run], SparkSession],
    code: str,
    location: str,
    column: str,
    settled: Callable[[Collection[int]], Collection[int]],
) -> list[Group[DeltaFile]]:
    """Join the small files of a table, and exchange them in one commit; return what was joined.

    Args:
        run: the run; None: nothing is changed.
        spark: returns the session that joins them.
        column: the insert instance column.
        settled: returns which of some runs ended long ago.
    """
    table = Delta.find(location)
    if table is None:
        return []
    table.require_readable()
    small = _small_files(table, column)
    chosen = groups(small, settled({owner for _, owner, _, _ in small}))
    if not chosen or run is None:
        return chosen
    pending = DeltaPending(code, location, "COMPACT")
    session = spark(run)
    for group in chosen:
        number, rows, files = run._control._engines[SPARK].join_delta_files(
            run, session, code, table, column, group
        )
        pending.writes.append((number, rows))
        pending.added += files
        pending.removed += group.files
    lake = lake_run(run)
    lake.delta[code] = pending
    try:
        lake.commit()
    except LakeConflict as conflict:
        lake.delta.clear()
        _log.info("%s is not compacted: %s", code, conflict)
        return []
    return chosen


def _small_files(table: Delta, column: str) -> list[Small[DeltaFile]]:
    """Return the small files of single runs."""
    return [
        (tuple(sorted(file.partition.items())), file.low[column], 0, file)
        for file in table.files()
        if file.size < SMALL
        and file.low.get(column) is not None
        and file.low[column] == file.high.get(column)
        and file.nulls.get(column) == 0
    ]

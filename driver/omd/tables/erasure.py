"""Keys that are erased from an Iceberg table: its files without them, and no snapshot with them.

A manifest keeps the least and the greatest value of each file, also of one that was removed. So the
commit writes all manifests anew that name such a file, and all snapshots but it expire.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pyiceberg.manifest import DataFile

from omd._core.engines import SPARK
from omd._core.error_codes import KeysLeft, LakeConflict
from omd.rooms.lake.calls import LakeCalls
from omd.tables.compaction import Group
from omd.tables.expiry import expire
from omd.tables.formats import Rewritten
from omd.tables.maintenance import MODULE, removed_folders, session_of
from omd.tables.run import LakeRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from omd.rooms.control.blocks import Blocks
    from omd.tables.table import LakeTable

_ATTEMPTS = 3

# The clock of another writer may be ahead; the current snapshot is kept in any case.
_ALL = timedelta(days=-1)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be erased from a table."""

    table_code: str
    columns: Mapping[str, str]  # the attribute of the key that each column holds
    action: str  # DELETE: the rows go. NULL: the columns become NULL.
    keys: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Files without the keys, in the place of files with them."""

    keys: int
    rows: int
    files: Sequence[tuple[Group[DataFile], Rewritten[DataFile]]] = ()


def erase(control: Blocks, wanted: Wanted, *, spark: SparkSession | None = None) -> tuple[int, int]:
    """Rewrite a table without keys, and let every snapshot expire that held them.

    Args:
        control: the connection.
        wanted: the table and the keys.
        spark: the session; by default that of the connection, or one is started.

    Returns:
        How many keys were in it, in how many rows.

    Raises:
        LakeConflict: the table moved on, again and again.
        KeysLeft: a branch or a tag keeps a snapshot, or files can't be removed.
    """
    LakeCalls(control._link).register_maintenance()
    with control.module(MODULE, batch=0, spark=spark or control._spark) as run:
        for _ in range(_ATTEMPTS):
            table = _open(control, wanted.table_code)
            if table.metadata.snapshot is None:
                done = Forgotten(0, 0)
                break
            done = run._control._engines[SPARK].forget(run, session_of(run), table, wanted)
            if LakeRun(run).exchange(table.code, done.files, forgets=True):
                break
        else:
            raise LakeConflict(f"{wanted.table_code} moved on, again and again")
        expire(control, run.instance_id, wanted.table_code, _ALL)
        for folder in removed_folders(control, [wanted.table_code], dry_run=False):
            if folder.problem is not None:
                raise KeysLeft(f"{wanted.table_code}: {folder.problem}")
        left = len(_open(control, wanted.table_code).metadata.document["snapshots"])
        if left > 1:
            raise KeysLeft(
                f"{left - 1} former snapshot(s) of {wanted.table_code} did not expire",
                hint="Drop the branches and tags of the table, and finish the erasure again.",
            )
    return done.keys, done.rows


def _open(control: Blocks, code: str) -> LakeTable:
    return LakeRun.open(LakeCalls(control._link).find_table(code, table_format_code="ICEBERG"))

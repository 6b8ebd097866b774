"""The part of a recall in lake tables: one UNDO commit per table, in the transaction of the recall.

The run of a recall is there in its transaction only. So a run of a Module of its own writes the
files and commits them: when it dies before, nothing has happened, and its folders are found.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import psycopg

from omd._core.engines import SPARK
from omd._core.error_codes import LakeConflict
from omd._core.errors import NotStarted, OmdError
from omd.rooms.lake.calls import LakeCalls
from omd.tables.formats import Rewritten
from omd.tables.run import LakeRun, Unstaged

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile

    from omd._core.link import Link
    from omd.rooms.control.blocks import Blocks
    from omd.rooms.control.run import Run
    from omd.tables.iceberg_run import Rewrite
    from omd.tables.table import LakeTable
    from omd.tables.undo import Undo

_log = logging.getLogger("omd.lake")

MODULE = "omd_lake_recall"

# A driver that is killed does not keep others away for longer.
_LEASE = timedelta(minutes=5)


def take_back(control: Blocks, instances: Sequence[int], act: Callable[[Link], None]) -> bool:
    """Take runs back from lake tables, in one transaction with a recall.

    Args:
        control: the connection.
        instances: the runs, of `omd_lake.runs_to_recall`.
        act: recalls over the connection of that transaction.

    Returns:
        False: nothing has happened, since the files can't be staged, or another recall stages some;
        the log says why.
    """
    try:
        LakeCalls(control._link).register_recall()
    except psycopg.errors.InsufficientPrivilege:
        return _without_run(control, instances, act)
    refusal: OmdError | None = None
    try:
        with control.module(
            MODULE, batch=0, lease=control._lease or _LEASE, spark=control._spark
        ) as run:
            lake = LakeRun(run)

            def act_on(link: Link) -> None:
                LakeCalls(link).open_recall(list(instances))
                act(link)

            try:
                lake.undo_beside(instances, _rewrite(run, lake), act_on)
            except OmdError as error:
                refusal = error  # its run has done what it had to
    except NotStarted as other:
        _log.warning("lake tables are left to their Modules: %s", other)
        return False
    if refusal is None:
        return True
    lake.remove_folders([run.instance_id])
    if isinstance(refusal, (Unstaged, LakeConflict)):
        _log.warning("lake tables are left to their Modules: %s", refusal)
        return False
    raise refusal


def _without_run(control: Blocks, instances: Sequence[int], act: Callable[[Link], None]) -> bool:
    """Take runs back where metadata alone changes: an administrator commits without a run."""
    nobody: Any = SimpleNamespace(
        _control=control,
        _module=SimpleNamespace(table_code=None),
        code=None,
        instance_id=None,
    )

    def refuse(table: LakeTable, *_: Any) -> Rewritten[DataFile]:
        raise Unstaged(f"files of {table.code} must be rewritten, which omd_runner may")

    def act_on(link: Link) -> None:
        LakeCalls(link).open_recall(list(instances))
        act(link)

    try:
        LakeRun(nobody).undo_beside(instances, refuse, act_on)
    except (Unstaged, LakeConflict) as refusal:
        _log.warning("lake tables are left to their Modules: %s", refusal)
        return False
    return True


def _rewrite(run: Run, lake: LakeRun) -> Rewrite:
    def rewrite(table: LakeTable, undo: Undo, instances: Sequence[int]) -> Rewritten[DataFile]:
        engine = run._control._engines[SPARK]
        if run._reads.spark is None:
            run._reads.spark = engine.session(is_brief=True, quiet=True)
        files: Rewritten[DataFile] = engine.rewrite_files(
            run, run._reads.spark, lake, table, undo, instances
        )
        return files

    return rewrite

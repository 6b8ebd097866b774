"""The act of a recall, with its part in the lake.

The database does it all but for rows in lake tables. These can go in the same transaction where
their catalogue is ours; else the database marks their runs, and their Modules undo them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple, cast

import psycopg

from omd._core.error_codes import ConsentMissing, PlanChanged
from omd.rooms.lake.calls import LakeCalls
from omd.rooms.provenance.calls import ProvenanceCalls
from omd.rooms.provenance.rows import RecallItemsRow

if TYPE_CHECKING:
    from omd._core.link import Link
    from omd.rooms.control.blocks import Blocks
    from omd.rooms.control.connection import Connection

_log = logging.getLogger("omd.provenance")

# How often a plan is made again when others come between it and its act.
_TRIES = 3


class Recalled(NamedTuple):
    """A recall that was executed."""

    recall_id: int
    module_instance_id: int
    rows_gone: int
    rows_returned: int


class Act:
    """One recall.

    Args:
        control: the connection.
        plan: makes the plan, or names one that was made.
        is_new: whether it makes one, so that it can make it again.
        accept: the actions that the caller consents to.
        wait: for how long runs at work are waited for.
    """

    def __init__(
        self,
        control: Connection,
        plan: Callable[[ProvenanceCalls], int],
        *,
        is_new: bool,
        accept: Sequence[str],
        wait: timedelta,
    ) -> None:
        self._control = control
        self._link = control._link
        self._plan = plan
        self._is_new = is_new
        self._accept = list(accept)
        self._until = time.monotonic() + wait.total_seconds()
        self._done: Recalled | None = None

    def execute(self) -> Recalled:
        """Recall, in one transaction: all of it, or nothing."""
        runs: list[int] | None = None
        for left in reversed(range(_TRIES)):
            if runs is None or self._is_new:
                runs = self._lake_runs()
            try:
                if not (runs and self._with_lake(runs)):
                    with self._link.transaction():
                        self._act(self._link)
            except PlanChanged:
                if not self._is_new or not left:
                    raise
            except ConsentMissing as refusal:
                # What has come since the plan may be in the lake too.
                asked = [
                    item["module_instance_id"]
                    for item in refusal.detail.get("items", [])
                    if item["action"] == "PENDING"
                ]
                come = [run for run in self._in_lake(asked) if run not in runs]
                if not come or not left:
                    raise
                runs = sorted({*runs, *come})
            else:
                assert self._done is not None  # noqa: S101 - it has acted
                return self._done
        raise AssertionError("it returns or raises")

    def _lake_runs(self) -> list[int]:
        """Wait until nothing concerned executes; return those of the plan that the lake undoes."""
        with self._link.transaction() as connection, connection.transaction(force_rollback=True):
            calls = ProvenanceCalls(self._link)
            recall_id = self._plan(calls)
            if self._is_new:
                calls.wait_for_runs(recall_id, wait=self._left)
            items = calls.report(RecallItemsRow, recall_id=recall_id, action="PENDING")
        runs = self._in_lake([i.module_instance_id for i in items if i.module_instance_id])
        if runs and not self._is_new:
            calls.wait_for_runs(recall_id, wait=self._left)
        return runs

    def _in_lake(self, runs: Sequence[int]) -> list[int]:
        if not runs:
            return []
        rows = LakeCalls(self._link).runs_to_recall(list(runs))
        return [row.module_instance_id for row in rows]

    def _with_lake(self, runs: Sequence[int]) -> bool:
        """Recall in the transaction that takes these runs back in the lake; False: it can't."""
        try:
            from omd.tables.recall import take_back  # the extra lake is needed

            return take_back(cast("Blocks", self._control), runs, self._act)
        except (ImportError, psycopg.errors.InsufficientPrivilege) as error:
            _log.warning("lake tables are left to their Modules: %s", error)
            return False

    def _act(self, link: Link) -> None:
        calls = ProvenanceCalls(link)
        recall_id = self._plan(calls)
        done = calls.recall(recall_id, accept=self._accept, wait=self._left)
        self._done = Recalled(
            recall_id, done.module_instance_id, done.rows_gone, done.rows_returned
        )

    @property
    def _left(self) -> timedelta:
        return timedelta(seconds=max(0.0, self._until - time.monotonic()))

"""Iceberg tables of one run in another catalogue, which `omd.tables.elsewhere` talks to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from omd.tables.elsewhere import Elsewhere, commit_elsewhere
from omd.tables.formats import Record
from omd.tables.iceberg_run import IcebergChange, IcebergUndo, Pending
from omd.tables.staging import Change
from omd.tables.table import LakeTable

if TYPE_CHECKING:
    from omd.rooms.control.run import Run
    from omd.rooms.lake.rows import LakeCommitsRow
    from omd.tables.catalogue import RunCatalogue
    from omd.tables.iceberg_run import Rewrite


class _Elsewhere(IcebergChange):
    """The commit is made through the other catalogue, and is visible at once."""

    is_outside: ClassVar[bool] = True

    def commit(self, run: Run) -> Record | None:
        """Commit there, unless that has happened already."""

        def change_of(now: Elsewhere) -> Change | None:
            return self.change(run, LakeTable.elsewhere(now))

        # The idempotency key: the run, and the numbers of its writes, which the snapshot carries.
        return commit_elsewhere(self.code, run.instance_id, self.writes, change_of)


class ElsewherePending(_Elsewhere, Pending):
    """The writes of a run."""


class ElsewhereUndo(_Elsewhere, IcebergUndo):
    """What takes runs back; see `omd.tables.iceberg_run.IcebergUndo`."""

    def __init__(
        self,
        catalogue: RunCatalogue,
        table: LakeTable,
        commits: Sequence[LakeCommitsRow],
        instances: Sequence[int],
        rewrite: Rewrite,
    ) -> None:
        super().__init__(catalogue, table, commits, instances, rewrite)
        if self.changes and not self.writes:
            # The commit is found again by the number of a write, also where nothing is written.
            self.writes = [(catalogue.run._control._omd.next_write_number(), 0)]

    @property
    def changes(self) -> bool:
        """Whether a commit is needed; nobody else commits for runs that have ended."""
        return not self.withheld.is_empty

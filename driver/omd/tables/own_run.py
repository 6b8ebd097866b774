"""Iceberg tables of one run in the catalogue of the database: the run commits with them, or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from omd.tables.formats import Record
from omd.tables.iceberg_run import IcebergChange, IcebergUndo, Pending, staged
from omd.tables.table import LakeTable

if TYPE_CHECKING:
    from omd.rooms.control.run import Run


class _Own(IcebergChange):
    """The commit is an exchange of the metadata file, which `omd_lake.commit_tables` makes."""

    is_outside: ClassVar[bool] = False
    record: Record | None = None

    def stage(self, run: Run, location: str) -> None:
        """Write the next snapshot, once: a transaction whose answer was lost is sent as it was."""
        if self.record is None:
            table = LakeTable.read(self.code, location)
            change = self.change(run, table)
            if change is not None:
                self.record = staged(table, change, self.writes)

    def unstage(self) -> None:
        """Let the next attempt stage anew."""
        self.record = None

    def commit(self, run: Run) -> Record | None:  # noqa: ARG002 - it is staged for the run
        """Return what is staged; None if there is nothing to do."""
        return self.record


class OwnPending(_Own, Pending):
    """The writes of a run."""


class OwnUndo(_Own, IcebergUndo):
    """What takes runs back."""

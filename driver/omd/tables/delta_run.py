"""Delta tables of one run: what it commits, and what it takes back.

The log is extended in the transaction that records the commit, after the fence and under its lock.
If that transaction fails afterwards, the next begin finds the commit in the log and takes it back.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from omd._core.error_codes import LakeConflict
from omd.tables.catalogue import RunCatalogue, recorded
from omd.tables.delta import NUMBER, Delta, DeltaChange, DeltaFile
from omd.tables.delta_log import DeltaLog
from omd.tables.delta_undo import DeltaUndo, plan_delta_undo
from omd.tables.formats import Record, Rewritten, TableChange, writes_of
from omd.tables.undo import INSTANCE

if TYPE_CHECKING:
    from omd.rooms.control.run import Run

    RewriteDelta = Callable[[str, DeltaUndo, Sequence[int]], Rewritten[DeltaFile]]

_ATTEMPTS = 3
_MARK = "RECORD"  # in the log only: an earlier commit is recorded by this version


@dataclass
class DeltaPending(TableChange):
    """What a run has done to one Delta table and not committed yet."""

    is_outside: ClassVar[bool] = True

    code: str
    location: str
    operation: str = "APPEND"  # as in omd_lake.table_commit
    writes: list[tuple[int, int]] = field(default_factory=list)  # number and rows of each write
    added: list[DeltaFile] = field(default_factory=list)  # files that come
    # Files that go; those of an overwrite are found at the commit.
    removed: list[DeltaFile] = field(default_factory=list)
    # The version that `removed` was read from; None: the commit fits on any.
    base: int | None = None
    # It depends on all rows of some keys, not only on the files that it replaces.
    has_chains: bool = False
    number: int = 0  # under which the commit is found again, where it has no write
    undone: Sequence[int] = ()  # the runs that a rollback takes back
    landed: int | None = None  # the version that it has become; None before

    @property
    def changes(self) -> bool:
        """Whether a commit is needed."""
        return bool(self.added or self.removed) or self.operation in ("OVERWRITE", "EXPIRE")

    def over(self, files: list[DeltaFile]) -> list[DeltaFile]:
        """Return the files that this run sees: those of the table, and its own."""
        if self.operation == "OVERWRITE":
            return self.added
        gone = {file.path for file in self.removed}
        return [file for file in files if file.path not in gone] + self.added

    def overwritten(self) -> None:
        """Forget what was written before: the run overwrites the table."""
        self.operation, self.added, self.removed = "OVERWRITE", [], []
        self.base, self.has_chains = None, False

    def replaced(self, table: Delta, old: Sequence[DeltaFile], new: Sequence[DeltaFile]) -> None:
        """Take over files that were written in the place of others, live ones or own ones."""
        gone = {file.path for file in old}
        own = {file.path for file in self.added}
        self.added = [file for file in self.added if file.path not in gone] + list(new)
        if self.operation == "APPEND":
            self.operation = "HISTORY"
        if self.operation == "HISTORY":
            self.base = table.version if self.base is None else self.base
            self.has_chains = True
            self.removed += [file for file in old if file.path not in own]

    def commit(self, run: Run) -> Record:
        """Extend the log, if this commit is not in it yet, and return what the database records.

        What has landed before, and is recorded only now, gets a version of its own if others have
        come in between: commits are recorded in the order of their versions.

        Raises:
            LakeConflict: the table has moved on, or other writers were first, again and again.
        """
        # The idempotency key: the log keeps, for each Module, the greatest number of a write.
        number = max((number for number, _ in self.writes), default=self.number)
        for attempt in range(_ATTEMPTS):
            table = Delta(self.location)
            if self.landed is None and table.landed(run.code, number):
                self.landed = _version_of(self.location, run.instance_id, number)
            if self.landed == table.version:
                break
            change = self._change(table)
            try:
                table = table.commit(change, run.code, run.instance_id, number)
            except LakeConflict:
                if attempt == _ATTEMPTS - 1:
                    raise
            else:
                self.landed = table.version
                break
        return {
            "table": self.code,
            "format": "DELTA",
            "sequence_number": self.landed,
            "operation": self.operation,
            "writes": writes_of(self.writes),
            "counts": {
                "added_files": len(self.added),
                "added_rows": sum(file.rows for file in self.added),
                "removed_files": len(self.removed),
                "removed_rows": sum(file.rows for file in self.removed),
                **table.totals,
            },
        }

    def _change(self, table: Delta) -> DeltaChange:
        """Return what is to be done with the table as it is now."""
        if self.landed is not None:
            return DeltaChange(_MARK, [], [], self.undone)
        self._require_unmoved(table)
        if self.operation == "OVERWRITE":
            self.removed = table.files()
        return DeltaChange(self.operation, self.added, self.removed, self.undone)

    def _require_unmoved(self, table: Delta) -> None:
        """Refuse a commit that was made for other rows than the table holds now.

        A history, and the repair of one, depend on all rows of their keys; any commit depends on
        the files that it replaces. What a rollback gives back must not have expired meanwhile.
        """
        moved = False
        if self.base is not None and table.version > self.base:
            try:
                since = DeltaLog(self.location).versions(range(self.base + 1, table.version + 1))
                moved = any(
                    (self.has_chains and version.has_other_rows)
                    or (self.operation == "UNDO" and version.deletes_files)
                    for version in since
                )
            except FileNotFoundError:  # they have expired
                moved = True
        if self.operation != "OVERWRITE" and self.removed and not moved:
            moved = bool({f.path for f in self.removed} - {f.path for f in table.files()})
        if moved:
            raise LakeConflict(
                f"{self.code} has moved on since this run has read it",
                hint="Start the Module again.",
            )


def _version_of(location: str, instance: int, number: int) -> int:
    """Return the version that a run has committed with this greatest write number."""
    log = DeltaLog(location)
    for version in reversed(log.numbers):
        (entry,) = log.versions([version])
        key = (str(entry.info.get(INSTANCE)), str(entry.info.get(NUMBER)))
        if key == (str(instance), str(number)):
            return version
    return Delta(location).version


class DeltaRollback(DeltaPending):
    """What takes runs back from one table.

    It is planned, and mixed files are rewritten, when it is made: before any table is locked.

    Args:
        catalogue: what the database knows.
        table: the table as it is now.
        instances: the runs.
        rewrite: writes the rows of mixed files that stay, and returns the new files.
    """

    def __init__(
        self,
        catalogue: RunCatalogue,
        code: str,
        table: Delta,
        instances: Sequence[int],
        rewrite: RewriteDelta,
    ) -> None:
        super().__init__(code, table.location, "UNDO", undone=sorted(instances), base=table.version)
        module = catalogue.module_of(code)
        undo = self.withheld = plan_delta_undo(
            table,
            module.insert_instance_column,
            instances,
            catalogue.commits_of(code, instances),
            module.update_instance_column,
            functools.partial(catalogue.undone_of, code),
        )
        self._is_needed = not undo.is_empty
        if undo.is_empty:
            # A rollback may have died after it had extended the log: then it is only recorded.
            self.landed = undo.landed
            if undo.landed is not None:
                self._is_needed = not recorded(catalogue.calls, code, [undo.landed])
            return
        self.has_chains = bool(undo.touched)
        if undo.mixed or undo.touched:
            new = rewrite(code, undo, instances)
            self.writes = [(new.write_number, new.rows)]
            self.added = list(new.files)
        else:
            self.number = catalogue.run._control._omd.next_write_number()
        self.added += undo.restored
        self.removed = undo.removed

    @property
    def changes(self) -> bool:
        """Whether a commit is needed, or one that has landed is not recorded."""
        return self._is_needed

"""The Delta tables of one run: what it commits, and what it takes back.

The log is extended in the transaction that records the commit, after the fence and under its lock.
If that transaction fails afterwards, the next begin finds the commit in the log and takes it back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omd.lake.delta import Delta, DeltaChange, DeltaFile
from omd.lake.errors import LakeConflict, NothingKept
from omd.lake.undo import INSTANCE, OPERATION

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from omd.control.run import ModuleRun

__all__ = ["DeltaPending", "DeltaUndo", "commit_delta", "plan_delta_undo"]

_ATTEMPTS = 3


@dataclass(slots=True)
class DeltaPending:
    """The writes of a run into one Delta table that are not committed yet."""

    code: str
    location: str
    operation: str = "APPEND"
    writes: list[tuple[int, int]] = field(default_factory=list)
    added: list[DeltaFile] = field(default_factory=list)
    removed: list[DeltaFile] = field(default_factory=list)
    undone: Sequence[int] = ()

    @property
    def changes(self) -> bool:
        """Whether a commit is needed."""
        return bool(self.added or self.removed) or self.operation == "OVERWRITE"

    def over(self, files: list[DeltaFile]) -> list[DeltaFile]:
        """Return the files that this run sees: those of the table, and its own."""
        return self.added if self.operation == "OVERWRITE" else files + self.added


def commit_delta(run: ModuleRun, pending: DeltaPending, number: int) -> dict[str, Any]:
    """Extend the log, if this commit is not in it yet, and return what the database records.

    Args:
        run: the run, which holds the lock of its fence.
        pending: what it has written.
        number: the greatest number of its writes.

    Raises:
        LakeConflict: other writers were first, again and again.
    """
    for attempt in range(_ATTEMPTS):
        table = Delta(pending.location)
        if table.landed(run.module_code, number):
            version = table.version_of(run.module_instance_id, number)
            break
        removed = pending.removed
        if pending.operation == "OVERWRITE":
            removed = table.files()
        elif removed and {f.path for f in removed} - {f.path for f in table.files()}:
            raise LakeConflict(
                f"{pending.code} has moved on since its files were read",
                hint="Start the Module again.",
            )
        change = DeltaChange(pending.operation, pending.added, removed, pending.undone)
        try:
            table = table.commit(change, run.module_code, run.module_instance_id, number)
        except LakeConflict:
            if attempt == _ATTEMPTS - 1:
                raise
            continue
        pending.removed = list(removed)
        version = table.version
        break
    return {
        "table": pending.code,
        "format": "DELTA",
        "sequence_number": version,
        "operation": pending.operation,
        "writes": [{"write_number": n, "rows": rows} for n, rows in pending.writes],
        "counts": {
            "added_files": len(pending.added),
            "added_rows": sum(file.rows for file in pending.added),
            "removed_files": len(pending.removed),
            "removed_rows": sum(file.rows for file in pending.removed),
        },
    }


@dataclass(slots=True)
class DeltaUndo:
    """What has to happen to a table: see `omd.lake.undo.Undo`."""

    table: Delta
    removed: list[DeltaFile] = field(default_factory=list)
    mixed: list[DeltaFile] = field(default_factory=list)
    restored: list[DeltaFile] = field(default_factory=list)
    expired: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing has to happen."""
        return not (self.removed or self.mixed or self.restored)


def plan_delta_undo(table: Delta, column: str, instances: Collection[int]) -> DeltaUndo:
    """Return what has to happen so that the table holds no row of these runs."""
    undo = DeltaUndo(table)
    array = set(instances)
    live = table.files()
    for file in live:
        held = file.share(column, array)
        if held != "NONE":
            undo.removed.append(file)
            if held == "SOME":
                undo.mixed.append(file)
    history = table.history()
    undone = table.undone()
    gone = array | undone
    overwrites = [told for told in history if told.get(OPERATION) == "OVERWRITE"]
    standing = max(
        (told["version"] for told in overwrites if int(told[INSTANCE]) not in gone), default=-1
    )
    here = {file.path for file in live}
    for told in overwrites:
        if int(told[INSTANCE]) not in array - undone or told["version"] < standing:
            continue
        try:
            before, after = (Delta(table.location, told["version"] - n).files() for n in (1, 0))
        except NothingKept:
            undo.expired += 1
            continue
        kept = here | {file.path for file in after}
        for file in before:
            held = file.share(column, gone)
            if file.path in kept or held == "ALL":
                continue
            (undo.restored if held == "NONE" else undo.mixed).append(file)
    return undo

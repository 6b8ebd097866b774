"""Iceberg tables of one run, in any catalogue: what a commit adds and removes."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile

from omd._core.error_codes import LakeConflict
from omd._core.errors import StateError
from omd.tables.elsewhere import Mark, left_by
from omd.tables.formats import Record, Rewritten, TableChange, writes_of
from omd.tables.metadata import Metadata
from omd.tables.staging import EVERYTHING, Change, Staged, stage
from omd.tables.undo import INSTANCE, OPERATION, UNDONE, Undo, plan_undo

if TYPE_CHECKING:
    from omd.rooms.control.run import Run
    from omd.rooms.lake.rows import LakeCommitsRow
    from omd.tables.catalogue import RunCatalogue
    from omd.tables.table import LakeTable

    Rewrite = Callable[[LakeTable, Undo, Sequence[int]], Rewritten[DataFile]]

_MODULE = "omd.module-code"


class Moved(StateError):  # noqa: N818 - it never leaves this room
    """A table has other files than when its mixed ones were rewritten."""


class IcebergChange(TableChange):
    """A change of an Iceberg table."""

    def __init__(self, code: str) -> None:
        self.code = code
        # Number and rows of each write of the run that the commit records.
        self.writes: list[tuple[int, int]] = []

    @abstractmethod
    def change(self, run: Run, table: LakeTable) -> Change | None:
        """Return what is to be done with the table as it is now; None for nothing.

        Raises:
            LakeConflict: it has moved on.
        """


class Pending(IcebergChange):
    """The writes of a run into one table that are not committed yet."""

    def __init__(self, code: str, io: FileIO) -> None:
        super().__init__(code)
        self.io = io  # reads and writes its files
        self.operation = "APPEND"  # APPEND, OVERWRITE or HISTORY
        self.added: list[DataFile] = []  # files that come
        # The paths of live files that go, by the path of their manifest.
        self.removed: dict[str, set[str]] = {}
        self.base: int | None = None  # the sequence number that a history was read at

    @property
    def changes(self) -> bool:
        """Whether a commit is needed: an overwrite by nothing removes what there is."""
        return bool(self.added or self.removed) or self.operation == "OVERWRITE"

    def over(self, files: list[DataFile]) -> list[DataFile]:
        """Return the files that this run sees: those of the table, and its own."""
        if self.operation == "OVERWRITE":
            return self.added
        gone = {path for paths in self.removed.values() for path in paths}
        return [file for file in files if file.file_path not in gone] + self.added

    def write(self, number: int, rows: int, files: Iterable[DataFile], mode: str) -> None:
        """Take over the files of a write."""
        if mode == "overwrite":
            self.operation, self.added, self.removed = "OVERWRITE", [], {}
            self.base = None
        self.writes.append((number, rows))
        self.added += files

    def replace(
        self,
        number: int,
        rows: int,
        files: Iterable[DataFile],
        removed: Mapping[str, set[str]],
        read_at: int,
    ) -> None:
        """Take over the files of a write that rewrites others, live ones or those of this run."""
        gone = {path for paths in removed.values() for path in paths}
        self.writes.append((number, rows))
        self.added = [file for file in self.added if file.file_path not in gone]
        self.added += files
        if self.operation == "APPEND":
            self.operation = "HISTORY"
        if self.operation == "HISTORY":
            self.base = read_at if self.base is None else self.base
            for manifest, paths in removed.items():
                if manifest:  # a file of this run itself is in none yet
                    self.removed.setdefault(manifest, set()).update(paths)

    def change(self, run: Run, table: LakeTable) -> Change:
        """Return what the writes do; append and overwrite fit on whatever is current."""
        if self.base is not None:
            self._require_unmoved(table.metadata)
        return Change(
            self.operation,
            added=self.added,
            removed=EVERYTHING if self.operation == "OVERWRITE" else self.removed,
            properties=properties(run),
        )

    def _require_unmoved(self, metadata: Metadata) -> None:
        """Refuse a history whose table has got other rows since it was read."""
        since = [
            snapshot
            for snapshot in metadata.document["snapshots"]
            if snapshot["sequence-number"] > (self.base or 0)
            and snapshot.get("summary", {}).get(OPERATION) != "COMPACT"
            and snapshot.get("summary", {}).get("operation") != "replace"
        ]
        paths = {path for gone in self.removed.values() for path in gone}
        live = {manifest.manifest_path for manifest in metadata.manifests(self.io)}
        if since or (paths and not self.removed.keys() <= live):
            raise LakeConflict(
                f"{self.code} has moved on since this run has read it",
                hint="Start the Module again.",
            )


class IcebergUndo(IcebergChange):
    """What takes runs back from one table.

    It is planned, and mixed files are rewritten, when it is made: before any table is locked.

    Args:
        catalogue: what the database knows.
        commits: what the runs have committed to it, as far as it is recorded.
        instances: the runs.
        rewrite: writes the rows of mixed files that stay, and returns the new files.
    """

    withheld: Undo

    def __init__(
        self,
        catalogue: RunCatalogue,
        table: LakeTable,
        commits: Sequence[LakeCommitsRow],
        instances: Sequence[int],
        rewrite: Rewrite,
    ) -> None:
        super().__init__(table.code)
        self._catalogue = catalogue
        self._commits = commits
        self._instances = instances
        self._file = table.metadata.file
        self._new: Rewritten[DataFile] | None = None
        undo = self.withheld = self._plan(table)
        self._sources = undo.rewritten  # before a history adds what its keys touch
        if undo.mixed or undo.touched:
            self._new = rewrite(table, undo, instances)
            self.writes = [(self._new.write_number, self._new.rows)]

    @property
    def changes(self) -> bool:
        """Whether a commit is needed: that is sure only when the table is locked."""
        return True

    def change(self, run: Run, table: LakeTable) -> Change | None:
        """Return what takes the runs back.

        Raises:
            Moved: other files have to be rewritten than those that were.
        """
        if table.metadata.file != self._file:
            self._file = table.metadata.file
            self.withheld = self._plan(table)
            if self.withheld.touched or self.withheld.rewritten != self._sources:
                raise Moved(table.code)
        undo = self.withheld
        if undo.is_empty:
            return None
        undone = ",".join(map(str, sorted(self._instances)))
        return Change(
            "UNDO",
            added=self._new.files if self._new is not None else (),
            removed=undo.removed,
            restored=undo.restored,
            properties={**properties(run), UNDONE: undone},
        )

    def _plan(self, table: LakeTable) -> Undo:
        module = self._catalogue.module_of(table.code)
        marks = {
            commit.snapshot_id: Mark(
                commit.module_instance_id, commit.sequence_number, commit.operation
            )
            for commit in self._commits
        }
        is_whole = True
        if self.is_outside:
            marks.update(left_by(table.metadata, self._instances))
            # What another run of them has left may have expired.
            is_whole = set(self._instances) <= {mark.instance for mark in marks.values()}
        return plan_undo(
            table.io,
            table.metadata,
            module.insert_instance_column,
            self._instances,
            since=min(mark.sequence_number for mark in marks.values()) if is_whole else 0,
            committed={
                mark.instance: mark.sequence_number
                for mark in marks.values()
                if mark.instance is not None
            },
            overwrites=[
                snapshot_id
                for snapshot_id, mark in marks.items()
                if mark.operation == "OVERWRITE" and snapshot_id is not None
            ],
            is_history=any(mark.operation == "HISTORY" for mark in marks.values()),
            update_column=module.update_instance_column,
            undone_of=functools.partial(self._catalogue.undone_of, table.code),
        )


def properties(run: Run) -> dict[str, str]:
    """Return what the summary of a snapshot says of the run; of none, nothing."""
    if not run.instance_id:
        return {}
    return {INSTANCE: str(run.instance_id), _MODULE: run.code}


def staged(table: LakeTable, change: Change, writes: Sequence[tuple[int, int]]) -> Record:
    """Write the files of a snapshot, and return the commit that exchanges the metadata."""
    return record_of(
        table.code, table.metadata, stage(table.io, table.metadata, change), change, writes
    )


def record_of(
    code: str,
    metadata: Metadata,
    staged: Staged,
    change: Change,
    writes: Sequence[tuple[int, int]],
) -> Record:
    """Return a commit as the database takes it."""
    return {
        "table": code,
        "format": "ICEBERG",
        "from": metadata.file,
        "to": staged.metadata.file,
        "sequence_number": staged.metadata.sequence_number,
        "snapshot_id": staged.snapshot_id,
        "operation": change.operation,
        # The idempotency key: writes that the ledger has are not committed again.
        "writes": writes_of(writes),
        "counts": asdict(staged.counts),
    }

"""The Delta tables of one run: what it commits, and what it takes back.

The log is extended in the transaction that records the commit, after the fence and under its lock.
If that transaction fails afterwards, the next begin finds the commit in the log and takes it back.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from omd.lake.delta import NUMBER, Delta, DeltaChange, DeltaFile
from omd.lake.delta_log import DeltaLog
from omd.lake.errors import LakeConflict, NothingKept
from omd.lake.files import sizes_of
from omd.lake.names import WRITE
from omd.lake.undo import INSTANCE, Away

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from omd.control.run import ModuleRun
    from omd.lake.delta_log import Version
    from omd.lake.rows import LakeCommitsRow

__all__ = [
    "DeltaPending",
    "DeltaUndo",
    "commit_delta",
    "named_folders",
    "oldest",
    "plan_delta_undo",
    "version_to_read",
]

_ATTEMPTS = 3
_MARK = "RECORD"  # in the log only: an earlier commit is recorded by this version


@dataclass(slots=True)
class DeltaPending:
    """What a run has done to one Delta table and not committed yet.

    Attributes:
        code: the table.
        location: its folder.
        operation: as in omd_lake.table_commit.
        writes: number and rows of each write.
        added: files that come.
        removed: files that go; those of an overwrite are found at the commit.
        undone: the runs that a rollback takes back.
        base: the version that `removed` was read from; None: the commit fits on any.
        has_chains: it depends on all rows of some keys, not only on the files that it replaces.
        number: under which the commit is found again, where it has no write.
        landed: the version that it has become; None before.
    """

    code: str
    location: str
    operation: str = "APPEND"
    writes: list[tuple[int, int]] = field(default_factory=list)
    added: list[DeltaFile] = field(default_factory=list)
    removed: list[DeltaFile] = field(default_factory=list)
    undone: Sequence[int] = ()
    base: int | None = None
    has_chains: bool = False
    number: int = 0
    landed: int | None = None

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


def commit_delta(run: ModuleRun, pending: DeltaPending) -> dict[str, Any]:
    """Extend the log, if this commit is not in it yet, and return what the database records.

    What has landed before, and is recorded only now, gets a version of its own if others have come
    in between: commits are recorded in the order of their versions.

    Args:
        run: the run, which holds the lock of its fence, and that of the name of the table.
        pending: what it has done.

    Raises:
        LakeConflict: the table has moved on, or other writers were first, again and again.
    """
    number = max((number for number, _ in pending.writes), default=pending.number)
    for attempt in range(_ATTEMPTS):
        table = Delta(pending.location)
        if pending.landed is None and table.landed(run.module_code, number):
            pending.landed = _version_of(pending.location, run.module_instance_id, number)
        if pending.landed == table.version:
            break
        if pending.landed is not None:
            change = DeltaChange(_MARK, [], [], pending.undone)
        else:
            _require_unmoved(pending, table)
            if pending.operation == "OVERWRITE":
                pending.removed = table.files()
            change = DeltaChange(pending.operation, pending.added, pending.removed, pending.undone)
        try:
            table = table.commit(change, run.module_code, run.module_instance_id, number)
        except LakeConflict:
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            pending.landed = table.version
            break
    return {
        "table": pending.code,
        "format": "DELTA",
        "sequence_number": pending.landed,
        "operation": pending.operation,
        "writes": [{"write_number": n, "rows": rows} for n, rows in pending.writes],
        "counts": {
            "added_files": len(pending.added),
            "added_rows": sum(file.rows for file in pending.added),
            "removed_files": len(pending.removed),
            "removed_rows": sum(file.rows for file in pending.removed),
            **table.totals,
        },
    }


def _version_of(location: str, instance: int, number: int) -> int:
    """Return the version that a run has committed with this greatest write number."""
    log = DeltaLog(location)
    for version in reversed(log.numbers):
        (found,) = log.versions([version])
        told = (str(found.told.get(INSTANCE)), str(found.told.get(NUMBER)))
        if told == (str(instance), str(number)):
            return version
    return Delta(location).version


def _require_unmoved(pending: DeltaPending, table: Delta) -> None:
    """Refuse a commit that was made for other rows than the table holds now.

    A history, and the repair of one, depend on all rows of their keys; any commit depends on the
    files that it replaces. What a rollback gives back must not have expired meanwhile.
    """
    moved = False
    if pending.base is not None and table.version > pending.base:
        try:
            since = DeltaLog(pending.location).versions(range(pending.base + 1, table.version + 1))
            moved = any(
                (pending.has_chains and version.has_other_rows)
                or (pending.operation == "UNDO" and version.deletes_files)
                for version in since
            )
        except FileNotFoundError:  # they have expired
            moved = True
    if pending.operation != "OVERWRITE" and pending.removed and not moved:
        moved = bool({f.path for f in pending.removed} - {f.path for f in table.files()})
    if moved:
        raise LakeConflict(
            f"{pending.code} has moved on since this run has read it",
            hint="Start the Module again.",
        )


# Rollback -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class DeltaUndo:
    """What has to happen to a table: see `omd.lake.undo.Undo`."""

    table: Delta
    removed: list[DeltaFile] = field(default_factory=list)
    mixed: list[DeltaFile] = field(default_factory=list)
    restored: list[DeltaFile] = field(default_factory=list)
    touched: list[DeltaFile] = field(default_factory=list)
    expired: int = 0
    away: list[Away] = field(default_factory=list)
    is_hidden: bool = False
    landed: int | None = None  # the newest version that has taken some of these runs back

    @property
    def is_empty(self) -> bool:
        """Whether nothing has to happen."""
        return not (self.removed or self.mixed or self.restored or self.touched or self.is_hidden)

    def rewrite(self, file: DeltaFile) -> None:
        """Let a live file be rewritten too."""
        if all(file.path != known.path for known in self.removed):
            self.removed.append(file)
            self.mixed.append(file)


def plan_delta_undo(
    table: Delta,
    column: str,
    instances: Collection[int],
    commits: Sequence[LakeCommitsRow] = (),
    update_column: str | None = None,
    undone_of: Callable[[Collection[int]], Collection[int]] = lambda _: (),
) -> DeltaUndo:
    """Return what has to happen so that the table holds no row of these runs.

    Args:
        table: the table.
        column: the insert instance column.
        instances: the runs.
        commits: what the database has recorded of them; the log may tell more, or have expired.
        update_column: the update instance column of a history.
        undone_of: returns which of some runs the database knows to be taken back.
    """
    undo = DeltaUndo(table)
    array = set(instances)
    log = DeltaLog(table.location)
    told = log.versions(number for number in log.numbers if number <= table.version)
    live = table.files()
    ended = set()
    if update_column in {field["name"] for field in table.spark_schema["fields"]}:
        assert update_column is not None  # noqa: S101 - no column has that name
        ended = {file.path for file in live if file.share(update_column, array) != "NONE"}
    is_history = bool(ended) or "HISTORY" in {
        *(version.operation for version in told if version.writer in array),
        *(row.operation for row in commits),
    }
    for file in live:
        held = file.share(column, array)
        if is_history and (held != "NONE" or file.path in ended):
            undo.touched.append(file)
        if held != "NONE":
            undo.removed.append(file)
            if held == "SOME":
                undo.mixed.append(file)
    _give_back(undo, column, array, told, live, undone_of)
    undo.landed = max((v.number for v in told if v.undone & array), default=None)
    known = {version.number for version in told}
    undo.expired += sum(
        row.operation == "OVERWRITE" and row.sequence_number not in known for row in commits
    )
    return undo


def _give_back(
    undo: DeltaUndo,
    column: str,
    array: set[int],
    told: Sequence[Version],
    live: Sequence[DeltaFile],
    undone_of: Callable[[Collection[int]], Collection[int]],
) -> None:
    """Find what the overwrites of these runs removed, as far as it is to come back."""
    undone = {number for version in told for number in version.undone}
    lineage = _lineage(told, undo.table.version)
    ancestors = {version.number for version in lineage}
    overwrites = [version for version in lineage if version.operation == "OVERWRITE"]
    writers = {version.writer for version in overwrites if version.writer is not None}
    undone |= set(undone_of(writers - undone - array))
    gone = array | undone
    standing = max((v.number for v in overwrites if v.writer not in gone), default=-1)
    hidden = {v.writer for v in told if v.operation and v.number < standing}
    undo.is_hidden = bool(hidden & (array - undone))
    own = [version for version in overwrites if version.writer in array - undone]
    here = {file.path for file in live}
    others: list[int] | None = None
    for version in own + _blocked(lineage, undone, own):
        if version.number < standing:
            continue
        try:
            before, after = (Delta(undo.table.location, version.number - n).files() for n in (1, 0))
        except NothingKept:
            undo.expired += 1
            continue
        kept = here | {file.path for file in after}
        back = [file for file in before if file.path not in kept]
        ends = {bounds.get(column) for file in back for bounds in (file.low, file.high)}
        gone |= set(undone_of({end for end in ends if end is not None} - gone))
        back = [file for file in back if file.share(column, gone) != "ALL"]
        if not back:
            continue
        here |= {file.path for file in back}
        if others is None:
            others = [other.number for other in lineage if _leaves_nothing(undo.table, other)]
        because = min((number for number in others if number > version.number), default=None)
        there = set() if because is not None else _there(undo.table, back)
        lost = sum(file.rows for file in back if file.path not in there)
        if because is not None or len(there) < len(back):
            assert version.writer is not None  # noqa: S101 - an overwrite has one
            undo.away.append(Away(version.writer, version.number, lost, because))
        for file in back:
            if file.path in there:
                held = file.share(column, gone)
                (undo.restored if held == "NONE" else undo.mixed).append(file)
    if ancestors and told and min(ancestors) > told[0].number:
        # A version is missing, or nobody can tell to which one somebody has returned.
        undo.expired += sum(
            version.operation == "OVERWRITE"
            and version.writer in array - undone
            and version.number < min(ancestors)
            for version in told
        )


def _there(table: Delta, files: Sequence[DeltaFile]) -> set[str]:
    """Return the paths of those files that nobody has deleted, such as by a VACUUM."""
    sizes = sizes_of([table.path_of(file) for file in files])
    return {file.path for file in files if table.path_of(file) in sizes}


def _lineage(told: Sequence[Version], newest: int) -> list[Version]:
    """Return a version and those that it was made from, as far as they are kept, the newest first.

    A RESTORE goes on from the version that it has returned to.
    """
    versions = {version.number: version for version in told}
    found = []
    number: int | None = newest
    while number is not None and number in versions:
        version = versions[number]
        found.append(version)
        number = _restored(version, told) if _is_restore(version) else number - 1
    return found


def _is_restore(version: Version) -> bool:
    return version.operation is None and version.told.get("operation") == "RESTORE"


def _restored(version: Version, told: Sequence[Version]) -> int | None:
    """Return the version to which a RESTORE has returned; None: it does not say so."""
    told_to = _parameters(version)
    number = str(told_to.get("version") or "")
    if number.isdigit():
        return int(number)
    instant = told_to.get("datetime") or told_to.get("timestamp")
    if instant is None:
        return None
    try:
        until = (
            float(instant)
            if str(instant).isdigit()
            else datetime.fromisoformat(str(instant).replace("Z", "+00:00")).timestamp() * 1000
        )
    except ValueError:
        return None
    return max(
        (v.number for v in told if v.number < version.number and v.written_at <= until),
        default=None,
    )


def _parameters(version: Version) -> dict[str, Any]:
    found = version.told.get("operationParameters")
    return found if isinstance(found, dict) else {}


_NO_PREDICATE = ("", "[]", "true", '["true"]')
_ALL = frozenset({"TRUNCATE", "REPLACE TABLE", "REPLACE TABLE AS SELECT"})
_ALL_OR_NEW = frozenset({"CREATE OR REPLACE TABLE", "CREATE OR REPLACE TABLE AS SELECT"})


def _leaves_nothing(table: Delta, version: Version) -> bool:
    """Return whether a version of no run has left none of the files that were live before it.

    An overwrite of partitions alone need not tell so; then it has left files of the others.
    """
    if version.operation is not None or not version.has_other_rows:
        return False
    operation = str(version.told.get("operation") or "")
    parameters = _parameters(version)
    mode = str(parameters.get("mode") or "").lower()
    if mode == "overwrite" or operation in ("", "DELETE"):
        predicate = parameters.get("predicate")
        is_all = predicate is None or str(predicate).strip().lower() in _NO_PREDICATE
    else:
        is_all = operation in _ALL | _ALL_OR_NEW
    if not is_all or (not operation and not version.removed):
        return False
    try:
        before = Delta(table.location, version.number - 1).files()
    except NothingKept:
        return bool(operation)
    return {unquote(file.path) for file in before} <= {unquote(path) for path in version.removed}


def _blocked(
    lineage: Sequence[Version], undone: Iterable[int], overwrites: Sequence[Version]
) -> list[Version]:
    """Return the overwrites that were taken back when one of these stood after them.

    They gave nothing back then. What they removed has not been live since. A rollback that somebody
    has returned from has given nothing back either.
    """
    undone_at: dict[int | None, float] = {}
    for version in lineage[::-1]:
        for number in version.undone:
            undone_at.setdefault(number, version.number)
    for number in undone:
        undone_at.setdefault(number, math.inf)
    return [
        version
        for version in lineage
        if version.operation == "OVERWRITE"
        and any(
            version.number < later.number < undone_at.get(version.writer, 0) for later in overwrites
        )
    ]


# Read ---------------------------------------------------------------------------------------------


def version_to_read(
    table: Delta, recorded: int, known: Callable[[list[int]], Collection[int]]
) -> int:
    """Return the version that a run reads if it asks for none.

    What other engines have committed after the newest recorded commit is read too, up to a commit
    of OMD that changes rows and is not recorded: its run may still be taken back, or the moment of
    the reader was earlier.

    Args:
        table: the table, with its newest version.
        recorded: the newest version that the database has recorded; -1: none.
        known: returns which of some versions it has recorded.
    """
    log = DeltaLog(table.location)
    later = log.versions(number for number in log.numbers if recorded < number <= table.version)
    ours = [version.number for version in later if version.operation and version.has_other_rows]
    unsure = set(ours) - set(known(ours) if ours else ())
    return min(unsure, default=max(table.version, recorded) + 1) - 1


# Folders ------------------------------------------------------------------------------------------


def named_folders(location: str) -> set[str]:
    """Return the folders of the writes of which a version of the log names a file.

    A run that dies between commit and success leaves files in the log that the database does not
    know to be committed.
    """
    log = DeltaLog(location)
    paths = {path for version in log.versions(log.numbers) for path in version.added}
    paths |= {file.path for file in oldest(location, log.numbers).files()}
    found = (WRITE.match(path) for path in paths)
    return {f"{location}/{write[0]}" for write in found if write is not None}


def oldest(location: str, numbers: Sequence[int]) -> Delta:
    """Return the oldest of some versions that can be read; the newest of all if none can."""
    for number in numbers:
        with suppress(NothingKept):
            return Delta(location, number)
    return Delta(location)

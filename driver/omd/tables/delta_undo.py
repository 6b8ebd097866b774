"""Which files of a Delta table go, are rewritten or come back: see `omd.tables.undo`.

What runs did is found in the log: the bounds of its files, and what each version says of its run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from omd._core.error_codes import NothingKept
from omd.tables.delta import Delta, DeltaFile
from omd.tables.delta_log import DeltaLog, Version
from omd.tables.files import sizes_of
from omd.tables.undo import Away

if TYPE_CHECKING:
    from omd.rooms.lake.rows import LakeCommitsRow


@dataclass(slots=True)
class DeltaUndo:
    """What has to happen to a table: see `omd.tables.undo.Undo`."""

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
        column: the insert instance column.
        instances: the runs.
        commits: what the database has recorded of them; the log may tell more, or have expired.
        update_column: the update instance column of a history.
        undone_of: returns which of some runs the database knows to be taken back.
    """
    undo = DeltaUndo(table)
    array = set(instances)
    log = DeltaLog(table.location)
    versions = log.versions(number for number in log.numbers if number <= table.version)
    live = table.files()
    ended = set()
    if update_column in {field["name"] for field in table.spark_schema["fields"]}:
        assert update_column is not None  # noqa: S101 - no column has that name
        ended = {file.path for file in live if file.share(update_column, array) != "NONE"}
    is_history = bool(ended) or "HISTORY" in {
        *(version.operation for version in versions if version.writer in array),
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
    _give_back(undo, column, array, versions, live, undone_of)
    undo.landed = max((v.number for v in versions if v.undone & array), default=None)
    known = {version.number for version in versions}
    undo.expired += sum(
        row.operation == "OVERWRITE" and row.sequence_number not in known for row in commits
    )
    return undo


def _give_back(
    undo: DeltaUndo,
    column: str,
    array: set[int],
    versions: Sequence[Version],
    live: Sequence[DeltaFile],
    undone_of: Callable[[Collection[int]], Collection[int]],
) -> None:
    """Find what the overwrites of these runs removed, as far as it is to come back."""
    undone = {number for version in versions for number in version.undone}
    lineage = _lineage(versions, undo.table.version)
    ancestors = {version.number for version in lineage}
    overwrites = [version for version in lineage if version.operation == "OVERWRITE"]
    writers = {version.writer for version in overwrites if version.writer is not None}
    undone |= set(undone_of(writers - undone - array))
    gone = array | undone
    standing = max((v.number for v in overwrites if v.writer not in gone), default=-1)
    hidden = {v.writer for v in versions if v.operation and v.number < standing}
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
    if ancestors and versions and min(ancestors) > versions[0].number:
        # A version is missing, or nobody can tell to which one somebody has returned.
        undo.expired += sum(
            version.operation == "OVERWRITE"
            and version.writer in array - undone
            and version.number < min(ancestors)
            for version in versions
        )


def _there(table: Delta, files: Sequence[DeltaFile]) -> set[str]:
    """Return the paths of those files that nobody has deleted, such as by a VACUUM."""
    sizes = sizes_of([table.path_of(file) for file in files])
    return {file.path for file in files if table.path_of(file) in sizes}


def _lineage(versions: Sequence[Version], newest: int) -> list[Version]:
    """Return a version and those that it was made from, as far as they are kept, the newest first.

    A RESTORE goes on from the version that it has returned to.
    """
    by_number = {version.number: version for version in versions}
    lineage = []
    number: int | None = newest
    while number is not None and number in by_number:
        version = by_number[number]
        lineage.append(version)
        number = _restored(version, versions) if _is_restore(version) else number - 1
    return lineage


def _is_restore(version: Version) -> bool:
    return version.operation is None and version.info.get("operation") == "RESTORE"


def _restored(version: Version, versions: Sequence[Version]) -> int | None:
    """Return the version to which a RESTORE has returned; None: it does not say so."""
    parameters = _parameters(version)
    number = str(parameters.get("version") or "")
    if number.isdigit():
        return int(number)
    instant = parameters.get("datetime") or parameters.get("timestamp")
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
        (v.number for v in versions if v.number < version.number and v.written_at <= until),
        default=None,
    )


def _parameters(version: Version) -> dict[str, Any]:
    parameters = version.info.get("operationParameters")
    return parameters if isinstance(parameters, dict) else {}


_NO_PREDICATE = ("", "[]", "true", '["true"]')
_ALL = frozenset({"TRUNCATE", "REPLACE TABLE", "REPLACE TABLE AS SELECT"})
_ALL_OR_NEW = frozenset({"CREATE OR REPLACE TABLE", "CREATE OR REPLACE TABLE AS SELECT"})


def _leaves_nothing(table: Delta, version: Version) -> bool:
    """Return whether a version of no run has left none of the files that were live before it.

    An overwrite of partitions alone need not tell so; then it has left files of the others.
    """
    if version.operation is not None or not version.has_other_rows:
        return False
    operation = str(version.info.get("operation") or "")
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

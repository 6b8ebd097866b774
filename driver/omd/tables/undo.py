"""Which files go, are rewritten or come back when the rows of some runs are taken back.

Only metadata is read here. What an earlier rollback took back is in the summaries of its snapshots,
or the database knows it where these have expired, so the answer does not depend on the order in
which runs are taken back. Others write to the same
table: only the snapshots from which the current one was made have done anything to it, and what an
overwrite removed does not come back after somebody else has removed all that was live.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyiceberg.io import FileIO
from pyiceberg.manifest import (
    DataFile,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
)

from omd._core.error_codes import LakeTableUnreadable
from omd.tables.bounds import Share, bounds_of, share
from omd.tables.staging import live_entries, live_files

if TYPE_CHECKING:
    from omd.tables.metadata import Metadata

INSTANCE = "omd.module-instance-id"
OPERATION = "omd.operation"
UNDONE = "omd.undone-instances"


@dataclass(frozen=True, slots=True)
class Away:
    """Rows that an overwrite removed and that do not come back when it is taken back."""

    instance: int  # the run that overwrote the table
    snapshot_id: int  # its snapshot, or its version of Delta
    rows: int  # how many rows stay away; of a file that has other rows too, all are counted
    # The later snapshot or version, of no run of OMD, that has left nothing of what was live;
    # None: their files are gone.
    because: int | None = None


@dataclass(slots=True)
class Undo:
    """What has to happen to a table."""

    # The paths of live files that go, by the path of their manifest.
    removed: dict[str, set[str]] = field(default_factory=dict)
    # Files that hold rows of other runs too, and have to be rewritten without these; a live one
    # is in `removed` as well.
    mixed: list[DataFile] = field(default_factory=list)
    restored: list[ManifestEntry] = field(default_factory=list)  # files that come back as they were
    # For a history, the live files with rows that these runs have inserted or ended.
    touched: list[DataFile] = field(default_factory=list)
    expired: int = 0  # how many overwrites can't give back what they removed
    # What overwrites don't give back, since another engine has removed everything later.
    away: list[Away] = field(default_factory=list)
    # What these runs wrote has gone with an overwrite of another run. If that one is taken back
    # later, its rollback has to know that these rows don't come back.
    is_hidden: bool = False

    @property
    def rewritten(self) -> frozenset[str]:
        """The paths of the files to rewrite."""
        return frozenset(file.file_path for file in self.mixed)

    @property
    def is_empty(self) -> bool:
        """Whether nothing has to happen."""
        return not (self.removed or self.mixed or self.restored or self.touched or self.is_hidden)

    def rewrite(self, manifest: str, file: DataFile) -> None:
        """Let a live file be rewritten too."""
        paths = self.removed.setdefault(manifest, set())
        if file.file_path not in paths:
            paths.add(file.file_path)
            self.mixed.append(file)


def plan_undo(
    io: FileIO,
    metadata: Metadata,
    column: str,
    instances: Collection[int],
    *,
    since: int,
    committed: Mapping[int, int] | None = None,
    overwrites: Iterable[int] = (),
    is_history: bool = False,
    update_column: str | None = None,
    undone_of: Callable[[Collection[int]], Collection[int]] = lambda _: (),
) -> Undo:
    """Return what has to happen so that the table holds no row of these runs.

    Args:
        io: reads the manifests.
        metadata: the version to begin with.
        column: the insert instance column.
        instances: the runs to take back.
        since: the sequence number of their first commit; older manifests are not read.
        committed: the sequence number of a commit, of those runs that have made one.
        overwrites: the ids of the snapshots in which they overwrote the table.
        is_history: the runs wrote a history: whatever they touched is found too.
        update_column: the update instance column of a history.
        undone_of: returns which of some runs the database knows to be taken back.

    Raises:
        LakeTableUnreadable: a file would have to be rewritten from which another engine has deleted
            rows without rewriting it.
    """
    field_id = metadata.schema.find_field(column).field_id
    updates = None
    if update_column is not None and update_column in metadata.schema.column_names:
        updates = metadata.schema.find_field(update_column).field_id
    array = frozenset(instances)
    undo = Undo()
    live: set[str] = set()
    older: list[ManifestFile] = []
    has_deletes = False
    for manifest in metadata.manifests(io):
        if manifest.content == ManifestContent.DELETES:
            has_deletes = True
            continue
        if manifest.sequence_number < since:
            older.append(manifest)
            continue
        for entry in live_entries(io, manifest):
            file = entry.data_file
            live.add(file.file_path)
            held = share(file, field_id, array)
            is_ended = updates is not None and share(file, updates, array) is not Share.NONE
            if is_history and (is_ended or held is not Share.NONE):
                undo.touched.append(file)
            if held is Share.NONE:
                continue
            undo.removed.setdefault(manifest.manifest_path, set()).add(file.file_path)
            if held is Share.SOME:
                undo.mixed.append(file)
    undone = _undone(metadata)
    undone |= frozenset(
        undone_of(
            {
                n
                for snapshot in metadata.lineage()
                if _is_overwrite(snapshot)
                for n in _numbers(snapshot, INSTANCE)
            }
            - undone
            - array
        )
    )
    given_back = _given_back(io, metadata, array, undone, overwrites, committed or {}, undo)
    if given_back:
        # Somebody may have returned to a snapshot in which they are live.
        for manifest in older:
            if live_files(manifest):
                live.update(e.data_file.file_path for e in live_entries(io, manifest))
        writers = {
            number
            for removed in given_back
            for entry in removed.entries
            for number in _ends(entry.data_file, field_id)
        }
        gone = array | undone | frozenset(undone_of(writers - undone - array))
        _sort_out(given_back, live, field_id, gone, undo)
    if (undo.mixed or undo.touched) and has_deletes:
        raise LakeTableUnreadable(
            f"{metadata.location} has delete files, so its files can't be rewritten here",
            hint="Let the engine that wrote them rewrite the table first.",
        )
    return undo


@dataclass(frozen=True, slots=True)
class _Removed:
    """What an overwrite has removed, and the later snapshot because of which it stays away."""

    instance: int
    snapshot_id: int
    entries: list[ManifestEntry]
    because: int | None


def _given_back(
    io: FileIO,
    metadata: Metadata,
    array: frozenset[int],
    undone: frozenset[int],
    overwrites: Iterable[int],
    committed: Mapping[int, int],
    undo: Undo,
) -> list[_Removed]:
    """Return what the overwrites of these runs removed, as far as no other overwrite stands."""
    lineage = metadata.lineage()
    ancestors = {snapshot["snapshot-id"] for snapshot in lineage}
    gone = array | undone
    standing = max(
        (
            snapshot["sequence-number"]
            for snapshot in lineage
            if _is_overwrite(snapshot) and not gone & _numbers(snapshot, INSTANCE)
        ),
        default=0,
    )
    undo.is_hidden = any(
        number < standing for instance, number in committed.items() if instance not in undone
    )
    own = []
    for snapshot in map(metadata.snapshot_of, overwrites):
        if snapshot is None:
            undo.expired += 1
        elif not undone & _numbers(snapshot, INSTANCE):
            own.append(snapshot)
    removed: list[_Removed] = []
    others: list[dict[str, Any]] | None = None
    stood = [snapshot for snapshot in own if snapshot["snapshot-id"] in ancestors]
    for snapshot in own + _blocked(lineage, undone, stood):
        number = snapshot["sequence-number"]
        if snapshot["snapshot-id"] not in ancestors:
            # Somebody has returned to a snapshot before it, or nobody can tell any more.
            undo.expired += _is_cut(lineage) and number < lineage[-1]["sequence-number"]
            continue
        if metadata.snapshot_of(snapshot.get("parent-snapshot-id")) is None:
            undo.expired += "parent-snapshot-id" in snapshot
            continue
        if number < standing:
            continue
        if others is None:
            others = [other for other in lineage if _leaves_nothing(io, metadata, other)]
        because = [other for other in others if other["sequence-number"] > number]
        removed.append(
            _Removed(
                min(_numbers(snapshot, INSTANCE)),
                snapshot["snapshot-id"],
                _removed_by(io, metadata, snapshot),
                because[-1]["snapshot-id"] if because else None,
            )
        )
    return removed


def _ends(file: DataFile, field_id: int) -> set[int]:
    """Return the least and the greatest run whose rows a file holds, as far as it is known."""
    return {number for number in bounds_of(file, field_id) if number is not None}


def _sort_out(
    given_back: Iterable[_Removed],
    live: set[str],
    field_id: int,
    gone: frozenset[int],
    undo: Undo,
) -> None:
    """Let what is not live come back, once, as far as it is of runs that stand."""
    for removed in sorted(given_back, key=lambda each: each.because is not None):
        back = []
        for entry in removed.entries:
            held = share(entry.data_file, field_id, gone)
            if entry.data_file.file_path not in live and held is not Share.ALL:
                live.add(entry.data_file.file_path)
                back.append((entry, held))
        if removed.because is None:
            undo.restored += [entry for entry, held in back if held is Share.NONE]
            undo.mixed += [entry.data_file for entry, held in back if held is Share.SOME]
        elif back:
            rows = sum(entry.data_file.record_count for entry, _ in back)
            away = Away(removed.instance, removed.snapshot_id, rows, removed.because)
            undo.away.append(away)


def _removed_by(io: FileIO, metadata: Metadata, snapshot: dict[str, Any]) -> list[ManifestEntry]:
    """Return the entries of the files that a snapshot has removed."""
    return [
        entry
        for manifest in metadata.manifests(io, snapshot)
        if manifest.added_snapshot_id == snapshot["snapshot-id"]
        and manifest.content == ManifestContent.DATA
        for entry in manifest.fetch_manifest_entry(io, discard_deleted=False)
        if entry.status == ManifestEntryStatus.DELETED
        and entry.snapshot_id == snapshot["snapshot-id"]
    ]


def _leaves_nothing(io: FileIO, metadata: Metadata, snapshot: dict[str, Any]) -> bool:
    """Return whether a snapshot of no run has left none of the files that were live before it.

    An overwrite and a delete of all look alike. A rewrite of all files leaves their rows.
    """
    summary = snapshot.get("summary", {})
    if INSTANCE in summary or summary.get("operation") in ("append", "replace"):
        return False
    return not any(
        manifest.existing_files_count
        or (live_files(manifest) and manifest.added_snapshot_id != snapshot["snapshot-id"])
        for manifest in metadata.manifests(io, snapshot)
        if manifest.content == ManifestContent.DATA
    )


def _is_cut(lineage: Sequence[dict[str, Any]]) -> bool:
    """Return whether a snapshot has expired from which the kept ones were made."""
    return bool(lineage) and "parent-snapshot-id" in lineage[-1]


def _blocked(
    lineage: Sequence[dict[str, Any]],
    undone: Iterable[int],
    overwrites: Sequence[dict[str, Any]],
) -> list[dict[str, Any]]:
    """Return the overwrites that were taken back when one of these stood after them.

    They gave nothing back then. What they removed has not been live since. A rollback that somebody
    has returned from has given nothing back either.
    """
    undone_at: dict[int, float] = {}
    for snapshot in lineage[::-1]:
        for number in _numbers(snapshot, UNDONE):
            undone_at.setdefault(number, snapshot["sequence-number"])
    for number in undone:
        undone_at.setdefault(number, math.inf)
    return [
        snapshot
        for snapshot in lineage
        if _is_overwrite(snapshot)
        and any(
            snapshot["sequence-number"] < later["sequence-number"] < undone_at.get(number, 0)
            for number in _numbers(snapshot, INSTANCE)
            for later in overwrites
        )
    ]


def _is_overwrite(snapshot: dict[str, Any]) -> bool:
    summary: dict[str, str] = snapshot.get("summary", {})
    return summary.get(OPERATION) == "OVERWRITE"


def _undone(metadata: Metadata) -> frozenset[int]:
    """Return the runs that kept snapshots tell to be taken back."""
    return frozenset(
        number
        for snapshot in metadata.document["snapshots"]
        for number in _numbers(snapshot, UNDONE)
    )


def _numbers(snapshot: dict[str, Any], name: str) -> set[int]:
    return {
        int(number) for number in snapshot.get("summary", {}).get(name, "").split(",") if number
    }

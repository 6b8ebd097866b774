"""Which files go, are rewritten or come back when the rows of some runs are taken back.

Only metadata is read here. What an earlier rollback took back is in the summaries of its snapshots,
so the answer does not depend on the order in which runs are taken back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyiceberg.manifest import ManifestContent, ManifestEntryStatus

from omd.lake.bounds import Share, share
from omd.lake.errors import LakeTableUnreadable
from omd.lake.staging import live_entries

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pyiceberg.io import FileIO
    from pyiceberg.manifest import DataFile, ManifestEntry

    from omd.lake.metadata import Metadata

__all__ = ["INSTANCE", "OPERATION", "UNDONE", "Undo", "plan_undo"]

INSTANCE = "omd.module-instance-id"
OPERATION = "omd.operation"
UNDONE = "omd.undone-instances"


@dataclass(slots=True)
class Undo:
    """What has to happen to a table.

    Attributes:
        removed: the paths of live files that go, by the path of their manifest.
        mixed: files that hold rows of other runs too, and have to be rewritten without these; a
            live one is in `removed` as well.
        restored: files that come back as they were.
        touched: for a history, the live files with rows that these runs have inserted or ended.
        expired: how many overwrites can't give back what they removed.
        is_hidden: what these runs wrote has gone with an overwrite of another run. If that one is
            taken back later, its rollback has to know that these rows don't come back.
    """

    removed: dict[str, set[str]] = field(default_factory=dict)
    mixed: list[DataFile] = field(default_factory=list)
    restored: list[ManifestEntry] = field(default_factory=list)
    touched: list[DataFile] = field(default_factory=list)
    expired: int = 0
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
    has_deletes = False
    for manifest in metadata.manifests(io):
        if manifest.content == ManifestContent.DELETES:
            has_deletes = True
            continue
        if manifest.sequence_number < since:
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
    _give_back(io, metadata, field_id, array, overwrites, live, committed or {}, undo)
    if (undo.mixed or undo.touched) and has_deletes:
        raise LakeTableUnreadable(
            f"{metadata.location} has delete files, so its files can't be rewritten here",
            hint="Let the engine that wrote them rewrite the table first.",
        )
    return undo


def _give_back(
    io: FileIO,
    metadata: Metadata,
    field_id: int,
    array: frozenset[int],
    overwrites: Iterable[int],
    live: set[str],
    committed: Mapping[int, int],
    undo: Undo,
) -> None:
    """Find what the overwrites of these runs removed, as far as it is to come back."""
    snapshots = metadata.document["snapshots"]
    undone = {number for told in snapshots for number in _numbers(told, UNDONE)}
    gone = array | undone
    standing = max(
        (
            told["sequence-number"]
            for told in snapshots
            if told["summary"].get(OPERATION) == "OVERWRITE" and not gone & _numbers(told, INSTANCE)
        ),
        default=0,
    )
    undo.is_hidden = any(
        number < standing for instance, number in committed.items() if instance not in undone
    )
    own = [(number, metadata.snapshot_of(number)) for number in overwrites]
    found = [
        (number, told)
        for number, told in own
        if told is None or not undone & _numbers(told, INSTANCE)
    ]
    found += _blocked(metadata, [told for _, told in found if told is not None])
    for snapshot_id, told in found:
        if told is None or metadata.snapshot_of(told.get("parent-snapshot-id")) is None:
            undo.expired += told is None or "parent-snapshot-id" in told
            continue
        if told["sequence-number"] < standing:
            continue
        for manifest in metadata.manifests(io, told):
            if manifest.added_snapshot_id != snapshot_id:
                continue
            for entry in manifest.fetch_manifest_entry(io, discard_deleted=False):
                file = entry.data_file
                if (
                    entry.status != ManifestEntryStatus.DELETED
                    or entry.snapshot_id != snapshot_id
                    or file.file_path in live
                ):
                    continue
                held = share(file, field_id, gone)
                if held is Share.NONE:
                    undo.restored.append(entry)
                elif held is Share.SOME:
                    undo.mixed.append(file)


def _blocked(
    metadata: Metadata, overwrites: Sequence[dict[str, Any]]
) -> list[tuple[int, dict[str, Any]]]:
    """Return the overwrites that were taken back when one of these stood after them.

    They gave nothing back then. What they removed has not been live since.
    """
    snapshots = metadata.document["snapshots"]
    undone_at: dict[int, int] = {}
    for told in snapshots:
        for number in _numbers(told, UNDONE):
            undone_at.setdefault(number, told["sequence-number"])
    return [
        (told["snapshot-id"], told)
        for told in snapshots
        if told["summary"].get(OPERATION) == "OVERWRITE"
        and any(
            told["sequence-number"] < later["sequence-number"] < undone_at.get(number, 0)
            for number in _numbers(told, INSTANCE)
            for later in overwrites
        )
    ]


def _numbers(snapshot: dict[str, Any], name: str) -> set[int]:
    return {int(number) for number in snapshot["summary"].get(name, "").split(",") if number}

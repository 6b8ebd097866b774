"""The next snapshot of a table: its manifests, its list of them, its metadata.

Staging writes new files only. Nobody sees them until the catalogue names the metadata.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pyiceberg.io import FileIO
from pyiceberg.manifest import (
    DataFile,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    write_manifest,
    write_manifest_list,
)

from omd.tables.names import metadata_file

if TYPE_CHECKING:
    from omd.tables.metadata import Metadata

EVERYTHING: Literal["everything"] = "everything"

MERGED_FROM = 100  # so many small manifests are merged into one
SMALL = 1_000  # entries of a small manifest

_CODEC: Literal["deflate"] = "deflate"
_COUNTS = {
    "added_files": "added-data-files",
    "added_rows": "added-records",
    "removed_files": "deleted-data-files",
    "removed_rows": "deleted-records",
    "total_files": "total-data-files",
    "total_rows": "total-records",
}


@dataclass(frozen=True, slots=True)
class Change:
    """What a commit does to a table."""

    operation: str  # APPEND, OVERWRITE, HISTORY, UNDO, COMPACT
    added: Sequence[DataFile] = ()  # new files
    # All that is live, or the paths of live files, by the path of their manifest.
    removed: Mapping[str, Collection[str]] | Literal["everything"] = field(default_factory=dict)
    restored: Sequence[ManifestEntry] = ()  # files that come back under their old sequence numbers
    # What the summary says besides the counts.
    properties: Mapping[str, str] = field(default_factory=dict)
    forgets: bool = False  # no manifest tells of removed files any more, nor of what was in them


@dataclass(slots=True)
class Counts:
    """The files and rows of a commit, and of the table after it."""

    added_files: int = 0
    added_rows: int = 0
    removed_files: int = 0
    removed_rows: int = 0
    total_files: int = 0
    total_rows: int = 0


@dataclass(frozen=True, slots=True)
class Staged:
    """A snapshot that is written, and that the catalogue does not name yet."""

    metadata: Metadata
    snapshot_id: int
    counts: Counts


def live_entries(io: FileIO, manifest: ManifestFile) -> list[ManifestEntry]:
    """Return the files of a manifest that are live, with their sequence numbers."""
    return manifest.fetch_manifest_entry(io)


def stage(io: FileIO, metadata: Metadata, change: Change) -> Staged:
    """Write the snapshot that follows from a change.

    Args:
        io: writes the files.
        metadata: the version that the change is made on.
    """
    after, snapshot_id, counts = stage_snapshot(io, metadata, change)
    return Staged(after.write(io), snapshot_id, counts)


def stage_snapshot(io: FileIO, metadata: Metadata, change: Change) -> tuple[Metadata, int, Counts]:
    """Write a snapshot as `stage` does, and return the metadata with it, which is not written."""
    snapshot_id = metadata.new_snapshot_id()
    staging = _Staging(io, metadata, snapshot_id)
    staging.carry_over(change)
    staging.add(change.added, change.restored)
    staging.merge()
    summary = staging.summary(change)
    manifest_list = staging.write_list()
    after = metadata.with_snapshot(snapshot_id, manifest_list, summary)
    return after, snapshot_id, staging.counts


def counts_of(summary: Mapping[str, str]) -> dict[str, int]:
    """Return the counts that the summary of a snapshot tells."""
    return {name: int(summary[key]) for name, key in _COUNTS.items() if key in summary}


class _Staging:
    def __init__(self, io: FileIO, metadata: Metadata, snapshot_id: int) -> None:
        self.io = io
        self.metadata = metadata
        self.snapshot_id = snapshot_id
        self.manifests: list[ManifestFile] = []
        self.counts = Counts()
        self.sizes: Counter[str] = Counter()
        self._deletes = 0  # files of positions or keys that other engines have deleted

    def carry_over(self, change: Change) -> None:
        """Take the manifests of the current snapshot over; mark the removed files in theirs."""
        for manifest in self.metadata.manifests(self.io):
            self.counts.total_files += live_files(manifest)
            self.counts.total_rows += _live_rows(manifest)
            if manifest.content == ManifestContent.DELETES:
                self.counts.total_files -= live_files(manifest)
                self.counts.total_rows -= _live_rows(manifest)
                if change.removed != EVERYTHING:
                    self._deletes += live_files(manifest)
                    self.manifests.append(manifest)
                continue
            if not live_files(manifest):
                continue  # the snapshot before has counted its deleted files
            if change.removed == EVERYTHING:
                self._rewrite(manifest, None)
            elif manifest.manifest_path in change.removed or (
                change.forgets and manifest.deleted_files_count != 0
            ):
                removed = change.removed.get(manifest.manifest_path, ())
                self._rewrite(manifest, removed, forgets=change.forgets)
            else:
                self.manifests.append(manifest)

    def _rewrite(
        self, manifest: ManifestFile, removed: Collection[str] | None, *, forgets: bool = False
    ) -> None:
        entries = []
        for entry in live_entries(self.io, manifest):
            file = entry.data_file
            if removed is None or file.file_path in removed:
                self.counts.removed_files += 1
                self.counts.removed_rows += file.record_count
                self.sizes["removed-files-size"] += file.file_size_in_bytes
                if not forgets:
                    entries.append(_entry(entry, ManifestEntryStatus.DELETED, self.snapshot_id))
            else:
                entries.append(_entry(entry, ManifestEntryStatus.EXISTING, entry.snapshot_id))
        if entries:
            self._write(entries, manifest.partition_spec_id)

    def add(self, added: Sequence[DataFile], restored: Sequence[ManifestEntry]) -> None:
        """Write the manifests of the new files, and of those that come back."""
        by_spec: dict[int, list[ManifestEntry]] = {}
        for file in added:
            by_spec.setdefault(file.spec_id, []).append(
                ManifestEntry.from_args(
                    status=ManifestEntryStatus.ADDED,
                    snapshot_id=self.snapshot_id,
                    sequence_number=None,
                    file_sequence_number=None,
                    data_file=file,
                )
            )
        for entry in restored:
            by_spec.setdefault(entry.data_file.spec_id, []).append(
                ManifestEntry.from_args(
                    status=ManifestEntryStatus.ADDED,
                    snapshot_id=self.snapshot_id,
                    sequence_number=entry.sequence_number,
                    file_sequence_number=None,
                    data_file=entry.data_file,
                )
            )
        for spec_id, entries in by_spec.items():
            for entry in entries:
                self.counts.added_files += 1
                self.counts.added_rows += entry.data_file.record_count
                self.sizes["added-files-size"] += entry.data_file.file_size_in_bytes
            self._write(entries, spec_id)

    def merge(self) -> None:
        """Merge the small manifests of each partitioning, if there are many.

        Their entries keep snapshot and sequence number. A manifest of this snapshot stays as it is:
        its entries get their numbers from it.
        """
        small: dict[int, list[ManifestFile]] = {}
        for manifest in self.metadata_manifests():
            if live_files(manifest) < SMALL:
                small.setdefault(manifest.partition_spec_id, []).append(manifest)
        for spec_id, manifests in small.items():
            if len(manifests) < MERGED_FROM:
                continue
            merged = {manifest.manifest_path for manifest in manifests}
            self.manifests = [m for m in self.manifests if m.manifest_path not in merged]
            self._write(
                [
                    _entry(entry, ManifestEntryStatus.EXISTING, entry.snapshot_id)
                    for manifest in manifests
                    for entry in live_entries(self.io, manifest)
                ],
                spec_id,
            )

    def metadata_manifests(self) -> Iterable[ManifestFile]:
        """Return the manifests of files with rows that earlier snapshots have written."""
        return (
            manifest
            for manifest in self.manifests
            if manifest.content == ManifestContent.DATA
            and manifest.added_snapshot_id != self.snapshot_id
        )

    def summary(self, change: Change) -> dict[str, str]:
        """Return what the snapshot says about itself, as other writers say it."""
        counts = self.counts
        counts.total_files += counts.added_files - counts.removed_files
        counts.total_rows += counts.added_rows - counts.removed_rows
        numbers = {
            "added-data-files": counts.added_files,
            "added-records": counts.added_rows,
            "deleted-data-files": counts.removed_files,
            "deleted-records": counts.removed_rows,
            **self.sizes,
        }
        return {
            "operation": _operation(change, counts),
            **{name: str(number) for name, number in numbers.items() if number},
            "total-data-files": str(counts.total_files),
            "total-records": str(counts.total_rows),
            "total-delete-files": str(self._deletes),
            "omd.operation": change.operation,
            **change.properties,
        }

    def write_list(self) -> str:
        """Write the list of the manifests, and return its path."""
        parent = self.metadata.snapshot
        path = metadata_file(self.metadata.location, f"snap-{self.snapshot_id}-1-{{}}.avro")
        with write_manifest_list(
            format_version=2,
            output_file=self.io.new_output(path),
            snapshot_id=self.snapshot_id,
            parent_snapshot_id=None if parent is None else parent["snapshot-id"],
            sequence_number=self.metadata.sequence_number + 1,
            avro_compression=_CODEC,
        ) as writer:
            writer.add_manifests(self.manifests)
        return path

    def _write(self, entries: Sequence[ManifestEntry], spec_id: int) -> None:
        path = metadata_file(self.metadata.location, "{}-m0.avro")
        with write_manifest(
            format_version=2,
            spec=self.metadata.specs[spec_id],
            schema=self.metadata.schema,
            output_file=self.io.new_output(path),
            snapshot_id=self.snapshot_id,
            avro_compression=_CODEC,
        ) as writer:
            for entry in entries:
                writer.add_entry(entry)
        self.manifests.append(writer.to_manifest_file())


def _entry(
    entry: ManifestEntry, status: ManifestEntryStatus, snapshot_id: int | None
) -> ManifestEntry:
    return ManifestEntry.from_args(
        status=status,
        snapshot_id=snapshot_id,
        sequence_number=entry.sequence_number,
        file_sequence_number=entry.file_sequence_number,
        data_file=entry.data_file,
    )


def _operation(change: Change, counts: Counts) -> str:
    if change.operation == "COMPACT":
        return "replace"
    if not counts.removed_files and change.operation != "OVERWRITE":
        return "append"
    return "overwrite" if counts.added_files else "delete"


def live_files(manifest: ManifestFile) -> int:
    """Return how many live files a manifest names."""
    return (manifest.added_files_count or 0) + (manifest.existing_files_count or 0)


def _live_rows(manifest: ManifestFile) -> int:
    return (manifest.added_rows_count or 0) + (manifest.existing_rows_count or 0)

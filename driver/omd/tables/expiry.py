"""The expiry of old snapshots of an Iceberg table, and of the files that only they need.

The commit comes first, then the files go. What a crash in between leaves is found again: a metadata
file of a former commit is deleted after all that it names, so it still tells what is to be deleted.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pyiceberg.io import FileIO
from pyiceberg.manifest import ManifestFile, read_manifest_list

from omd._core.error_codes import LakeTableUnreadable
from omd.rooms.lake.calls import LakeCalls
from omd.rooms.lake.rows import LakeCommitsRow
from omd.tables.files import delete_files, file_io, lies_within, sizes_in
from omd.tables.metadata import Metadata
from omd.tables.names import version_of
from omd.tables.run import LakeRun, LakeTable
from omd.tables.staging import live_entries

if TYPE_CHECKING:
    from omd.rooms.control.connection import Connection

_log = logging.getLogger("omd.lake")


def expire(
    control: Connection, instance: int | None, code: str, keep: timedelta
) -> dict[str, int] | None:
    """Commit a version without old snapshots, and delete what only expired ones need.

    Args:
        instance: the run; None: nothing is changed.
        keep: for how long snapshots are kept.

    Returns:
        The files that went, or would go, with their sizes; None: there is nothing to do.
    """
    until = (time.time() - keep.total_seconds()) * 1000
    table = _open(control, code)
    old = _old_snapshots(table.metadata, until)
    if old and instance is not None:
        _commit(control, instance, code, until)
        old = set()
    # A commit that is made after this is in the table that is read now, and not in these.
    lake = LakeCalls(control._link)
    commits = lake.report(LakeCommitsRow, table_code=code, order_by=("commit_id",))
    needed = _left_over(_open(control, code), commits, old, until, lake.table_location(code))
    if instance is not None:
        delete_files(needed)
    return needed if needed or old else None


def _open(control: Connection, code: str) -> LakeTable:
    return LakeRun.open(LakeCalls(control._link).find_table(code, table_format_code="ICEBERG"))


def _old_snapshots(metadata: Metadata, until: float) -> set[int]:
    """Return the snapshots that are neither young nor named by a branch or a tag."""
    named = {ref["snapshot-id"] for ref in metadata.document.get("refs", {}).values()}
    named.add(metadata.document["current-snapshot-id"])
    return {
        snapshot["snapshot-id"]
        for snapshot in metadata.document["snapshots"]
        if snapshot["timestamp-ms"] < until and snapshot["snapshot-id"] not in named
    }


def _commit(control: Connection, instance: int, code: str, until: float) -> None:
    with control._long_call() as link:
        link.set(lock_timeout="5min", idle_in_transaction_session_timeout="10min")
        with link.transaction():
            calls = LakeCalls(link)
            (location,) = calls.open_commit(instance, [code])
            io = file_io(location)
            metadata = Metadata.read(io, location)
            old = _old_snapshots(metadata, until)
            if not old:
                return
            after = metadata.without_snapshots(old).write(io)
            commit = {
                "table": code,
                "format": "ICEBERG",
                "from": location,
                "to": after.file,
                "sequence_number": after.sequence_number,
                "snapshot_id": after.document["current-snapshot-id"],
                "operation": "EXPIRE",
            }
            calls.commit_tables(instance, [commit])


def _left_over(
    table: LakeTable,
    commits: Sequence[LakeCommitsRow],
    old: Collection[int],
    until: float,
    location: str | None,
) -> dict[str, int]:
    """Return what only expired snapshots need, with sizes, in the order in which it may go.

    Args:
        table: the table as it is now.
        commits: those of this table that are recorded, the oldest first; none is younger than it.
        old: snapshots to be counted as expired already.
        until: what is older than this may go, in milliseconds since 1970.
        location: where the table lies, as the database knows it: nothing outside of it goes.
    """
    metadata, io = table.metadata, table.io
    folder = f"{metadata.location}/metadata/"
    here = sizes_in(folder)
    former = _Former(table, commits, here, old)
    lists = [path for path in former.lists.values() if path in here or folder not in path]
    needed = _needed_only_by(io, metadata, lists, former.kept) if lists else {}
    # The newest tells of all that the older ones tell, so it goes last.
    needed.update((file, 0) for file in sorted(former.doomed(until), key=version_of))
    return within(
        str(location), table.code, {path: here.get(path, size) for path, size in needed.items()}
    )


def within(location: str, code: str, files: Mapping[str, int]) -> dict[str, int]:
    """Return those of some files that lie in a table, whatever its metadata says.

    Args:
        location: where the table lies, as the database knows it.
        files: the files, with their sizes.
    """
    inside = {
        path: files[path]
        for path, is_inside in zip(files, lies_within(location, files), strict=True)
        if is_inside
    }
    if len(inside) < len(files):
        _log.warning(
            "%d file(s) that %s names lie outside of %s and stay",
            len(files) - len(inside),
            code,
            location,
        )
    return inside


class _Former:
    """The former versions of the metadata of a table, as far as they are still there.

    A version names its snapshots, and up to a hundred versions before it. What an EXPIRE removed
    stands in the version before it, and each expired snapshot in the one that it came with. So few
    of them have to be read. Only what a version of this very table names counts: a table of the
    same name, or in the same folder, may have been another one.
    """

    def __init__(
        self,
        table: LakeTable,
        commits: Sequence[LakeCommitsRow],
        here: Mapping[str, int],
        old: Collection[int],
    ) -> None:
        snapshots = table.metadata.document["snapshots"]
        # The snapshots that stay.
        self.kept = [snapshot for snapshot in snapshots if snapshot["snapshot-id"] not in old]
        # The lists of manifests of the expired snapshots, by their ids.
        self.lists: dict[int, str] = {}
        self._known = {snapshot["snapshot-id"] for snapshot in self.kept}
        self._here = here
        self._table = table
        self._read = {table.metadata.file: table.metadata}
        self._tell(table.metadata)
        self._commits = [row for row in commits if row.metadata_location in here]
        self._find()

    def _find(self) -> None:
        expiries = [n for n, row in enumerate(self._commits) if row.operation == "EXPIRE"]
        for n in [*(n - 1 for n in expiries[-1:] if n), *range(len(self._commits))[:1]]:
            self._look(self._commits[n].metadata_location)
        for row in reversed(self._commits):
            is_known = row.snapshot_id in self._known or row.snapshot_id in self.lists
            if not is_known and not self._look(row.metadata_location):
                break  # this one is of another table, and so are those before it
        recorded = {row.metadata_location for row in self._commits}
        for version in list(self._read.values()):
            for entry in version.document.get("metadata-log", []):
                if entry["metadata-file"] not in recorded:
                    self._look(entry["metadata-file"])

    def _look(self, file: str | None) -> bool:
        """Read a version if it is there; return False if it is none of this table."""
        if file is None or file not in self._here or file in self._read:
            return True
        try:
            version = Metadata.read(self._table.io, file)
            version.require_version()
        except LakeTableUnreadable:  # of an older format version
            return False
        is_ours = bool(
            version.document["table-uuid"] == self._table.metadata.document["table-uuid"]
        )
        if is_ours:
            self._read[file] = version
            self._tell(version)
        return is_ours

    def _tell(self, version: Metadata) -> None:
        for snapshot in version.document["snapshots"]:
            if snapshot["snapshot-id"] not in self._known:
                self.lists[snapshot["snapshot-id"]] = snapshot["manifest-list"]

    def doomed(self, until: float) -> set[str]:
        """Return the files of versions whose snapshot has expired, or that are old and had none."""
        files = {
            row.metadata_location
            for row in self._commits
            if row.metadata_location and row.snapshot_id in self.lists
        }
        for file, version in self._read.items():
            if version.snapshot is None:
                is_old = version.document["last-updated-ms"] < until
            else:
                is_old = version.snapshot["snapshot-id"] in self.lists
            if is_old:
                files.add(file)
        return files - {self._table.metadata.file}


def _needed_only_by(
    io: FileIO, metadata: Metadata, lists: Collection[str], kept: Collection[dict[str, Any]]
) -> dict[str, int]:
    """Return the files, and their sizes, that some lists of manifests need and no kept snapshot.

    Args:
        io: reads the manifests.
        lists: of expired snapshots. Where one of their files is gone, so is all that it names.
        kept: the snapshots that stay.
    """
    only_old: dict[str, ManifestFile] = {}
    for path in lists:
        try:
            manifests = list(read_manifest_list(io.new_input(path)))
        except FileNotFoundError:
            continue
        only_old.update((manifest.manifest_path, manifest) for manifest in manifests)
    still = {
        manifest.manifest_path: manifest
        for snapshot in kept
        for manifest in metadata.manifests(io, snapshot)
    }
    files: dict[str, int] = {}
    gone = {path: manifest for path, manifest in only_old.items() if path not in still}
    for manifest in gone.values():
        try:
            for entry in live_entries(io, manifest):
                files[entry.data_file.file_path] = entry.data_file.file_size_in_bytes
        except FileNotFoundError:
            continue
    for manifest in still.values() if files else ():
        for entry in live_entries(io, manifest):
            files.pop(entry.data_file.file_path, None)
    return {
        **files,
        **{path: manifest.manifest_length for path, manifest in gone.items()},
        **dict.fromkeys(lists, 0),
    }

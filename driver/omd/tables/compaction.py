"""Which small files of a table are joined, and the commit that exchanges them.

A file that holds the rows of one run keeps them apart from those of others, so that a rollback of
the run still drops whole files. Files of several runs are joined only when no rollback of them is
to be expected any more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile, ManifestContent, ManifestEntry, ManifestEntryStatus

from omd.tables.bounds import bounds_of
from omd.tables.staging import Change, live_entries

if TYPE_CHECKING:
    from omd.tables.metadata import Metadata

SMALL = 32 * 1024 * 1024
FEWEST = 5


File = TypeVar("File", bound="SizedFile")
Small = tuple[Hashable, int, int, File]  # partition, run, sequence number, file


class SizedFile(Protocol):
    """A file of a table of any format."""

    @property
    def file_size_in_bytes(self) -> int:
        """Its size."""
        ...


@dataclass(frozen=True, slots=True)
class Group(Generic[File]):
    """Small files of one partition that become one."""

    files: tuple[File, ...]
    sequence_number: int | None  # that of all of them, if they are of one run; None if of several

    @property
    def bytes(self) -> int:
        """Their size."""
        return sum(file.file_size_in_bytes for file in self.files)


def groups(small: Sequence[Small[File]], settled: Collection[int]) -> list[Group[File]]:
    """Return the files to join.

    Args:
        small: the small files of single runs.
        settled: the runs that ended so long ago that their files may be joined with others.
    """
    apart: dict[tuple[Hashable, int, int], list[File]] = defaultdict(list)
    for place, run, number, file in small:
        apart[place, run, number].append(file)
    chosen = []
    together: dict[Hashable, list[File]] = defaultdict(list)
    for (place, run, number), files in apart.items():
        if run in settled:
            together[place] += files
        elif len(files) >= FEWEST:
            chosen.append(Group(tuple(files), number))
    chosen += [Group(tuple(files), None) for files in together.values() if len(files) >= FEWEST]
    return chosen


def small_files(io: FileIO, metadata: Metadata, column: str) -> list[Small[DataFile]]:
    """Return the small files of single runs, by the insert instance column."""
    field_id = metadata.schema.find_field(column).field_id
    small: list[Small[DataFile]] = []
    manifests = metadata.manifests(io)
    if any(manifest.content == ManifestContent.DELETES for manifest in manifests):
        return []
    for manifest in manifests:
        if manifest.partition_spec_id != metadata.spec.spec_id:
            continue
        for entry in live_entries(io, manifest):
            file = entry.data_file
            low, high = bounds_of(file, field_id)
            if (
                file.file_size_in_bytes < SMALL
                and low is not None
                and low == high
                and (file.null_value_counts or {}).get(field_id) == 0
            ):
                place = tuple(file.partition[n] for n in range(len(metadata.spec.fields)))
                small.append((place, low, entry.sequence_number or 0, file))
    return small


def exchange(
    io: FileIO,
    metadata: Metadata,
    joined: Sequence[tuple[Group[DataFile], Sequence[DataFile]]],
    properties: Mapping[str, str],
    *,
    forgets: bool = False,
) -> Change | None:
    """Return the change that puts new files in the place of groups; None if one has changed.

    Args:
        forgets: whether no manifest tells of removed files any more.
    """
    wanted = {file.file_path for group, _ in joined for file in group.files}
    removed: dict[str, set[str]] = {}
    for manifest in metadata.manifests(io):
        if manifest.content == ManifestContent.DATA:
            here = {entry.data_file.file_path for entry in live_entries(io, manifest)} & wanted
            if here:
                removed[manifest.manifest_path] = here
    if sum(map(len, removed.values())) < len(wanted):
        return None
    return Change(
        "COMPACT",
        added=[file for group, files in joined if group.sequence_number is None for file in files],
        removed=removed,
        restored=[
            _of(file, group.sequence_number)
            for group, files in joined
            if group.sequence_number is not None
            for file in files
        ],
        properties=properties,
        forgets=forgets,
    )


def _of(file: DataFile, sequence_number: int) -> ManifestEntry:
    return ManifestEntry.from_args(
        status=ManifestEntryStatus.ADDED,
        snapshot_id=None,
        sequence_number=sequence_number,
        file_sequence_number=None,
        data_file=file,
    )

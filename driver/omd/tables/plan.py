"""Which files a read opens: those of one snapshot, if plain Parquet readers read them right."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile, FileFormat, ManifestContent
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform

from omd._core.error_codes import LakeTableUnreadable
from omd._core.errors import OmdError
from omd.tables.bounds import Share, share
from omd.tables.schema import leaves
from omd.tables.staging import live_entries

if TYPE_CHECKING:
    from omd.tables.metadata import Metadata

_NAME_MAPPING = "schema.name-mapping.default"
_THREADS = 8


@dataclass(frozen=True, slots=True)
class Plan:
    """The files of one snapshot, and the columns to read from them."""

    location: str
    schema: Schema
    entries: list[tuple[str, DataFile]]  # each with the path of its manifest

    @property
    def files(self) -> list[DataFile]:
        """The files."""
        return [file for _, file in self.entries]


def plan_read(
    io: FileIO,
    metadata: Metadata,
    snapshot: dict[str, Any] | None,
    *,
    instances: tuple[str, Collection[int]] | None = None,
) -> Plan:
    """Return the live files of a snapshot.

    Args:
        io: reads the manifests.
        snapshot: one of its snapshots; None for no rows.
        instances: an instance column and Module Instance IDs: only files that may hold such rows.

    Raises:
        LakeTableUnreadable: a plain Parquet reader would read wrong rows.
    """
    schema = metadata.schema
    if snapshot is not None and snapshot is not metadata.snapshot and "schema-id" in snapshot:
        schema = metadata.schema_of(snapshot["schema-id"])
    entries: list[tuple[str, DataFile]] = []
    wanted = None
    if instances is not None:
        wanted = (schema.find_field(instances[0]).field_id, frozenset(instances[1]))
    for manifest in [] if snapshot is None else metadata.manifests(io, snapshot):
        if manifest.content == ManifestContent.DELETES:
            if (manifest.added_files_count or 0) + (manifest.existing_files_count or 0):
                raise _unreadable(metadata, "delete files")
            continue
        for entry in live_entries(io, manifest):
            file = entry.data_file
            if wanted is not None and share(file, *wanted) is Share.NONE:
                continue
            entries.append((manifest.manifest_path, file))
    plan = Plan(metadata.location, schema, entries)
    _require_readable(io, metadata, schema, plan.files)
    return plan


def _require_readable(
    io: FileIO, metadata: Metadata, schema: Schema, files: list[DataFile]
) -> None:
    known = {column.field_id for column in leaves(schema)}
    for file in files:
        if file.file_format != FileFormat.PARQUET:
            raise _unreadable(metadata, f"files of the format {file.file_format.value}")
        counted = file.value_counts or {}
        for field in metadata.specs[file.spec_id].fields if counted else ():
            if (
                isinstance(field.transform, IdentityTransform)
                and field.source_id in known
                and field.source_id not in counted
            ):
                raise _unreadable(metadata, f"values of {field.name} only in the paths of files")
    if _NAME_MAPPING in metadata.document["properties"]:
        _require_ids(io, metadata, [file.file_path for file in files])


def _require_ids(io: FileIO, metadata: Metadata, paths: list[str]) -> None:
    """Refuse files without field ids, which were taken over from a table without any."""

    def has_ids(path: str) -> bool:
        with io.new_input(path).open() as stream:
            schema = pq.read_schema(stream)
        return all(b"PARQUET:field_id" in (field.metadata or {}) for field in schema)

    with ThreadPoolExecutor(_THREADS) as pool:
        if not all(pool.map(has_ids, paths)):
            raise _unreadable(metadata, "files without field ids")


def _unreadable(metadata: Metadata, reason: str) -> OmdError:
    return LakeTableUnreadable(
        f"the table at {metadata.location} has {reason}",
        hint="Read it through the native jar of its format: set spark.sql.catalog.omd.",
    )

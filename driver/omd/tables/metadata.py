"""The metadata of an Iceberg table of format version 2, as the document that it is.

pyiceberg builds a model of the whole document for each of some sixteen changes, which takes a
second at a few hundred snapshots. Here a commit extends the document, and models only its schema.
"""

from __future__ import annotations

import functools
import json
import random
import time
import uuid
from collections.abc import Collection, Mapping
from typing import Any

from pyiceberg.io import FileIO
from pyiceberg.manifest import ManifestFile, read_manifest_list
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema

from omd._core.error_codes import LakeTableUnreadable
from omd.tables.names import metadata_file, version_of

NONE = -1  # the snapshot of a table that has none
MAIN = "main"
_KEPT_VERSIONS = 100


class Metadata:
    """One version of a table's metadata; it never changes.

    What every format version has in common can be asked of each. Columns, partitions, manifests and
    the next version are refused (`LakeTableUnreadable`) for any but format version 2.
    """

    def __init__(self, document: Mapping[str, Any], file: str = "", version: int = 0) -> None:
        self.document = document  # the JSON
        self.file = file  # where it is written; "" before
        self._version = version_of(file) if file else version

    @classmethod
    def new(cls, location: str, schema: Schema, spec: PartitionSpec) -> Metadata:
        """Return the metadata of a new, empty table."""
        return cls(
            {
                "format-version": 2,
                "table-uuid": str(uuid.uuid4()),
                "location": location,
                "last-sequence-number": 0,
                "last-updated-ms": _now(),
                "last-column-id": schema.highest_field_id,
                "current-schema-id": schema.schema_id,
                "schemas": [json.loads(schema.model_dump_json())],
                "default-spec-id": spec.spec_id,
                "partition-specs": [json.loads(spec.model_dump_json())],
                "last-partition-id": spec.last_assigned_field_id,
                "default-sort-order-id": 0,
                "sort-orders": [{"order-id": 0, "fields": []}],
                "properties": {},
                "current-snapshot-id": NONE,
                "refs": {},
                "snapshots": [],
                "statistics": [],
                "partition-statistics": [],
                "snapshot-log": [],
                "metadata-log": [],
            }
        )

    @classmethod
    def read(cls, io: FileIO, file: str) -> Metadata:
        """Read a version."""
        with io.new_input(file).open() as stream:
            document = json.loads(stream.read())
        return cls(document, file)

    def write(self, io: FileIO) -> Metadata:
        """Write this version into a file of its own, and return it with that file."""
        file = metadata_file(self.location, f"{self._version:05}-{{}}.metadata.json")
        with io.new_output(file).create() as stream:
            stream.write(json.dumps(self.document, separators=(",", ":")).encode())
        return Metadata(self.document, file)

    # Its parts ----------------------------------------------------------------------------------

    @property
    def location(self) -> str:
        """Where the table lies."""
        location: str = self.document["location"]
        return location.rstrip("/")

    @functools.cached_property
    def schema(self) -> Schema:
        """The current columns."""
        return self.schema_of(self.document["current-schema-id"])

    def require_version(self) -> None:
        """Refuse a format version that OMD does not know (`LakeTableUnreadable`)."""
        version = self.document.get("format-version")
        if version != 2:
            raise LakeTableUnreadable(
                f"{self.file} is of format version {version}, and OMD knows version 2",
                hint="Read the table with the native jar of its format.",
            )

    def schema_of(self, schema_id: int) -> Schema:
        """Return the columns of a schema."""
        self.require_version()
        schema = next(s for s in self.document["schemas"] if s["schema-id"] == schema_id)
        return Schema.model_validate(schema)

    @functools.cached_property
    def specs(self) -> dict[int, PartitionSpec]:
        """All partitionings that the table has had, by their ids."""
        self.require_version()
        return {
            spec["spec-id"]: PartitionSpec.model_validate(spec)
            for spec in self.document["partition-specs"]
        }

    @property
    def spec(self) -> PartitionSpec:
        """The current partitioning."""
        return self.specs[self.document["default-spec-id"]]

    @property
    def sequence_number(self) -> int:
        """The number of the last commit."""
        number: int = self.document["last-sequence-number"]
        return number

    @property
    def snapshot(self) -> dict[str, Any] | None:
        """The current snapshot; None before the first."""
        return self.snapshot_of(self.document.get("current-snapshot-id"))

    def snapshot_of(self, snapshot_id: int | None) -> dict[str, Any] | None:
        """Return a snapshot; None if it is not kept."""
        return next(
            (
                snapshot
                for snapshot in self.document["snapshots"]
                if snapshot["snapshot-id"] == snapshot_id
            ),
            None,
        )

    def lineage(self) -> list[dict[str, Any]]:
        """Return the current snapshot and those that it was made from, as far as they are kept.

        The newest is the first. A snapshot before which somebody has returned is none of them.
        """
        kept = {snapshot["snapshot-id"]: snapshot for snapshot in self.document["snapshots"]}
        lineage = []
        snapshot = kept.pop(self.document.get("current-snapshot-id"), None)
        while snapshot is not None:
            lineage.append(snapshot)
            snapshot = kept.pop(snapshot.get("parent-snapshot-id"), None)
        return lineage

    def manifests(self, io: FileIO, snapshot: dict[str, Any] | None = None) -> list[ManifestFile]:
        """Return the manifests of a snapshot, by default of the current one."""
        self.require_version()
        chosen = snapshot or self.snapshot
        if chosen is None:
            return []
        return list(read_manifest_list(io.new_input(chosen["manifest-list"])))

    # The next version ---------------------------------------------------------------------------

    def with_snapshot(
        self,
        snapshot_id: int,
        manifest_list: str,
        summary: Mapping[str, str],
    ) -> Metadata:
        """Return the version in which this snapshot is the current one."""
        old = self.document
        now = max(_now(), old["last-updated-ms"])
        number = self.sequence_number + 1
        parent = self.snapshot
        snapshot = {
            "snapshot-id": snapshot_id,
            **({} if parent is None else {"parent-snapshot-id": parent["snapshot-id"]}),
            "sequence-number": number,
            "timestamp-ms": now,
            "manifest-list": manifest_list,
            "summary": dict(summary),
            "schema-id": old["current-schema-id"],
        }
        return self._next(
            now,
            {
                "last-sequence-number": number,
                "current-snapshot-id": snapshot_id,
                "snapshots": [*old["snapshots"], snapshot],
                "refs": {
                    **old.get("refs", {}),
                    MAIN: {"snapshot-id": snapshot_id, "type": "branch"},
                },
                "snapshot-log": [
                    *old.get("snapshot-log", []),
                    {"snapshot-id": snapshot_id, "timestamp-ms": now},
                ],
            },
        )

    def without_snapshots(self, snapshot_ids: Collection[int]) -> Metadata:
        """Return the version that does not keep these snapshots any more."""
        gone = set(snapshot_ids)
        old = self.document
        return self._next(
            max(_now(), old["last-updated-ms"]),
            {
                "snapshots": [s for s in old["snapshots"] if s["snapshot-id"] not in gone],
                "snapshot-log": [
                    s for s in old.get("snapshot-log", []) if s["snapshot-id"] not in gone
                ],
            },
        )

    def _next(self, now: int, changes: Mapping[str, Any]) -> Metadata:
        self.require_version()
        old = self.document
        log = old.get("metadata-log", [])
        if self.file:
            log = [
                *log,
                {"metadata-file": self.file, "timestamp-ms": old["last-updated-ms"]},
            ][-_KEPT_VERSIONS:]
        document = {**old, **changes, "last-updated-ms": now, "metadata-log": log}
        return Metadata(document, version=self._version + 1)

    def new_snapshot_id(self) -> int:
        """Return an id that no snapshot of the table has."""
        taken = {snapshot["snapshot-id"] for snapshot in self.document["snapshots"]}
        while True:
            number = random.getrandbits(62) + 1
            if number not in taken:
                return number


def _now() -> int:
    return time.time_ns() // 1_000_000

"""Iceberg tables of other catalogues, which pyiceberg's configuration names.

A commit there is visible before the database has recorded it. So each snapshot carries the run and
its writes: a commit whose answer was lost is found by them and not made again, and one whose run
died is found by the next begin.
"""

from __future__ import annotations

import functools
import json
import logging
import random
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NoSuchNamespaceError,
    NoSuchTableError,
    NotInstalledError,
    TableAlreadyExistsError,
)
from pyiceberg.io import FileIO
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.table.update import (
    AddSnapshotUpdate,
    AssertRefSnapshotId,
    AssertTableUUID,
    SetSnapshotRefUpdate,
)
from pyiceberg.utils.config import Config

from omd._core.error_codes import LakeConflict, UnknownCatalog, UnknownLakeTable, UnknownNamespace
from omd._core.errors import CallerError
from omd._core.names import parts
from omd.tables.files import CATALOG
from omd.tables.metadata import MAIN, Metadata
from omd.tables.names import WRITE, folder_of, location_of
from omd.tables.staging import Change, counts_of, live_entries, stage_snapshot
from omd.tables.undo import INSTANCE, OPERATION

_log = logging.getLogger("omd.lake")

_WRITES = "omd.write-numbers"
_CONFLICTS = 10  # tries against other writers
_FAILURES = 3  # tries against a catalogue that does not answer
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def catalog_name(code: str) -> str | None:
    """Return the catalogue that a table code of three parts names; None for two parts."""
    names = parts(code)
    return names[0] if len(names) == 3 else None


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A table of another catalogue, as that catalogue had it at one moment."""

    code: str
    table: Table
    metadata: Metadata

    @classmethod
    def load(cls, code: str) -> Elsewhere:
        """Return a table as its catalogue has it now.

        Raises:
            UnknownCatalog: the catalogue is not configured.
            UnknownLakeTable: it has no such table.
        """
        catalog, name = _catalog_of(code)
        with _translated(code):
            return cls._of(code, catalog.load_table(name))

    @classmethod
    def create(cls, code: str, schema: Schema, spec: PartitionSpec) -> Elsewhere:
        """Create an empty table; where there is one already, return that."""
        catalog, name = _catalog_of(code)
        with _translated(code):
            try:
                made = catalog.create_table(
                    name, schema, partition_spec=spec, properties={"format-version": "2"}
                )
            except TableAlreadyExistsError:
                return cls.load(code)
        return cls._of(code, made)

    @classmethod
    def _of(cls, code: str, table: Table) -> Elsewhere:
        document = json.loads(table.metadata.model_dump_json())
        return cls(code, table, Metadata(document, table.metadata_location))

    @property
    def io(self) -> FileIO:
        """The access to its files, with the credentials of its catalogue."""
        return self.table.io

    def landed(self, instance: int, numbers: Collection[int]) -> dict[str, Any] | None:
        """Return the snapshot in which a run has committed these writes; None if there is none.

        Raises:
            LakeConflict: it has committed only some of them.
        """
        for snapshot in reversed(self.metadata.document["snapshots"]):
            summary = snapshot.get("summary", {})
            if summary.get(INSTANCE) != str(instance):
                continue
            held = _numbers(summary)
            if held == set(numbers):
                return dict(snapshot)
            if held & set(numbers):
                raise LakeConflict(
                    f"{self.code} has got some writes of this run in a commit whose answer was"
                    " lost, and others have followed",
                    hint="Start the Module again.",
                )
        return None

    def as_of(self, instant: datetime, recorded: Mapping[int, datetime]) -> dict[str, Any] | None:
        """Return the snapshot that was the current one at an instant; None if it is not kept.

        Args:
            recorded: when snapshots were committed, as far as the database knows it; of others the
                time is that of their writer's clock.
        """
        snapshot = self.metadata.snapshot
        while snapshot is not None:
            made = _EPOCH + timedelta(milliseconds=snapshot["timestamp-ms"])
            if recorded.get(snapshot["snapshot-id"], made) <= instant:
                return snapshot
            snapshot = self.metadata.snapshot_of(snapshot.get("parent-snapshot-id"))
        return None

    def commit(self, change: Change) -> tuple[dict[str, Any], str | None]:
        """Commit a change of this version; return the snapshot and the file of the metadata.

        Raises:
            CommitFailedException: the table has moved on.
        """
        after, _, _ = stage_snapshot(self.io, self.metadata, change)
        snapshot = after.document["snapshots"][-1]
        before = self.metadata.snapshot
        base = None if before is None else before["snapshot-id"]
        current = {"ref-name": MAIN, "type": "branch", "snapshot-id": snapshot["snapshot-id"]}
        answer = self.table.catalog.commit_table(
            self.table,
            (
                AssertTableUUID(uuid=self.metadata.document["table-uuid"]),
                AssertRefSnapshotId.model_validate({"ref": MAIN, "snapshot-id": base}),
            ),
            (
                AddSnapshotUpdate(snapshot=Snapshot.model_validate(snapshot)),
                SetSnapshotRefUpdate.model_validate(current),
            ),
        )
        return snapshot, answer.metadata_location


class Mark(NamedTuple):
    """Of a commit: the run, the sequence number, the operation."""

    instance: int | None
    sequence_number: int
    operation: str


def left_by(metadata: Metadata, instances: Collection[int]) -> dict[int | None, Mark]:
    """Return what runs have committed to a table, recorded or not, by the ids of the snapshots."""
    marks: dict[int | None, Mark] = {}
    for snapshot in metadata.document["snapshots"]:
        summary = snapshot.get("summary", {})
        instance = int(summary.get(INSTANCE, 0))
        if instance in instances:
            operation = summary.get(OPERATION, "")
            marks[snapshot["snapshot-id"]] = Mark(instance, snapshot["sequence-number"], operation)
    return marks


def folders_elsewhere(code: str, folders: Collection[str]) -> set[str]:
    """Return those of some folders of writes that a table names, recorded or not.

    These are the folders of its live files, and of the writes that a kept snapshot tells.
    """
    try:
        table = Elsewhere.load(code)
    except UnknownLakeTable:
        return set()
    named = set()
    for snapshot in table.metadata.document["snapshots"]:
        summary = snapshot.get("summary", {})
        named |= {folder_of("", summary[INSTANCE], number) for number in _numbers(summary)}
    for manifest in table.metadata.manifests(table.io):
        for entry in live_entries(table.io, manifest):
            within = WRITE.search(entry.data_file.file_path)
            if within is not None:
                named.add(f"/{within[0]}")
    return {folder for folder in folders if folder[len(location_of(folder)) :] in named}


def locations_elsewhere(code: str) -> list[str]:
    """Return where a table of another catalogue lies; if it is gone, where its namespace does."""
    try:
        return [Elsewhere.load(code).metadata.location]
    except UnknownLakeTable:
        catalog, name = _catalog_of(code)
        with _translated(code):
            location = catalog.load_namespace_properties(name[:-1]).get("location")
        return [] if location is None else [location]


def settings_of(code: str) -> Mapping[str, str] | None:
    """Return the credentials for the files of a table; None for those of this catalogue."""
    if catalog_name(code) is None:
        return None
    try:
        return Elsewhere.load(code).io.properties
    except UnknownLakeTable:
        return _catalog_of(code)[0].properties


def commit_elsewhere(
    code: str,
    instance: int,
    writes: Sequence[tuple[int, int]],
    change_of: Callable[[Elsewhere], Change | None],
) -> dict[str, Any] | None:
    """Commit through another catalogue, if it has not got this commit yet.

    The caller holds the lock of its fence. A commit is made on the snapshot that it was staged on
    and on no other: when other writers were first, or the answer was lost, it is looked for and
    staged again.

    Args:
        instance: the run.
        writes: the number and the rows of each of its writes, by which the commit is found again.
        change_of: returns what is to be done with the table as it is now; None for nothing.

    Returns:
        What the database records; None if nothing was to be done.

    Raises:
        LakeConflict: other writers were first, again and again.
    """
    numbers = [number for number, _ in writes]
    conflicts = failures = 0
    while True:
        table = Elsewhere.load(code)
        snapshot = table.landed(instance, numbers)
        file = table.metadata.file
        if snapshot is None:
            change = change_of(table)
            if change is None:
                return None
            properties = {**change.properties, _WRITES: ",".join(map(str, numbers))}
            try:
                snapshot, written = table.commit(
                    Change(
                        change.operation, change.added, change.removed, change.restored, properties
                    )
                )
            except CommitFailedException as error:
                conflicts += 1
                if conflicts == _CONFLICTS:
                    raise LakeConflict(
                        f"{code} has moved on during each of {_CONFLICTS} commits: {error}",
                        hint="Start the Module again.",
                    ) from error
                _pause(conflicts)
                continue
            except Exception as error:
                # Each catalogue has errors of its own; after any it may have committed or not.
                failures += 1
                if failures == _FAILURES:
                    raise
                _log.warning("the commit of %s was not answered, trying again: %s", code, error)
                _pause(failures)
                continue
            file = written or ""
        return {
            "table": code,
            "format": "ICEBERG",
            "to": file if 0 < len(file) <= 1000 else None,
            "sequence_number": snapshot["sequence-number"],
            "snapshot_id": snapshot["snapshot-id"],
            "operation": snapshot["summary"][OPERATION],
            "writes": [{"write_number": number, "rows": rows} for number, rows in writes],
            "counts": counts_of(snapshot["summary"]),
        }


def _numbers(summary: Mapping[str, str]) -> set[int]:
    """Return the numbers of the writes that a snapshot has committed."""
    return {int(number) for number in summary.get(_WRITES, "").split(",") if number}


def _pause(attempt: int) -> None:
    time.sleep(random.uniform(0.0, min(1.0, 0.05 * 2**attempt)))  # noqa: S311 - not for security


# Catalogues ---------------------------------------------------------------------------------------


def _catalog_of(code: str) -> tuple[Catalog, tuple[str, ...]]:
    """Return the catalogue of a table, and its name in there."""
    catalog, *name = parts(code)
    return _catalog(catalog), tuple(name)


def _catalog(name: str) -> Catalog:
    if name.lower() == CATALOG:
        raise CallerError(
            f"the catalogue {name} is the one in the database",
            hint="Leave its name out: namespace.table.",
        )
    settings = Config().get_catalog_config(name)
    if settings is None:
        raise UnknownCatalog(
            f"pyiceberg's configuration names no catalogue {name}",
            hint=f"Set PYICEBERG_CATALOG__{name.upper().replace('-', '_')}__URI (and …__TYPE: rest,"
            " glue, hive or sql), or enter it in .pyiceberg.yaml, wherever runs are started.",
        )
    return _loaded(name, tuple(sorted((key, str(value)) for key, value in settings.items())))


@functools.lru_cache(maxsize=16)
def _loaded(name: str, properties: tuple[tuple[str, str], ...]) -> Catalog:
    try:
        return load_catalog(name, **dict(properties))
    except (NotInstalledError, ModuleNotFoundError) as error:
        raise UnknownCatalog(
            f"the catalogue {name} needs more packages: {error}",
            hint="Install what pyiceberg needs for it, such as 'pyiceberg[glue]'.",
        ) from error
    except ValueError as error:
        raise UnknownCatalog(
            f"the catalogue {name} is not configured rightly: {error}",
            hint="See the settings PYICEBERG_CATALOG__…, or .pyiceberg.yaml.",
        ) from error


@contextmanager
def _translated(code: str) -> Iterator[None]:
    """Raise errors of OMD where a catalogue does not know a name."""
    try:
        yield
    except NoSuchNamespaceError as error:
        raise UnknownNamespace(
            f"the catalogue of {code} has no such namespace: {error}",
            hint="Create it there: pyiceberg.catalog.load_catalog(…).create_namespace(…).",
        ) from error
    except NoSuchTableError as error:
        raise UnknownLakeTable(
            f"the catalogue has no table {code}", hint="Write to it first: run.write creates it."
        ) from error

"""The catalogue in PostgreSQL as a catalogue of pyiceberg, for all that a run does not do."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql
from pyiceberg.catalog import MetastoreCatalog
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.io import load_file_io
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.serializers import FromInputFile
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from pyiceberg.typedef import EMPTY_DICT

from omd._core.error_codes import InvalidArgument, LakeConflict, UnknownLakeTable, UnknownNamespace
from omd._core.names import parts
from omd.rooms.control.connection import Connection
from omd.rooms.lake.calls import LakeCalls
from omd.rooms.lake.rows import LakeTablesRow
from omd.tables.files import CATALOG, file_io, properties
from omd.tables.metadata import Metadata
from omd.tables.staging import counts_of


def catalog(control: Connection) -> OmdCatalog:
    """Return the catalogue of the database as a `pyiceberg.catalog.Catalog`.

    Its commits are recorded without a run, which needs the role omd_admin: no run takes them back.
    Tables and namespaces can be created, and tables loaded and changed.

    Args:
        control: the connection.

    Examples:
        table = omd.lake.catalog(control).load_table("lake.flights")
        with table.update_schema() as change:
            change.add_column("note", StringType())
    """
    return OmdCatalog(control)


class OmdCatalog(MetastoreCatalog, NoopCatalog):
    """See `catalog`."""

    def __init__(self, control: Connection) -> None:
        super().__init__(CATALOG, **properties())
        self._control = control
        self._lake = LakeCalls(control._link)

    def load_table(self, identifier: Any) -> Table:
        """Return a table as it is now."""
        code = self._code(identifier)
        try:
            row = self._lake.find_table(code, table_format_code="ICEBERG")
        except UnknownNamespace as error:
            raise NoSuchTableError(error.message) from error
        if row.metadata_location is None:
            raise NoSuchTableError(f"the catalogue has no table {code}")
        return self._table(self.identifier_to_tuple(identifier), row.metadata_location)

    def table_exists(self, identifier: Any) -> bool:
        """Return whether there is such a table."""
        try:
            self.load_table(identifier)
        except NoSuchTableError:
            return False
        return True

    def create_table(
        self,
        identifier: Any,
        schema: Any,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Any = EMPTY_DICT,
    ) -> Table:
        """Create an empty table, by default in the folder of its namespace."""
        code = self._code(identifier)
        row = self._lake.find_table(code, table_format_code="ICEBERG")
        staged = self._create_staged_table(
            identifier, schema, location or row.location, partition_spec, sort_order, properties
        )
        self._write_metadata(staged.metadata, staged.io, staged.metadata_location)
        return self.register_table(identifier, staged.metadata_location)

    def register_table(
        self, identifier: Any, metadata_location: str, overwrite: bool = False
    ) -> Table:
        """Enter an existing table."""
        code = self._code(identifier)
        _require_metadata(metadata_location)
        if overwrite or not self._lake.register_table(code, metadata_location):
            raise TableAlreadyExistsError(f"the catalogue has the table {code} already")
        return self.load_table(identifier)

    def commit_table(self, table: Table, requirements: Any, updates: Any) -> CommitTableResponse:
        """Commit changes of a table, in the order of all its commits."""
        code = self._code(table.name())
        with self._control._long_call() as link:
            link.set(lock_timeout="5min", idle_in_transaction_session_timeout="2min")
            try:
                with link.transaction():
                    calls = LakeCalls(link)
                    (location,) = calls.open_commit(None, [code])
                    current = self._table(table.name(), location)
                    staged = self._update_and_stage_table(
                        current, table.name(), requirements, updates
                    )
                    if staged.metadata != current.metadata:
                        self._write_metadata(staged.metadata, staged.io, staged.metadata_location)
                        calls.commit_tables(
                            None,
                            [
                                {
                                    "table": code,
                                    "format": "ICEBERG",
                                    "from": location,
                                    "to": staged.metadata_location,
                                    **_described(current.metadata, staged.metadata),
                                }
                            ],
                        )
                        location = staged.metadata_location
            except UnknownLakeTable as error:
                raise NoSuchTableError(error.message) from error
            except (LakeConflict, psycopg.errors.LockNotAvailable) as error:
                raise CommitFailedException(str(error)) from error
        now = self._table(table.name(), location)
        return CommitTableResponse.model_construct(
            metadata=now.metadata, metadata_location=location
        )

    def create_namespace(self, namespace: Any, properties: Any = EMPTY_DICT) -> None:
        """Register a namespace; its property ``location`` says where its tables lie."""
        name = self._code(namespace)
        if self.namespace_exists(namespace):
            raise NamespaceAlreadyExistsError(f"there is the namespace {name} already")
        self._lake.register_namespace(name, properties["location"])

    def namespace_exists(self, namespace: Any) -> bool:
        """Return whether a namespace is registered."""
        try:
            self._lake.find_table(f"{self._code(namespace)}.t", table_format_code="ICEBERG")
        except UnknownNamespace:
            return False
        return True

    def list_tables(self, namespace: Any) -> list[Any]:
        """Return the tables of a namespace."""
        wanted = self.identifier_to_tuple(namespace)
        rows = self._lake.report(LakeTablesRow, order_by=("table_code",))
        names = [tuple(parts(row.table_code)) for row in rows if row.metadata_location]
        return [name for name in names if name[:-1] == wanted]

    def _table(self, identifier: Any, location: str) -> Table:
        io = load_file_io(self.properties, location)
        metadata = FromInputFile.table_metadata(io.new_input(location))
        return Table(identifier, metadata, location, io, self)

    def _code(self, identifier: Any) -> str:
        return sql.Identifier(*self.identifier_to_tuple(identifier)).as_string(None)


def _described(before: TableMetadata, after: TableMetadata) -> dict[str, Any]:
    """Return what a commit says about itself.

    It may have several snapshots, or go on from another one than the current one of before. Only
    snapshots that all append are an append.
    """
    ids: dict[str, Any] = {
        "sequence_number": getattr(after, "last_sequence_number", 0),
        "snapshot_id": after.current_snapshot_id,
    }
    if after.current_snapshot_id == before.current_snapshot_id:
        kept = {s.snapshot_id for s in after.snapshots}
        is_less = any(s.snapshot_id not in kept for s in before.snapshots)
        return {**ids, "operation": "EXPIRE" if is_less else "SCHEMA"}
    since, is_next = _since(before, after)
    if not is_next:
        # Somebody has returned to a former snapshot, or has taken another branch over.
        former = {s.snapshot_id for s in before.snapshots}
        operation = "UNDO" if after.current_snapshot_id in {None, *former} else "OVERWRITE"
        total = _counts(after.current_snapshot())
        kept_counts = {name: n for name, n in total.items() if name.startswith("total_")}
        return {**ids, "operation": operation, "counts": kept_counts}
    kinds = {"append" if s.summary is None else s.summary.operation.value for s in since}
    counts = _counts(since[0])
    for name in ("added_files", "added_rows", "removed_files", "removed_rows"):
        counts[name] = sum(_counts(snapshot).get(name, 0) for snapshot in since)
    has_removed = counts["removed_files"] or counts["removed_rows"]
    operation = "OVERWRITE"
    if kinds == {"replace"}:
        operation = "COMPACT"
    elif kinds == {"append"} and not has_removed:
        operation = "APPEND"
    return {**ids, "operation": operation, "counts": counts}


def _since(before: TableMetadata, after: TableMetadata) -> tuple[list[Snapshot], bool]:
    """Return the snapshots of a commit, the newest first, and whether they follow the last one."""
    snapshots: list[Snapshot] = []
    snapshot = after.current_snapshot()
    while snapshot is not None and snapshot.snapshot_id != before.current_snapshot_id:
        snapshots.append(snapshot)
        parent = snapshot.parent_snapshot_id
        if parent is None:
            return snapshots, before.current_snapshot_id is None
        if parent == before.current_snapshot_id:
            return snapshots, True
        snapshot = after.snapshot_by_id(parent)
    return snapshots, False


def _counts(snapshot: Snapshot | None) -> dict[str, int]:
    if snapshot is None or snapshot.summary is None:
        return {}
    return counts_of(snapshot.summary.additional_properties)


def _require_metadata(location: str) -> None:
    """Refuse what is no metadata file of a table.

    Raises:
        InvalidArgument: there is no such file, or it is no metadata of a table.
    """
    try:
        document = Metadata.read(file_io(location), location).document
        problem = None if "format-version" in document else "it is no metadata of a table"
    except Exception as error:  # noqa: BLE001 - each store has errors of its own
        problem = f"{type(error).__name__}: {error}"
    if problem is not None:
        raise InvalidArgument(
            f"there is no metadata file {location}: {problem}",
            hint="Name the newest file in the folder metadata of the table.",
        )

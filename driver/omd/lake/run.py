"""The lake tables of one run: what it has written, what it commits, what it takes back.

The database decides whether a run may commit; this module only stages what the commit names.
"""

from __future__ import annotations

import functools
import logging
import threading
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from omd._core.errors import AnswerLost, CallerError, StateError
from omd._core.snapshots import taking_over
from omd.control.calls import ControlCalls
from omd.control.errors import InstanceNotExecuting, NoRollbackPending
from omd.lake.calls import LakeCalls
from omd.lake.compaction import Group, exchange
from omd.lake.delta_log import DeltaLog
from omd.lake.elsewhere import (
    Elsewhere,
    Mark,
    catalog_name,
    commit_elsewhere,
    left_by,
)
from omd.lake.errors import LakeConflict, LakeTableGone, NothingKept, UnknownLakeTable
from omd.lake.files import file_io
from omd.lake.folders import removals, remove
from omd.lake.metadata import Metadata
from omd.lake.names import folder_of, location_of
from omd.lake.plan import plan_read
from omd.lake.rows import LakeCommitsRow, LakeFoldersRow, LakeTablesRow
from omd.lake.schema import iceberg_schema, partition_spec
from omd.lake.staging import EVERYTHING, Change, Staged, stage
from omd.lake.undo import INSTANCE, OPERATION, UNDONE, Undo, plan_undo

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from pyiceberg.io import FileIO
    from pyiceberg.manifest import DataFile

    from omd._core.link import Link
    from omd.control.connection import Connection
    from omd.control.engine_block import LoadWindow
    from omd.control.rows import ModuleDefinitionRow
    from omd.control.run import ModuleRun
    from omd.lake.delta import DeltaFile
    from omd.lake.delta_run import DeltaPending, DeltaUndo
    from omd.lake.rows import FindTableRow

RewrittenDelta = tuple[int, int, "list[DeltaFile]"]

__all__ = ["LakeRun", "LakeTable", "Rewritten", "lake_run", "module_of"]

_log = logging.getLogger("omd.lake")

_lock = threading.Lock()

_ATTEMPTS = 3
_SETTINGS = {
    "default_transaction_isolation": "read committed",
    "idle_in_transaction_session_timeout": "2min",
    "lock_timeout": "5min",
}
_MODULE = "omd.module-code"


@dataclass(frozen=True, slots=True)
class LakeTable:
    """A table at one moment."""

    code: str
    io: FileIO
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The files that replace others."""

    write_number: int
    rows: int
    files: list[DataFile]


def lake_run(run: Any) -> LakeRun:
    """Return the lake tables of a run; they are its own until it ends."""
    with _lock:  # several threads of a job may write at the same time
        if run.uncommitted is None:
            run.uncommitted = LakeRun(run)
        lake: LakeRun = run.uncommitted
    return lake


@dataclass(slots=True)
class Pending:
    """The writes of a run into one table that are not committed yet."""

    code: str
    io: FileIO
    operation: str = "APPEND"
    writes: list[tuple[int, int]] = field(default_factory=list)
    added: list[DataFile] = field(default_factory=list)
    removed: dict[str, set[str]] = field(default_factory=dict)
    base: int | None = None  # the sequence number that a history was read at

    def over(self, files: list[DataFile]) -> list[DataFile]:
        """Return the files that this run sees: those of the table, and its own."""
        if self.operation == "OVERWRITE":
            return self.added
        gone = {path for paths in self.removed.values() for path in paths}
        return [file for file in files if file.file_path not in gone] + self.added

    @property
    def changes(self) -> bool:
        """Whether a commit is needed: an overwrite by nothing removes what there is."""
        return bool(self.added or self.removed) or self.operation == "OVERWRITE"


class LakeRun:
    """The lake tables of a run.

    Args:
        run: the run; `ModuleRun` makes this object when it is first needed.
    """

    def __init__(self, run: ModuleRun) -> None:
        self.run = run
        self._pending: dict[str, Pending] = {}
        self.delta: dict[str, DeltaPending] = {}
        self._seen: dict[str, tuple[str, LakeTable]] = {}
        self._versions: dict[tuple[str, str], int | None] = {}
        # Of a rollback: what its plan, as it is committed, does not bring back, by table.
        self._withheld: dict[str, Undo | DeltaUndo] = {}

    @property
    def _calls(self) -> LakeCalls:
        return LakeCalls(self.run.control._link)

    def forget(self) -> None:
        """Forget what was written and is not committed."""
        self._pending.clear()
        self.delta.clear()

    # Tables -------------------------------------------------------------------------------------

    def table(self, code: str) -> LakeTable:
        """Return a table as the catalogue has it now.

        Raises:
            UnknownLakeTable: the catalogue does not have it.
        """
        return LakeRun.open(self._calls.find_table(code, table_format_code="ICEBERG"))

    def window_instances(self, code: str, span: LoadWindow) -> list[int]:
        """Return the runs whose writes into a table lie in a load window."""
        if span.end_value is None or span.end_id is None:
            return []
        found = self._calls.instances_in_window(
            code, span.start_value, span.start_id, span.end_value, span.end_id
        )
        return [row.module_instance_id for row in found]

    def held_version(self, code: str, as_of: datetime | int | None) -> tuple[str, str, int | None]:
        """Return code, folder and version of a Delta table, of the moment that this run reads.

        Other engines commit without the database. What they have committed by the first read of
        that moment is in it.

        Args:
            code: the table code.
            as_of: an instant, by which several tables fit together, or a version.

        Raises:
            NothingKept: nothing is kept of that moment.
        """
        with self._at_moment() as calls:
            found = calls.find_table(code, table_format_code="DELTA")
            code = found.table_code
            if found.location is None:
                raise UnknownLakeTable(f"{code} is in another catalogue")
            if isinstance(as_of, int):
                return code, found.location, as_of
            if as_of is not None:
                return code, found.location, calls.commit_as_of(code, as_of).sequence_number
            moment = (self.run.snapshot(), code)
            if moment not in self._versions:
                self._versions[moment] = self._version_to_read(calls, code, found.location)
            return code, found.location, self._versions[moment]

    def _version_to_read(self, calls: LakeCalls, code: str, location: str) -> int | None:
        from omd.lake.delta import Delta  # the extra delta is needed
        from omd.lake.delta_run import version_to_read

        def recorded(versions: list[int]) -> set[int]:
            told = calls.report(LakeCommitsRow, table_code=code, sequence_number=versions)
            return {row.sequence_number for row in told}

        table = Delta.find(location)
        rows = calls.report(LakeTablesRow, table_code=code)
        if table is None or not rows:  # OMD has never written to it
            return None
        newest = rows[0].sequence_number
        return version_to_read(table, -1 if newest is None else newest, recorded)

    @contextmanager
    def _at_moment(self) -> Iterator[LakeCalls]:
        """Make calls in the snapshot of PostgreSQL from which this run reads everything."""
        with self.run.control.long_call() as link, link.transaction() as connection:
            for statement in taking_over(self.run.snapshot()):
                connection.execute(statement.encode())
            yield LakeCalls(link)

    def in_window(self, code: str, span: LoadWindow) -> tuple[LakeTable, Any, list[int]]:
        """Return a table, its snapshot at the end of a load window, and the runs in the window.

        Where that snapshot has expired, it is the present one.
        """
        if span.end_value is None or span.end_id is None:
            return self.held(code, None)[0], None, []
        try:
            table, snapshot = self.held(code, span.end_value)
        except NothingKept:
            table, snapshot = self.held(code, None)
        return table, snapshot, self.window_instances(code, span)

    def module_of(self, code: str) -> ModuleDefinitionRow:
        """Return the Module that loads a table; that of this run where none is registered."""
        if code == self.run.module.table_code:
            return self.run.module
        return module_of(self.run.control, code) or self.run.module

    def held(self, code: str, as_of: datetime | int | None) -> tuple[LakeTable, Any]:
        """Return a table, and its snapshot, of the moment at which this run reads everything.

        Args:
            code: the table code.
            as_of: an instant, by which several tables fit together, or the id of a snapshot.

        Raises:
            NothingKept: nothing is kept of that moment.
        """
        with self._at_moment() as calls:
            found = calls.find_table(code, table_format_code="ICEBERG")
            if catalog_name(found.table_code) is not None:
                return self._held_elsewhere(calls, found, as_of)
            table = LakeRun.open(found)
            if as_of is None:
                return table, table.metadata.snapshot
            if isinstance(as_of, int):
                snapshot_id: int | None = as_of
            else:
                snapshot_id = calls.commit_as_of(code, as_of).snapshot_id
        snapshot = table.metadata.snapshot_of(snapshot_id)
        if snapshot is None and snapshot_id is not None:
            raise _nothing_kept(table, as_of)
        return table, snapshot

    def _held_elsewhere(
        self, calls: LakeCalls, found: FindTableRow, as_of: datetime | int | None
    ) -> tuple[LakeTable, Any]:
        """Return a table of another catalogue, as this run has seen it first."""
        if as_of is None:
            moment = self.run.snapshot()
            if self._seen.get(found.table_code, ("",))[0] != moment:
                self._seen[found.table_code] = moment, LakeRun.open(found)
            table = self._seen[found.table_code][1]
            return table, table.metadata.snapshot
        elsewhere = Elsewhere.load(found.table_code)
        table = _table_of(elsewhere)
        if isinstance(as_of, int):
            snapshot = table.metadata.snapshot_of(as_of)
        else:
            rows = calls.report(LakeCommitsRow, table_code=found.table_code)
            recorded = {r.snapshot_id: r.commit_datetime for r in rows if r.snapshot_id is not None}
            snapshot = elsewhere.as_of(as_of, recorded)
        if snapshot is None:
            raise _nothing_kept(table, as_of)
        return table, snapshot

    @staticmethod
    def open(found: FindTableRow) -> LakeTable:
        """Return the table that the catalogue has found, or its own one has."""
        if catalog_name(found.table_code) is not None:
            return _table_of(Elsewhere.load(found.table_code))
        if found.metadata_location is None:
            raise UnknownLakeTable(
                f"the catalogue has no table {found.table_code}",
                hint="Write to it first: run.write creates it.",
            )
        io = file_io(found.metadata_location)
        return LakeTable(found.table_code, io, Metadata.read(io, found.metadata_location))

    def table_for(
        self, code: str, spark_schema: dict[str, Any], partition_by: Sequence[str] | None
    ) -> LakeTable:
        """Return a table to write to; it is created, empty, if the catalogue does not have it.

        Args:
            code: the table code.
            spark_schema: the columns of a new table, as Spark's JSON.
            partition_by: see `omd.lake.schema.partition_spec`.
        """
        found = self._calls.find_table(code, table_format_code="ICEBERG")
        with suppress(UnknownLakeTable):
            table = LakeRun.open(found)
            if partition_by is not None:
                self._require_partition(table, partition_by)
            return table
        schema = iceberg_schema(spark_schema)
        spec = partition_spec(schema, partition_by or ())
        if found.location is None:
            self.require_absent(found.table_code)
            return _table_of(Elsewhere.create(found.table_code, schema, spec))
        io = file_io(found.location)
        metadata = Metadata.new(found.location, schema, spec).write(io)
        is_new = None
        try:
            is_new = self._create(found.table_code, metadata.file)
        finally:
            if not is_new:
                io.delete(metadata.file)
        return LakeTable(found.table_code, io, metadata) if is_new else self.table(code)

    def require_absent(self, code: str) -> None:
        """Refuse to make a table outside of the catalogue that runs have written to.

        Raises:
            LakeTableGone: it is gone, and rows of runs that stand with it.
        """
        self._create(code, None)

    def _create(self, code: str, file: str | None) -> bool | None:
        return self._calls.create_table(self.run.module_instance_id, code, metadata_location=file)

    def _require_partition(self, table: LakeTable, partition_by: Sequence[str]) -> None:
        wanted = partition_spec(table.metadata.schema, partition_by)
        here = [(f.source_id, str(f.transform)) for f in table.metadata.spec.fields]
        if here != [(f.source_id, str(f.transform)) for f in wanted.fields]:
            raise CallerError(
                f"{table.code} exists, and is partitioned otherwise",
                hint="Leave partition_by out: the table knows it.",
            )

    # Writes -------------------------------------------------------------------------------------

    def announce(self, code: str, location: str) -> tuple[int, str]:
        """Announce a write; return its number and the folder for its files."""
        instance = self.run.module_instance_id
        number = self.run.control.next_write_number()
        folder = folder_of(location, instance, number)
        self._calls.announce_write(instance, number, code, folder)
        return number, folder

    def written(
        self, table: LakeTable, number: int, rows: int, files: Iterable[DataFile], mode: str
    ) -> None:
        """Take over the files of a write; they become visible with the commit."""
        pending = self._of(table)
        if mode == "overwrite":
            pending.operation, pending.added, pending.removed = "OVERWRITE", [], {}
            pending.base = None
        pending.writes.append((number, rows))
        pending.added += files

    def replaced(
        self,
        table: LakeTable,
        number: int,
        rows: int,
        files: Iterable[DataFile],
        removed: Mapping[str, set[str]],
    ) -> None:
        """Take over the files of a write that rewrites others, live ones or those of this run."""
        pending = self._of(table)
        gone = {path for paths in removed.values() for path in paths}
        pending.writes.append((number, rows))
        pending.added = [file for file in pending.added if file.file_path not in gone]
        pending.added += files
        if pending.operation == "APPEND":
            pending.operation = "HISTORY"
        if pending.operation == "HISTORY":
            pending.base = table.metadata.sequence_number if pending.base is None else pending.base
            for manifest, paths in removed.items():
                if manifest:
                    pending.removed.setdefault(manifest, set()).update(paths)

    def live_files(self, table: LakeTable) -> list[tuple[str, DataFile]]:
        """Return the files that this run sees in a table, with the manifests of the live ones.

        Raises:
            LakeTableUnreadable: they can't be rewritten here.
        """
        plan = plan_read(table.io, table.metadata, table.metadata.snapshot)
        pending = self._pending.get(table.code)
        if pending is None:
            return plan.entries
        seen = {file.file_path for file in pending.over(plan.files)}
        live = [(path, file) for path, file in plan.entries if file.file_path in seen]
        return live + [("", file) for file in pending.added]

    def staged(self, code: str) -> Pending | None:
        """Return what this run has written to a table and not committed."""
        return self._pending.get(code)

    def _of(self, table: LakeTable) -> Pending:
        return self._pending.setdefault(table.code, Pending(table.code, table.io))

    # Commit -------------------------------------------------------------------------------------

    def commit(
        self,
        finish: Callable[[Link], None] | None = None,
        before: Callable[[], None] | None = None,
    ) -> None:
        """Commit all writes of this run, and its end, in one transaction.

        Args:
            finish: ends the run over the connection of the commit.
            before: called when all is staged, before the run is ended.

        Raises:
            LakeConflict: a table of a history has moved on.
            OmdError: the run may not commit any more.
        """
        pending = [table for table in self._pending.values() if table.changes]
        delta = [table for table in self.delta.values() if table.changes]
        if not pending and not delta:
            if before is not None:
                before()
            if finish is not None:
                finish(self.run.control._link)
        else:
            with self._connection() as link:
                self._commit(link, pending, delta, finish, before)
        self.forget()

    def _commit(
        self,
        link: Link,
        pending: Sequence[Pending],
        delta: Sequence[DeltaPending],
        finish: Callable[[Link], None] | None,
        before: Callable[[], None] | None,
    ) -> None:
        ours = [table for table in pending if catalog_name(table.code) is None]
        elsewhere = [table for table in pending if catalog_name(table.code) is not None]
        outside = [*(table.code for table in delta), *(table.code for table in elsewhere)]
        staged: list[dict[str, Any]] = []
        lost: AnswerLost | None = None
        for _ in range(_ATTEMPTS):
            try:
                with link.transaction():
                    locations = self._open(link, [table.code for table in ours])
                    if outside:
                        LakeCalls(link).lock_tables(outside)
                    if not staged:
                        staged = [
                            self._stage(table, location)
                            for table, location in zip(ours, locations, strict=True)
                        ]
                    if before is not None:
                        before()
                        before = None
                    commits = list(staged)
                    if outside:
                        # Its lock is held meanwhile: nobody declares this run dead.
                        ControlCalls(link).fence(self.run.module_instance_id)
                        commits += self._committed_delta(delta)
                        commits += self._committed_elsewhere(elsewhere)
                    LakeCalls(link).commit_tables(self.run.module_instance_id, commits)
                    if finish is not None:
                        finish(link)
            except AnswerLost as error:
                lost = error  # it is sent again as it was: if it was committed, nothing changes
            except LakeConflict:
                if lost is None:
                    raise
                staged = []  # it was not committed, and the table has moved on
            except InstanceNotExecuting as refusal:
                if lost is None or refusal.detail.get("execution_status_code") != "S":
                    raise
                return  # it was committed, and the run has ended with it
            else:
                return
        assert lost is not None  # noqa: S101 - otherwise an error was raised
        raise lost

    def _committed_delta(self, delta: Sequence[DeltaPending]) -> list[dict[str, Any]]:
        if not delta:
            return []
        from omd.lake.delta_run import commit_delta  # the extra delta is needed

        return [commit_delta(self.run, table) for table in delta]

    def _committed_elsewhere(self, pending: Sequence[Pending]) -> list[dict[str, Any]]:
        found = [
            commit_elsewhere(
                table.code,
                self.run.module_instance_id,
                table.writes,
                lambda now, table=table: self._change(table, now.metadata),  # type: ignore[misc]
            )
            for table in pending
        ]
        return [commit for commit in found if commit is not None]

    def _change(self, pending: Pending, metadata: Metadata) -> Change:
        if pending.base is not None:
            _require_unmoved(pending, metadata)
        return Change(
            pending.operation,
            added=pending.added,
            removed=EVERYTHING if pending.operation == "OVERWRITE" else pending.removed,
            properties=self._told(),
        )

    def _stage(self, pending: Pending, location: str) -> dict[str, Any]:
        metadata = Metadata.read(pending.io, location)
        change = self._change(pending, metadata)
        return _commit(
            pending.code, metadata, stage(pending.io, metadata, change), change, pending.writes
        )

    def _told(self) -> dict[str, str]:
        return {
            INSTANCE: str(self.run.module_instance_id),
            _MODULE: self.run.module_code,
        }

    def _open(self, link: Link, tables: Sequence[str]) -> list[str]:
        locations = LakeCalls(link).open_commit(self.run.module_instance_id, list(tables))
        return list(locations or [])

    @contextmanager
    def _connection(self) -> Iterator[Link]:
        with self.run.control.long_call() as link:
            link.set(**_SETTINGS)
            yield link

    def exchange(self, code: str, joined: Sequence[tuple[Group[DataFile], Rewritten]]) -> bool:
        """Commit larger files in the place of small ones; False if one of these is gone."""
        with self._connection() as link, link.transaction():
            (location,) = self._open(link, [code])
            io = file_io(location)
            metadata = Metadata.read(io, location)
            files = [(group, new.files) for group, new in joined]
            change = exchange(io, metadata, files, self._told())
            if change is not None:
                writes = [(new.write_number, new.rows) for _, new in joined]
                commit = _commit(code, metadata, stage(io, metadata, change), change, writes)
                LakeCalls(link).commit_tables(self.run.module_instance_id, [commit])
        return change is not None

    # Rollback -----------------------------------------------------------------------------------

    def undo(
        self,
        instances: Sequence[int],
        rewrite: Callable[[LakeTable, Undo, Sequence[int]], Rewritten],
        rewrite_delta: Callable[[str, DeltaUndo, Sequence[int]], RewrittenDelta],
    ) -> None:
        """Take back what runs did to lake tables, and confirm the rollback, in one transaction.

        Args:
            instances: the runs.
            rewrite: writes the rows of mixed files that stay, and returns the new files.
            rewrite_delta: the same for a Delta table.

        Raises:
            LakeConflict: the tables moved on, again and again.
        """
        done = self._calls.report(
            LakeCommitsRow,
            module_instance_id=list(instances),
            table_format_code="ICEBERG",
            order_by=("commit_id",),
        )
        # What was committed elsewhere, or to a Delta table, may not be recorded.
        announced = self._calls.report(LakeFoldersRow, module_instance_id=list(instances))
        by_table: dict[str, list[LakeCommitsRow]] = {}
        elsewhere: dict[str, list[LakeCommitsRow]] = {
            code: []
            for code in sorted({row.table_code for row in announced})
            if catalog_name(code) is not None
        }
        for row in done:
            where = by_table if catalog_name(row.table_code) is None else elsewhere
            where.setdefault(row.table_code, []).append(row)
        for code in list(by_table):
            found = self._calls.find_table(code, table_format_code="ICEBERG")
            if found.metadata_location is None:
                by_table.pop(code)
                self._require_dropped(code)
                _log.info("%s was dropped: nothing to take back", code)
        delta: list[DeltaPending] = []
        with self._connection() as link:
            for attempt in range(_ATTEMPTS):
                landed = {table.code for table in delta if table.landed is not None}
                self._withheld = {c: undo for c, undo in self._withheld.items() if c in landed}
                rewritten = self._rewritten(by_table, instances, rewrite)
                delta = self._undo_delta(announced, instances, rewrite_delta, delta)
                others = self._prepared_elsewhere(elsewhere, instances, rewrite)
                try:
                    with link.transaction():
                        ControlCalls(link).confirm_rollback(self.run.module_instance_id)
                        commits = self._take_back(link, by_table, instances, rewritten)
                        outside = [
                            *(table.code for table in delta),
                            *(table.code for table in others),
                        ]
                        if outside:
                            LakeCalls(link).lock_tables(outside)
                            commits += self._committed_delta(delta)
                            commits += self._take_back_elsewhere(others, elsewhere, instances)
                        if commits:
                            LakeCalls(link).commit_tables(self.run.module_instance_id, commits)
                        self._tell_withheld(link)
                    break
                except AnswerLost:
                    if attempt == _ATTEMPTS - 1:
                        raise
                except NoRollbackPending as refusal:
                    if attempt and refusal.detail.get("processing_indicator") == "P":
                        break  # the answer was lost, and it is done
                    raise
                except (_Moved, LakeConflict) as moved:
                    if attempt == _ATTEMPTS - 1:
                        raise LakeConflict(
                            f"each of {_ATTEMPTS} rollbacks was overtaken: {moved}",
                            hint="Start the Module again.",
                        ) from None
        self._remove_folders(instances)

    def _require_dropped(self, code: str) -> None:
        """Refuse to take runs back from a table that has another name now: its rows would stay."""
        name = self._calls.find_renamed(code)
        if name is not None:
            raise LakeTableGone(
                f"{code} has rows to take back, and it is gone: what it was is now {name}",
                hint=f"Give {name} its name back, and start the Module again.",
            )

    def _rewritten(
        self,
        by_table: Mapping[str, Sequence[LakeCommitsRow]],
        instances: Sequence[int],
        rewrite: Callable[[LakeTable, Undo, Sequence[int]], Rewritten],
    ) -> dict[str, _Prepared]:
        """Rewrite the mixed files of the tables, before any of them is locked."""
        found = {}
        for code, commits in by_table.items():
            table = self.table(code)
            undo = self._plan(table, commits, instances)
            if undo.mixed or undo.touched:
                found[code] = _prepare(table, undo, instances, rewrite)
        return found

    def _take_back(
        self,
        link: Link,
        by_table: Mapping[str, Sequence[LakeCommitsRow]],
        instances: Sequence[int],
        rewritten: Mapping[str, _Prepared],
    ) -> list[dict[str, Any]]:
        commits: list[dict[str, Any]] = []
        if not by_table:
            return commits
        locations = self._open(link, list(by_table))
        for (code, done), location in zip(by_table.items(), locations, strict=True):
            io = file_io(location)
            table = LakeTable(code, io, Metadata.read(io, location))
            prepared = rewritten.get(code)
            change = self._undoing(table, done, instances, prepared)
            if change is None:
                continue
            new = None if prepared is None else prepared.new
            writes = [(new.write_number, new.rows)] if new else []
            staged = stage(io, table.metadata, change)
            commits.append(_commit(code, table.metadata, staged, change, writes))
        return commits

    def _undoing(
        self,
        table: LakeTable,
        done: Sequence[LakeCommitsRow],
        instances: Sequence[int],
        prepared: _Prepared | None,
    ) -> Change | None:
        """Return the change that takes runs back from a table as it is now; None for none."""
        if prepared is not None and prepared.location == table.metadata.file:
            undo = prepared.undo
        else:
            undo = self._plan(table, done, instances)
            sources = frozenset() if prepared is None else prepared.sources
            if undo.touched or undo.rewritten != sources:
                raise _Moved(table.code)
        self._withheld[table.code] = undo
        if undo.is_empty:
            return None
        return Change(
            "UNDO",
            added=prepared.new.files if prepared is not None else (),
            removed=undo.removed,
            restored=undo.restored,
            properties={**self._told(), UNDONE: ",".join(map(str, sorted(instances)))},
        )

    def _prepared_elsewhere(
        self,
        by_table: Mapping[str, Sequence[LakeCommitsRow]],
        instances: Sequence[int],
        rewrite: Callable[[LakeTable, Undo, Sequence[int]], Rewritten],
    ) -> list[_Elsewhere]:
        """Return the tables of other catalogues from which something is to be taken back."""
        found = []
        for code, done in by_table.items():
            try:
                table = _table_of(Elsewhere.load(code))
            except UnknownLakeTable:
                _log.info("%s was dropped: nothing to take back", code)
                continue
            undo = self._plan(table, done, instances)
            if undo.is_empty:
                self._withheld[code] = undo
                continue
            prepared, write = None, (0, 0)
            if undo.mixed or undo.touched:
                prepared = _prepare(table, undo, instances, rewrite)
                write = prepared.new.write_number, prepared.new.rows
            else:
                write = self.run.control.next_write_number(), 0
            found.append(_Elsewhere(code, prepared, write))
        return found

    def _take_back_elsewhere(
        self,
        tables: Sequence[_Elsewhere],
        by_table: Mapping[str, Sequence[LakeCommitsRow]],
        instances: Sequence[int],
    ) -> list[dict[str, Any]]:
        def change(table: _Elsewhere, now: Elsewhere) -> Change | None:
            done = by_table[table.code]
            return self._undoing(_table_of(now), done, instances, table.prepared)

        found = [
            commit_elsewhere(
                table.code,
                self.run.module_instance_id,
                [table.write],
                functools.partial(change, table),
            )
            for table in tables
        ]
        return [commit for commit in found if commit is not None]

    def _undo_delta(
        self,
        announced: Sequence[LakeFoldersRow],
        instances: Sequence[int],
        rewrite: Callable[[str, DeltaUndo, Sequence[int]], RewrittenDelta],
        before: Sequence[DeltaPending],
    ) -> list[DeltaPending]:
        """Return what takes back the runs in the Delta tables that they announced.

        Args:
            announced: the folders of their writes.
            instances: the runs.
            rewrite: writes the rows of mixed files that stay.
            before: what an attempt before has prepared: what has landed is only recorded.
        """
        landed = {pending.code: pending for pending in before if pending.landed is not None}
        found = []
        tables = {
            (row.table_code, location_of(row.folder))
            for row in announced
            if row.folder and catalog_name(row.table_code) is None
        }
        for code, location in sorted(tables):
            if DeltaLog(location).numbers:
                pending = landed.get(code) or self._undo_of(code, location, instances, rewrite)
                if pending is not None:
                    found.append(pending)
        return found

    def _undo_of(
        self,
        code: str,
        location: str,
        instances: Sequence[int],
        rewrite: Callable[[str, DeltaUndo, Sequence[int]], RewrittenDelta],
    ) -> DeltaPending | None:
        from omd.lake.delta import Delta  # the extra delta is needed
        from omd.lake.delta_run import DeltaPending, plan_delta_undo

        table = Delta.find(location)
        if table is None:
            return None
        module = self.module_of(code)
        commits = self._calls.report(
            LakeCommitsRow, table_code=code, module_instance_id=list(instances)
        )
        undo = plan_delta_undo(
            table,
            module.insert_instance_column,
            instances,
            commits,
            module.update_instance_column,
            functools.partial(self._undone, code),
        )
        self._withheld[code] = undo
        pending = DeltaPending(code, location, "UNDO", undone=sorted(instances), base=table.version)
        if undo.is_empty:
            # A rollback may have died after it had extended the log.
            pending.landed = undo.landed
            is_lost = undo.landed is not None and not self._calls.report(
                LakeCommitsRow, table_code=code, sequence_number=undo.landed
            )
            return pending if is_lost else None
        pending.has_chains = bool(undo.touched)
        if undo.mixed or undo.touched:
            number, count, pending.added = rewrite(code, undo, instances)
            pending.writes = [(number, count)]
        else:
            pending.number = self.run.control.next_write_number()
        pending.added += undo.restored
        pending.removed = undo.removed
        return pending

    def _plan(
        self, table: LakeTable, commits: Sequence[LakeCommitsRow], instances: Sequence[int]
    ) -> Undo:
        module = self.module_of(table.code)
        marks = {
            commit.snapshot_id: Mark(
                commit.module_instance_id, commit.sequence_number, commit.operation
            )
            for commit in commits
        }
        is_whole = True
        if catalog_name(table.code) is not None:
            marks.update(left_by(table.metadata, instances))
            # What another run of them has left may have expired.
            is_whole = set(instances) <= {mark.instance for mark in marks.values()}
        return plan_undo(
            table.io,
            table.metadata,
            module.insert_instance_column,
            instances,
            since=min(mark.sequence_number for mark in marks.values()) if is_whole else 0,
            committed={
                mark.instance: mark.sequence_number
                for mark in marks.values()
                if mark.instance is not None
            },
            overwrites=[
                snapshot_id
                for snapshot_id, mark in marks.items()
                if mark.operation == "OVERWRITE" and snapshot_id is not None
            ],
            is_history=any(mark.operation == "HISTORY" for mark in marks.values()),
            update_column=module.update_instance_column,
            undone_of=functools.partial(self._undone, table.code),
        )

    def _undone(self, code: str, instances: Collection[int]) -> set[int]:
        """Return which of some runs, that have committed to a table, are taken back."""
        if not instances:
            return set()
        rows = self._calls.report(
            LakeCommitsRow, table_code=code, module_instance_id=sorted(instances)
        )
        return {
            row.module_instance_id
            for row in rows
            if row.module_instance_id is not None
            and row.rolled_back_by_module_instance_id is not None
        }

    def _tell_withheld(self, link: Link) -> None:
        """Tell, in the transaction of the rollback, what overwrites do not give back."""
        for code, undo in self._withheld.items():
            if undo.expired:
                ControlCalls(link).log_event(
                    f"{code}: what {undo.expired} overwrite(s) removed has expired, and does not"
                    " come back",
                    module_instance_id=self.run.module_instance_id,
                    event_type_code=6,
                )
            for away in undo.away:
                LakeCalls(link).note_withheld(
                    self.run.module_instance_id,
                    code,
                    away.instance,
                    away.snapshot_id,
                    away.rows,
                    other_snapshot_id=away.because,
                )

    def _remove_folders(self, instances: Sequence[int]) -> None:
        """Remove the files that these runs wrote and never committed."""
        rows = self._calls.report(
            LakeFoldersRow, module_instance_id=list(instances), folder_state="ABANDONED"
        )
        for row, problem in removals(self._calls, rows):
            if problem is None:
                remove(self._calls, row)
            else:
                _log.warning("%s of %s stays: %s", row.folder, row.table_code, problem)


def module_of(control: Connection, code: str) -> ModuleDefinitionRow | None:
    """Return a Module that loads a table; None if there is none."""
    rows = LakeCalls(control._link).report(LakeTablesRow, table_code=code)
    codes = [code for row in rows for code in row.module_codes or []]
    return control.module_definition(codes[0]) if codes else None


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What was rewritten for a rollback, before the table was locked."""

    location: str  # of the metadata that it was read from
    sources: frozenset[str]
    undo: Undo
    new: Rewritten


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """A table of another catalogue from which something is to be taken back."""

    code: str
    prepared: _Prepared | None
    write: tuple[int, int]  # the number and the rows by which the commit is found again


def _prepare(
    table: LakeTable,
    undo: Undo,
    instances: Sequence[int],
    rewrite: Callable[[LakeTable, Undo, Sequence[int]], Rewritten],
) -> _Prepared:
    sources = undo.rewritten  # before a history adds what its keys touch
    return _Prepared(table.metadata.file, sources, undo, rewrite(table, undo, instances))


def _table_of(found: Elsewhere) -> LakeTable:
    return LakeTable(found.code, found.io, found.metadata)


def _nothing_kept(table: LakeTable, as_of: datetime | int | None) -> NothingKept:
    return NothingKept(
        f"nothing is kept of {table.code} as of {as_of}",
        hint="omd_report.lake_commits shows its commits, with time and snapshot_id.",
    )


class _Moved(StateError):  # noqa: N818 - it never leaves this module
    """A table has other files than when its mixed ones were rewritten."""


def _require_unmoved(pending: Pending, metadata: Metadata) -> None:
    """Refuse a history whose table has got other rows since it was read."""
    since = [
        told
        for told in metadata.document["snapshots"]
        if told["sequence-number"] > (pending.base or 0)
        and told.get("summary", {}).get(OPERATION) != "COMPACT"
        and told.get("summary", {}).get("operation") != "replace"
    ]
    paths = {path for gone in pending.removed.values() for path in gone}
    live = {manifest.manifest_path for manifest in metadata.manifests(pending.io)}
    if since or (paths and not pending.removed.keys() <= live):
        raise LakeConflict(
            f"{pending.code} has moved on since this run has read it",
            hint="Start the Module again.",
        )


def _commit(
    code: str,
    metadata: Metadata,
    staged: Staged,
    change: Change,
    writes: Sequence[tuple[int, int]],
) -> dict[str, Any]:
    """Return a commit as the database takes it."""
    return {
        "table": code,
        "format": "ICEBERG",
        "from": metadata.file,
        "to": staged.metadata.file,
        "sequence_number": staged.metadata.sequence_number,
        "snapshot_id": staged.snapshot_id,
        "operation": change.operation,
        "writes": [{"write_number": number, "rows": rows} for number, rows in writes],
        "counts": asdict(staged.counts),
    }

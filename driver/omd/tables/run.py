"""The lake tables of one run: what it has written, what it commits, what it takes back.

The database decides whether a run may commit; here is only the order in which that happens, which
is one for all table formats (`omd.tables.formats`).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from pyiceberg.manifest import DataFile

from omd._core.error_codes import (
    InstanceNotExecuting,
    LakeConflict,
    LakeTableGone,
    NoRollbackPending,
    UnknownLakeTable,
)
from omd._core.errors import AnswerLost, CallerError, StateError
from omd.rooms.control.calls import ControlCalls
from omd.rooms.lake.calls import LakeCalls
from omd.rooms.lake.rows import (
    BeginWriteRow,
    FindTableRow,
    LakeCommitsRow,
    LakeFoldersRow,
)
from omd.tables.catalogue import module_of
from omd.tables.compaction import Group, exchange
from omd.tables.delta_log import DeltaLog
from omd.tables.elsewhere import Elsewhere, catalog_name
from omd.tables.elsewhere_run import ElsewherePending, ElsewhereUndo
from omd.tables.files import file_io
from omd.tables.folders import line_of, removals, remove, reraise_of_run
from omd.tables.formats import Record, Rewritten, TableChange
from omd.tables.iceberg_run import Moved, Pending, properties, staged
from omd.tables.metadata import Metadata
from omd.tables.moment import MomentReads
from omd.tables.names import folder_of, location_of
from omd.tables.own_run import OwnPending, OwnUndo
from omd.tables.plan import plan_read
from omd.tables.schema import iceberg_schema, partition_spec
from omd.tables.table import LakeTable

if TYPE_CHECKING:
    from omd._core.link import Link
    from omd.rooms.control.run import Run
    from omd.tables.delta_run import DeltaPending, DeltaRollback, RewriteDelta
    from omd.tables.iceberg_run import Rewrite

__all__ = ["LakeRun", "LakeTable", "Rewritten", "lake_run", "module_of"]

_log = logging.getLogger("omd.lake")

_lock = threading.Lock()

_ATTEMPTS = 3
_SETTINGS = {
    "default_transaction_isolation": "read committed",
    "idle_in_transaction_session_timeout": "2min",
    "lock_timeout": "5min",
}


class Unstaged(StateError):  # noqa: N818 - it never leaves the driver
    """What takes runs back can't be staged."""


def lake_run(run: Any) -> LakeRun:
    """Return the lake tables of a run; they are its own until it ends."""
    with _lock:  # several threads of a job may write at the same time
        if run._reads.uncommitted is None:
            run._reads.uncommitted = LakeRun(run)
        lake: LakeRun = run._reads.uncommitted
    return lake


class LakeRun(MomentReads):
    """The lake tables of a run.

    Args:
        run: the run; `Run` makes this object when it is first needed.
    """

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._pending: dict[str, Pending] = {}
        self.delta: dict[str, DeltaPending] = {}

    def forget(self) -> None:
        """Forget what was written and is not committed."""
        self._pending.clear()
        self.delta.clear()

    # Tables -------------------------------------------------------------------------------------

    def table(self, code: str) -> LakeTable:
        """Return an Iceberg table as the catalogue has it now.

        Raises:
            UnknownLakeTable: the catalogue does not have it.
        """
        return LakeRun.open(self.calls.find_table(code, table_format_code="ICEBERG"))

    @staticmethod
    def open(row: FindTableRow | BeginWriteRow) -> LakeTable:
        """Return the table that the catalogue has found, or its own one has."""
        return LakeTable.of_row(row)

    def table_for(
        self, code: str, spark_schema: dict[str, Any], partition_by: Sequence[str] | None
    ) -> LakeTable:
        """Return a table to write to; it is created, empty, if the catalogue does not have it.

        Args:
            code: the table code.
            spark_schema: the columns of a new table, as Spark's JSON.
            partition_by: see `omd.tables.schema.partition_spec`.
        """
        row = self.calls.find_table(code, table_format_code="ICEBERG")
        return self.made(row, spark_schema, partition_by)

    def made(
        self,
        row: FindTableRow | BeginWriteRow,
        spark_schema: dict[str, Any],
        partition_by: Sequence[str] | None,
    ) -> LakeTable:
        """Return a table that the database has looked for; see `table_for`."""
        with suppress(UnknownLakeTable):
            table = LakeRun.open(row)
            if partition_by is not None:
                _require_partition(table, partition_by)
            return table
        schema = iceberg_schema(spark_schema)
        spec = partition_spec(schema, partition_by or ())
        if row.location is None:
            self.require_absent(row.table_code)
            return LakeTable.elsewhere(Elsewhere.create(row.table_code, schema, spec))
        io = file_io(row.location)
        metadata = Metadata.new(row.location, schema, spec).write(io)
        is_new = None
        try:
            is_new = self._create(row.table_code, metadata.file)
        finally:
            if not is_new:
                io.delete(metadata.file)
        return LakeTable(row.table_code, io, metadata) if is_new else self.table(row.table_code)

    def require_absent(self, code: str) -> None:
        """Refuse to make a table outside of the catalogue that runs have written to.

        Raises:
            LakeTableGone: it is gone, and rows of runs that stand with it.
        """
        self._create(code, None)

    def _create(self, code: str, file: str | None) -> bool | None:
        return self.calls.create_table(self.run.instance_id, code, metadata_location=file)

    # Writes -------------------------------------------------------------------------------------

    def announce(
        self, code: str, location: str, begun: BeginWriteRow | None = None
    ) -> tuple[int, str]:
        """Announce a write, unless that has happened; return its number and its folder.

        Args:
            location: where it lies.
            begun: what `omd_lake.begin_write` has answered; it knows no folder in another
                catalogue.
        """
        if begun is not None and begun.folder is not None:
            return begun.write_number, begun.folder
        instance = self.run.instance_id
        number = self.run._control._omd.next_write_number() if begun is None else begun.write_number
        folder = folder_of(location, instance, number)
        self.calls.announce_write(instance, number, code, folder)
        return number, folder

    def written(
        self, table: LakeTable, number: int, rows: int, files: Iterable[DataFile], mode: str
    ) -> None:
        """Take over the files of a write; they become visible with the commit."""
        self._of(table).write(number, rows, files, mode)

    def replaced(
        self,
        table: LakeTable,
        number: int,
        rows: int,
        files: Iterable[DataFile],
        removed: Mapping[str, set[str]],
    ) -> None:
        """Take over the files of a write that rewrites others, live ones or those of this run."""
        self._of(table).replace(number, rows, files, removed, table.metadata.sequence_number)

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
        kind = OwnPending if catalog_name(table.code) is None else ElsewherePending
        return self._pending.setdefault(table.code, kind(table.code, table.io))

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
        written = (*self.delta.values(), *self._pending.values())
        tables: list[TableChange] = [table for table in written if table.changes]
        if not tables:
            if before is not None:
                before()
            if finish is not None:
                finish(self.run._control._link)
        else:
            with self._connection() as link:
                self._commit(link, tables, finish, before)
        self.forget()

    def _commit(
        self,
        link: Link,
        tables: Sequence[TableChange],
        finish: Callable[[Link], None] | None,
        before: Callable[[], None] | None,
    ) -> None:
        def fence() -> None:
            nonlocal before
            if before is not None:
                before()
                before = None
            if any(table.is_outside for table in tables):
                # Its lock is held meanwhile: nobody declares this run dead.
                ControlCalls(link).fence(self.run.instance_id)

        lost: AnswerLost | None = None
        for _ in range(_ATTEMPTS):
            try:
                with link.transaction():
                    self._commit_tables(link, tables, fence)
                    if finish is not None:
                        finish(link)
            except AnswerLost as error:
                lost = error  # it is sent again as it was: if it was committed, nothing changes
            except LakeConflict:
                if lost is None:
                    raise
                for table in tables:
                    table.unstage()  # it was not committed, and the table has moved on
            except InstanceNotExecuting as refusal:
                if lost is None or refusal.detail.get("execution_status_code") != "S":
                    raise
                return  # it was committed, and the run has ended with it
            else:
                return
        assert lost is not None  # noqa: S101 - otherwise an error was raised
        raise lost

    def _commit_tables(
        self,
        link: Link,
        tables: Sequence[TableChange],
        fence: Callable[[], None] | None = None,
    ) -> None:
        """Commit changes of tables, of all formats, in the transaction of the caller.

        All tables are locked first. Then what the commits name is written, without a lock on the
        run, so that its heartbeats go on. What is visible at once comes last.

        Args:
            tables: the changes.
            fence: called before the first commit that is visible at once.
        """
        own = [table for table in tables if not table.is_outside]
        outside = [table for table in tables if table.is_outside]
        locations = self._open(link, [table.code for table in own]) if own else []
        if outside:
            LakeCalls(link).lock_tables([table.code for table in outside])
        for table, location in zip(own, locations, strict=True):
            table.stage(self.run, location)
        if fence is not None:
            fence()
        commits = [*self._records(own), *self._committed_elsewhere(outside)]
        if commits:
            LakeCalls(link).commit_tables(self.run.instance_id, commits)

    def _committed_elsewhere(self, tables: Iterable[TableChange]) -> list[Record]:
        """Commit outside of the database, where each commit is visible at once."""
        return self._records(tables)

    def _records(self, tables: Iterable[TableChange]) -> list[Record]:
        records = (table.commit(self.run) for table in tables)
        return [record for record in records if record is not None]

    def _open(self, link: Link, tables: Sequence[str]) -> list[str]:
        locations = LakeCalls(link).open_commit(self.run.instance_id, list(tables))
        return list(locations or [])

    @contextmanager
    def _connection(self) -> Iterator[Link]:
        with self.run._control._long_call() as link:
            link.set(**_SETTINGS)
            yield link

    def exchange(
        self,
        code: str,
        joined: Sequence[tuple[Group[DataFile], Rewritten[DataFile]]],
        *,
        forgets: bool = False,
    ) -> bool:
        """Commit files in the place of others; False if one of these is gone.

        Args:
            forgets: whether no manifest tells of removed files any more.
        """
        with self._connection() as link, link.transaction():
            (location,) = self._open(link, [code])
            table = LakeTable.read(code, location)
            files = [(group, new.files) for group, new in joined]
            change = exchange(
                table.io, table.metadata, files, properties(self.run), forgets=forgets
            )
            if change is not None:
                writes = [(new.write_number, new.rows) for _, new in joined]
                commits = [staged(table, change, writes)]
                LakeCalls(link).commit_tables(self.run.instance_id, commits)
        return change is not None

    # Rollback -----------------------------------------------------------------------------------

    def undo(self, instances: Sequence[int], rewrite: Rewrite, rewrite_delta: RewriteDelta) -> None:
        """Take back what runs did to lake tables, and confirm the rollback, in one transaction.

        Args:
            instances: the runs.
            rewrite: writes the rows of mixed files that stay, and returns the new files.
            rewrite_delta: the same for a Delta table.

        Raises:
            LakeConflict: the tables moved on, again and again.
        """
        # What was committed elsewhere, or to a Delta table, may not be recorded.
        announced = self.calls.report(LakeFoldersRow, module_instance_id=list(instances))
        own, elsewhere = self._iceberg_commits(announced, instances)
        outside = self._committed_outside(instances)
        delta: list[DeltaRollback] = []
        with self._connection() as link:
            for attempt in range(_ATTEMPTS):
                tables: list[TableChange] = [*self._undo_own(own, instances, rewrite)]
                delta = list(self._undo_delta(announced, instances, rewrite_delta, delta))
                tables += delta
                tables += self._undo_elsewhere(elsewhere, instances, rewrite)
                try:
                    with link.transaction():
                        self._lock(link, sorted(own), outside)
                        ControlCalls(link).confirm_rollback(self.run.instance_id)
                        self._commit_tables(link, [table for table in tables if table.changes])
                        self._note_withheld(link, tables)
                    break
                except AnswerLost:
                    if attempt == _ATTEMPTS - 1:
                        raise
                except NoRollbackPending as refusal:
                    if attempt and refusal.detail.get("processing_indicator") == "P":
                        break  # the answer was lost, and it is done
                    raise
                except (Moved, LakeConflict) as moved:
                    if attempt == _ATTEMPTS - 1:
                        raise LakeConflict(
                            f"each of {_ATTEMPTS} rollbacks was overtaken: {moved}",
                            hint="Start the Module again.",
                        ) from None
        self.remove_folders(instances)

    def _committed_outside(self, instances: Sequence[int]) -> list[str]:
        """Return the Delta tables, and those of other catalogues, to which runs have committed."""
        rows = self.calls.report(LakeCommitsRow, module_instance_id=list(instances))
        return sorted(
            {
                row.table_code
                for row in rows
                if row.table_format_code != "ICEBERG" or catalog_name(row.table_code) is not None
            }
        )

    def _lock(self, link: Link, own: Sequence[str], outside: Sequence[str]) -> None:
        """Lock all that runs committed to, so that the database believes what is confirmed then.

        Where nothing is left to take back there will be no commit that says so.
        """
        if own:
            self._open(link, own)
        if outside:
            LakeCalls(link).lock_tables(list(outside))

    def undo_beside(
        self, instances: Sequence[int], rewrite: Rewrite, act: Callable[[Link], None]
    ) -> None:
        """Take back what runs did to Iceberg tables of ours, in one transaction with more.

        What must be rewritten is staged before anything is locked.

        Args:
            instances: the runs, which have written nowhere else.
            rewrite: writes the rows of mixed files that stay, and returns the new files.
            act: what else happens, when the tables are locked and their snapshots are written.

        Raises:
            Unstaged: the files can't be staged.
            LakeConflict: the tables moved on, again and again.
        """
        with self._connection() as link:
            for attempt in range(_ATTEMPTS):
                try:
                    own, _ = self._iceberg_commits((), instances)
                    tables = list(self._undo_own(own, instances, rewrite))
                except Exception as error:
                    reraise_of_run(error)
                    raise Unstaged(line_of(error)) from error
                try:
                    with link.transaction():
                        self._commit_tables(link, tables, lambda: act(link))
                        self._note_withheld(link, tables)
                except (Moved, LakeConflict) as moved:
                    if attempt == _ATTEMPTS - 1:
                        raise LakeConflict(
                            f"each of {_ATTEMPTS} rollbacks was overtaken: {moved}"
                        ) from None
                else:
                    return

    def _undo_own(
        self,
        commits: Mapping[str, Sequence[LakeCommitsRow]],
        instances: Sequence[int],
        rewrite: Rewrite,
    ) -> Iterator[OwnUndo]:
        """Return what takes the runs back in tables of this catalogue."""
        for code, done in commits.items():
            yield OwnUndo(self, self.table(code), done, instances, rewrite)

    def _iceberg_commits(
        self, announced: Sequence[LakeFoldersRow], instances: Sequence[int]
    ) -> tuple[dict[str, list[LakeCommitsRow]], dict[str, list[LakeCommitsRow]]]:
        """Return what runs committed to Iceberg tables, of this catalogue and of other ones."""
        own: dict[str, list[LakeCommitsRow]] = {}
        elsewhere: dict[str, list[LakeCommitsRow]] = {
            code: []
            for code in sorted({row.table_code for row in announced})
            if catalog_name(code) is not None
        }
        for row in self.calls.report(
            LakeCommitsRow,
            module_instance_id=list(instances),
            table_format_code="ICEBERG",
            order_by=("commit_id",),
        ):
            where = own if catalog_name(row.table_code) is None else elsewhere
            where.setdefault(row.table_code, []).append(row)
        for code in list(own):
            table = self.calls.find_table(code, table_format_code="ICEBERG")
            if table.metadata_location is None:
                own.pop(code)
                self._require_dropped(code)
                _log.info("%s was dropped: nothing to take back", code)
        return own, elsewhere

    def _require_dropped(self, code: str) -> None:
        """Refuse to take runs back from a table that has another name now: its rows would stay."""
        name = self.calls.find_renamed(code)
        if name is not None:
            raise LakeTableGone(
                f"{code} has rows to take back, and it is gone: what it was is now {name}",
                hint=f"Give {name} its name back, and start the Module again.",
            )

    def _undo_elsewhere(
        self,
        commits: Mapping[str, Sequence[LakeCommitsRow]],
        instances: Sequence[int],
        rewrite: Rewrite,
    ) -> Iterator[ElsewhereUndo]:
        """Return what takes the runs back in those tables of other catalogues that are there."""
        for code, done in commits.items():
            try:
                table = LakeTable.elsewhere(Elsewhere.load(code))
            except UnknownLakeTable:
                _log.info("%s was dropped: nothing to take back", code)
            else:
                yield ElsewhereUndo(self, table, done, instances, rewrite)

    def _undo_delta(
        self,
        announced: Sequence[LakeFoldersRow],
        instances: Sequence[int],
        rewrite: RewriteDelta,
        before: Sequence[DeltaRollback],
    ) -> Iterator[DeltaRollback]:
        """Return what takes the runs back in the Delta tables that they announced.

        Args:
            announced: the folders of their writes.
            instances: the runs.
            rewrite: writes the rows of mixed files that stay.
            before: what an attempt before has prepared: what has landed is only recorded.
        """
        landed = {undo.code: undo for undo in before if undo.changes and undo.landed is not None}
        tables = {
            (row.table_code, location_of(row.folder))
            for row in announced
            if row.folder and catalog_name(row.table_code) is None
        }
        for code, location in sorted(tables):
            if not DeltaLog(location).numbers:
                continue
            from omd.tables.delta import Delta  # the extra delta is needed
            from omd.tables.delta_run import DeltaRollback

            if code in landed:
                yield landed[code]
                continue
            table = Delta.find(location)
            if table is not None:
                yield DeltaRollback(self, code, table, instances, rewrite)

    def _note_withheld(self, link: Link, tables: Sequence[TableChange]) -> None:
        """Tell, in the transaction of the rollback, what overwrites do not give back."""
        instance = self.run.instance_id
        for table in tables:
            withheld = table.withheld
            if withheld is None:
                continue
            if withheld.expired:
                ControlCalls(link).log_event(
                    f"{table.code}: what {withheld.expired} overwrite(s) removed has expired, and"
                    " does not come back",
                    module_instance_id=instance,
                    event_type_code=6,
                )
            for away in withheld.away:
                LakeCalls(link).note_withheld(
                    instance,
                    table.code,
                    away.instance,
                    away.snapshot_id,
                    away.rows,
                    other_snapshot_id=away.because,
                )

    def remove_folders(self, instances: Sequence[int]) -> None:
        """Remove the files that these runs wrote and never committed."""
        rows = self.calls.report(
            LakeFoldersRow, module_instance_id=list(instances), folder_state="ABANDONED"
        )
        for row, problem in removals(self.calls, rows):
            if problem is None:
                remove(self.calls, row)
            else:
                _log.warning("%s of %s stays: %s", row.folder, row.table_code, problem)


def _require_partition(table: LakeTable, partition_by: Sequence[str]) -> None:
    wanted = partition_spec(table.metadata.schema, partition_by)
    here = [(f.source_id, str(f.transform)) for f in table.metadata.spec.fields]
    if here != [(f.source_id, str(f.transform)) for f in wanted.fields]:
        raise CallerError(
            f"{table.code} exists, and is partitioned otherwise",
            hint="Leave partition_by out: the table knows it.",
        )

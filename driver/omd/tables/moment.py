"""Lake tables as of the moment from which a run reads everything: its snapshot of PostgreSQL."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from omd._core.error_codes import NothingKept, UnknownLakeTable
from omd._core.snapshots import taking_over
from omd.rooms.lake.calls import LakeCalls
from omd.rooms.lake.rows import FindTableRow, LakeCommitsRow, LakeTablesRow
from omd.tables.catalogue import RunCatalogue, recorded
from omd.tables.elsewhere import Elsewhere, catalog_name
from omd.tables.table import LakeTable

if TYPE_CHECKING:
    from omd.rooms.control.reads import LoadWindow
    from omd.rooms.control.run import Run


class MomentReads(RunCatalogue):
    """The reads of one run."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        # Other catalogues and logs keep no moment of PostgreSQL: what was seen first is kept here.
        self._seen: dict[str, tuple[str, LakeTable]] = {}
        self._versions: dict[tuple[str, str], int | None] = {}

    def held(self, code: str, as_of: datetime | int | None) -> tuple[LakeTable, Any]:
        """Return a table, and its snapshot, of the moment at which this run reads everything.

        Args:
            code: the table code.
            as_of: an instant, by which several tables fit together, or the id of a snapshot.

        Raises:
            NothingKept: nothing is kept of that moment.
        """
        with self._at_moment() as calls:
            row = calls.find_table(code, table_format_code="ICEBERG")
            if catalog_name(row.table_code) is not None:
                return self._held_elsewhere(calls, row, as_of)
            table = LakeTable.of_row(row)
            if as_of is None:
                return table, table.metadata.snapshot
            if isinstance(as_of, int):
                snapshot_id: int | None = as_of
            else:
                snapshot_id = calls.commit_as_of(code, as_of).snapshot_id
        snapshot = table.metadata.snapshot_of(snapshot_id)
        if snapshot is None and snapshot_id is not None:
            raise table.nothing_kept(as_of)
        return table, snapshot

    def _held_elsewhere(
        self, calls: LakeCalls, row: FindTableRow, as_of: datetime | int | None
    ) -> tuple[LakeTable, Any]:
        """Return a table of another catalogue, as this run has seen it first."""
        if as_of is None:
            moment = self.run.snapshot()
            if self._seen.get(row.table_code, ("",))[0] != moment:
                self._seen[row.table_code] = moment, LakeTable.of_row(row)
            table = self._seen[row.table_code][1]
            return table, table.metadata.snapshot
        elsewhere = Elsewhere.load(row.table_code)
        table = LakeTable.elsewhere(elsewhere)
        if isinstance(as_of, int):
            snapshot = table.metadata.snapshot_of(as_of)
        else:
            rows = calls.report(LakeCommitsRow, table_code=row.table_code)
            recorded = {r.snapshot_id: r.commit_datetime for r in rows if r.snapshot_id is not None}
            snapshot = elsewhere.as_of(as_of, recorded)
        if snapshot is None:
            raise table.nothing_kept(as_of)
        return table, snapshot

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
            row = calls.find_table(code, table_format_code="DELTA")
            code = row.table_code
            if row.location is None:
                raise UnknownLakeTable(f"{code} is in another catalogue")
            if isinstance(as_of, int):
                return code, row.location, as_of
            if as_of is not None:
                return code, row.location, calls.commit_as_of(code, as_of).sequence_number
            moment = (self.run.snapshot(), code)
            if moment not in self._versions:
                self._versions[moment] = _version_to_read(calls, code, row.location)
            return code, row.location, self._versions[moment]

    @contextmanager
    def _at_moment(self) -> Iterator[LakeCalls]:
        """Make calls in the snapshot of PostgreSQL from which this run reads everything."""
        with self.run._control._long_call() as link, link.transaction() as connection:
            for statement in taking_over(self.run.snapshot()):
                connection.execute(statement.encode())
            yield LakeCalls(link)

    # Load windows -------------------------------------------------------------------------------

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

    def window_instances(self, code: str, span: LoadWindow) -> list[int]:
        """Return the runs whose writes into a table lie in a load window."""
        if span.end_value is None or span.end_id is None:
            return []
        rows = self.calls.instances_in_window(
            code, span.start_value, span.start_id, span.end_value, span.end_id
        )
        return [row.module_instance_id for row in rows]


def _version_to_read(calls: LakeCalls, code: str, location: str) -> int | None:
    from omd.tables.delta import Delta  # the extra delta is needed
    from omd.tables.delta_versions import version_to_read

    table = Delta.find(location)
    rows = calls.report(LakeTablesRow, table_code=code)
    if table is None or not rows:  # OMD has never written to it
        return None
    newest = rows[0].sequence_number
    return version_to_read(
        table, -1 if newest is None else newest, functools.partial(recorded, calls, code)
    )

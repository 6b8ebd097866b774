"""An Iceberg table at one moment, from whichever catalogue has it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from pyiceberg.io import FileIO

from omd._core.error_codes import NothingKept, UnknownLakeTable
from omd._core.errors import OmdError
from omd.tables.elsewhere import Elsewhere, catalog_name
from omd.tables.files import file_io
from omd.tables.metadata import Metadata

if TYPE_CHECKING:
    from omd.rooms.lake.rows import BeginWriteRow, FindTableRow


@dataclass(frozen=True, slots=True)
class LakeTable:
    """A table at one moment."""

    code: str
    io: FileIO
    metadata: Metadata

    @classmethod
    def read(cls, code: str, location: str) -> LakeTable:
        """Return the table that a metadata file describes."""
        io = file_io(location)
        return cls(code, io, Metadata.read(io, location))

    @classmethod
    def elsewhere(cls, table: Elsewhere) -> LakeTable:
        """Return a table of another catalogue."""
        return cls(table.code, table.io, table.metadata)

    @classmethod
    def of_row(cls, row: FindTableRow | BeginWriteRow) -> LakeTable:
        """Return the table of a row of the catalogue, as its own catalogue has it now.

        Raises:
            UnknownLakeTable: there is none.
        """
        if catalog_name(row.table_code) is not None:
            return cls.elsewhere(Elsewhere.load(row.table_code))
        if row.metadata_location is None:
            raise UnknownLakeTable(
                f"the catalogue has no table {row.table_code}",
                hint="Write to it first: run.write creates it.",
            )
        return cls.read(row.table_code, row.metadata_location)

    def nothing_kept(self, as_of: datetime | int | None) -> OmdError:
        """Return the error that nothing is kept of a moment."""
        return NothingKept(
            f"nothing is kept of {self.code} as of {as_of}",
            hint="omd_report.lake_commits shows its commits, with time and snapshot_id.",
        )

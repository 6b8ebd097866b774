"""Lake as Python sees it: the routines as methods."""

from __future__ import annotations

from omd._core.error_codes import InvalidArgument
from omd.rooms.control.connection import Door
from omd.rooms.lake.calls import LakeCalls


class Lake(Door, LakeCalls):
    """The room lake: ``control.lake`` (docs/explanation/lake.md)."""

    def register_table(self, table_code: str, metadata_location: str) -> bool:
        """Enter an Iceberg table, which may exist elsewhere already, into the catalogue.

        Args:
            table_code: the table.
            metadata_location: its metadata file; it has to exist.

        Returns:
            False: a table of this name is there and stays as it is.

        Raises:
            InvalidArgument: there is no such file, or it is no metadata of a table.
        """
        from omd.tables.files import file_io  # the extra lake is needed
        from omd.tables.metadata import Metadata

        if table_code is not None and metadata_location is not None:
            try:
                document = Metadata.read(file_io(metadata_location), metadata_location).document
                problem = None if "format-version" in document else "it is no metadata of a table"
            except Exception as error:  # noqa: BLE001 - each store has errors of its own
                problem = f"{type(error).__name__}: {error}"
            if problem is not None:
                raise InvalidArgument(
                    f"there is no metadata file {metadata_location}: {problem}",
                    hint="Name the newest file in the folder metadata of the table.",
                )
        return super().register_table(table_code, metadata_location)

"""The folders of writes that were never committed: they are removed.

A commit outside of the database may have landed although it was never recorded. So a folder in
which such a table has a live file stays: the next begin takes the file back, or it is one that a
rollback wrote before it died, and holds rows of other runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omd.lake.elsewhere import Elsewhere, catalog_name
from omd.lake.errors import UnknownLakeTable
from omd.lake.files import remove_folder, size_of
from omd.lake.rows import LakeFoldersRow
from omd.lake.staging import live_entries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omd.control.room import Control

__all__ = ["remove_abandoned"]


def remove_abandoned(
    control: Control, *, dry_run: bool = False, **of: Any
) -> list[tuple[str, int, int]]:
    """Remove abandoned folders; return the table, the number of files and their size for each.

    Args:
        control: the connection.
        dry_run: only return what would be removed.
        of: which of them, as filters of the view.
    """
    done = []
    tables: dict[str, tuple[set[str], Mapping[str, str] | None]] = {}
    for row in control.lake.report(
        LakeFoldersRow,
        order_by=("table_code", "module_instance_id"),
        folder_state="ABANDONED",
        **of,
    ):
        if row.folder is not None:
            if row.table_code not in tables:
                tables[row.table_code] = _live(control, row.table_code)
            live, properties = tables[row.table_code]
            end = row.folder[row.folder.rindex("/data/omd/") :] + "/"
            if any(end in path for path in live):
                continue
            done.append((row.table_code, *size_of(row.folder, properties)))
            if not dry_run:
                remove_folder(row.folder, properties)
        if not dry_run:
            control.lake.record_folder_removal(
                row.module_instance_id, row.write_number, row.table_code
            )
    return done


def _live(control: Control, code: str) -> tuple[set[str], Mapping[str, str] | None]:
    """Return the live files of a table outside of the database, and the way to its files."""
    if catalog_name(code) is not None:
        try:
            table = Elsewhere.load(code)
        except UnknownLakeTable:
            return set(), None
        paths = {
            entry.data_file.file_path
            for manifest in table.metadata.manifests(table.io)
            for entry in live_entries(table.io, manifest)
        }
        return paths, table.io.properties
    found = control.lake.find_table(code)
    if found.table_format_code != "DELTA" or found.location is None:
        return set(), None
    from omd.lake.delta import Delta  # the extra delta is needed

    delta = Delta.find(found.location)
    paths = set() if delta is None else {delta.path_of(file) for file in delta.files()}
    return paths, None

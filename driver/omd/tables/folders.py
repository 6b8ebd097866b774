"""The folders of writes that were never committed: which of them are removed, and which stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from omd._core.error_codes import InstanceNotExecuting, LeaseExpired
from omd._core.errors import ConnectionFailed, OmdError
from omd.tables.delta_log import DeltaLog
from omd.tables.elsewhere import (
    catalog_name,
    folders_elsewhere,
    locations_elsewhere,
    settings_of,
)
from omd.tables.files import lies_within, remove_folder
from omd.tables.names import location_of

if TYPE_CHECKING:
    from omd.rooms.lake.calls import LakeCalls
    from omd.rooms.lake.rows import LakeFoldersRow


def removals(
    calls: LakeCalls, rows: Sequence[LakeFoldersRow]
) -> Iterator[tuple[LakeFoldersRow, str | None]]:
    """Return those of some abandoned folders that can go, and those that stay, with the reason.

    A folder that a version of its table names is in neither: a commit outside of the database may
    have landed although it was never recorded.

    Args:
        calls: the calls of the room.
        rows: the folders.
    """
    by_table: dict[str, list[LakeFoldersRow]] = {}
    for row in rows:
        by_table.setdefault(row.table_code, []).append(row)
    for code, of_table in by_table.items():
        try:
            named = _named(code, [row.folder for row in of_table if row.folder])
            problems = [_problem(calls, row) for row in of_table]
        except Exception as error:  # noqa: BLE001 - one table stops no other
            reraise_of_run(error)
            problems, named = [line_of(error)] * len(of_table), set()
        for row, problem in zip(of_table, problems, strict=True):
            if row.folder not in named:
                yield row, problem


def _named(code: str, folders: Sequence[str]) -> set[str]:
    """Return those of some folders that a version of their table names."""
    if catalog_name(code) is not None:
        return folders_elsewhere(code, folders)
    named: set[str] = set()
    for location in {location_of(folder) for folder in folders}:
        if DeltaLog(location).numbers:
            from omd.tables.delta_versions import named_folders  # the extra delta is needed

            named |= named_folders(location)
    return named


def _problem(calls: LakeCalls, row: LakeFoldersRow) -> str | None:
    """Return why a folder is not deleted; None if nothing speaks against it."""
    if row.folder is None:
        return None
    problem = calls.folder_problem(
        row.module_instance_id, row.write_number, row.table_code, row.folder
    )
    if problem is not None:
        return problem
    # The database has compared names. A link may lead elsewhere all the same.
    places = [location_of(row.folder)]
    if catalog_name(row.table_code) is not None:
        places = locations_elsewhere(row.table_code)
    inside = [f"{row.folder}/x"]
    if any(all(lies_within(place, inside)) for place in places):
        return None
    return f"it does not lie in {' or '.join(places) or 'a table of the catalogue'}"


def remove(calls: LakeCalls, row: LakeFoldersRow) -> None:
    """Remove a folder, and record that it was removed."""
    if row.folder is not None:
        remove_folder(row.folder, settings_of(row.table_code))
    calls.record_folder_removal(row.module_instance_id, row.write_number, row.table_code)


def reraise_of_run(error: Exception) -> None:
    """Raise an error again that ends the run itself, and is no problem of one table."""
    if isinstance(error, (ConnectionFailed, InstanceNotExecuting, LeaseExpired)):
        raise error


def line_of(error: Exception) -> str:
    """Return an error in one line, with its kind where OMD has not raised it."""
    line = (str(error).strip().splitlines() or [""])[0]
    return line if isinstance(error, OmdError) else f"{type(error).__name__}: {line}"

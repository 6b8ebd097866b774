"""Which versions of a Delta log count: for a reader, for the folders of writes, for an expiry."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

from omd._core.error_codes import NothingKept
from omd.tables.delta import Delta
from omd.tables.delta_log import DeltaLog
from omd.tables.names import WRITE


def version_to_read(
    table: Delta, recorded: int, known: Callable[[list[int]], Collection[int]]
) -> int:
    """Return the version that a run reads if it asks for none.

    What other engines have committed after the newest recorded commit is read too, up to a commit
    of OMD that changes rows and is not recorded: its run may still be taken back, or the moment of
    the reader was earlier.

    Args:
        table: the table, with its newest version.
        recorded: the newest version that the database has recorded; -1: none.
        known: returns which of some versions it has recorded.
    """
    log = DeltaLog(table.location)
    later = log.versions(number for number in log.numbers if recorded < number <= table.version)
    ours = [version.number for version in later if version.operation and version.has_other_rows]
    unsure = set(ours) - set(known(ours) if ours else ())
    return min(unsure, default=max(table.version, recorded) + 1) - 1


def named_folders(location: str) -> set[str]:
    """Return the folders of the writes of which a version of the log names a file.

    A run that dies between commit and success leaves files in the log that the database does not
    know to be committed.
    """
    log = DeltaLog(location)
    paths = {path for version in log.versions(log.numbers) for path in version.added}
    paths |= {file.path for file in oldest(location, log.numbers).files()}
    matches = (WRITE.match(path) for path in paths)
    return {f"{location}/{write[0]}" for write in matches if write is not None}


def oldest(location: str, numbers: Sequence[int]) -> Delta:
    """Return the oldest of some versions that can be read; the newest of all if none can."""
    for number in numbers:
        with suppress(NothingKept):
            return Delta(location, number)
    return Delta(location)

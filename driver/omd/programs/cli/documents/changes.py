"""What files would change, and what each kind of file does when several are applied together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

    from omd.doors.control import Control

NEW = "NEW"
"""The path of a thing that is not registered yet."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between a file and what is registered."""

    document: str  # the thing that differs, as kind:key
    path: str  # where it differs; NEW: the thing is not there yet
    old: Any  # what is registered; None where there is nothing
    new: Any  # what the file makes of it; None where that is nothing


def differences(
    document: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any],
    given: Collection[str],
) -> Iterator[Change]:
    """Yield what differs between two states of a thing.

    Args:
        document: the thing.
        before: its values; None: it was not there.
        after: its values now.
        given: the values that the file has; of a new thing the others are defaults.
    """
    if before is None:
        yield Change(document, NEW, None, None)
    for path in dict.fromkeys([*(before or {}), *after]):
        old, new = (before or {}).get(path), after.get(path)
        if old != new and (before is not None or path in given):
            yield Change(document, path, old, new)


class Documents:
    """The files of one kind that are applied together with those of other kinds.

    A file is read when the object is made, without a database. `prepare` is called of all kinds
    before the transaction, then in it `hold` of all, `apply` of all, and `finish` of all where it
    is not a dry run.
    """

    control: Control  # whoever applies them sets it

    def __init__(self, *, dry_run: bool) -> None:
        self.dry_run = dry_run
        self.remarks: list[str] = []  # what is printed when all is done

    def prepare(self) -> None:
        """Do what takes long or needs no transaction."""

    def hold(self) -> None:
        """Take what must be locked before anything else."""

    def apply(self, connection: psycopg.Connection[Any]) -> Iterator[Change]:
        """Register what the files say, and yield what has changed."""
        raise NotImplementedError

    def finish(self) -> None:
        """Do what follows from all that was registered."""

    def problems(self, error: Any) -> Iterator[str]:
        """Yield each problem that an error of these files lists, with its place."""
        yield from ()

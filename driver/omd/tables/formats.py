"""How a run changes a lake table: one interface, and what the three table formats do with it.

Each format has its module, with one class for what a run writes and one for what it takes back:

* `omd.tables.own_run`: Iceberg, in the catalogue that lies in the database. Its commit exchanges a
  row there, so it is visible exactly when the transaction of the run is.
* `omd.tables.elsewhere_run`: Iceberg, in another catalogue.
* `omd.tables.delta_run`: Delta, whose commit is a file in a log.

`omd.tables.iceberg_run` has what the first two share. The last two are outside: a commit is visible
before the database has recorded it. So each carries an idempotency key, by which a commit whose
answer was lost is found and not made twice, and by which the next begin finds the commit of a run
that has died.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from omd.rooms.control.run import Run
    from omd.tables.undo import Away

File = TypeVar("File")

Record = dict[str, Any]
"""A commit as omd_lake.commit_tables takes it."""


@dataclass(frozen=True, slots=True)
class Rewritten(Generic[File]):
    """The files that replace others."""

    write_number: int
    rows: int
    files: list[File]


class Withheld(Protocol):
    """What the rollback of a table does not bring back; see `omd.tables.undo.Undo`."""

    expired: int
    away: list[Away]


class TableChange(ABC):
    """What a run does to one table, until its commit.

    The run calls `stage` and then `commit`, both in the transaction that records the commit. When
    the answer of that transaction is lost, it calls both again, and nothing is done twice.
    """

    is_outside: ClassVar[bool]
    """Whether its commit is visible before the database has recorded it."""

    code: str
    """The table."""

    withheld: Withheld | None = None
    """Of a rollback: what does not come back."""

    @property
    @abstractmethod
    def changes(self) -> bool:
        """Whether a commit is needed."""

    def stage(  # noqa: B027 - outside there is nothing to stage
        self, run: Run, location: str
    ) -> None:
        """Write what the commit names, while no instance is locked.

        Args:
            run: the run that commits.
            location: the metadata file of the table, which nobody else exchanges until the end of
                the transaction.
        """

    def unstage(self) -> None:  # noqa: B027 - outside there is nothing to stage
        """Forget what was staged: the table has moved on."""

    @abstractmethod
    def commit(self, run: Run) -> Record | None:
        """Return what the database records; outside, commit before. None: there is nothing to do.

        Args:
            run: the run that commits; outside, it holds the lock of its fence.

        Raises:
            LakeConflict: the table has moved on.
        """


def writes_of(writes: Sequence[tuple[int, int]]) -> list[dict[str, int]]:
    """Return the numbers and rows of writes as a record has them."""
    return [{"write_number": number, "rows": rows} for number, rows in writes]

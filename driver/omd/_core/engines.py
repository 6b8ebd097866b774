"""Engines, which perform what a run moves: in PostgreSQL, or on Spark.

An engine is found by its name, which Modules and topics carry.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from omd._core import packages

POSTGRES, SPARK = "POSTGRES", "SPARK"


@dataclass(frozen=True)
class WriteResult:
    """The result of a write: the committed rows of all its partitions."""

    rows: int


class Snapshot(Protocol):
    """One moment of a database, held for reads."""

    id: str

    def is_held(self) -> bool:
        """Return whether it is still held."""
        ...

    def close(self) -> None:
        """Release it."""
        ...


class Engine(Protocol):
    """All that blocks and rooms ask of an engine.

    A session is an object of the engine, and a run is the block of the room that asks: the core
    knows the types of neither. Where an engine has no jobs of its own there is nothing to mark, and
    what it can't do it refuses.
    """

    name: str
    needs_process: bool
    """Whether a program performs each of its runs in a process of its own."""

    # Sessions, and the jobs of a run in them ----------------------------------------------------

    def active(self) -> Any | None:
        """Return the session that this thread uses already, if there is one."""
        return None

    def session(
        self, master: str | None = None, *, is_brief: bool = False, quiet: bool = False
    ) -> Any:
        """Return a session.

        Args:
            master: the master URL.
            is_brief: a new session has settings for a short life.
            quiet: what the engine says at its start is not shown.
        """
        self._refuse("has no session")

    def renew(self) -> bool:
        """Put a new session in the place of the present one, before other work begins.

        Returns:
            Whether there is a session of this process that can go on.
        """
        return False

    def context(self, session: Any) -> dict[str, Any]:
        """Return what the execution context says about a session."""
        return {}

    def attach(self, session: Any, tag: str) -> None:
        """Mark the jobs that this thread starts from now on, so that they can be cancelled."""
        return

    def hand_on(self, session: Any, parent: Callable[[], str | None]) -> None:
        """Name the run as the parent of what the session reports of itself, where it does.

        Args:
            session: the session.
            parent: returns the run as namespace/job/run id.
        """
        return

    def cancel(self, session: Any, tag: str) -> None:
        """Cancel the jobs that are marked with the tag."""
        return

    def release(self, session: Any, tag: str) -> None:
        """Stop marking the jobs of this thread."""
        return

    def interrupted(self, session: Any) -> None:
        """Clean up after a signal that ended the job at any point of this thread."""
        return

    # The rows of a run --------------------------------------------------------------------------

    def snapshot(self, dsn: str) -> Snapshot:
        """Hold one moment of a database, for reads of this engine."""
        ...

    def read(self, reads: Any, session: Any, table: str | None, **options: Any) -> Any:
        """Return the rows of a table, a query or the slice of a run, for its `Reads`."""
        self._refuse("reads no rows into Python")

    def stamp(self, run: Any, df: Any, **options: Any) -> Any:
        """Return rows with the audit columns of a run."""
        self._refuse("has no rows in Python")

    def write(self, run: Any, df: Any, table: str | None, **options: Any) -> WriteResult:
        """Write rows to the target of a run, stamped and fenced."""
        self._refuse("writes no rows of Python")

    def window(self, run: Any, table: str) -> Any:
        """Record the load window of a run that ends at the newest commit of a lake table."""
        self._refuse("reads no lake table")

    def roll_back(self, session: Any, step: Any) -> None:
        """Execute a step of a rollback, as omd.rollback_steps answers it."""
        self._refuse("rolls back in the database")

    def roll_back_tables(self, run: Any, instances: Any) -> None:
        """Take back what runs have written to lake tables, and confirm it."""
        self._refuse("writes no lake table")

    def rewrite_files(
        self, run: Any, session: Any, lake: Any, table: Any, undo: Any, instances: Any
    ) -> Any:
        """Write the rows of some files of an Iceberg table that stay when runs are taken back."""
        self._refuse("writes no lake table")

    # What rooms run on it -----------------------------------------------------------------------

    def step(self, connection: Any, definition: Any, **options: Any) -> Any:
        """Perform a step of a topic, and return its outcome."""
        self._refuse("performs no step")

    def decide(self, connection: Any, stage: str, **options: Any) -> Any:
        """Perform a run of a stage, and return its outcome, still without counts."""
        self._refuse("performs no stage")

    def compile_checks(self, session: Any, document: Any, constraints: Any) -> None:
        """Compile the checks of a model, so that one that can't be executed is found."""
        self._refuse("compiles no checks of a delivery")

    def reserve(self, session: Any, user: object) -> Callable[[], None]:
        """Reserve a session that has one delivery at a time; return what undoes it."""
        self._refuse("performs no delivery")

    def deliver(self, run: Any) -> None:
        """Validate and apply what an open run of a delivery was handed."""
        self._refuse("performs no delivery")

    def delivered_in(self, folder: str, session: Any | None) -> list[str]:
        """Return the entities for which a folder holds data."""
        self._refuse("reads no files")

    def files_at(self, paths: Mapping[str, str], session: Any) -> list[dict[str, Any]]:
        """Return the files that are now at the path of each entity."""
        self._refuse("reads no files")

    def folders(self, session: Any, location: str, terms: Any) -> Any:
        """Return the folders of a location of another file system; see `omd.doors.arrivals`."""
        self._refuse("reads no files")

    def export(self, run: Any) -> dict[str, Any]:
        """Write and publish the files of an export; return the manifest."""
        self._refuse("writes no files")

    def absolute(self, path: str) -> str:
        """Return a path with its scheme; one without is a local path of this process."""
        self._refuse("writes no files")

    def join_files(self, run: Any, session: Any, table: Any, column: str, group: Any) -> Any:
        """Write a group of small files of an Iceberg table as larger ones."""
        self._refuse("writes no files")

    def forget(self, run: Any, session: Any, table: Any, wanted: Any) -> Any:
        """Write the files of an Iceberg table that hold some keys again, without them."""
        self._refuse("writes no files")

    def join_delta_files(
        self, run: Any, session: Any, code: str, table: Any, column: str, group: Any
    ) -> tuple[int, int, list[Any]]:
        """Write a group of small files of a Delta table as larger ones."""
        self._refuse("writes no files")

    def _refuse(self, why: str) -> NoReturn:
        from omd._core.errors import CallerError

        raise CallerError(f"the engine {self.name} {why}", hint=f"The engine {SPARK} does.")


class Engines:
    """The engines, found by name; whoever makes a connection hands them in.

    Args:
        table: for each engine its module, and the library that a process has imported when it has a
            session of it.
    """

    def __init__(self, table: Mapping[str, tuple[str, str | None]]) -> None:
        self._table = table

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __getitem__(self, name: str) -> Engine:
        # It is imported only now, so that a run in PostgreSQL needs nothing of Spark; and without
        # its library too, so that a worker that lacks it goes on with other work.
        with packages.may_lack_extras():
            engine: Engine = importlib.import_module(self._table[name][0]).engine
        return engine

    def active_session(self) -> Any | None:
        """Return the session that this thread uses already, of an engine that is imported."""
        sessions = (engine.active() for engine in self._imported())
        return next((session for session in sessions if session is not None), None)

    def renew(self) -> bool:
        """Put new sessions in the place of those of this process, before other work begins.

        Returns:
            Whether there is one that can go on.
        """
        return any(engine.renew() for engine in self._imported())

    def _imported(self) -> Iterator[Engine]:
        return (self[name] for name, (_, library) in self._table.items() if library in sys.modules)

"""Engines, which move the rows of a run where PostgreSQL does not do it itself.

An engine is found by its name, which Modules and topics carry. Its package is imported only then,
so that a run in PostgreSQL needs nothing of it.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any, Protocol

from omd._rooms import ENGINES

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Engine", "Snapshot", "active_session", "engine"]


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
    """The methods that a run calls; a session is an object of the engine."""

    def active(self) -> Any | None:
        """Return the session that this thread uses already, if there is one."""
        ...

    def context(self, session: Any) -> dict[str, Any]:
        """Return what the execution context says about a session."""
        ...

    def attach(self, session: Any, tag: str) -> None:
        """Mark the jobs that this thread starts from now on, so that they can be cancelled."""
        ...

    def cancel(self, session: Any, tag: str) -> None:
        """Cancel the jobs that are marked with the tag."""
        ...

    def release(self, session: Any, tag: str) -> None:
        """Stop marking the jobs of this thread."""
        ...

    def interrupted(self, session: Any) -> None:
        """Clean up after a signal that ended the job at any point of this thread."""
        ...

    def roll_back(self, session: Any, step: Any) -> None:
        """Execute a step of a rollback, as omd.rollback_steps answers it."""
        ...

    def snapshot(self, dsn: str) -> Snapshot:
        """Hold one moment of a database, for reads of this engine."""
        ...


def engine(name: str) -> Any:
    """Return the engine of this name: an `Engine`, which may have more methods than that."""
    return importlib.import_module(ENGINES[name][0]).engine


def active_session() -> Any | None:
    """Return the session that this thread uses already, of any engine whose library is imported."""
    sessions: Iterable[Any] = (
        engine(name).active() for name, (_, library) in ENGINES.items() if library in sys.modules
    )
    return next((session for session in sessions if session is not None), None)

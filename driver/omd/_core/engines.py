"""Engines: what moves the rows of a run where PostgreSQL does not do it itself.

An engine is found by its name, as Modules and topics have it. Its package is imported only then, so
that a run in PostgreSQL needs nothing of it.
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
        """Whether it is still held."""
        ...

    def close(self) -> None:
        """Let it go."""
        ...


class Engine(Protocol):
    """What a run asks of an engine; a session is the engine's own."""

    def active(self) -> Any | None:
        """The session that this thread uses already, if there is one."""
        ...

    def context(self, session: Any) -> dict[str, Any]:
        """What the execution context tells of a session."""
        ...

    def attach(self, session: Any, tag: str) -> None:
        """Mark the jobs that this thread starts from now on, so that they can be cancelled."""
        ...

    def cancel(self, session: Any, tag: str) -> None:
        """Cancel the jobs so marked."""
        ...

    def release(self, session: Any, tag: str) -> None:
        """Mark no more jobs."""
        ...

    def interrupted(self, session: Any) -> None:
        """A signal has ended the job, wherever this thread was."""
        ...

    def roll_back(self, session: Any, statement: str) -> None:
        """Execute a statement of a rollback."""
        ...

    def snapshot(self, dsn: str) -> Snapshot:
        """Hold one moment of a database, for reads of this engine."""
        ...


def engine(name: str) -> Any:
    """The engine of this name, as `Engine` says; the package has more than that to offer."""
    return importlib.import_module(ENGINES[name][0]).engine


def active_session() -> Any | None:
    """The session of an engine that this thread uses already; looks only at what is imported."""
    sessions: Iterable[Any] = (
        engine(name).active() for name, (_, library) in ENGINES.items() if library in sys.modules
    )
    return next((session for session in sessions if session is not None), None)

"""What the people have asked for and is at work, or was a while ago.

A statement goes on in a thread of its own, whoever looks: leaving the page ends nothing. Whoever
asked may stop it, which cancels the statement, and so does logging out.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import threading
from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import Enum
from typing import TYPE_CHECKING, Any

import psycopg

from omd.programs.web.personal import break_off

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omd.programs.web.opening import Connection
    from omd.programs.web.sessions import Session

    Deed = Callable[["Work", Connection], None]

logger = logging.getLogger("omd.web")

# What ended is kept so long as a person has asked for no more than this after it.
KEPT = 50


class State(Enum):
    """How far a work is."""

    AT_WORK = "AT_WORK"
    DONE = "DONE"
    REFUSED = "REFUSED"
    STOPPED = "STOPPED"
    LOST = "LOST"
    """The connection was lost, so nobody knows whether the last statement was committed."""


@dataclass(eq=False)
class Work:
    """One thing that a person asked for. The thread of the work writes it, all others read it."""

    number: int
    user: str
    title: str
    sql: str
    """The text that was shown."""
    back: str
    """The path of what it is done to."""
    since: datetime = field(default_factory=lambda: datetime.now(timezone.utc))
    ended: datetime | None = None
    state: State = State.AT_WORK
    done: int | None = None
    """How many rows, or steps, are done."""
    total: int | None = None
    progress: str = ""
    """How far it is, in words."""
    answers: list[Mapping[str, Any]] = field(default_factory=list)
    """The rows that the calls answered, the last one last."""
    problems: list[tuple[str, psycopg.Error]] = field(default_factory=list)
    """What was refused, with what it was asked for; of a single call it is the only one."""
    error: psycopg.Error | None = None
    is_stopped: bool = False
    """Somebody wants it to stop: a deed of several statements looks before each."""

    _connection: Connection | None = None
    _over: threading.Event = field(default_factory=threading.Event)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def wait(self, seconds: float) -> bool:
        """Wait for the end; return whether it came."""
        return self._over.wait(seconds)

    def stop(self) -> None:
        """Cancel the statement that runs, and let no other follow."""
        # The guard: without it the cancel could reach what the connection does next.
        with self._guard:
            self.is_stopped = True
            if self._connection is not None:
                with contextlib.suppress(psycopg.Error):
                    self._connection.cancel_safe(timeout=5.0)

    def report(self, done: int, total: int | None, progress: str) -> None:
        """Say how far it is."""
        self.done, self.total, self.progress = done, total, progress


class AtWork:
    """All works of one page. Every method may be called by any thread."""

    def __init__(self) -> None:
        self._works: dict[int, Work] = {}  # guarded by _guard
        self._numbers = itertools.count(1)
        self._guard = threading.Lock()

    def begin(self, session: Session, title: str, sql: str, back: str, deed: Deed) -> Work:
        """Do something in a thread, on a connection of the person's own.

        Args:
            session: which has asked; logging out of it ends the work.
            title: what is done.
            sql: what was shown.
            back: the path of what it is done to.
            deed: does it.

        Raises:
            AllAtWorkError: none of the person's connections is free.
        """
        personal = session.person.personal
        held = personal.take(by=session)
        work = Work(next(self._numbers), session.person.user, title, sql, back)
        work._connection = held.opened
        with self._guard:
            self._works[work.number] = work
            ended = [w for w in self._works.values() if w.user == work.user and w.ended]
            for old in ended[: max(len(ended) - KEPT, 0)]:
                del self._works[old.number]

        def do() -> None:
            connection = held.opened
            state = State.LOST
            try:
                deed(work, connection)
                state = State.STOPPED if work.is_stopped else State.DONE
            except psycopg.Error as error:
                work.error = error
                state = _state_after(error, work, connection)
            except Exception:
                logger.exception("%s failed", title)
                break_off(connection)
            finally:
                with work._guard:
                    work._connection = None
                personal.give_back(held)
                work.state = state
                work.ended = datetime.now(timezone.utc)
                work._over.set()

        threading.Thread(target=do, name=f"omd web: {work.number}", daemon=True).start()
        return work

    def of(self, number: int, user: str) -> Work | None:
        """Return a work of the person's."""
        with self._guard:
            work = self._works.get(number)
        return work if work is not None and work.user == user else None

    def all_of(self, user: str) -> list[Work]:
        """Return what the person asked for, the last first."""
        with self._guard:
            works = [work for work in self._works.values() if work.user == user]
        return works[::-1]


def _state_after(error: psycopg.Error, work: Work, connection: Connection) -> State:
    if connection.closed or connection.broken:
        return State.LOST
    if work.is_stopped and error.sqlstate == "57014":
        return State.STOPPED
    return State.REFUSED

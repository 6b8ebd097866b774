"""What the page knows while it runs: its settings, its readers, and who is logged in."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import anyio
import psycopg
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response

from omd.web.answers import is_lost
from omd.web.doing import AtWork
from omd.web.person import Person, rights_of
from omd.web.personal import Connections
from omd.web.reading import AT_ONCE, Reader
from omd.web.section import Asked, Row, Screen, Section, Select
from omd.web.sessions import IDLE, Session, Sessions

T = TypeVar("T")

_JUDGED = 60.0  # seconds after which rights are looked at again


class Login(Protocol):
    """A way to become a person of the page."""

    async def unknown(self, site: Site, request: Request) -> Response:
        """Answer a request that comes without a session."""


class Site:
    """The page of one database.

    Args:
        dsn: the connection string of the page's own login.
        login: how one becomes a person.
        prefix: under which path the page is.
        idle: seconds after which a session without a request is over.
        is_read_only: whether the page offers no action.
    """

    def __init__(
        self,
        dsn: str,
        login: Login,
        *,
        prefix: str = "",
        idle: float = IDLE,
        is_read_only: bool = False,
    ) -> None:
        self.dsn = dsn
        self.login = login
        self.prefix = prefix
        self.is_read_only = is_read_only
        self.reader = Reader(dsn)
        self.sessions = Sessions(idle)
        self.connections = Connections()
        self.at_work = AtWork()
        self.database = ""
        self._reading: Any = None

    async def in_reading(self, call: Callable[[], T]) -> T:
        """Call something in a thread that may borrow a connection of `reader`."""
        if self._reading is None:  # a limiter belongs to the loop that runs
            self._reading = anyio.CapacityLimiter(AT_ONCE)
        return await run_sync(call, limiter=self._reading)

    async def screen(
        self,
        function: Callable[[Asked], Screen],
        person: Person,
        keys: Mapping[str, str],
        query: Mapping[str, str],
    ) -> Screen:
        """Return what a screen shows; its function is called in a thread that may read."""
        asked = Asked(keys, query, person, self.reader.read)
        return await self.in_reading(functools.partial(function, asked))

    async def rows(self, section: Section, person: Person) -> list[list[Row]] | psycopg.Error:
        """Return the rows of a section's queries, or the error with which one has ended.

        Raises:
            psycopg.OperationalError: there is no database.
        """
        read = person.read if section.is_data else self.reader.read

        def all_rows() -> list[list[Row]]:
            return [read(select) for select in section.selects]

        try:
            return await (run_sync(all_rows) if section.is_data else self.in_reading(all_rows))
        except psycopg.Error as error:
            if is_lost(error):
                raise
            return error

    async def judge(self, person: Person) -> None:
        """Look at the rights of a person, at most once a minute."""
        now = time.monotonic()
        if now - person.judged_at < _JUDGED:
            return
        person.rights = await self.in_reading(lambda: rights_of(person.user, self.reader.read))
        person.judged_at = now
        if not self.database:
            [row] = await self.in_reading(lambda: self.reader.read(_DATABASE))
            self.database = row["name"]

    def forget(self, session: Session) -> None:
        """Close the connections of a person whose last session has ended."""
        if all(other.person is not session.person for other in self.sessions.all()):
            session.person.leave()

    def close(self) -> None:
        """Close all connections."""
        for session in self.sessions.all():
            session.person.leave()
        self.connections.end_all()
        self.reader.close()


@dataclass(frozen=True)
class Call:
    """A request of somebody who is logged in and may look, to a handler of `routes.HANDLERS`.

    Attributes:
        site: the page.
        request: what was sent.
        session: of who asks.
        keys: the variable parts of the path.
        query: the parameters of the URL.
    """

    site: Site
    request: Request
    session: Session
    keys: Mapping[str, str]
    query: Mapping[str, str]

    @property
    def person(self) -> Person:
        """Who asks."""
        return self.session.person


_DATABASE = Select("SELECT pg_catalog.current_database() AS name")

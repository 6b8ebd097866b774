"""What the page knows while it runs: its settings, its readers, and who is logged in."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import anyio
import psycopg
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from omd._core.conninfo import read_conninfo
from omd.programs.page.markup import Html
from omd.programs.web import frame
from omd.programs.web.answers import is_lost
from omd.programs.web.doing import AtWork
from omd.programs.web.guard import Guard
from omd.programs.web.opening import Connection
from omd.programs.web.person import Person, Rights, rights_of
from omd.programs.web.reading import AT_ONCE, Reader
from omd.programs.web.section import Asked, Row, Screen, Section
from omd.programs.web.sessions import COOKIE, IDLE, Session, Sessions
from omd.programs.web.watches import Watches

T = TypeVar("T")

_JUDGED = 60.0  # seconds after which rights are looked at again
_READY = 10.0  # seconds for which an answer of /readyz counts


class Login(Protocol):
    """A way to become a person of the page."""

    name: str

    def refusal(self, rights: Rights) -> Html | None:
        """Return why somebody may not look who could otherwise."""

    async def comes(
        self, site: Site, request: Request, session: Session | None
    ) -> Response | Person | None:
        """Look at a request before its session counts.

        Returns:
            An answer; or who asks, for whom a session begins; or None: the session counts.
        """


class Site:
    """The page of one database.

    Args:
        dsn: the connection string of the page's own login.
        login: how one becomes a person.
        guard: which requests are taken.
        prefix: under which path the page is.
        idle: seconds after which a session without a request is over.
        is_read_only: whether the page offers no action.
        is_https: whether browsers reach it by https.
    """

    def __init__(
        self,
        dsn: str,
        login: Login,
        guard: Guard,
        *,
        prefix: str = "",
        idle: float = IDLE,
        is_read_only: bool = False,
        is_https: bool = False,
    ) -> None:
        self.dsn = dsn
        self.login = login
        self.guard = guard
        self.prefix = prefix
        self.is_read_only = is_read_only
        self.is_https = is_https
        self.reader = Reader(dsn)
        self.sessions = Sessions(idle)
        self.at_work = AtWork()
        self.watches = Watches(self.reader.opened)
        self.database_name = read_conninfo(dsn).get("dbname") or ""
        self.at_end: list[Callable[[], None]] = [self.watches.end]
        self._people: dict[str, Person] = {}
        self._reading: Any = None
        self._ready = (float("-inf"), False)
        self._asks: Any = None

    # Who looks ----------------------------------------------------------------------------------

    def person(
        self, user: str, open_: Callable[[], Connection], *, is_shown_only: bool = False
    ) -> Person:
        """Return the person of a database user, who is one in all sessions."""
        person = self._people.get(user)
        if person is None:
            person = Person(user, open_, is_shown_only=is_shown_only)
            self._people[user] = person
        person.personal.renew(open_)
        return person

    def let_in(self, answer: Response, person: Person) -> Response:
        """Begin a session; its cookie comes with an answer."""
        return self.with_cookie(answer, self.sessions.begin(Session.of(person)))

    def with_cookie(self, answer: Response, cookie: str) -> Response:
        """Let an answer bring the cookie of a session."""
        answer.set_cookie(
            COOKIE,
            cookie,
            path=self.prefix or "/",
            httponly=True,
            samesite="strict",
            secure=self.is_https,
        )
        return answer

    def end(self, cookie: str) -> None:
        """End a session, and what it has begun: its person logs out."""
        session = self.sessions.end(cookie)
        if session is not None:
            session.person.personal.end(session)
            self._forget()

    def tidy(self) -> None:
        """End the sessions that are over; what they have begun goes on."""
        self.sessions.ended()
        self._forget()

    def _forget(self) -> None:
        """Forget who has no session, once nothing of theirs is at work."""
        there = {id(session.person) for session in self.sessions.all()}
        for person in list(self._people.values()):
            if id(person) not in there:
                person.personal.rest()
                if not person.personal.is_at_work:
                    del self._people[person.user]

    async def judge(self, person: Person) -> Rights:
        """Return the rights of a person, which are looked at once a minute."""
        now = time.monotonic()
        if now - person.judged_at >= _JUDGED:
            rights = await self.in_reading(lambda: rights_of(person.user, self.reader.read))
            person.rights = replace(rights, actions=frozenset()) if self.is_read_only else rights
            person.judged_at = now
            self.database_name = self.reader.database
        return person.rights

    # Reading ------------------------------------------------------------------------------------

    async def in_reading(self, call: Callable[[], T]) -> T:
        """Call something in a thread that may borrow a connection of `reader`."""
        if self._reading is None:  # a limiter belongs to the loop that runs
            self._reading = anyio.CapacityLimiter(AT_ONCE)
        return await run_sync(call, limiter=self._reading)

    def _share_of(self, person: Person) -> anyio.CapacityLimiter:
        """Return what leaves one connection to others, however much a person looks at."""
        share: anyio.CapacityLimiter | None = person.share
        if share is None:
            share = person.share = anyio.CapacityLimiter(AT_ONCE - 1)
        return share

    async def screen(
        self,
        function: Callable[[Asked], Screen],
        person: Person,
        keys: Mapping[str, str],
        query: Mapping[str, str],
    ) -> Screen:
        """Return what a screen shows; its function is called in a thread that may read."""
        asked = Asked(keys, query, person, self.reader.read)
        async with self._share_of(person):
            return await self.in_reading(functools.partial(function, asked))

    async def rows(self, section: Section, person: Person) -> list[list[Row]] | psycopg.Error:
        """Return the rows of a section's queries, or the error with which one has ended.

        Raises:
            psycopg.OperationalError: there is no database.
        """
        if section.is_data and not person.is_data_reader:
            return no_data(person)
        read = person.read if section.is_data else self.reader.read

        def all_rows() -> list[list[Row]]:
            return [read(select) for select in section.selects]

        try:
            if section.is_data:
                return await run_sync(all_rows)
            async with self._share_of(person):
                return await self.in_reading(all_rows)
        except psycopg.Error as error:
            if is_lost(error):
                raise
            return error

    def page(
        self,
        request: Request,
        session: Session,
        name: str,
        title: str,
        body: Sequence[Html],
        *,
        stream: Html | None = None,
    ) -> str:
        """Return a page with head and rail; see `frame.page`."""
        head = frame.Head(
            self.database_name,
            session.form_token("/logout") if self.login.name != "header" else None,
            self.is_read_only,
            request.cookies.get(frame.SCHEME),
        )
        return frame.page(name, title, body, session.person, head, stream=stream)

    async def is_ready(self) -> bool:
        """Return whether the database answers; it is asked at most every ten seconds."""
        if self._asks is None:
            self._asks = asyncio.Lock()
        async with self._asks:
            at, was = self._ready
            if time.monotonic() - at < _READY:
                return was
            try:
                await self.in_reading(self.reader.ping)
                self._ready = (time.monotonic(), True)
            except psycopg.Error:
                self._ready = (time.monotonic(), False)
            return self._ready[1]

    def close(self) -> None:
        """Close all connections."""
        for person in self._people.values():
            person.personal.end_all()
        self.watches.close()
        self.reader.close()


def no_data(person: Person) -> psycopg.Error:
    """Return the error of a person who may not see business rows.

    The database itself is not asked: some of its functions answer such a person with NULLs.
    """
    error = psycopg.errors.InsufficientPrivilege(
        "This shows business rows or whole texts of errors, for which one needs omd_data_reader."
    )
    error.hint = f'GRANT omd_data_reader TO "{person.user}";'  # type: ignore[attr-defined]
    return error


@dataclass(frozen=True)
class Call:
    """A request of somebody who is logged in and may look, to a handler of `routes.HANDLERS`.

    Attributes:
        site: the page.
        request: what was sent; of a POST, host and origin are the page's own.
        session: of who asks.
        keys: the variable parts of the path.
        query: the parameters of the URL.
        form: the fields of a POST; its token is the handler's to spend.
        is_again: whether the page that asks again by itself has asked: the request came from
            another site.
    """

    site: Site
    request: Request
    session: Session
    keys: Mapping[str, str]
    query: Mapping[str, str]
    form: Mapping[str, list[str]]
    is_again: bool = False

    @property
    def person(self) -> Person:
        """Who asks."""
        return self.session.person

    def page(self, name: str, title: str, *body: Html, status: int = 200) -> Response:
        """Return a page with head and rail."""
        html = self.site.page(self.request, self.session, name, title, body)
        return HTMLResponse(html, status)

    def field(self, name: str) -> str:
        """Return a field of the form; one that is not there is empty."""
        return self.form.get(name, [""])[-1]

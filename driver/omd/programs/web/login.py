"""How one becomes a person of the page: /login, /logout, and the three ways of ``--login``."""

from __future__ import annotations

import secrets
import time
from typing import Any

import anyio
import psycopg
from anyio.to_thread import run_sync
from psycopg import sql
from starlette.requests import Request
from starlette.responses import Response

from omd._core.pooling import needs_session
from omd.programs.page.markup import Html, el
from omd.programs.web import parts
from omd.programs.web.answers import form_of, is_lost, redirected, said, unavailable
from omd.programs.web.attempts import Attempts, whole_second
from omd.programs.web.opening import Connection, NotLetInError, opened
from omd.programs.web.person import Person, Rights
from omd.programs.web.sessions import COOKIE, Session
from omd.programs.web.site import Call, Site
from omd.programs.web.stamps import Stamps

HEADER_NEEDS = "the login header, by which the page acts as others,"

_AT_ONCE = 4  # so many logins ask the database at once


class TokenLogin:
    """Whoever has the printed link is the libpq identity of whoever started the page."""

    name = "token"

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._token = ""
        self._attempts = Attempts()

    def link(self) -> str:
        """Return the path of a new link, which works once; one that was not used no longer does."""
        self._token = secrets.token_urlsafe(32)
        return parts.path("/", {"token": self._token})

    def refusal(self, rights: Rights) -> Html | None:  # noqa: ARG002
        """Return why somebody may not look who could otherwise: never."""
        return None

    async def comes(self, site: Site, request: Request, session: Session | None) -> Response | None:
        """Let in who opens the link, also somebody who is logged in already."""
        token = request.query_params.get("token")
        if token is not None and request.method == "GET" and request.url.path == parts.path("/"):
            return await self._opened(site, request, token)
        return None if session is not None else self._refused()

    async def _opened(self, site: Site, request: Request, token: str) -> Response:
        began, address = time.monotonic(), site.guard.address(request)
        wait = self._attempts.wait("", address)
        if wait is not None:
            return too_many(wait)
        attempt = self._attempts.begin("", address)
        if not self._token or not secrets.compare_digest(token.encode(), self._token.encode()):
            await whole_second(began)
            return self._refused()
        self._token, taken = "", self._token
        try:
            user = await run_sync(self._user)
        except psycopg.Error:
            self._token = self._token or taken
            raise
        finally:
            self._attempts.succeeded(attempt)
        person = site.person(user, lambda: opened(self._dsn))
        return site.let_in(redirected(parts.path("/")), person)

    def _refused(self) -> Response:
        text = "Open the link that omd web has printed; Enter in its terminal prints a new one."
        return said(403, "Who are you?", el("p", text))

    def _user(self) -> str:
        with opened(self._dsn) as connection:
            return user_of(connection, "current_user")


class DatabaseLogin:
    """A database user, whose name and password open that user's own connections."""

    name = "database"

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._attempts = Attempts()
        self._stamps = Stamps()
        self._opening: Any = None

    def refusal(self, rights: Rights) -> Html | None:
        """Return why somebody may not look who could otherwise."""
        return None if rights.can_log_in else el("p", "This role can't log in any more.")

    async def comes(self, site: Site, request: Request, session: Session | None) -> Response | None:
        """Show the form and look at what is sent by it."""
        if session is not None:
            return None
        if request.url.path != parts.path("/login"):
            if request.method == "POST":
                return said(403, "You are not logged in", el("p", link_to_login("/")))
            query = request.url.query
            path = request.scope.get("raw_path", b"").decode("ascii", "replace")
            wanted = f"{path}?{query}" if query else path
            return redirected(parts.path("/login", {"next": wanted} if len(wanted) < 4000 else {}))
        if request.method != "POST":
            return self._form(site, request.query_params.get("next", ""))
        return await self._attempt(site, request)

    def _form(self, site: Site, wanted: str) -> Response:
        fields = (
            el("input", type="hidden", name="form", value=self._stamps.make()),
            el("input", type="hidden", name="next", value=wanted) if wanted else None,
            _field("user", "Database user", autocomplete="username"),
            _field("password", "Password", type="password", autocomplete="current-password"),
            el("button", "Log in", type="submit"),
        )
        form = el("form", *fields, method="post", action=parts.path("/login"), cls="login")
        return said(200, "Log in", el("p", "Database ", el("strong", site.database_name)), form)

    async def _attempt(self, site: Site, request: Request) -> Response:
        form = await form_of(request)
        given = {name: form.get(name, [""])[-1] for name in ("user", "password", "form", "next")}
        began, address, name = time.monotonic(), site.guard.address(request), given["user"]
        wait = self._attempts.wait(name, address)
        if wait is not None:
            return too_many(wait)
        if not self._stamps.spend(given["form"]):
            return said(403, "This form was used already", el("p", link_to_login(given["next"])))
        attempt = self._attempts.begin(name, address)
        try:
            connection = await self._opened(name, given["password"])
        except psycopg.Error as error:
            if await self._is_unreachable(error, site):
                self._attempts.succeeded(attempt)
                return unavailable()
            connection = None
        if connection is None:
            await whole_second(began)
            text = "The name or the password is wrong, or this user may not connect."
            return said(403, "You are not logged in", el("p", text),
                        el("p", link_to_login(given["next"])))  # fmt: skip
        with connection:
            if not connection.pgconn.used_password:
                await whole_second(began)
                text = (
                    "The server did not ask for the password: pg_hba.conf lets this user in"
                    " without one, so anybody could be them here."
                )
                return said(403, "The password was not looked at", el("p", text))
            user = await run_sync(user_of, connection, "session_user")
        self._attempts.succeeded(attempt)
        password = given["password"]
        person = site.person(user, lambda: self._reopened(site, user, password))
        return site.let_in(redirected(within(site.prefix, given["next"])), person)

    async def _opened(self, user: str, password: str) -> Connection | None:
        # Without a password libpq would take one from its environment.
        if not user or not password or "\0" in user + password:
            return None
        if self._opening is None:
            self._opening = anyio.CapacityLimiter(_AT_ONCE)
        return await run_sync(self._open, user, password, limiter=self._opening)

    def _reopened(self, site: Site, user: str, password: str) -> Connection:
        try:
            return self._open(user, password)
        except psycopg.OperationalError as error:
            site.reader.ping()  # without a database it is not the user
            raise NotLetInError(str(error)) from error

    def _open(self, user: str, password: str) -> Connection:
        """Open a connection as this user, by this password and nothing else."""
        return opened(
            self._dsn,
            user=user,
            password=password,
            passfile="/dev/null",
            # libpq takes a file that can't be there for none: a path below a file.
            sslcert="/dev/null/none",
            sslkey="/dev/null/none",
            gssencmode="disable",
        )

    async def _is_unreachable(self, error: psycopg.Error, site: Site) -> bool:
        """Return whether nobody could log in now; the code of a refused login is often lost."""
        if error.sqlstate is not None and not error.sqlstate.startswith(("08", "53", "57")):
            return False
        try:
            await site.in_reading(site.reader.ping)
        except psycopg.Error as other:
            return is_lost(other)
        return False


class HeaderLogin:
    """Whom a trusted proxy names; the page's own login takes on that role."""

    name = "header"

    def __init__(self, dsn: str, header: str) -> None:
        self._dsn = dsn
        self._header = header

    def refusal(self, rights: Rights) -> Html | None:
        """Return why somebody may not look who could otherwise."""
        if not rights.is_there:
            return el("p", "There is no such role in the database.")
        if rights.is_mighty:
            text = (
                "A proxy can't let in roles of administrators: superusers, roles that create roles"
                " or replicate, those of OMD, and who can become one or reach the server's files."
            )
            return el("p", text)
        if not rights.may_be_taken:
            return missing(rights.grant)
        return None

    async def comes(
        self, site: Site, request: Request, session: Session | None
    ) -> Response | Person | None:
        """Return who is named, where that is somebody else than the session's person."""
        user = self._named(request)
        if user is None:
            text = f"The proxy has to send one header {self._header} with the name of a role."
            return said(403, "Who are you?", el("p", text))
        if session is not None and session.person.user == user:
            return None
        return site.person(user, lambda: self._open(user), is_shown_only=True)

    def _named(self, request: Request) -> str | None:
        """Return the name that the proxy has sent; two of them are none."""
        values = [
            value
            for name, value in request.scope["headers"]
            if name == self._header.lower().encode("latin-1")
        ]
        if len(values) != 1:
            return None
        try:
            user = str(values[0].decode("utf-8"))
        except UnicodeDecodeError:
            return None
        return user if user and user.isprintable() else None

    def _open(self, user: str) -> Connection:
        connection = opened(self._dsn)
        try:
            if connection.is_pooled:
                raise needs_session(HEADER_NEEDS)
            connection.may_become_others = True
            connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(user)))
        except psycopg.Error:
            connection.close()
            raise
        return connection


# Pages ------------------------------------------------------------------------------------------


async def answer(call: Call) -> Response:  # noqa: ARG001 - whoever is logged in need not do so
    """Answer /login of somebody who is logged in."""
    return redirected(parts.path("/"))


async def leave(call: Call) -> Response:
    """Answer /logout."""
    is_form = call.session.spend(call.field("form"), "/logout")
    if call.request.method != "POST" or not is_form:
        return said(403, "This form was used already", el("p", link_to("/", "Back")))
    call.site.end(call.request.cookies[COOKIE])
    gone = said(200, "You are logged out", el("p", link_to("/", "Log in again")))
    gone.delete_cookie(COOKIE, path=call.site.prefix or "/")
    return gone


def missing(grant: str) -> Html:
    """Return the statement that is missing."""
    return el("div", el("p", "An administrator can change it:"), el("pre", grant))


def too_many(wait: int) -> Response:
    """Return the answer to one attempt too many."""
    text = f"Too many logins have failed; the next one is looked at in {wait} s."
    return said(429, "Please wait", el("p", text), Retry_After=str(wait))


def link_to(path: str, text: str) -> Html:
    """Return a link to a place of the page."""
    return el("a", text, href=parts.path(path))


def link_to_login(wanted: str) -> Html:
    """Return a link to a new form."""
    return el("a", "Log in", href=parts.path("/login", {"next": wanted} if wanted else {}))


def within(prefix: str, wanted: str) -> str:
    """Return where to go after the login: nowhere outside of the page."""
    # A browser takes a backslash for a slash, and what begins with two for another host.
    is_own = wanted.startswith(f"{prefix}/") and not wanted.startswith("//")
    return wanted if is_own and wanted.isascii() and "\\" not in wanted else f"{prefix}/"


def user_of(connection: Connection, function: str) -> str:
    """Return who a connection is: session_user or current_user."""
    query = sql.SQL("SELECT {} AS name").format(sql.SQL(function))
    row = connection.execute(query).fetchone()
    assert row is not None  # noqa: S101 - it has no FROM
    return str(row["name"])


def _field(name: str, title: str, **attributes: str) -> Html:
    return el("label", el("span", title), el("input", name=name, required="", **attributes))

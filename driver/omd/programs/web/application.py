"""The ASGI application: from a request to the answer of a screen."""

from __future__ import annotations

import asyncio
import importlib
import logging
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import psycopg
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from omd._core.conninfo import resolve_conninfo
from omd.programs.page.markup import el
from omd.programs.terminal.text import printable
from omd.programs.web import download, frame, live, parts, routes
from omd.programs.web.answers import (
    HEADERS,
    form_of,
    is_lost,
    redirected,
    said,
    status_of,
    unavailable,
)
from omd.programs.web.assets import by_path
from omd.programs.web.guard import Guard, Refused, networks
from omd.programs.web.login import (
    DatabaseLogin,
    HeaderLogin,
    TokenLogin,
    missing,
    within,
)
from omd.programs.web.opening import NotLetInError
from omd.programs.web.section import NotThere
from omd.programs.web.sessions import COOKIE, IDLE, Session
from omd.programs.web.site import Call, Login, Site, no_data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import Receive, Scope, Send

_log = logging.getLogger("omd.web")

HEADER = "X-Remote-User"

# Marks a request by which the page has asked again by itself (A3).
AGAIN = "again"

# What does something, or tries it; after a link from another site it waits for a click.
_ACTING = ("do", "bulk")

_METHODS = ("GET", "HEAD", "POST")
_LOGINS = ("login", "logout")


class Application:
    """The page as an ASGI application."""

    def __init__(self, site: Site) -> None:
        self.site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        raw = (scope.get("raw_path") or scope["path"].encode()).partition(b"?")[0]
        with parts.under(self.site.prefix):
            response = await self._probed(scope["path"])
            is_probe = response is not None
            if response is None:
                response = await self._taken(request, raw)
        for name, value in HEADERS.items():
            response.headers[name] = value
        response.headers.setdefault("Cache-Control", "no-store")
        if not is_probe:
            user = printable(scope.get("omd.user", "-"))
            path = printable(raw.decode("ascii", "backslashreplace"))
            _log.info("%s %s %d %s", request.method, path, response.status_code, user)
        await response(scope, receive, send)

    async def _probed(self, path: str) -> Response | None:
        """Answer those who look after the program; they may use any Host."""
        probe = path.removeprefix(self.site.prefix)
        if probe == "/healthz":
            return PlainTextResponse("ok\n")
        if probe == "/readyz":
            if await self.site.is_ready():
                return PlainTextResponse("ok\n")
            return PlainTextResponse("the database can't be reached\n", 503)
        return None

    async def _taken(self, request: Request, raw: bytes) -> Response:
        try:
            self.site.guard.check(request)
            return await self._answer(request, raw)
        except Refused as refused:
            return said(refused.status, refused.title, el("p", refused.text))
        except NotLetInError as error:
            text = "Log out, and in again with what counts now."
            return said(403, "The database lets you in no more", el("p", str(error)), el("p", text))
        except psycopg.Error as error:
            if is_lost(error):
                _log.warning("the database can't be reached: %s", error)
                return unavailable()
            status = status_of(error)
            if status == 500:
                _log.error("a request failed", exc_info=error)
            return said(status, "The database can't answer this", frame.problem(error))
        except Exception as error:  # noqa: BLE001 - the next request may be answered
            _log.error("a request failed", exc_info=error)
        return said(500, "The page has failed", el("p", "Its log says why."))

    async def _answer(self, request: Request, raw: bytes) -> Response:
        prefix = self.site.prefix
        path: str = request.scope["path"]
        if request.method not in _METHODS:
            return said(405, "The page knows GET and POST", Allow=", ".join(_METHODS))
        if path == prefix:
            return said(404, "There is no such page", el("p", el("a", "Now", href=f"{prefix}/")))
        if not path.startswith(f"{prefix}/"):
            return said(404, "There is no such page")
        asset = by_path().get(path.removeprefix(prefix))
        if asset is not None:
            forever = {"Cache-Control": "public, max-age=31536000, immutable"}
            return Response(asset.content, media_type=asset.kind, headers=forever)
        try:
            pieces = routes.pieces_of(raw.removeprefix(prefix.encode()))
        except UnicodeDecodeError:
            return said(400, "This path is no UTF-8")
        query = dict(request.query_params)
        if any("\0" in text for text in (*pieces, *query, *query.values())):
            return said(400, "No name in the database holds the character NUL")
        if request.method == "POST" and self.site.is_read_only and pieces[0] not in _LOGINS:
            return said(403, "This page only shows", el("p", "It was started with --read-only."))
        return await self._known(request, raw, pieces, query)

    async def _known(
        self, request: Request, raw: bytes, pieces: list[str], query: dict[str, str]
    ) -> Response:
        """Answer a request once it is known who asks."""
        site = self.site
        site.tidy()
        again = query.pop(AGAIN, None)
        clean = urlencode([(k, v) for k, v in request.query_params.multi_items() if k != AGAIN])
        cookie = request.cookies.get(COOKIE)
        session = site.sessions.of(cookie, looks=pieces != ["live"])
        is_foreign = request.headers.get("sec-fetch-site") in ("cross-site", "same-site")
        is_asked = _is_recent(again) or "token" in query or request.method == "POST"
        if session is None and is_foreign and not is_asked:
            return _asking_again(pieces[0] in _ACTING, clean)
        comes = await site.login.comes(site, request, session)
        if isinstance(comes, Response):
            return comes
        new: str | None = None
        if comes is not None:
            if cookie is not None:
                site.end(cookie)
            session = Session.of(comes)
            new = site.sessions.begin(session)
        assert session is not None  # noqa: S101 - comes() has an answer where there is none
        request.scope["omd.user"] = session.person.user
        if again is not None and request.method == "GET" and pieces[0] not in _ACTING:
            # The address is one that can be sent to a colleague.
            path = raw.decode("ascii", "replace")
            wanted = f"{path}?{clean}" if clean else path
            answer: Response = redirected(within(site.prefix, wanted))
        else:
            answer = await self._judged(request, session, pieces, query, again is not None)
        if new is not None and answer.status_code < 400:
            return site.with_cookie(answer, new)
        if new is not None:
            site.end(new)
        return answer

    async def _judged(
        self,
        request: Request,
        session: Session,
        pieces: list[str],
        query: dict[str, str],
        is_again: bool,
    ) -> Response:
        """Answer who may look."""
        rights = await self.site.judge(session.person)
        refusal = self.site.login.refusal(rights)
        if refusal is None and not rights.is_reader:
            refusal = missing(rights.reader_grant)
        if refusal is not None and pieces[0] != "logout":
            return said(403, "You may not look", refusal)
        for pattern, place in routes.HANDLERS.items():
            keys = routes.matched(pattern, pieces, query)
            if keys is not None:
                form = await form_of(request) if request.method == "POST" else {}
                call = Call(self.site, request, session, keys, query, form, is_again)
                name, _, function = place.partition(":")
                module = importlib.import_module(f"omd.programs.web.{name}")
                answer: Response = await getattr(module, function)(call)
                return answer
        if request.method == "POST":
            return said(405, "This page takes no form", Allow="GET, HEAD")
        shown = routes.screen_of(pieces, query)
        if shown is not None:
            return await self._screen(request, *shown, session, pieces, query)
        return said(404, "There is no such page")

    async def _screen(
        self,
        request: Request,
        name: str,
        keys: Mapping[str, str],
        session: Session,
        pieces: list[str],
        query: Mapping[str, str],
    ) -> Response:
        site, person = self.site, session.person
        function = importlib.import_module(f"omd.programs.web.screens.{name}").screen
        wanted = query.get("csv")
        query = {name: value for name, value in query.items() if name != "csv"}
        try:
            screen = await site.screen(function, person, keys, query)
        except NotThere as error:
            return said(404, str(error))
        if screen.leads_to is not None:
            return redirected(screen.leads_to)
        if wanted is not None:
            for section in screen.sections:
                if section.id == wanted and section.is_data and not person.is_data_reader:
                    return said(403, "You may not see these rows", frame.problem(no_data(person)))
                if section.id == wanted:
                    return await download.csv_of(site, person, screen, section)
            return said(404, "This screen has no such table")
        tables = await asyncio.gather(*(site.rows(s, person) for s in screen.sections))
        sections = [
            frame.section(section, rows, query)
            for section, rows in zip(screen.sections, tables, strict=True)
        ]
        body = [*([screen.form] if screen.form else []), *sections]
        stream = live.element(screen, sections, pieces, query)
        page = site.page(request, session, screen.name, screen.title, body, stream=stream)
        return HTMLResponse(page)


def app(
    dsn: str | None = None,
    login: str = "token",
    prefix: str = "",
    *,
    header: str = HEADER,
    trusted_proxies: Sequence[str] = (),
    public_url: str | None = None,
    host: str = "127.0.0.1",
    peer_uids: Sequence[int] = (),
    idle: float = IDLE,
    read_only: bool = False,
    is_https: bool = False,
) -> Application:
    """Return the page as an ASGI application.

    Args:
        dsn: the connection string of the page's own login; without it, what `omd.connect` would
            use.
        login: who one is: token (whoever has `link`), database (a database user, by name and
            password) or header (whom a trusted proxy names).
        prefix: under which path the page is, such as /omd.
        header: in which the proxy names the user.
        trusted_proxies: addresses or networks from which that header counts.
        public_url: the address under which browsers reach the page.
        host: the address at which it listens.
        peer_uids: accounts of this host, beside the own one, that may ask over loopback.
        idle: seconds after which a session without a request is over.
        read_only: whether no action is offered.
        is_https: whether the socket speaks TLS.
    """
    resolved = resolve_conninfo(dsn)
    way: Login
    if login == "token":
        way = TokenLogin(resolved)
    elif login == "database":
        way = DatabaseLogin(resolved)
    elif login == "header":
        way = HeaderLogin(resolved, header)
    else:
        raise ValueError(f"login is token, database or header, not {login}")
    prefix = prefix.rstrip("/")
    if prefix and not prefix.startswith("/"):
        raise ValueError(f"a prefix begins with a slash: {prefix}")
    guard = Guard(
        public_url=public_url,
        host=host,
        proxies=networks(trusted_proxies),
        peer_uids=frozenset(peer_uids),
        is_personal=login == "token",
        is_behind_proxy=login == "header",
    )
    site = Site(
        resolved,
        way,
        guard,
        prefix=prefix,
        idle=idle,
        is_read_only=read_only,
        is_https=is_https or (public_url or "").startswith("https:"),
    )
    return Application(site)


def _is_recent(again: str | None) -> bool:
    """Return whether the page has asked again just now, and not in a link that was kept."""
    if again is None or not re.fullmatch("[0-9]{1,12}", again):
        return False
    return abs(time.time() - int(again)) < 60


def _asking_again(waits: bool, query: str) -> Response:
    """Return the page for who comes from another site, and so without the cookie."""
    # An address that begins with ? stays on this host and path, whatever they are.
    address = f"?{query}{'&' if query else ''}{AGAIN}={int(time.time())}"
    text = "A link from elsewhere has led you here."
    go_on = el("p", el("a", "Go on", href=address))
    refresh = None if waits else address
    return HTMLResponse(frame.small("One moment", el("p", text), go_on, refresh=refresh))


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return

"""The ASGI application: from a request to the answer of a screen."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

import psycopg
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from omd._core.conninfo import resolve_conninfo
from omd._terminal.markup import el
from omd.web import frame, parts, routes
from omd.web.answers import said, unavailable
from omd.web.assets import by_path
from omd.web.login import TokenLogin
from omd.web.sessions import COOKIE, Session
from omd.web.site import Call, Site

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_log = logging.getLogger("omd.web")

# A8: every answer has these.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none';"
        " object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}


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
        with parts.under(self.site.prefix):
            try:
                response = await self._answer(request)
            except psycopg.OperationalError:
                response = unavailable()
        for name, value in HEADERS.items():
            response.headers[name] = value
        response.headers.setdefault("Cache-Control", "no-store")
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        prefix = self.site.prefix
        path: str = request.scope["path"]
        if not path.startswith(f"{prefix}/"):
            return said(404, "There is no such page")
        asset = by_path().get(path.removeprefix(prefix))
        if asset is not None:
            forever = {"Cache-Control": "public, max-age=31536000, immutable"}
            return Response(asset.content, media_type=asset.kind, headers=forever)
        raw: bytes = request.scope.get("raw_path") or path.encode()
        try:
            pieces = routes.pieces_of(raw.removeprefix(prefix.encode()))
        except UnicodeDecodeError:
            return said(400, "This path is no UTF-8")
        query = dict(request.query_params)
        if any("\0" in text for text in (*pieces, *query, *query.values())):
            return said(400, "No name in the database holds the character NUL")
        return await self._routed(request, pieces, query)

    async def _routed(self, request: Request, pieces: list[str], query: dict[str, str]) -> Response:
        session = self.site.sessions.of(request.cookies.get(COOKIE))
        if session is None:
            return await self.site.login.unknown(self.site, request)
        person = session.person
        await self.site.judge(person)
        if not person.rights.is_reader:
            grant = f'GRANT omd_reader TO "{person.user}";'
            told = el("p", "An administrator can let you:")
            return said(403, "You may not look", told, el("pre", grant))
        for pattern, place in routes.HANDLERS.items():
            keys = routes.matched(pattern, pieces, query)
            if keys is not None:
                name, _, function = place.partition(":")
                module = importlib.import_module(f"omd.web.{name}")
                answer: Response = await getattr(module, function)(
                    Call(self.site, request, session, keys, query)
                )
                return answer
        for pattern, name in routes.SCREENS.items():
            keys = routes.matched(pattern, pieces, query)
            if keys is not None:
                return await self._screen(name, session, keys, query)
        return said(404, "There is no such page")

    async def _screen(
        self, name: str, session: Session, keys: Mapping[str, str], query: Mapping[str, str]
    ) -> Response:
        site, person = self.site, session.person
        function = importlib.import_module(f"omd.web.screens.{name}").screen
        screen = await site.screen(function, person, keys, query)
        found = await asyncio.gather(*(site.rows(s, person) for s in screen.sections))
        sections = [
            frame.section(section, rows, query)
            for section, rows in zip(screen.sections, found, strict=True)
        ]
        head = frame.Head(site.database, session.form_token("/logout"), site.is_read_only)
        return HTMLResponse(frame.page(screen, sections, person, head))


def app(dsn: str | None = None, login: str = "token", prefix: str = "") -> Application:
    """Return the page as an ASGI application.

    Args:
        dsn: the connection string; without it, what `omd.connect` would use.
        login: token, database or header.
        prefix: under which path the page is, such as /omd.
    """
    if login != "token":
        raise NotImplementedError(login)
    resolved = resolve_conninfo(dsn)
    return Application(Site(resolved, TokenLogin(resolved), prefix=prefix))


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return

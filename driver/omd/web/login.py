"""How one becomes a person of the page."""

from __future__ import annotations

import secrets

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response

from omd._terminal.markup import el
from omd.web import parts
from omd.web.answers import form_of, redirected, said
from omd.web.opening import opened
from omd.web.person import Person
from omd.web.sessions import COOKIE
from omd.web.site import Call, Site


class TokenLogin:
    """Whoever has the printed link is the libpq identity of whoever started the page."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._token = ""
        self._person: Person | None = None

    def link(self) -> str:
        """Return the path of a new link, which works once; one that was not used no longer does."""
        self._token = secrets.token_urlsafe(32)
        return parts.path("/", {"token": self._token})

    async def unknown(self, site: Site, request: Request) -> Response:
        """Let in who comes with the token."""
        token = request.query_params.get("token", "")
        if not self._token or not secrets.compare_digest(token.encode(), self._token.encode()):
            text = "Open the link that omd web has printed; Enter in its terminal prints a new one."
            return said(403, "Who are you?", el("p", text))
        self._token = ""
        if self._person is None:
            user = await run_sync(self._user)
            self._person = Person(user, lambda: opened(self._dsn), connections=site.connections)
        answer = redirected(request.url.path)
        answer.set_cookie(
            COOKIE,
            site.sessions.begin(self._person),
            path=site.prefix or "/",
            httponly=True,
            samesite="strict",
        )
        return answer

    def _user(self) -> str:
        with opened(self._dsn) as connection:
            row = connection.execute("SELECT current_user AS name").fetchone()
            assert row is not None  # noqa: S101 - a row without FROM
            return str(row["name"])


async def answer(call: Call) -> Response:  # noqa: ARG001 - whoever is logged in need not do so
    """Answer /login of somebody who is logged in."""
    return redirected(parts.path("/"))


async def leave(call: Call) -> Response:
    """Answer /logout."""
    [token] = (await form_of(call.request)).get("form", [""])
    if call.request.method != "POST" or not call.session.spend(token, "/logout"):
        return said(403, "This form was used already")
    call.site.sessions.end(call.request.cookies[COOKIE])
    call.site.forget(call.session)
    gone = said(200, "You are logged out")
    gone.delete_cookie(COOKIE, path=call.site.prefix or "/")
    return gone

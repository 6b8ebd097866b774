"""Answers that are no screen."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import psycopg
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from omd.programs.page.markup import el
from omd.programs.web import frame
from omd.programs.web.opening import NotLetInError

# A8: every answer has these.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none';"
        " object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    # Another page of this host, such as one on another port, embeds nothing of this one.
    "Cross-Origin-Resource-Policy": "same-origin",
}

MOST = 1 << 20  # bytes of a form


def said(status: int, title: str, *children: Any, **headers: str) -> Response:
    """Return a small page that says something."""
    return HTMLResponse(
        frame.small(title, *children),
        status,
        {name.replace("_", "-"): value for name, value in headers.items()},
    )


def unavailable() -> Response:
    """Return what there is without the database."""
    text = "The page is there, and answers again when the database does."
    return said(503, "The database can't be reached", el("p", text), Retry_After="5")


def redirected(path: str) -> Response:
    """Return the answer that leads to a path that `parts.path` made."""
    return RedirectResponse(path, 303)


async def form_of(request: Request) -> dict[str, list[str]]:
    """Return the fields of a form that was sent; of one that is too long, none."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST:
            return {}
    fields: dict[str, list[str]] = {}
    for name, value in parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True):
        fields.setdefault(name, []).append(value)
    return fields


def is_lost(error: psycopg.Error) -> bool:
    """Return whether an error says that the connection is gone, not the statement."""
    if isinstance(error, NotLetInError):
        return False
    state = error.sqlstate
    return isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)) and (
        state is None
        or (state.startswith(("08", "28", "3D", "53", "57P")) and not state.startswith("57014"))
    )


def status_of(error: psycopg.Error) -> int:
    """Return the status of an answer that says why a statement was refused."""
    state = error.sqlstate or ""
    if state == "42501":
        return 403
    if state.startswith(("OM0", "22", "23", "42")) or isinstance(error, psycopg.DataError):
        return 422  # what was typed
    return 500 if state.startswith(("OM9", "XX")) else 409

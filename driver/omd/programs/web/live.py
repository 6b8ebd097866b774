"""Streams of the sections of a screen, as server-sent events that htmx swaps into the page.

A tab gets a section when its markup differs from what the tab has, which the tab says when it opens
the stream (``seen``, or ``Last-Event-ID`` when it comes back). Events with a name: ``on`` and
``off`` say whether the pictures are live, ``beat`` that the page is there, ``end`` that the tab has
to be loaded anew, since whoever looks may no longer do so.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

import psycopg
from starlette.responses import Response

from omd.programs.page.markup import Html, el, join
from omd.programs.web import frame, parts, routes
from omd.programs.web.answers import is_lost, said
from omd.programs.web.reading import rows_of
from omd.programs.web.section import Row, Screen, Section
from omd.programs.web.sessions import COOKIE
from omd.programs.web.site import Call
from omd.programs.web.watches import Connection, Watch, Watches, digest, is_digest

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

_log = logging.getLogger("omd.web")

BEAT = 5.0  # seconds; a tab that hears nothing for three of them says that it is not live


def element(
    screen: Screen, sections: Sequence[Html], pieces: Sequence[str], query: Mapping[str, str]
) -> Html | None:
    """Return what names the stream of a screen, or None: none of its sections is live.

    page.js opens it while somebody looks.

    Args:
        screen: what is shown.
        sections: their markup, as it is in the page.
        pieces: of the path.
        query: the parameters of the URL.
    """
    seen = [
        digest(html)
        for section, html in zip(screen.sections, sections, strict=True)
        if _is_live(section)
    ]
    if not seen:
        return None
    of = "".join(f"/{routes.quoted(piece)}" for piece in pieces)
    if query:
        of += f"?{urlencode(query)}"
    address = parts.path("/live", {"of": of, "seen": ".".join(seen)})
    named = {"hx-sse:connect": address, "hx-trigger": "omd:live"}
    return el("div", id="stream", hidden="", **named)


async def answer(call: Call) -> Response:
    """Answer /live: the sections of the screen that ``of`` names, whenever they have changed."""
    site, person = call.site, call.person
    if call.request.method != "GET":
        return said(405, "A stream can only be opened", Allow="GET")
    path, _, text = call.query.get("of", "").partition("?")
    query = dict(parse_qsl(text, keep_blank_values=True))
    try:
        shown = routes.screen_of(routes.pieces_of(path.encode()), query)
    except UnicodeDecodeError:
        shown = None
    if shown is None:
        return said(404, "There is no such page")
    name, keys = shown
    function = importlib.import_module(f"omd.programs.web.screens.{name}").screen
    screen = await site.screen(function, person, keys, query)
    sections = [section for section in screen.sections if _is_live(section)]
    seen = call.request.headers.get("Last-Event-ID") or call.query.get("seen", "")
    # Who may see the same and call the same shares a picture, whoever it is.
    may = (person.rights.actions, person.is_data_reader)
    shares = (name, *sorted(keys.items()), *sorted(query.items()), *may)
    # What a browser sends comes back in the ids of the stream.
    digests = [its if is_digest(its) else "" for its in seen.split(".")] + [""] * len(sections)
    live = [
        Part(section.id, (section.id, shares), _computing(section, query, site.prefix), its)
        for section, its in zip(sections, digests, strict=False)
    ]
    cookie = call.request.cookies.get(COOKIE)

    async def may_look() -> bool:
        if site.sessions.of(cookie, looks=False) is None:
            return False
        rights = person.rights
        with suppress(psycopg.OperationalError):  # what is known counts until the database is back
            rights = await site.judge(person)
        return rights.is_reader and site.login.refusal(rights) is None

    return LiveResponse(site.watches, live, may_look)


def _is_live(section: Section) -> bool:
    # Business rows are read by the person's own connection and never shared (W2).
    return section.is_live and not section.is_data


def _computing(
    section: Section, query: Mapping[str, str], prefix: str
) -> Callable[[Connection], Html]:
    def compute(connection: Connection) -> Html:
        rows: list[list[Row]] | psycopg.Error
        try:
            rows = [rows_of(connection, select) for select in section.selects]
        except psycopg.Error as error:
            if is_lost(error) or connection.closed:
                raise
            rows = error
        with parts.under(prefix):
            try:
                return frame.section(section, rows, query)
            except Exception:  # noqa: BLE001 - one section stops no other
                _log.exception("the section %s could not be drawn", section.id)
                text = "This part could not be drawn; the log of the page says why."
                return el(
                    "section",
                    el("h2", section.title),
                    el("p", text, role="alert"),
                    id=section.id,
                )

    return compute


@dataclass(frozen=True)
class Part:
    """One live section of a screen, as a stream shows it.

    Attributes:
        id: of the section's element.
        key: the same for all who may see the same picture.
        compute: makes the whole element through a connection of the page; raises only when this
            is lost.
        seen: the digest of what the tab has, or a text that is none.
    """

    id: str
    key: Hashable
    compute: Callable[[Connection], Html]
    seen: str = ""


class LiveResponse(Response):
    """Sends the parts of a screen to one tab until it goes.

    Args:
        watches: of the page.
        parts: what the tab shows.
        may_look: whether whoever looks still may; asked with each beat, so it remembers its answer.
    """

    media_type = "text/event-stream"

    def __init__(
        self, watches: Watches, parts: Sequence[Part], may_look: Callable[[], Awaitable[bool]]
    ) -> None:
        # A proxy must not gather what it gets.
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._watches = watches
        self._parts = parts
        self._may_look = may_look

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        del scope
        head: Message = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(head)
        tab = _Tab(self._watches, self._parts)
        writing = asyncio.ensure_future(self._write(tab, send))
        leaving = asyncio.ensure_future(_disconnected(receive))
        try:
            await asyncio.wait({writing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            tab.close()
            for task in (writing, leaving):
                task.cancel()
            await asyncio.gather(writing, leaving, return_exceptions=True)

    async def _write(self, tab: _Tab, send: Send) -> None:
        more = True
        while more:
            text = await tab.next(BEAT)
            if self._watches.is_closed:
                text, more = _event("off"), False
            elif not await self._may_look():
                text, more = _event("end"), False
            await send({"type": "http.response.body", "body": text.encode(), "more_body": more})


class _Tab:
    """What one tab has been sent, and what it is to be sent."""

    def __init__(self, watches: Watches, parts: Sequence[Part]) -> None:
        self._watches = watches
        self._bell = watches.bell()
        self._news = asyncio.Event()
        self._is_live = watches.is_live
        self._said_live: bool | None = None
        self._sent = [part.seen for part in parts]
        self._ids = [part.id for part in parts]
        # Before the first watch, since pictures may come from now on.
        self._shown: list[tuple[Watch, int]] = []
        for part in parts:
            self._shown.append(watches.show(part.key, part.compute, self))
        self._news.set()

    def see(self, watch: Watch) -> None:
        """Wake up when the picture is another one than this tab has."""
        del watch
        if self._changed():
            self._bell.ring(self._news)

    def be_live(self, is_live: bool) -> None:
        self._is_live = is_live
        self._bell.ring(self._news)

    def close(self) -> None:
        for watch, _ in self._shown:
            self._watches.leave(watch, self)

    async def next(self, seconds: float) -> str:
        """Return what the tab is to be sent next, at the latest after some seconds."""
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except asyncio.TimeoutError:
            return _event("beat")
        self._news.clear()
        text = ""
        changed = self._changed()
        if changed:
            for position, picture_digest, _ in changed:
                self._sent[position] = picture_digest
            text += _message(
                ".".join(self._sent),
                join(
                    el(
                        "hx-partial",
                        html,
                        hx_target=f"#{self._ids[position]}",
                        hx_swap="outerMorph",
                    )
                    for position, _, html in changed
                ),
            )
        is_live = self._is_live
        if is_live != self._said_live:
            self._said_live = is_live
            text += _event("on" if is_live else "off")
        return text

    def _changed(self) -> list[tuple[int, str, Html]]:
        """Return position, digest and markup of what the tab does not have."""
        changed = []
        for position, (watch, first) in enumerate(self._shown):
            picture = watch.picture
            # An older one may show less than the tab has.
            if picture and picture.number >= first and picture.digest != self._sent[position]:
                changed.append((position, picture.digest, picture.html))
        return changed


def _event(name: str) -> str:
    return f"event: {name}\ndata:\n\n"


def _message(id_: str, html: str) -> str:
    lines = html.replace("\r", "\n").split("\n")
    return f"id: {id_}\n" + "".join(f"data: {line}\n" for line in lines) + "\n"


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

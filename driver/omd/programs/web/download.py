"""All rows of a table as CSV, streamed."""

from __future__ import annotations

import csv
import io
import logging
import threading
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import Any

import anyio
import psycopg
from anyio.to_thread import run_sync
from psycopg.rows import tuple_row
from starlette.responses import Response, StreamingResponse

from omd._core.errors import one_line
from omd.programs.page.markup import el
from omd.programs.terminal.tables import as_cell
from omd.programs.web import frame
from omd.programs.web.answers import is_lost, said, status_of
from omd.programs.web.person import Person
from omd.programs.web.section import MOST_ROWS, Screen, Section
from omd.programs.web.site import Site

AT_ONCE = 4
PER_PERSON = 2
LONGEST = 300.0  # seconds
_ROWS = 2000  # in one chunk

_log = logging.getLogger("omd.web")

_free = threading.BoundedSemaphore(AT_ONCE)


class OverTime(Exception):  # noqa: N818 - it says what happened
    """A CSV took too long."""


class Download:
    """The rows of a section's table, chunk by chunk; its methods are called in threads.

    Args:
        site: the page.
        person: who gets it.
        section: its first query is read, as far as a CSV goes.
    """

    def __init__(self, site: Site, person: Person, section: Section) -> None:
        self._over = time.monotonic() + LONGEST
        self._left = MOST_ROWS
        self._stack = ExitStack()
        try:
            if section.is_data:
                connection = self._stack.enter_context(person.own())
            else:
                connection = self._stack.enter_context(site.reader.opened())
            self._stack.enter_context(connection.transaction(force_rollback=True))
            connection.execute(
                "SET TRANSACTION READ ONLY; SET LOCAL cursor_tuple_fraction = 1;"
                f" SET LOCAL statement_timeout = '{LONGEST:.0f}s';"
                f" SET LOCAL idle_in_transaction_session_timeout = '{LONGEST:.0f}s'"
            )
            self._cursor = self._stack.enter_context(
                connection.cursor("omd_web_csv", row_factory=tuple_row)
            )
            self._cursor.execute(section.selects[0].whole.sent.encode())
        except BaseException:
            self._stack.close()
            raise

    def head(self) -> str:
        """Return the line with the names of the columns, and the first rows."""
        columns = [column.name for column in self._cursor.description or ()]
        return _lines([columns]) + self._fetched()

    def chunk(self) -> str:
        """Return the next rows; an empty text: there are no more."""
        if time.monotonic() > self._over:
            raise OverTime("a table was not fetched in five minutes")
        return self._fetched()

    def _fetched(self) -> str:
        rows = self._cursor.fetchmany(min(_ROWS, self._left)) if self._left else []
        self._left -= len(rows)
        return _lines(rows)

    def close(self) -> None:
        """Give the connection back."""
        self._stack.close()


async def csv_of(site: Site, person: Person, screen: Screen, section: Section) -> Response:
    """Return the answer that streams the table of a section."""
    if person.fetches >= PER_PERSON or not _free.acquire(blocking=False):
        text = "Too many tables are fetched at once; there is room again soon."
        return said(503, "Please wait", el("p", text), Retry_After="10")
    person.fetches += 1
    download: Download | None = None
    try:
        download = await run_sync(Download, site, person, section)
        head = await run_sync(download.head)
    except BaseException as error:
        if download is not None:
            await _closed(download)
        _given_back(person)
        if isinstance(error, psycopg.Error) and not is_lost(error) and error.sqlstate:
            return said(status_of(error), "This table can't be read", frame.problem(error))
        raise
    name = f"omd-{screen.name}-{section.id}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return _Stream(_chunks(download, head), download, person, headers)


class _Stream(StreamingResponse):
    """A stream that gives its connection back, also when nobody reads it to its end."""

    def __init__(
        self, content: Any, download: Download, person: Person, headers: dict[str, str]
    ) -> None:
        super().__init__(content, media_type="text/csv; charset=utf-8", headers=headers)
        self._download = download
        self._person = person

    async def __call__(self, *arguments: Any) -> None:
        try:
            # Who does not read what is sent holds its connection no longer than others.
            with anyio.move_on_after(LONGEST):
                await super().__call__(*arguments)
        except (psycopg.Error, OverTime) as error:
            # The answer breaks off, so that nobody takes it for the whole.
            _log.warning("a CSV broke off: %s", one_line(error))
        finally:
            await _closed(self._download)
            _given_back(self._person)


async def _chunks(download: Download, head: str) -> AsyncIterator[str]:
    chunk = head
    while chunk:
        yield chunk
        chunk = await run_sync(download.chunk)


async def _closed(download: Download) -> None:
    with anyio.CancelScope(shield=True):
        await run_sync(download.close)


def _given_back(person: Person) -> None:
    person.fetches -= 1
    _free.release()


def _lines(rows: Any) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [as_cell(value) for value in row] for row in rows
    )
    return text.getvalue()

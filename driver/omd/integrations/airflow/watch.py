"""One connection of this process to a database, on which all its triggers wait.

A thread owns the connection, and listens. What somebody waits for is looked at when a run of that
code has begun or ended, and every ten seconds: not everything sends a notification, and the
setting omd.notify_events may be off.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import select
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar

import psycopg

from omd._core.errors import ConnectionFailed
from omd._core.link import Link
from omd._core.listener import Listener
from omd.rooms.control.rows import BatchExecutionLogRow, ModuleExecutionLogRow
from omd.rooms.dispatch.calls import DispatchCalls

_log = logging.getLogger("omd.airflow")

# What is looked for; None: it is not there yet.
Look = Callable[[DispatchCalls], Any]

_POLL = 10.0  # seconds
# A worker reports the end of a task after the run has sent its notification.
_AFTER_NEWS = (0.0, 0.2, 0.5, 1.0, 2.0, 4.0)
# So long after a look the next one follows at the earliest, however much news there is.
_REST = 0.2
_REST_OF_ANY = 1.0  # of who waits for a run of any code
_LONGEST_PAUSE = 30.0  # seconds between two tries to connect


@dataclass(eq=False)
class _Waiter:
    look: Look
    code: str | None  # of the run whose end is news; None: of any
    at: float  # a moment of time.time() at which it must look
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    next_look: float = 0.0
    last_look: float = 0.0
    looks_left: list[float] = field(default_factory=list)
    is_over: bool = False

    def settle(self, answer: Any, error: BaseException | None = None) -> None:
        self.is_over = True

        def settle() -> None:
            if not self.future.done():
                if error is None:
                    self.future.set_result(answer)
                else:
                    self.future.set_exception(error)

        try:
            self.loop.call_soon_threadsafe(settle)
        except RuntimeError:  # the loop has ended, and with it who waited
            _log.debug("nobody waits any more")


class Watch:
    """The connection to one database; `until` opens and closes it."""

    _open: ClassVar[dict[str, Watch]] = {}
    _guard: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._waiters: list[_Waiter] = []
        self._wakes, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._was_connected = False

    @classmethod
    async def until(
        cls, conninfo: str, look: Look, code: str | None = None, at: float = 0.0
    ) -> Any:
        """Wait until a look answers something, and return that.

        Args:
            conninfo: the database.
            look: is called in a thread, on a connection that all share.
            code: of the run whose beginning and end is a reason to look; None: of any.
            at: a moment, as time.time() says it, at which it is looked in any case.

        Raises:
            psycopg.Error: the database refuses the look, or the first connection.
        """
        loop = asyncio.get_running_loop()
        waiter = _Waiter(look, code, at, loop, loop.create_future())
        with cls._guard:
            watch = cls._open.get(conninfo)
            if watch is None:
                watch = cls._open[conninfo] = cls(conninfo)
                threading.Thread(target=watch._run, name="omd-watch", daemon=True).start()
            watch._waiters.append(waiter)
            watch._wake_up()
        try:
            return await waiter.future
        finally:
            waiter.is_over = True
            with cls._guard:
                if cls._open.get(conninfo) is watch:
                    watch._wake_up()

    def _wake_up(self) -> None:
        """Wake the thread; the caller has the guard, under which the thread closes the pipe."""
        with suppress(BlockingIOError):  # it was woken often
            os.write(self._wake, b".")

    def _run(self) -> None:
        pause = 1.0
        while self._waits():
            try:
                self._listen()
            except psycopg.Error as error:
                if not self._was_connected or not isinstance(error, ConnectionFailed):
                    for waiter in self._waiting():
                        waiter.settle(None, error)
                    continue
                _log.warning("the triggers have lost the database, trying again: %s", error)
            else:
                return
            select.select([self._wakes], [], [], pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _waits(self) -> bool:
        """Return whether anybody waits; else all is closed."""
        with self._guard:
            if any(not waiter.is_over for waiter in self._waiters):
                return True
            del self._open[self._conninfo]
            os.close(self._wake)
            os.close(self._wakes)
            return False

    def _waiting(self) -> list[_Waiter]:
        with self._guard:
            self._waiters = [waiter for waiter in self._waiters if not waiter.is_over]
            return list(self._waiters)

    def _listen(self) -> None:
        # A link that connects again by itself would no longer listen.
        link = Link(self._conninfo, application_name="omd-airflow-trigger", patience=timedelta(0))
        with Listener(link, "omd_event") as listener:
            self._was_connected = True
            calls = DispatchCalls(link)
            for waiter in self._waiting():
                waiter.next_look = 0.0
            while self._waits():
                heard = listener.heard()
                waiting = self._waiting()
                _note(waiting, _codes_of(calls, heard))
                if listener.polls:
                    for waiter in waiting:
                        waiter.next_look = min(waiter.next_look, waiter.last_look + _REST_OF_ANY)
                now = time.monotonic()
                for waiter in waiting:
                    if waiter.next_look <= now:
                        _look(waiter, calls)
                left = min((w.next_look for w in waiting if not w.is_over), default=0.0)
                timeout = max(0.0, left - time.monotonic())
                ready, _, _ = select.select([listener.fileno(), self._wakes], [], [], timeout)
                if self._wakes in ready:
                    os.read(self._wakes, 4096)


def _note(waiting: list[_Waiter], codes: set[str | None]) -> None:
    """Let those look soon for whom there is news, by the codes of what has changed (None: any)."""
    if codes:
        now = time.monotonic()
        for waiter in waiting:
            if waiter.code is None or waiter.code in codes or None in codes:
                rest = _REST_OF_ANY if waiter.code is None else _REST
                first = max(now, waiter.last_look + rest)
                waiter.looks_left = [first + after for after in _AFTER_NEWS]
                waiter.next_look = min(waiter.next_look, waiter.looks_left.pop(0))


def _codes_of(calls: DispatchCalls, payloads: set[str]) -> set[str | None]:
    """Return the codes of the instances that notifications name, which anybody may send.

    None among them: it may be any.
    """
    ids: dict[str, set[int]] = {"Module Instance": set(), "Batch Instance": set()}
    codes: set[str | None] = set()
    for payload in payloads:
        try:
            news = json.loads(payload)
            ids[news["instance_type"]].add(int(news["instance_id"]))
        except (ValueError, TypeError, KeyError):
            codes.add(None)
    if ids["Module Instance"]:
        of_modules = sorted(ids["Module Instance"])
        rows = calls.report(ModuleExecutionLogRow, module_instance_id=of_modules)
        codes |= {row.module_code for row in rows}
    if ids["Batch Instance"]:
        of_batches = sorted(ids["Batch Instance"])
        batches = calls.report(BatchExecutionLogRow, batch_instance_id=of_batches)
        codes |= {row.batch_code for row in batches}
    return codes


def _look(waiter: _Waiter, calls: DispatchCalls) -> None:
    waiter.last_look = time.monotonic()
    try:
        answer = waiter.look(calls)
    except ConnectionFailed:
        raise
    except Exception as error:  # noqa: BLE001 - it is for who waits
        waiter.settle(None, error)
        return
    if answer is not None:
        waiter.settle(answer)
        return
    now = time.monotonic()
    waiter.next_look = waiter.looks_left.pop(0) if waiter.looks_left else now + _POLL
    if (left := waiter.at - time.time()) > 0:
        waiter.next_look = min(waiter.next_look, now + left)

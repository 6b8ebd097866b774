"""The loop that sends events of sinks, in order and at least once.

The database decides what comes next and when; a transport sends one event, once. What is sent and
not confirmed is sent again: after a kill, after a lost connection, by whoever takes the lease.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Protocol

import psycopg

from omd._core.error_codes import SinkNotHeld, UnknownSink
from omd._core.errors import ConnectionFailed, one_line
from omd._core.listener import Listener
from omd.programs.service.loop import Loop
from omd.programs.service.publisher import Publisher
from omd.programs.terminal.commands import ExitCode
from omd.rooms.control.connection import Connection
from omd.rooms.event.calls import EventCalls
from omd.rooms.event.rows import EventSinksRow, TakeEventsRow

_BETWEEN_TRIES = 0.2
_POLL = 1.0  # seconds between two rounds in which nothing was to be sent
_SOON = 0.2  # the same, where somebody waits for the end
_LONGEST_ANSWER = 1000  # characters that are kept of what a receiver said
_LONGEST_PAUSE = 3600.0  # seconds, whatever a receiver asks for
_OWN_FAULT = (400, 413, 422)


@dataclass(frozen=True, slots=True)
class Settled:
    """The event has arrived, or is passed over on purpose."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The receiver will never take this event."""

    status: int
    answer: str


@dataclass(frozen=True, slots=True)
class Wait:
    """The receiver takes nothing now."""

    problem: str  # for people; it has no secret and nothing of the body
    retry_after: float | None = None  # seconds that the receiver asks for


Outcome = Settled | Refused | Wait


class Transport(Protocol):
    """Sends events to one receiver."""

    @property
    def timeout(self) -> float:
        """The seconds after which one send is over, whatever happens."""

    def send(self, event: TakeEventsRow) -> Outcome:
        """Send an event, once."""

    def close(self) -> None:
        """Give back what it holds."""


def http_outcome(status: int, answer: str, retry_after: str | None = None) -> Outcome:
    """Return what the answer of an HTTP server means for the event.

    Args:
        status: its status; a redirect is not followed, so it is a problem.
        answer: its body.
        retry_after: its header Retry-After, seconds or a date.
    """
    if 200 <= status < 300:
        return Settled()
    if status in _OWN_FAULT:
        return Refused(status, answer)
    return Wait(f"HTTP {status}", _seconds(retry_after))


def _seconds(retry_after: str | None) -> float | None:
    if retry_after is None:
        return None
    text = retry_after.strip()
    if text.isascii() and text.isdecimal():
        return min(float(text), _LONGEST_PAUSE)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=timezone.utc)
    left = (until - datetime.now(timezone.utc)).total_seconds()
    return min(max(left, 0.0), _LONGEST_PAUSE)


class Sender:
    """Sends the events of one sink until it is stopped; a `Publisher` beside it publishes them.

    Args:
        connect: opens a connection; the sender keeps it for itself.
        sink_code: the sink.
        transport: sends one event.
        tell: prints one line for people.
        limit: so many events are taken at once.
        lease: for how long others leave the sink alone; at least twelve times what a send may take.
        begun: is called each time it has connected, in its thread.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        sink_code: str,
        transport: Transport,
        *,
        tell: Callable[[str], None],
        limit: int = 100,
        lease: timedelta = timedelta(minutes=1),
        begun: Callable[[], None] = lambda: None,
    ) -> None:
        self._connect = connect
        self._sink_code = sink_code
        self._transport = transport
        self._limit = limit
        self._least_lease = lease
        self._holder = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4()}"
        self._problem: str | None = None
        self.has_begun = False  # it has been connected; any thread may ask
        self._begun = begun
        self._pause_until = 0.0
        self._loop = Loop(lambda text: tell(f"{sink_code}: {text}"))
        self._stuck = self._loop.stuck
        self._allow(1)

    def run(self, *, until_quiet: bool = False) -> None:
        """Send until `stop` is called, or, with `until_quiet`, until all is sent.

        Raises:
            UnknownSink: the sink is not there.
            DatabaseCopied: the database is a copy of another one.
            ConnectionFailed: the first connection can't be made.
        """
        self._loop.stay_connected(
            self._session, lambda session: self._serve(*session, until_quiet), lambda: None
        )

    def stop(self) -> None:
        """End the loop after the event that is on its way; any thread may call it."""
        self._loop.stop += 1
        self._loop.wake()

    @property
    def turns(self) -> bool:
        """Whether its loop turns; any thread may ask."""
        return self._loop.turns

    def _allow(self, tries: int) -> None:
        """Send each event so often at most, until its refusal is final."""
        self._tries = tries
        # What one event may take, with all tries, must fit into a third of the lease.
        self._longest = tries * self._transport.timeout
        self._lease = max(self._least_lease, timedelta(seconds=4 * self._longest))
        self._loop.stuck = self._stuck + self._longest

    @contextmanager
    def _session(self) -> Iterator[tuple[EventCalls, Listener]]:
        with (
            self._connect() as control,
            Listener(control._new_link(name="-listen"), "omd_published") as news,
        ):
            event = EventCalls(control._link)
            for sink in event.report(EventSinksRow, sink_code=self._sink_code):
                self._allow(sink.tries)
            self.has_begun = True
            self._begun()
            yield event, news

    def _serve(self, event: EventCalls, news: Listener, until_quiet: bool) -> None:
        while not self._loop.stop:
            wait = _POLL
            try:
                # Somebody who waits for the end must know that nothing is left to publish.
                published = event.publish().published if until_quiet else None
                if self._round(event):
                    continue
                if until_quiet:
                    if published == 0 and self._is_drained(event):
                        return
                    wait = _SOON
            except SinkNotHeld as error:
                self._loop.tell(error.message)
            except ConnectionFailed:
                raise
            except psycopg.OperationalError as error:  # a lock, a deadlock, a full disk
                self._loop.tell(f"it is tried again: {one_line(error)}")
            self._loop.wait(wait, news)
            news.heard()

    def _is_drained(self, event: EventCalls) -> bool:
        (sink,) = event.report(EventSinksRow, sink_code=self._sink_code)
        return sink.behind == 0 or sink.inactive_indicator == "Y"

    def _round(self, event: EventCalls) -> bool:
        """Send what comes next, and confirm it; returns whether more may follow at once."""
        if time.monotonic() < self._pause_until:
            return False
        held_since = time.monotonic()
        rows = event.take_events(
            self._sink_code, self._holder, limit=self._limit, lease=self._lease
        )
        seconds = self._lease.total_seconds()
        refused: list[dict[str, Any]] = []
        settled = problem = None
        for row in rows:
            age = time.monotonic() - held_since
            if settled is not None and age + self._longest > seconds / 3:
                now = time.monotonic()
                self._confirm(event, settled, refused, None)
                held_since, refused = now, []
            elif age > seconds:  # this process stood still, and another may have the sink
                return True
            outcome = self._send(row)
            if outcome is None:
                break
            if isinstance(outcome, Wait):
                problem = outcome.problem
                self._pause_until = time.monotonic() + (outcome.retry_after or 0.0)
                settled = row.event_number - 1 if settled is None else settled
                break
            if isinstance(outcome, Refused):
                answer = outcome.answer[:_LONGEST_ANSWER].replace("\0", "")
                refused.append(
                    {
                        "event_number": row.event_number,
                        "status": outcome.status,
                        "answer": answer,
                    }
                )
                self._loop.tell(f"event {row.event_number} is refused: {outcome.status}")
            settled = row.event_number
        if settled is not None:
            self._confirm(event, settled, refused, problem)
            self._tell_of(problem)
        return settled is not None and problem is None

    def _confirm(
        self, event: EventCalls, number: int, refused: list[dict[str, Any]], problem: str | None
    ) -> None:
        event.confirm_events(
            self._sink_code,
            self._holder,
            event_number=number,
            refused=refused or None,
            problem=problem,
        )

    def _send(self, row: TakeEventsRow) -> Outcome | None:
        """Send an event, several times if it is refused; None: the loop was stopped meanwhile."""
        for number in range(1, self._tries + 1):
            if self._loop.stop:
                return None
            try:
                outcome = self._transport.send(row)
            except Exception as error:  # noqa: BLE001 - whatever it is, the event has not arrived
                return Wait(type(error).__name__)
            if not isinstance(outcome, Refused):
                return outcome
            if number < self._tries:
                self._loop.wait(_BETWEEN_TRIES)
        return outcome

    def _tell_of(self, problem: str | None) -> None:
        if problem != self._problem:
            self._loop.tell(f"it waits: {problem}" if problem else "it goes on")
        self._problem = problem


def serve(
    connect: Callable[[], Connection],
    transports: Mapping[str, Transport],
    tell: Callable[[str], None],
    *,
    until_quiet: bool = False,
    around: Callable[[Callable[[], bool]], AbstractContextManager[None]] | None = None,
    **settings: Any,
) -> ExitCode:
    """Send the events of several sinks until a signal arrives, each in a thread of its own.

    A sink that is not there, or is removed, ends alone; any other error ends all.

    Args:
        connect: opens a connection.
        transports: by the codes of the sinks.
        tell: prints one line for people.
        until_quiet: end when all is sent.
        around: opens what is open meanwhile; it gets what says whether all loops turn.
        settings: of each `Sender`.

    Raises:
        DatabaseCopied: the database is a copy of another one.
        ConnectionFailed: the first connection can't be made.
    """
    loop = Loop(tell)
    errors: list[BaseException] = []
    ended: list[Sender] = []
    senders = [
        Sender(connect, code, transport, tell=tell, begun=loop.wake, **settings)
        for code, transport in transports.items()
    ]

    def run(sender: Sender) -> None:
        try:
            sender.run(until_quiet=until_quiet)
        except BaseException as error:  # noqa: BLE001 - the main thread raises it
            errors.append(error)
        finally:
            ended.append(sender)
            loop.wake()

    threads = [
        threading.Thread(target=run, args=[sender], name=f"omd-{code}", daemon=True)
        for code, sender in zip(transports, senders, strict=True)
    ]

    def turns() -> bool:
        return all(
            sender.turns or not thread.is_alive()
            for sender, thread in zip(senders, threads, strict=True)
        )

    fatal: BaseException | None = None
    with (
        loop.signals(),
        connect() as control,
        Publisher(lambda: control._new_link(name="-publish"), tell),
        around(turns) if around else nullcontext(),
    ):
        loop.service.turns = turns
        for thread in threads:
            thread.start()
        while len(ended) < len(senders):
            loop.wait(_POLL)
            fatal = next((e for e in errors if not isinstance(e, UnknownSink)), None)
            # One whose sink is not there ends alone; the others are ready without it.
            if fatal is None and all(s.has_begun or s in ended for s in senders):
                loop.service.ready(f"sending to {', '.join(transports)}")
            if loop.stop or fatal is not None:
                for sender in senders:
                    sender.stop()
    for transport in transports.values():
        transport.close()
    fatal = next((e for e in errors if not isinstance(e, UnknownSink)), None)
    if fatal is not None:
        raise fatal
    for error in errors:
        tell(one_line(error))
    return ExitCode.FAILURE if errors else ExitCode.OK

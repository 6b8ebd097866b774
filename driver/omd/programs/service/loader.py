"""The kind FACTS of a worker: it loads what is queued as soon as it is there.

The database decides what is loaded next and who may load, so that several programs may work side
by side. One only counts what it has started: a call for each interface, over a few connections.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

import click
import psycopg

from omd._core.errors import ConnectionFailed, one_line
from omd._core.link import Link
from omd._core.listener import Listener
from omd.doors.facts import Facts
from omd.programs.service.loop import Call, Links, Loop
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.options import is_chosen
from omd.programs.terminal.text import short
from omd.rooms.control.connection import Connection
from omd.rooms.delivery.rows import DeliveryQueueRow
from omd.rooms.facts.calls import FactsCalls
from omd.rooms.facts.rows import FactsStateRow, LoadAnswer

_PATIENCE = timedelta(minutes=1)  # so long a load waits for a database that restarts


@dataclass
class Loader:
    """Loads until it is stopped."""

    connect: Callable[[], Connection]  # opens a connection
    workers: int = 1  # how many interfaces may load at once
    poll: float = 10  # seconds between two looks at every interface; a notification comes before
    # Patterns of the interfaces to load; without any, all are loaded.
    interfaces: Sequence[str] = ()
    grace: float = 20  # seconds that running loads have to end after SIGTERM
    once: bool = False  # load the oldest item of each interface, and stop
    until_quiet: bool = False  # stop when nothing is queued and nobody loads
    _loop: Loop = field(default_factory=lambda: Loop(_tell), init=False)
    _busy: set[str] = field(default_factory=set)  # interfaces that others loaded at the last look
    _failed: bool = False
    _running: dict[str, Call[LoadAnswer]] = field(default_factory=dict)
    _due: dict[str, None] = field(default_factory=dict)  # in the order in which they became due
    # What may be loaded, as of the last look; one that fails waits as long as the database says.
    _open: set[str] = field(default_factory=set)
    _links: Links | None = None

    def run(self) -> ExitCode:
        """Run until everything that was requested is done, or a signal arrives.

        Raises:
            ConnectionFailed: the first connection can't be made.
            ServerNotConfirmed: the database was moved or copied, and nobody has said what it is.
        """
        loop = self._loop
        try:
            loop.run(self._connect, self._serve, self._reap, self._running.values, self.grace)
        finally:
            if self._links is not None:
                self._links.close()
        ends = self.once or self.until_quiet
        return ExitCode.FAILURE if self._failed and ends and not loop.stop else ExitCode.OK

    @property
    def turns(self) -> bool:
        """Whether its loop turns; any thread may ask."""
        return self._loop.turns

    @contextmanager
    def _connect(self) -> Iterator[tuple[Facts, Listener]]:
        with self.connect() as control, Facts(control)._listen() as news:
            control._omd.require_known_server()
            if self._links is None:
                self._links = Links(lambda: control._new_link(name="-load", patience=_PATIENCE))
                if not (self.once or self.until_quiet):
                    _tell(f"looking every {self.poll:g} s; SIGTERM or Ctrl-C stops it")
            yield Facts(control), news

    def _serve(self, session: tuple[Facts, Listener]) -> None:
        facts, news = session
        next_poll, has_looked = 0.0, False
        while not self._loop.stop:
            self._reap()
            if time.monotonic() >= next_poll:
                next_poll = time.monotonic() + self.poll
                try:
                    states = facts._calls.report(FactsStateRow)
                except ConnectionFailed:
                    raise
                except psycopg.Error as error:
                    if not has_looked:
                        raise
                    _tell(f"the interfaces can't be read, trying again: {one_line(error)}")
                else:
                    has_looked = True
                    self._loop.service.ready(f"looking every {self.poll:g} s")
                    self._open = {row.interface_code for row in states if not row.is_paused}
                # A run that is to be undone is not in the queue, so every interface is due.
                self._due |= dict.fromkeys(sorted(self._open))
            self._start_due()
            if (self.once or self.until_quiet) and not self._running:
                due = [code for code in self._due if self._may_load(code)]
                if not due and (self.once or not self._busy):
                    return
            if self._loop.wait(next_poll - time.monotonic(), news):
                self._due |= dict.fromkeys(_queued(facts, news.heard()))
                if news.polls:
                    next_poll = 0.0

    def _start_due(self) -> None:
        assert self._links is not None  # noqa: S101 - there has been a connection
        for code in list(self._due):
            if len(self._running) >= self.workers:
                return
            if code in self._running:
                continue  # it is loaded again when this item is done
            del self._due[code]
            if self._may_load(code):
                self._running[code] = Call(code, self._loop, self._links, _load(code))

    def _may_load(self, code: str) -> bool:
        return code in self._open and is_chosen(code, self.interfaces)

    def _reap(self) -> None:
        """Remove the loads that have ended; what was loaded may have another item behind it."""
        for code in [code for code, call in self._running.items() if call.has_ended]:
            call = self._running.pop(code)
            answer = call.answer
            if answer is None:
                _tell(f"{code}: {one_line(call.error) if call.error else 'it was not begun'}")
            elif answer.outcome not in ("NOTHING", "RUNNING"):
                _tell(outcome_line(code, answer))
            self._busy.discard(code)
            if answer is not None and answer.execution_status_code == "A":
                self._busy.add(code)
            goes_on = answer is not None and answer.execution_status_code in ("S", "C", "A")
            self._failed |= not goes_on
            if answer is not None and answer.execution_status_code == "S" and not self.once:
                self._due[code] = None
            # After a failure an interface waits until somebody looks.
            if not goes_on:
                self._open.discard(code)


def _load(code: str) -> Callable[[Link], LoadAnswer]:
    def load(link: Link) -> LoadAnswer:
        return FactsCalls(link).load(code)

    return load


def _queued(facts: Facts, payloads: set[str]) -> list[str]:
    """Return the interfaces of the deliveries that were queued; anybody may notify."""
    queued = set()
    for payload in payloads:
        with suppress(ValueError, TypeError, KeyError):
            queued.add(int(json.loads(payload)["queue_id"]))
    if not queued:
        return []
    rows = facts._calls.report(DeliveryQueueRow, queue_id=sorted(queued))
    return sorted({row.interface_code for row in rows})


def outcome_line(code: str, answer: LoadAnswer) -> str:
    """Return the outcome of a load in one line."""
    line = f"{code}: {answer.outcome}"
    if answer.delivery_id is not None:
        line += f", delivery {answer.delivery_id}"
    if answer.module_instance_id is not None:
        line += f", Module Instance {answer.module_instance_id}"
    return f"{line}: {answer.detail}" if answer.detail else line


def _tell(line: str) -> None:
    click.echo(short(line), err=True)

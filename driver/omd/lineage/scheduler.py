"""``omd lineage run``: starts a process for each topic that the database calls ready.

Which topic may run, and what becomes of its step, is the database's answer, so that several
schedulers may work side by side. This one only counts its workers and its processes.
"""

from __future__ import annotations

import os
import random
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click
import psycopg

from omd._core.errors import ConnectionFailed
from omd.cli.common import PROGRAM, ExitCode, is_chosen, open_control, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omd._core.listener import Listener
    from omd.lineage.room import Lineage

__all__ = ["Scheduler"]

_LONGEST_PAUSE = 30.0
_REST = 4  # a look at the ready list is followed by so many times its length without one


@dataclass
class Scheduler:
    """Runs steps until it is told to stop.

    Attributes:
        dsn: the database; empty where libpq's settings tell it.
        workers: most processes at once.
        poll: seconds between two looks at the sources.
        topics: patterns; empty: all topics.
        master: of Spark.
        once: run what is ready now, and stop.
        until_quiet: stop when nothing is ready and nothing runs.
        grace: seconds that running steps get to end after SIGTERM.
    """

    dsn: str
    workers: int = 1
    poll: float = 10
    topics: Sequence[str] = ()
    master: str | None = None
    once: bool = False
    until_quiet: bool = False
    grace: float = 20
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    # Topics whose step here was not DONE wait for the next poll: what is said to be ready and does
    # not run must not be tried without pause.
    _passed: set[str] = field(default_factory=set)
    _moved: bool = False
    _crowded: bool = False  # somebody else was faster since the last poll
    _failed: bool = False
    _connected: bool = False
    _stop: int = 0  # how often it was told to

    def run(self) -> ExitCode:
        """Run until all is done that was asked for, or a signal comes.

        Raises:
            ConnectionFailed: the first connection can't be made.
        """
        with self._signals():
            try:
                self._stay_connected()
            finally:
                self._let_end()
        return ExitCode.FAILURE if self._failed and not self._stop else ExitCode.OK

    # The database -------------------------------------------------------------------------------

    def _stay_connected(self) -> None:
        pause = 0.5
        while not self._stop:
            try:
                with open_control(self.dsn) as control, control.lineage.listen() as news:
                    if self._connected:
                        _tell("connected again")
                    elif not (self.once or self.until_quiet):
                        _tell(f"looking every {self.poll:g} s; SIGTERM or Ctrl-C stops")
                    self._connected, pause = True, 0.5
                    self._serve(control.lineage, news)
                    return
            except ConnectionFailed as error:
                if not self._connected:
                    raise
                wait = pause * (0.5 + random.random())  # noqa: S311 - not all at the same moment
                _tell(f"no connection, trying again in {wait:.1f} s: {error.message}")
                until = time.monotonic() + wait
                while not self._stop and (left := until - time.monotonic()) > 0:
                    self._wait(left)
                    self._reap()
                pause = min(pause * 2, _LONGEST_PAUSE)

    def _serve(self, lineage: Lineage, news: Listener) -> None:
        next_poll = rest_until = 0.0
        woken, queue, has_looked = True, list[str](), False
        while not self._stop:
            woken |= self._reap()
            try:
                if time.monotonic() >= next_poll:
                    next_poll = time.monotonic() + self.poll
                    self._passed.clear()
                    self._crowded = False
                    lineage.probe_sources()
                    woken = True
                if (
                    woken
                    and self._free
                    and time.monotonic() >= rest_until
                    and not (self.once and has_looked)
                ):
                    began, woken = time.monotonic(), False
                    queue, has_looked = self._look(lineage), True
                    rest_until = time.monotonic() + _REST * (time.monotonic() - began)
            except ConnectionFailed:
                raise
            except psycopg.Error as error:
                if not has_looked:
                    raise
                _tell(f"the ready list can't be read, trying again: {error}")
                woken, rest_until = True, next_poll
            while queue and self._free:
                self._start(queue.pop(0))
            if not self._running and not queue and (self.once or (self.until_quiet and not woken)):
                if self.once or not (self._moved and self._passed):
                    return
                self._moved, woken = False, True  # what was passed over may go now
                self._passed.clear()
                continue
            soon = rest_until if woken and self._free and not self.once else next_poll
            if self._wait(soon - time.monotonic(), news if self._free and not woken else None):
                news.heard()
                woken = True

    def _look(self, lineage: Lineage) -> list[str]:
        found = [
            row.topic
            for row in lineage.ready_list(only_ready=True)
            if row.topic not in self._running
            and row.topic not in self._passed
            and is_chosen(row.topic, self.topics)
        ]
        if self._crowded:
            # Others look at the same list, and would try the same first topics at the same moment.
            head, found = found[: 8 * self._free], found[8 * self._free :]
            random.shuffle(head)
            found = head + found
        return found

    # Processes ----------------------------------------------------------------------------------

    @property
    def _free(self) -> int:
        return self.workers - len(self._running)

    def _start(self, topic: str) -> None:
        arguments = [*PROGRAM, "lineage", "step", "--one-line"]
        if self.master is not None:
            arguments += ["--master", self.master]
        self._running[topic] = subprocess.Popen(  # noqa: S603 - our own program
            [*arguments, "--", topic],
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr.fileno(),  # what a job prints is no data of ours
            env={**os.environ, **({"OMD_DSN": self.dsn} if self.dsn else {})},
            start_new_session=True,  # Ctrl-C is for this process, which lets them end
        )

    def _reap(self) -> bool:
        """Take note of the processes that have ended; tell what they could not tell themselves."""
        ended = {t: p.returncode for t, p in self._running.items() if p.poll() is not None}
        for topic, code in ended.items():
            del self._running[topic]
            if code == ExitCode.OK:
                self._moved = True
                continue
            self._passed.add(topic)
            self._crowded |= code == ExitCode.ABORTED
            if code in (ExitCode.SKIPPED, ExitCode.ABORTED):
                continue
            self._failed = True
            if code < 0 or code > 128:  # 128 and more: it has taken note of the signal itself
                _tell(f"{topic}: its process was killed by {_signal_name(abs(code) % 128)}")
            elif code != ExitCode.FAILURE:
                _tell(f"{topic}: its process ended with exit code {code}")
        return bool(ended)

    def _let_end(self) -> None:
        """Let running steps end; after the grace, or a second signal, end them."""
        if not self._running:
            return
        _tell(f"waiting for {', '.join(sorted(self._running))}")
        self._wait_for_all(self.grace, 1)
        for number, stop in ((signal.SIGTERM, 2), (signal.SIGKILL, 3)):
            for topic, process in self._running.items():
                _tell(f"{topic}: ends with {number.name}, its step did not end in time")
                process.send_signal(number)
            self._wait_for_all(max(self.grace, 10), stop)

    def _wait_for_all(self, seconds: float, stop: int) -> None:
        until = time.monotonic() + seconds
        while self._running and self._stop <= stop and (left := until - time.monotonic()) > 0:
            self._wait(left)
            self._reap()

    # Signals ------------------------------------------------------------------------------------

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """SIGTERM and Ctrl-C are counted; with the end of a process they end a wait."""

        def count(_signal: int, _frame: object) -> None:
            self._stop += 1

        self._woken, writer = socket.socketpair()
        self._woken.setblocking(False)
        writer.setblocking(False)
        before = {
            number: signal.signal(number, handler)
            for number, handler in (
                (signal.SIGTERM, count),
                (signal.SIGINT, count),
                (signal.SIGCHLD, lambda *_: None),
            )
        }
        wakeup = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)
            self._woken.close()
            writer.close()

    def _wait(self, seconds: float, news: Listener | None = None) -> bool:
        """Wait for a signal or for news; whether there is news."""
        poll = select.poll()
        poll.register(self._woken, select.POLLIN)
        if news is not None:
            poll.register(news.fileno(), select.POLLIN)
        found = {descriptor for descriptor, _ in poll.poll(max(seconds, 0) * 1000)}
        if self._woken.fileno() in found:
            self._woken.recv(4096)
        return news is not None and news.fileno() in found


def _tell(line: str) -> None:
    click.echo(short(line), err=True)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"

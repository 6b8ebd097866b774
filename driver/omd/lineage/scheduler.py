"""``omd lineage run`` starts a process for each topic that the database reports as ready.

The database decides which topic may run and how its step ends, so that several schedulers may work
side by side. A scheduler only counts its workers and its processes.
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
_REST = 4  # after a read of the ready list, the next one waits this many times as long as it took


@dataclass
class Scheduler:
    """Runs steps until it is stopped.

    Attributes:
        dsn: the database; empty where libpq's own settings name it.
        workers: how many processes may run at once.
        poll: seconds between two polls of the sources.
        topics: patterns of the topics to run; without any, all topics are run.
        master: Spark's master URL.
        once: run the topics that are ready now, and stop.
        until_quiet: stop when no topic is ready and no step runs.
        grace: seconds that running steps have to end after SIGTERM.
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
    # Topics whose step here was not DONE wait for the next poll: a topic that is reported as ready
    # and does not run must not be tried without a pause.
    _passed: set[str] = field(default_factory=set)
    _moved: bool = False
    _crowded: bool = False  # another scheduler was faster since the last poll
    _failed: bool = False
    _connected: bool = False
    _stop: int = 0  # how many signals have asked it to stop

    def run(self) -> ExitCode:
        """Run until everything that was requested is done, or a signal arrives.

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
                        _tell("the connection is back")
                    elif not (self.once or self.until_quiet):
                        _tell(f"polling every {self.poll:g} s; SIGTERM or Ctrl-C stops it")
                    self._connected, pause = True, 0.5
                    self._serve(control.lineage, news)
                    return
            except ConnectionFailed as error:
                if not self._connected:
                    raise
                wait = pause * (0.5 + random.random())  # noqa: S311 - no secret
                _tell(f"there is no connection, trying again in {wait:.1f} s: {error.message}")
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
                self._moved, woken = False, True  # topics that had to wait may run now
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
            # Other schedulers read the same list, and would try the same first topics.
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
            stdout=sys.stderr.fileno(),  # the output of a job is no data of this command
            env={**os.environ, **({"OMD_DSN": self.dsn} if self.dsn else {})},
            start_new_session=True,  # Ctrl-C reaches only this process, which lets the steps end
        )

    def _reap(self) -> bool:
        """Remove the processes that have ended; report what they could not report themselves."""
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
            if code < 0 or code > 128:  # above 128 the process has handled the signal itself
                _tell(f"{topic}: its process was killed by {_signal_name(abs(code) % 128)}")
            elif code != ExitCode.FAILURE:
                _tell(f"{topic}: its process ended with exit code {code}")
        return bool(ended)

    def _let_end(self) -> None:
        """Let running steps end; after the grace period or a second signal, stop them."""
        if not self._running:
            return
        _tell(f"waiting for {', '.join(sorted(self._running))}")
        self._wait_for_all(self.grace, 1)
        for number, stop in ((signal.SIGTERM, 2), (signal.SIGKILL, 3)):
            for topic, process in self._running.items():
                _tell(f"{topic}: its step did not end in time, its process gets {number.name}")
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
        """Count SIGTERM and Ctrl-C; they, and the end of a process, end a wait."""

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
        """Wait for a signal or a notification; returns whether there is a notification."""
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
    except ValueError:  # it is a real-time signal
        return f"signal {number}"

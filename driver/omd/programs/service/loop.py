"""What programs that run for long share: signals, waits, reconnecting, the work they have started.

A program has one `Loop` in its main thread. What it starts is a `Child`, a process of its own, or a
`Call`, a thread that waits for the database. Both end with a wake-up of the loop.
"""

from __future__ import annotations

import random
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from psycopg import OperationalError

from omd._core.errors import ConnectionFailed, one_line
from omd.programs.service.service import Service

if TYPE_CHECKING:
    from omd._core.link import Link

T = TypeVar("T")

_LONGEST_PAUSE = 30.0
_STUCK = 60.0  # seconds after which a loop that has not come back to its wait does not turn


class HasDescriptor(Protocol):
    """Something that `select.poll` can wait for."""

    def fileno(self) -> int:
        """Return the file descriptor."""


class Work(Protocol):
    """What a program has started: a child process, or a call in a thread."""

    @property
    def name(self) -> str:
        """What it is, for messages."""

    @property
    def has_ended(self) -> bool:
        """Whether it is over."""

    def stop(self) -> str:
        """Ask it to end; returns what was done to it, for a message."""

    def kill(self) -> str:
        """End it without its help; returns what was done to it, for a message."""


W = TypeVar("W", bound=Work)


class Loop:
    """Waits for what comes first: a signal, a notification, the end of work, a point in time."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.stop = 0  # how many signals have asked the program to stop
        self.tell = tell  # prints one line for people
        self.stuck = _STUCK
        self.service = Service()  # the loop of the main thread has that of the environment
        self._waits_until = time.monotonic()
        self._woken, self._waker = socket.socketpair()
        self._woken.setblocking(False)
        self._waker.setblocking(False)

    @contextmanager
    def signals(self) -> Iterator[None]:
        """Count SIGTERM and Ctrl-C; they, and the end of a process, end a wait.

        Meanwhile a service manager hears how the program is. Python handles signals in its main
        thread only, so elsewhere nothing is counted, and nothing said.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self.service = Service.of_environment()

        def count(_signal: int, _frame: object) -> None:
            self.stop += 1
            self.service.stopping()

        before = {
            number: signal.signal(number, handler)
            for number, handler in (
                (signal.SIGTERM, count),
                (signal.SIGINT, count),
                (signal.SIGCHLD, lambda *_: None),
            )
        }
        wakeup = signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)

    def wake(self) -> None:
        """End the wait of the main thread; any thread may call it."""
        with suppress(BlockingIOError):  # the pipe is full of wake-ups
            self._waker.send(b"\0")

    @property
    def turns(self) -> bool:
        """Whether it waits, or has waited a short while ago; any thread may ask."""
        return time.monotonic() < self._waits_until + self.stuck

    def wait(self, seconds: float, news: HasDescriptor | None = None) -> bool:
        """Wait for any of it, at most so long; returns whether there is a notification."""
        until = self._waits_until = time.monotonic() + max(seconds, 0)
        poll = select.poll()
        poll.register(self._woken, select.POLLIN)
        if news is not None:
            poll.register(news.fileno(), select.POLLIN)
        while True:
            self.service.beat()
            left = max(until - time.monotonic(), 0)
            pause = min(left, self.service.pause)
            readable = {descriptor for descriptor, _ in poll.poll(pause * 1000)}
            if readable or pause == left:
                break
        self._waits_until = time.monotonic()
        if self._woken.fileno() in readable:
            self._woken.recv(4096)
        return news is not None and news.fileno() in readable

    def run(
        self,
        connect: Callable[[], AbstractContextManager[T]],
        serve: Callable[[T], None],
        reap: Callable[[], None],
        running: Callable[[], Collection[W]],
        grace: float,
    ) -> None:
        """Serve until a signal arrives or it returns, and let the work end that it has started.

        Args:
            connect: opens what ``serve`` needs.
            serve: starts the work.
            reap: called when some of it may have ended.
            running: returns what has not.
            grace: seconds that it has to end.

        Raises:
            ConnectionFailed: the first connection can't be made.
        """
        with self.signals():
            try:
                self.stay_connected(connect, serve, reap)
            finally:
                self.let_end(running, grace, reap)

    def stay_connected(
        self,
        connect: Callable[[], AbstractContextManager[T]],
        serve: Callable[[T], None],
        pending: Callable[[], None],
    ) -> None:
        """Connect and serve until it returns or the program is to stop; reconnect when it is lost.

        A server that recovers, or whose disk is full, may accept a connection and refuse what is
        asked over it; an administrator may cancel that. The program waits for the end of this too.

        Args:
            connect: opens what ``serve`` needs.
            serve: does the work.
            pending: called while there is no connection, when something may have ended.

        Raises:
            ConnectionFailed: the first connection can't be made.
        """
        was_connected, pause = False, 0.5
        while not self.stop:
            try:
                with connect() as session:
                    if was_connected:
                        self.tell("the connection is back")
                        self.service.status()
                    was_connected, pause = True, 0.5
                    serve(session)
                    return
            except (ConnectionFailed, OperationalError) as error:
                if not was_connected:
                    raise
                wait = pause * (0.5 + random.random())  # noqa: S311 - no secret
                message = error.message if isinstance(error, ConnectionFailed) else one_line(error)
                self.tell(f"there is no connection, trying again in {wait:.1f} s: {message}")
                self.service.status(f"there is no connection: {message}")
                until = time.monotonic() + wait
                while not self.stop and (left := until - time.monotonic()) > 0:
                    self.wait(left)
                    pending()
                pause = min(pause * 2, _LONGEST_PAUSE)

    def let_end(
        self,
        works: Callable[[], Collection[W]],
        grace: float,
        pending: Callable[[], None],
        *,
        hurry: float | None = None,
    ) -> None:
        """Let work end; after the grace period or a second signal, stop it, and at last kill it.

        Args:
            works: returns what has not ended.
            grace: seconds that it has to end by itself.
            pending: called when something may have ended.
            hurry: seconds that it has to end once it is stopped; by default those of the grace
                period, but at least 10.
        """
        if not works():
            return
        waits = f"waiting for {', '.join(sorted(work.name for work in works()))}"
        self.tell(waits)
        self.service.status(waits)
        self._wait_for_all(works, grace, 1, pending)
        for number, end in ((2, "stop"), (3, "kill")):
            for work in works():
                done: str = getattr(work, end)()
                self.tell(f"{work.name}: it did not end in time, {done}")
            self._wait_for_all(works, max(grace, 10) if hurry is None else hurry, number, pending)

    def _wait_for_all(
        self,
        works: Callable[[], Collection[W]],
        seconds: float,
        stop: int,
        pending: Callable[[], None],
    ) -> None:
        until = time.monotonic() + seconds
        while works() and self.stop <= stop and (left := until - time.monotonic()) > 0:
            self.wait(left)
            pending()


class Child:
    """A child process; it prints to stderr, and Ctrl-C does not reach it.

    Args:
        name: of the work, for messages.
        command: the program and its arguments.
        stdout: the file descriptor to which it prints.
        stdin: the one from which it reads; nothing by default.
        keeps: further file descriptors that it gets.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        env: Mapping[str, str],
        stdout: int,
        *,
        stdin: int = subprocess.DEVNULL,
        keeps: Sequence[int] = (),
    ) -> None:
        self.name = name
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            command, stdin=stdin, stdout=stdout, env=env, pass_fds=keeps, start_new_session=True
        )

    @property
    def has_ended(self) -> bool:
        """Whether the process is over."""
        return self._process.poll() is not None

    def wait(self) -> None:
        """Wait for its end."""
        self._process.wait()

    @property
    def code(self) -> int:
        """Its exit code, as Popen has it; only when it has ended."""
        return self._process.returncode

    @property
    def killer(self) -> str | None:
        """The name of the signal that ended it; None when it ended by itself."""
        # Above 128 the process has handled the signal itself.
        return signal_name(abs(self.code) % 128) if self.code < 0 or self.code > 128 else None

    def stop(self) -> str:
        """Send SIGTERM."""
        return self._send(signal.SIGTERM)

    def kill(self) -> str:
        """Send SIGKILL."""
        return self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> str:
        self._process.send_signal(number)
        return f"its process gets {number.name}"


class Call(Generic[T]):
    """A call of the database in a thread of its own.

    The thread ends with the process, which need not wait for it.
    """

    def __init__(self, name: str, loop: Loop, links: Links, call: Callable[[Link], T]) -> None:
        self.name = name
        self.answer: T | None = None  # what the call returned; None before, and after an exception
        self.error: Exception | None = None  # the exception that it raised
        self._loop = loop
        self._links = links
        self._call = call
        self._link = links.take()
        self._is_stopped = self._is_done = False
        self._thread = threading.Thread(target=self._run, name=f"omd-{name}", daemon=True)
        self._thread.start()

    @property
    def has_ended(self) -> bool:
        """Whether the call has returned."""
        return self._is_done

    def stop(self) -> str:
        """Cancel the statement, once: a second request could hit what records the failure."""
        if not self._is_stopped:
            self._is_stopped = True
            self._link.cancel()
        return "its statement is cancelled"

    def kill(self) -> str:
        """Leave it: the server ends the statement, or notices that nobody waits for it."""
        return "it is left to the server"

    def _run(self) -> None:
        try:
            if not self._is_stopped:
                self.answer = self._call(self._link)
            self._links.give_back(self._link)
        except Exception as error:  # noqa: BLE001 - the main thread reports it
            self.error = error
            self._link.close()
        finally:
            self._is_done = True
            self._loop.wake()


class Links:
    """Connections that are used again: one for each call that runs at the same time."""

    def __init__(self, connect: Callable[[], Link]) -> None:
        self._connect = connect
        self._idle: list[tuple[float, Link]] = []  # since when, the longest first
        self._is_closed = False

    def take(self) -> Link:
        """Return a connection that nobody uses; it may not be open yet."""
        try:
            return self._idle.pop()[1]
        except IndexError:  # several threads may take one
            return self._connect()

    def give_back(self, link: Link) -> None:
        """Keep a connection for the next call, without what its statements have set."""
        if link.reset() and not self._is_closed:
            self._idle.append((time.monotonic(), link))
        else:
            link.close()

    def end_idle(self, since: float) -> None:
        """Close those that nobody uses since before an instant of `time.monotonic`."""
        for idle in list(self._idle):
            if idle[0] < since:
                with suppress(ValueError):  # a thread has taken it meanwhile
                    self._idle.remove(idle)
                    idle[1].close()

    def close(self) -> None:
        """Close all connections that nobody uses."""
        self._is_closed = True
        while self._idle:
            self._idle.pop()[1].close()


class Shared:
    """Connections of threads that look again and again; one of them at most is kept idle.

    Who finds it in use waits a moment for it. Then he gets another one: a look may execute code of
    anybody, which must not keep the others from looking.

    Args:
        connect: makes a connection.
    """

    def __init__(self, connect: Callable[[], Link]) -> None:
        self._connect = connect
        self._changed = threading.Condition()
        self._idle: Link | None = None
        self._used = 0  # so many are taken
        self._is_closed = False

    @contextmanager
    def take(self, patience: float = 0.5) -> Iterator[Link]:
        """Have a connection for as long as a look takes; an exception closes it.

        Args:
            patience: seconds to wait for the one that is in use.
        """
        with self._changed:
            if self._used:
                self._changed.wait_for(lambda: self._idle is not None or not self._used, patience)
            link, self._idle = self._idle, None
            self._used += 1
        is_clean = False
        try:
            if link is None:
                link = self._connect()
            yield link
            is_clean = not link.settings or link.reset()
        finally:
            with self._changed:
                self._used -= 1
                keeps = is_clean and self._idle is None and not self._is_closed
                if keeps:
                    self._idle = link
                self._changed.notify()
            if link is not None and not keeps:
                link.close()

    def close(self) -> None:
        """Close it; what is in use is closed when it is given back."""
        with self._changed:
            self._is_closed = True
            link, self._idle = self._idle, None
        if link is not None:
            link.close()


def signal_name(number: int) -> str:
    """Return the name of a signal: SIGTERM."""
    try:
        return signal.Signals(number).name
    except ValueError:  # it is a real-time signal
        return f"signal {number}"

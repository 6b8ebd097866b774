"""What publishes events, and watches for problems, beside the work of a program, in a thread.

The database lets one session publish at a time; for all others a round is over at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from omd._core.errors import ConnectionFailed, OmdError, one_line
from omd._core.listener import Listener
from omd.programs.service.loop import Loop

if TYPE_CHECKING:
    import psycopg
    from typing_extensions import Self

    from omd._core.link import Link
    from omd.programs.service.loop import Shared

_CHANNEL = "omd_event"  # process control notifies it of each change of an instance
_POLL = 1.0  # seconds between two rounds when nothing was heard
_REST = 0.2  # so long no round follows another one, whatever was heard
_WATCH = b"CALL omd_event.watch(p_every => '15 seconds')"
_LOOK = 5.0  # seconds between two questions whether problems are to be looked for
_AGAIN = 2.0  # seconds until a lost connection is opened again


class _Publishing:
    """A thread that publishes until it is stopped.

    Args:
        tell: is called with what went wrong, once until it works again.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._loop = Loop(tell)
        self._works = True
        self._watches = True
        self._look_at = 0.0  # when to ask next
        self._thread = threading.Thread(target=self._run, name="omd-publish", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _value: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._loop.stop += 1
        self._loop.wake()
        self._thread.join(timeout=1.0)  # a round on its way ends without it

    def _watch(self, link: Link) -> None:
        """Make events of problems; the database says whether it is time. Events go on without."""
        import psycopg

        now = time.monotonic()
        if now < self._look_at:
            return
        self._look_at = now + _LOOK
        try:
            link.execute(_WATCH, (), tuple, repeatable=True)
            self._watches = True
        except ConnectionFailed:
            raise
        except psycopg.Error as error:
            if self._watches:
                self._tell(f"problems can't be looked for now, trying again: {one_line(error)}")
            self._watches = False

    def _round(self, link: Link) -> bool:
        """Publish; return whether there may be more at once."""
        rows = link.execute(b"CALL omd_event.publish()", (), tuple, repeatable=True)
        self._works = True
        self._watch(link)
        is_busy: bool = rows[0][0] != 0  # something was published, or another session publishes
        return is_busy

    def _failed(self, error: psycopg.Error | OmdError) -> None:
        if self._works:
            self._tell(f"events can't be published now, trying again: {_why(error)}")
        self._works = False
        self._pause(_AGAIN)

    def _run(self) -> None:
        raise NotImplementedError

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._loop.stop and (left := until - time.monotonic()) > 0:
            self._loop.wait(left)


class Publisher(_Publishing):
    """Publishes at each change of an instance, and each second, over a connection of its own.

    Args:
        connect: makes a connection that is not open yet.
        tell: is called with what went wrong, once until it works again.
    """

    def __init__(self, connect: Callable[[], Link], tell: Callable[[str], None]) -> None:
        super().__init__(tell)
        self._connect = connect

    def _run(self) -> None:
        import psycopg

        while not self._loop.stop:
            link = self._connect()
            try:
                with Listener(link, _CHANNEL) as news:
                    self._serve(link, news)
            except (psycopg.Error, OmdError) as error:
                self._failed(error)

    def _serve(self, link: Link, news: Listener) -> None:
        """Listen only while nothing happens: it would cost each run a little to notify it."""
        listens = True
        while not self._loop.stop:
            if self._round(link):
                if listens:
                    news.unlisten(_CHANNEL)
                    listens = False
                self._pause(_REST)
            elif not (listens and news.listens):
                news.listen(_CHANNEL)  # what came before is seen by one more round
                listens = True
            else:
                self._pause(_REST)
                if self._loop.wait(_POLL - _REST, news):
                    news.heard()


class SharedPublisher(_Publishing):
    """The same in a program that has connections to look, and one that listens.

    Args:
        links: the connections to look.
        wake: has the program look at `wants_news`.
        tell: is called with what went wrong, once until it works again.
        pause: returns the seconds between two rounds when nothing was heard.
    """

    channel = _CHANNEL

    def __init__(
        self,
        links: Shared,
        wake: Callable[[], None],
        tell: Callable[[str], None],
        pause: Callable[[], float],
    ) -> None:
        super().__init__(tell)
        self._poll = pause
        self._links = links
        self._wake = wake
        self._has_heard = threading.Event()
        # Whether the program is to listen for it; it does so only while nothing happens.
        self.wants_news = False

    def hear(self) -> None:
        """Say that something was heard, or that the program listens; any thread may call it."""
        self._has_heard.set()
        self._loop.wake()

    def _run(self) -> None:
        import psycopg

        while not self._loop.stop:
            self._has_heard.clear()
            try:
                with self._links.take() as link:
                    is_busy = self._round(link)
            except (psycopg.Error, OmdError) as error:
                self._failed(error)
                continue
            if is_busy == self.wants_news:
                self.wants_news = not is_busy
                self._wake()
            self._pause(_REST)
            until = time.monotonic() + self._poll() - _REST
            while not (is_busy or self._has_heard.is_set() or self._loop.stop):
                if (left := until - time.monotonic()) <= 0:
                    break
                self._loop.wait(left)


def _why(error: psycopg.Error | OmdError) -> str:
    return error.message if isinstance(error, ConnectionFailed) else one_line(error)

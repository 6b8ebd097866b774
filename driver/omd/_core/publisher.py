"""What publishes events beside the work of a program, in a thread of its own.

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
from omd._core.loop import Loop

if TYPE_CHECKING:
    import psycopg

    from omd._core.link import Link

_CHANNEL = "omd_event"  # process control notifies it of each change of an instance
_POLL = 1.0  # seconds between two rounds when nothing was heard
_REST = 0.2  # so long no round follows another one, whatever was heard
_AGAIN = 2.0  # seconds until a lost connection is opened again


class Publisher:
    """Publishes at each change of an instance, and each second, until it is stopped.

    Args:
        connect: makes a connection that is not open yet.
        tell: is called with what went wrong, once until it works again.
    """

    def __init__(self, connect: Callable[[], Link], tell: Callable[[str], None]) -> None:
        self._connect = connect
        self._tell = tell
        self._loop = Loop(tell)
        self._works = True
        self._thread = threading.Thread(target=self._run, name="omd-publish", daemon=True)

    def __enter__(self) -> Publisher:
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

    def _run(self) -> None:
        import psycopg

        while not self._loop.stop:
            link = self._connect()
            try:
                with Listener(link, _CHANNEL) as news:
                    self._serve(link, news)
            except (psycopg.Error, OmdError) as error:
                if self._works:
                    self._tell(f"events can't be published now, trying again: {_why(error)}")
                self._works = False
                self._pause(_AGAIN)

    def _serve(self, link: Link, news: Listener) -> None:
        """Listen only while nothing happens: it would cost each run a little to notify it."""
        while not self._loop.stop:
            rows = link.execute(b"CALL omd_event.publish()", (), tuple, repeatable=True)
            self._works = True
            if rows[0][0] != 0:  # something was published, or another session publishes
                if news.listens:
                    news.unlisten()
                self._pause(_REST)
            elif not news.listens:
                news.listen(_CHANNEL)  # what came before is seen by one more round
            else:
                self._pause(_REST)
                if self._loop.wait(_POLL - _REST, news):
                    news.heard()

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._loop.stop and (left := until - time.monotonic()) > 0:
            self._loop.wait(left)


def _why(error: psycopg.Error | OmdError) -> str:
    return error.message if isinstance(error, ConnectionFailed) else one_line(error)

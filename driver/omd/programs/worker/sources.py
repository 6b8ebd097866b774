"""The sources of tasks: views whose rows become tasks, read as soon as there may be news."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import psycopg

from omd._core.calls import Calls, Routine
from omd._core.errors import ConnectionFailed, OmdError, one_line
from omd.rooms.dispatch.rows import DispatchSourcesRow, FireSourcesAnswer

if TYPE_CHECKING:
    from collections.abc import Callable

    from omd._core.link import Link
    from omd.programs.service.loop import Shared

_LONGEST = "30s"  # so long a source may take
_SOONEST = 0.005  # seconds between two calls
_NONE = 5.0  # seconds until the next look when there is no source
_HASTE = 0.02  # seconds that news waits for the connection of another look
_FIRE = Routine("omd_dispatch.fire_sources", {"p_wait": "interval"})


class _Reader:
    """A thread that reads, which others may tell to rest or to stop.

    The thread starts here: a subclass sets what its `_run` uses before.

    Args:
        name: of the thread.
        links: connections to read over.
        tell: is called with what went wrong.
    """

    def __init__(self, name: str, links: Shared, tell: Callable[[str], None]) -> None:
        self._links = links
        self._tell = tell
        self._changed = threading.Condition()
        self._stopped = threading.Event()
        self._is_paused = False
        self._turn = threading.Lock()  # held while it reads, and while it rests
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        raise NotImplementedError

    def pause(self) -> None:
        """Read nothing until `resume`; what is on its way is waited for."""
        self._turn.acquire()
        self._is_paused = True

    def resume(self) -> None:
        """Go on after `pause`."""
        self._is_paused = False
        self._turn.release()

    def stop(self) -> None:
        """Stop; what is on its way delays the caller by a second at most."""
        with self._changed:
            self._stopped.set()
            self._changed.notify_all()
        if self._is_paused:
            self.resume()
        self._thread.join(timeout=1.0)

    def _failed(self, what: str, error: Exception) -> None:
        if not isinstance(error, ConnectionFailed):  # the main thread tells that
            self._tell(f"{what} could not be read: {one_line(error)}")


class Sources(_Reader):
    """Reads the sources of tasks: at news, and when their time has come.

    A source is code of anybody. So it is read under a timeout, over a connection that nobody uses
    meanwhile, and that is as new afterwards.

    Args:
        links: connections to read over.
        tell: is called with what went wrong.
        later: returns the seconds that it lets pass when a source's time has come, for another
            worker to read it.
    """

    def __init__(
        self, links: Shared, tell: Callable[[str], None], later: Callable[[], float] = lambda: 0.0
    ) -> None:
        self._later = later
        self._asked_at: float | None = None  # since when there is news that no call has seen
        super().__init__("omd-sources", links, tell)

    def ask(self) -> None:
        """Say that there may be news; any thread may call it."""
        with self._changed:
            if self._asked_at is None:
                self._asked_at = time.monotonic()
                self._changed.notify_all()

    def _run(self) -> None:
        last, pause = time.monotonic(), 0.0
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._stopped.is_set() or self._asked_at is not None,
                    max(pause, _SOONEST),
                )
                if self._stopped.is_set():
                    break
                since = last if self._asked_at is None else self._asked_at
                self._asked_at = None
            with self._turn:
                if self._stopped.is_set():
                    break
                began = time.monotonic()
                wait = self._fire(began - since)
            last, pause = began, _NONE if wait is None else wait.total_seconds()
            pause += self._later()

    def _fire(self, waited: float) -> timedelta | None:
        """Return when to call again; None: there is no source."""
        try:
            with self._links.take() as link:
                link.set(statement_timeout=_LONGEST)
                answer = _fire(link, waited)
        except (psycopg.Error, OmdError) as error:
            self._failed("the sources of tasks", error)
            return timedelta(seconds=1)
        return answer.wait


@dataclass(slots=True)
class News:
    """What has just been committed."""

    codes: set[str] = field(default_factory=set)  # Modules whose tasks have ended
    topics: set[str] = field(default_factory=set)  # topics that have moved
    deliveries: list[object] = field(default_factory=list)  # notifications of omd_delivery


class Near(_Reader):
    """Creates the tasks of what depends on news.

    A source that is read as a whole costs what there is, and this what is near the news: so that a
    row takes no longer through ten topics beside 10,000 others. What it does not find, or what
    fails here, is found when the sources are read.

    Args:
        links: connections to read over.
        read_all: is called when the sources are to be read instead.
        tell: is called with what went wrong.
    """

    def __init__(
        self,
        links: Shared,
        read_all: Callable[[], None],
        tell: Callable[[str], None],
    ) -> None:
        self._read_all = read_all
        self._news: dict[Callable[[Link, News], None], News] = {}
        super().__init__("omd-near", links, tell)

    def tell(
        self,
        look: Callable[[Link, News], None],
        *,
        code: str | None = None,
        topic: str | None = None,
        delivery: object = None,
    ) -> None:
        """Say what has happened, and who knows what depends on it; any thread may call it."""
        with self._changed:
            news = self._news.setdefault(look, News())
            if code is not None:
                news.codes.add(code)
            if topic is not None:
                news.topics.add(topic)
            if delivery is not None:
                news.deliveries.append(delivery)
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopped.is_set() or self._news)
            with self._turn:
                with self._changed:
                    if self._stopped.is_set():
                        break
                    news, self._news = self._news, {}
                began = time.monotonic()
                for look, what in news.items():
                    self._look(look, what)
                took = time.monotonic() - began
            # Those who run tasks have half of the time at least; meanwhile more news comes.
            time.sleep(min(took, 1.0))

    def _look(self, look: Callable[[Link, News], None], news: News) -> None:
        try:
            with self._links.take(_HASTE) as link:
                link.set(statement_timeout=_LONGEST)
                look(link, news)
        except (psycopg.Error, OmdError) as error:
            self._failed("what depends on news", error)
            self._read_all()


def fire_all(link: Link) -> int | None:
    """Read all sources that have not failed; return how many tasks were created.

    None: a source rests, or somebody else reads it at this moment, so it may have something new.
    """
    calls = Calls(link)

    def fired() -> dict[tuple[str, str], object]:
        return {
            (row.family_code, row.task_type): row.last_fired_at
            for row in calls.report(DispatchSourcesRow, inactive_indicator="N")
            if row.problem is None
        }

    before = fired()
    if not before:
        return 0
    link.set(statement_timeout=_LONGEST)
    answer = _fire(link, 0)
    now = fired()
    was_read = all(before.get(key) != at for key, at in now.items())
    return answer.created if answer.created or was_read else None


def _fire(link: Link, waited: float) -> FireSourcesAnswer:
    return Calls(link)._answer(_FIRE, FireSourcesAnswer, timedelta(seconds=waited))

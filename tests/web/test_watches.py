"""When watches are computed (L1 to L4): how soon, how often, for whom, and through what."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omd.programs.page.markup import Html
from omd.programs.web import watches
from omd.programs.web.bell import Bell
from omd.programs.web.watches import Watch, Watches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 20.0


class Tab:
    """A viewer that remembers what it was told."""

    def __init__(self) -> None:
        self.pictures: list[str] = []
        self.states: list[bool] = []
        self._told = threading.Condition()

    def see(self, watch: Watch) -> None:
        assert watch.picture is not None
        with self._told:
            self.pictures.append(watch.picture.html)
            self._told.notify_all()

    def be_live(self, is_live: bool) -> None:
        with self._told:
            self.states.append(is_live)
            self._told.notify_all()

    def wait(self, condition: Callable[[], bool]) -> None:
        with self._told:
            assert self._told.wait_for(condition, PATIENCE), (self.pictures, self.states)


class Section:
    """What a watch computes: one statement; it knows when it began and ended."""

    def __init__(self, query: str = "SELECT count(*) FROM noted") -> None:
        self.query = query
        self.times: list[tuple[float, float]] = []
        self.through: list[int] = []

    def __call__(self, connection: psycopg.Connection[Any]) -> Html:
        begun = time.monotonic()
        row = connection.execute(self.query).fetchone()
        self.times.append((begun, time.monotonic()))
        self.through.append(connection.info.backend_pid)
        return Html(row[0])

    @property
    def gaps(self) -> list[float]:
        return [
            after[0] - before[1] for before, after in zip(self.times, self.times[1:], strict=False)
        ]


@pytest.fixture
def page(dsn: str) -> Iterator[Watches]:
    """Watches on a database with a table ``noted``."""
    with psycopg.connect(dsn) as conn:
        conn.execute("CREATE TABLE IF NOT EXISTS public.noted (n integer)")
        conn.execute("TRUNCATE public.noted")
    page = Watches(
        lambda: psycopg.connect(dsn, autocommit=True, application_name="watches of a test")
    )
    yield page
    page.close()
    with psycopg.connect(dsn) as conn:
        conn.execute("DROP TABLE public.noted")


@pytest.fixture
def note(dsn: str) -> Iterator[Callable[..., float]]:
    """A function that adds a row, notifies, and returns when it had been committed."""
    with psycopg.connect(dsn, autocommit=True) as conn:

        def note(channel: str = "omd_event") -> float:
            with conn.transaction():
                conn.execute("INSERT INTO public.noted VALUES (1)")
                conn.execute("SELECT pg_notify(%s, 'any text')", (channel,))
            return time.monotonic()

        yield note


def rested(page: Watches, tab: Tab) -> None:
    """Wait until the first picture is there, the listener listens, and all have rested."""
    tab.wait(lambda: len(tab.pictures) >= 1)
    deadline = time.monotonic() + PATIENCE
    while any(w.asked is not None or w.rested > time.monotonic() for w in page._watches.values()):
        assert time.monotonic() < deadline
        threading.Event().wait(0.005)


@pytest.mark.parametrize("channel", watches.CHANNELS)
def test_each_channel_is_listened_to(
    page: Watches, note: Callable[..., float], channel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watches, "INTERVAL", 3600.0)
    tab, section = Tab(), Section()
    page.show("count", section, tab)
    rested(page, tab)
    note(channel)
    tab.wait(lambda: tab.pictures[-1:] == ["1"])


@pytest.mark.alone
def test_the_first_notification_after_a_rest_is_answered_at_once(
    page: Watches, note: Callable[..., float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watches, "INTERVAL", 3600.0)
    tab, section = Tab(), Section()
    page.show("count", section, tab)
    waited = []
    for number in range(1, 6):
        rested(page, tab)
        committed = note()
        tab.wait(lambda number=number: tab.pictures[-1:] == [str(number)])
        waited.append(section.times[-1][0] - committed)
    assert sorted(waited)[2] < 1  # and not an hour


def test_a_flood_is_answered_every_quarter_of_a_second(
    page: Watches, note: Callable[..., float]
) -> None:
    tab, section = Tab(), Section()
    page.show("count", section, tab)
    rested(page, tab)
    deadline = time.monotonic() + PATIENCE
    noted = 0
    while len(section.times) < 6 or noted <= 10:
        assert time.monotonic() < deadline
        note()
        noted += 1
    tab.wait(lambda: tab.pictures[-1:] == [str(noted)])
    assert min(section.gaps) >= watches.REST


def test_a_watch_rests_nine_times_as_long_as_it_took(
    page: Watches, note: Callable[..., float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watches, "INTERVAL", 0.0)  # it is asked for all the time
    tab, section = Tab(), Section("SELECT count(*) FROM noted, pg_sleep(0.06)")
    page.show("slow", section, tab)
    tab.wait(lambda: len(section.times) >= 4)
    taken = [end - begin for begin, end in section.times]
    assert all(gap >= 9 * took for gap, took in zip(section.gaps, taken, strict=False))


@pytest.mark.alone
def test_what_does_not_notify_is_seen_within_two_seconds(page: Watches, dsn: str) -> None:
    tab, section = Tab(), Section()
    page.show("count", section, tab)
    rested(page, tab)
    with psycopg.connect(dsn) as conn:
        conn.execute("INSERT INTO public.noted VALUES (1)")
    committed = time.monotonic()
    tab.wait(lambda: tab.pictures[-1:] == ["1"])
    assert section.times[-1][0] - committed < watches.INTERVAL + 3


def test_a_long_watch_does_not_hold_up_a_short_one(
    page: Watches, note: Callable[..., float], dsn: str
) -> None:
    tab, other = Tab(), Tab()
    long = Section("SELECT count(*) FROM noted, pg_sleep(0.15)")
    page.show("long", long, other)
    other.wait(lambda: len(other.pictures) >= 1)  # it is known to be long from now on
    with psycopg.connect(dsn, autocommit=True) as holder:
        holder.execute("SELECT pg_advisory_lock(39)")
        long.query = "SELECT pg_advisory_lock(39)::text || count(*) FROM noted"
        begun = len(long.times)
        short = Section()
        page.show("short", short, tab)
        for number in range(1, 4):
            note()
            tab.wait(lambda number=number: tab.pictures[-1:] == [str(number)])
        assert len(long.times) == begun
        holder.execute("SELECT pg_advisory_unlock(39)")
    other.wait(lambda: len(long.times) > begun)
    assert set(short.through).isdisjoint(long.through[1:])


def test_one_computation_serves_all_who_look(page: Watches, note: Callable[..., float]) -> None:
    section = Section()
    tabs = [Tab() for _ in range(100)]
    for tab in tabs:
        page.show("count", section, tab)
    for tab in tabs:
        tab.wait(lambda tab=tab: len(tab.pictures) >= 1)
    rested(page, tabs[0])
    before = len(section.times)
    note()
    for tab in tabs:
        tab.wait(lambda tab=tab: tab.pictures[-1:] == ["1"])
    assert len(section.times) - before <= 2


def test_a_picture_that_was_begun_before_is_not_shown_to_who_came_later(page: Watches) -> None:
    section = Section()
    first, second = Tab(), Tab()
    watch, number = page.show("count", section, first)
    first.wait(lambda: len(first.pictures) >= 1)
    assert watch.picture is not None
    assert watch.picture.number >= number
    _, later = page.show("count", section, second)
    assert later > watch.picture.number


def statements(dsn: str) -> set[tuple[int, Any]]:
    """What the connections of the page executed last, and when."""
    with psycopg.connect(dsn) as conn:
        found = conn.execute(
            "SELECT pid, query_start FROM pg_stat_activity"
            " WHERE application_name = 'watches of a test'"
        )
        return set(found.fetchall())


def test_nobody_looks_and_nothing_is_executed(
    page: Watches, note: Callable[..., float], dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab, section = Tab(), Section()
    watch, _ = page.show("count", section, tab)
    rested(page, tab)
    page.leave(watch, tab)
    before, computed = statements(dsn), len(section.times)
    assert before
    ends = time.monotonic() + watches.INTERVAL + 0.5
    while time.monotonic() < ends:
        note()
        threading.Event().wait(0.1)
    assert statements(dsn) == before
    assert len(section.times) == computed
    # The next one finds all as it was.
    page.show("count", section, tab)
    tab.wait(lambda: len(section.times) > computed)


def test_without_viewers_the_connections_are_closed_after_a_while(
    page: Watches, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watches, "IDLE", 0.1)
    tab, section = Tab(), Section()
    watch, _ = page.show("count", section, tab)
    rested(page, tab)
    page.leave(watch, tab)
    deadline = time.monotonic() + PATIENCE
    while statements(dsn):
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)
    page.show("count", section, tab)
    before = len(section.times)
    tab.wait(lambda: len(section.times) > before)


def test_lost_connections_are_replaced_and_who_looks_is_told(
    page: Watches, note: Callable[..., float], dsn: str
) -> None:
    tab, section = Tab(), Section()
    page.show("count", section, tab)
    rested(page, tab)
    with psycopg.connect(dsn, autocommit=True) as conn:
        ended = conn.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE application_name = 'watches of a test'"
        ).fetchone()
    assert ended is not None
    assert ended[0] >= 2
    tab.wait(lambda: tab.states[-1:] == [True])
    assert tab.states[0] is False
    note()
    tab.wait(lambda: tab.pictures[-1:] == ["1"])


def test_a_connection_that_has_nothing_to_compute_any_more_is_no_loss(
    page: Watches, dsn: str
) -> None:
    tab, section = Tab(), Section("SELECT count(*) FROM noted, pg_sleep(0.15)")
    page.show("count", section, tab)
    tab.wait(lambda: len(section.times) >= 2)  # the second time by the connection for long ones
    section.query = "SELECT count(*) FROM noted"
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'watches of a test'"
        )
        # It finds its connection lost, and what it computed is short from now on.
        tab.wait(lambda: tab.states[-1:] == [True] and len(section.times) >= 4)
        conn.execute("INSERT INTO noted VALUES (1)")
    tab.wait(lambda: tab.pictures[-1:] == ["1"])
    assert page.is_live


def test_what_was_committed_while_nobody_listened_is_seen_at_once(
    page: Watches, note: Callable[..., float], dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watches, "INTERVAL", 3600.0)
    tab, section = Tab(), Section()
    page.show("count", section, tab)
    rested(page, tab)
    with contextlib.closing(psycopg.connect(dsn, autocommit=True)) as conn:
        # The row and the end of the listener are one transaction: no notification reaches it.
        with conn.transaction():
            conn.execute("INSERT INTO public.noted VALUES (1)")
        conn.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'watches of a test' AND query LIKE 'LISTEN%'"
        )
    tab.wait(lambda: tab.pictures[-1:] == ["1"])


def test_closing_cancels_what_is_computed(page: Watches, dsn: str) -> None:
    tab, section = Tab(), Section("SELECT count(*) FROM noted, pg_sleep(600)")
    page.show("endless", section, tab)
    deadline = time.monotonic() + 120
    with psycopg.connect(dsn, autocommit=True) as conn:
        asks = (
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE query LIKE '%pg_sleep(600)' AND pid <> pg_backend_pid()"
        )
        while conn.execute(asks).fetchone() != (1,):
            assert time.monotonic() < deadline
        page.close()
        assert time.monotonic() < deadline
        while conn.execute(asks + " AND state = 'active'").fetchone() != (0,):
            assert time.monotonic() < deadline


def test_a_loop_that_is_busy_is_woken_once_for_all_tabs() -> None:
    woken = []

    async def busy() -> int:
        bell, events = Bell(asyncio.get_running_loop()), [asyncio.Event() for _ in range(1000)]
        call = bell.loop.call_soon_threadsafe

        def counted(callback: Callable[[], object], *arguments: object) -> asyncio.Handle:
            woken.append(callback)
            return call(callback, *arguments)

        bell.loop.call_soon_threadsafe = counted  # type: ignore[method-assign,assignment]
        ringing = threading.Thread(target=lambda: [bell.ring(event) for event in events])
        ringing.start()
        ringing.join()
        for event in events:
            await asyncio.wait_for(event.wait(), PATIENCE)
        bell.ring(events[0])
        return len(woken)

    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(asyncio.run(busy())))
    thread.start()
    thread.join()
    assert found == [2]

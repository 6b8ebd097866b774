"""``omd worker`` claims due tasks, runs them, and says how they went.

The database decides which task is next, who may have it and what becomes of it, so that any number
of workers may serve one group. A worker registers as a backend of its group, with a name that
nobody has had before: it renews its registration, and what it has claimed goes to others when it no
longer does.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

import click
import psycopg

from omd._core.error_codes import BackendGone
from omd._core.errors import ConnectionFailed, one_line
from omd._core.functions import Permitted
from omd._core.link import Link
from omd._core.listener import Listener
from omd._core.periodic import Periodic
from omd.doors.control import connect
from omd.doors.task import Claim, Task
from omd.programs.service.loop import Links, Loop, Shared
from omd.programs.service.publisher import SharedPublisher
from omd.programs.terminal.text import short
from omd.programs.worker.exchange import Exchange, Exchanger, NewTask
from omd.programs.worker.handlers import TaskType, near, refresher, task_types
from omd.programs.worker.maintenance import Maintenance
from omd.programs.worker.slots import REST, Claimed, Ended, Slots
from omd.programs.worker.sources import Near, News, Sources, fire_all
from omd.rooms.control.connection import Connection
from omd.rooms.dispatch.calls import DispatchCalls
from omd.rooms.dispatch.rows import (
    DispatchQueueRow,
    DispatchRunningRow,
    DispatchSchedulesRow,
    DispatchSourcesRow,
)

_SHORT = 0.05  # seconds; tasks of types that take less are claimed ahead
_AHEAD = 500  # so many at most,
_SOON = 2.0  # and those that have not started after so many seconds are given back
_REFRESH = 5.0  # seconds between two looks for what makes scheduled tasks ready
_MOST = 1000  # the greatest limit that claim_tasks takes
_HURRY = 5.0  # so long what is stopped may take to end when the worker ends
_DOUBT = 60.0  # so long after a lost connection a claim may appear whose answer was lost
_SOURCES = "*"  # the payload of a change of the sources of tasks
_NEW = re.compile("([A-Z0-9_]+) ([0-9]{1,4}) ([0-9]{1,18})")  # family, partition, task
_PATIENCE = timedelta(minutes=1)  # so long a task waits for a database that restarts
# What a notification of omd_delivery names.
_NAMES = ("interface_id", "agreement_id", "delivery_id")


_ENDINGS = {None: "ended", "S": "done", "A": "later", "C": "skipped", "F": "failed"}


@dataclass
class Worker:
    """Runs tasks until it is stopped.

    Attributes:
        dsn: the database; empty where libpq's own settings name it.
        workers: how many tasks may run at once.
        group: the group of workers that it belongs to.
        ttl: seconds after which it counts as dead when it does not renew its registration.
        poll: seconds between two looks for tasks; a notification makes it look at once.
        until_quiet: stop when no task of the group is due and none runs.
        grace: seconds that running tasks have to end after SIGTERM.
        master: Spark's master URL.
        permitted: what it executes of what is registered.
        backend_id: the name under which it is registered; a new one when it was declared dead.
        still_runs: tasks that could not be ended: they run in threads, and end with the process.
        has_failed: an attempt at a task has failed.
    """

    dsn: str = ""
    workers: int = 1
    group: str = "WORKER"
    ttl: float = 30
    poll: float = 1
    until_quiet: bool = False
    grace: float = 20
    master: str | None = None
    permitted: Permitted = field(default_factory=Permitted)
    backend_id: str = field(default="", init=False)
    still_runs: list[str] = field(default_factory=list, init=False)
    has_failed: bool = field(default=False, init=False)
    _loop: Loop = field(default_factory=lambda: Loop(_tell), init=False)
    _held: dict[int, Claimed] = field(default_factory=dict, init=False)
    _types: dict[tuple[str, str], TaskType] = field(default_factory=dict, init=False)
    _types_version: int | None = field(default=None, init=False)
    # How long the last tasks of a type took, newer ones counting more.
    _seconds: dict[TaskType, float] = field(default_factory=dict, init=False)
    _ahead: int = field(default=0, init=False)
    _results: list[Ended] = field(default_factory=list, init=False)  # not reported yet
    _exchange: Exchange | None = field(default=None, init=False)  # that which is on its way
    _reported_at: float = field(default=0, init=False)  # when results were reported last
    _to_cancel: set[int] = field(default_factory=set, init=False)
    _is_gone: bool = field(default=False, init=False)  # the database knows this backend no more
    _doubt_until: float = field(default=0, init=False)
    _look: bool = field(default=True, init=False)  # there may be tasks to claim
    _anew: bool = field(default=False, init=False)  # some are new
    _new: NewTask | None = field(default=None, init=False)  # a single one
    _position: int | None = field(default=None, init=False)  # its place in its group
    _renewal: Periodic | None = field(default=None, init=False)
    _sources: Sources | None = field(default=None, init=False)
    _families: set[str] = field(default_factory=set, init=False)  # those with a source of tasks
    _near: Near | None = field(default=None, init=False)
    # Those whose sources need not be read at news: what depends on it is known.
    _looks: dict[str, Callable[[Link, News], None]] = field(default_factory=dict, init=False)
    # The channels at whose news sources are to be read.
    _channels: set[str] = field(default_factory=set, init=False)
    # The channels of all sources of tasks.
    _listens_to: set[str] = field(default_factory=set, init=False)
    _listens_for_events: bool = field(default=False, init=False)  # for the publisher
    # The last look for what would come has made tasks, and none that has ended here since had
    # anything to do; so many have not ended here.
    _is_vain: bool = field(default=False, init=False)
    _unended: int = field(default=0, init=False)

    def run(self) -> None:
        """Run, once, until a signal or `stop` ends it, or until all is quiet.

        A worker with tasks that could not be ended (`still_runs`) is still registered when this
        returns. Its claims expire after its TTL.

        Raises:
            ConnectionFailed: the first connection can't be made.
            ServerNotConfirmed: the database was moved or copied, and nobody has said what it is.
        """
        loop = self._loop
        with (
            self._connect_to_control("omd-dispatch", timedelta(0)) as control,
            loop.signals(),
            ExitStack() as ending,
        ):
            self._control = control
            # What the main thread asks goes the way of the exchanges: one session less.
            link = self._new_link("-exchange")
            self._dispatch = DispatchCalls(link)
            exchanger = self._exchanger = Exchanger(link, loop)
            ending.callback(exchanger.close)
            control._link.rest()
            links = Links(lambda: control._new_link(name="-task", patience=_PATIENCE))
            ending.callback(links.close)
            slots = self._slots = Slots(
                self.workers,
                loop,
                dsn=self.dsn,
                ttl=self.ttl,
                links=links,
                connect=lambda: self._connect_to_control("omd-task"),
                permitted=self.permitted,
            )
            ending.callback(slots.close)
            self._register()
            ending.callback(self._leave)
            looks = self._links = Shared(lambda: self._new_link("-look"))
            ending.callback(looks.close)
            sources = self._sources = Sources(looks, _tell)
            ending.callback(sources.stop)
            near_news = self._near = Near(looks, sources.ask, _tell)
            ending.callback(near_news.stop)
            maintenance = Maintenance(looks, _tell, sources.ask)
            news = Periodic("refresh", _REFRESH, 0.0, call=self._refresh, refused=_tell)
            ending.callback(news.stop)
            rounds = Periodic(
                "maintain", 1.0, 0.0, call=lambda: _maintain(maintenance), refused=_tell
            )
            ending.callback(rounds.stop)
            if not self.until_quiet:
                served = "1 slot" if self.workers == 1 else f"{self.workers} slots"
                line = f"{self.backend_id} serves {self.group} with {served}"
                _tell(f"{line}; SIGTERM or Ctrl-C stops it")
            with SharedPublisher(looks, loop.wake, _tell) as self._publisher:
                loop.stay_connected(self._connect, self._serve, self._end_overdue)

    @property
    def turns(self) -> bool:
        """Whether its loop turns; any thread may ask."""
        return self._loop.turns

    def stop(self) -> None:
        """Ask it to end, as SIGTERM does; any thread may call it."""
        self._loop.stop += 1
        self._loop.wake()

    # The registration ---------------------------------------------------------------------------

    def _register(self) -> None:
        """Register as a backend under a fresh name."""
        if self._renewal is not None:
            self._renewal.stop()
        self.backend_id = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        asked = time.monotonic()
        self._position = self._dispatch.register_backend(
            self.group, self.backend_id, ttl=timedelta(seconds=self.ttl), slots=self.workers
        ).position
        self._is_gone = False
        self._slots.backend_id = self.backend_id
        self._slots.start_until = asked + self.ttl * 2 / 3
        backend_id, link = self.backend_id, self._new_link("-renew")
        self._renewal = Periodic(
            "renewal",
            self.ttl / 3,
            self.ttl / 3,
            call=lambda: self._renew(link, backend_id),
            refused=self._refuse,
            link=link,
        )

    def _renew(self, link: Link, backend_id: str) -> bool:
        """Renew the registration; in the thread of the renewals."""
        asked = time.monotonic()
        answer = DispatchCalls(link).renew_backend(backend_id)
        self._slots.start_until = asked + self.ttl * 2 / 3
        self._position = answer.position
        if answer.cancel:
            self._to_cancel.update(answer.cancel)
            self._loop.wake()
        return False

    def _refuse(self, _message: str) -> None:
        self._is_gone = True
        self._loop.wake()

    def _refresh(self) -> bool:
        """Let the modules of scheduled handlers look for news; one worker of a group does it."""
        if self._position == 0:
            self._look_for_news()
        return False

    def _look_for_news(self) -> None:
        with self._links.take() as link:
            calls = DispatchCalls(link)
            kinds = task_types(calls)
            schedules = calls.report(DispatchSchedulesRow, inactive_indicator="N")
            sources = calls.report(DispatchSourcesRow, inactive_indicator="N")
        types = {(row.family_code, row.task_type) for row in schedules}
        types |= {(row.family_code, row.task_type) for row in sources}
        own = [
            kind for key, kind in kinds.items() if key in types and kind.deliver_id == self.group
        ]
        if looks := {look for kind in own if (look := refresher(kind, self.permitted)) is not None}:
            with self._connect_to_control("omd-refresh", timedelta(0)) as control:
                for look in looks:
                    look(control)

    def _new_link(self, name: str) -> Link:
        seconds = max(2, int(self.ttl / 5))
        return self._control._new_link(
            name=name,
            patience=timedelta(0),
            connect_timeout=str(seconds),
            tcp_user_timeout=str(seconds * 1000),
        )

    def _fence(self) -> None:
        """End what runs: others may have it. Then become another backend."""
        _tell(f"{self.backend_id} was declared dead: it ends what it runs, and registers anew")
        self._slots.backend_id = ""
        self._slots.take_back()
        for slot in self._slots.running():
            _tell(f"{slot.name}: {slot.end('its worker was declared dead')}")
        with suppress(BackendGone):
            self._await_exchange()
        self._take_ended()
        self._complete()  # what has ended before may still count
        self._held.clear()
        self._register()

    def _leave(self) -> None:
        """Let what runs end, and leave the group."""
        try:
            self._give_back([c.claim.task_id for c in self._slots.take_back()])
            self._give_back([claim.task_id for claim in self._await_exchange()])
        except psycopg.Error as error:
            _tell(f"tasks that were not started can't be given back now: {one_line(error)}")
        self._loop.let_end(self._slots.running, self.grace, self._finish, hurry=_HURRY)
        self._finish()
        if self._renewal is not None:
            self._renewal.stop()
        self.still_runs = [s.name for s in self._slots.slots if s.claimed is not None]
        try:
            # Who leaves gives back what has not started. What has ended, and could not be
            # reported, is settled when the claims expire.
            if not self.still_runs and not self._results:
                self._dispatch.leave_backend(self.backend_id)
        except psycopg.Error as error:
            _tell(f"it could not leave; its claims expire after {self.ttl:g} s: {one_line(error)}")

    def _finish(self) -> None:
        """Report what is over while the worker ends; what can't be is tried at the next end."""
        self._end_overdue()
        self._take_ended()
        try:
            self._complete()
        except psycopg.Error as error:
            _tell(f"results can't be reported now: {one_line(error)}")

    # The main loop ------------------------------------------------------------------------------

    @contextmanager
    def _connect(self) -> Iterator[Listener]:
        link = self._new_link("-listen")
        with Listener(link, "omd_dispatch") as news:
            self._listens_for_events = False
            self._hear_of_sources(news)
            self._loop.service.ready(f"{self.backend_id} serves {self.group}")
            yield news

    def _hear_of_sources(self, news: Listener) -> None:
        """Listen to the channels of the sources of tasks, and have them read."""
        rows = self._dispatch.report(DispatchSourcesRow, inactive_indicator="N")
        self._listens_to = {channel for row in rows for channel in row.listen}
        for channel in self._listens_to:
            news.listen(channel)
        news.require()
        self._families = {row.family_code for row in rows}
        kinds = task_types(self._dispatch) if rows else {}
        self._looks, self._channels = {}, set()
        for family_code in self._families:
            own = [row for row in rows if row.family_code == family_code]
            looks = {
                near(kinds.get((family_code, row.task_type)), row.source, self.permitted)
                for row in own
            }
            if len(looks) == 1 and (look := looks.pop()) is not None:
                self._looks[family_code] = look
            else:
                self._channels.update(channel for row in own for channel in row.listen)
        self._ask_sources()

    def _tell_news(self, channel: str, payload: str) -> None:
        """Have those looked at that depend on a notification; if nobody knows them, all."""
        topic = delivery = None
        if channel == "omd_lineage":
            topic = payload
        elif channel == "omd_delivery":
            with suppress(ValueError):
                delivery = json.loads(payload)
            if not isinstance(delivery, dict) or not any(delivery.get(n) for n in _NAMES):
                delivery = None
        is_known = topic is not None or delivery is not None
        if self._near is not None and is_known:
            for look in set(self._looks.values()):
                self._near.tell(look, topic=topic, delivery=delivery)
        if not is_known or channel in self._channels:
            self._ask_sources()

    def _tell_ended(self, claimed: Claimed) -> None:
        """Have those looked at that depend on a task that has ended."""
        look = self._looks.get(claimed.claim.family_code)
        code = claimed.task.criteria.get("CODE")
        if look is None or self._near is None or not isinstance(code, str):
            self._ask_sources()
        else:
            self._near.tell(look, code=code)

    def _ask_sources(self) -> None:
        if self._sources is not None:
            self._sources.ask()

    def _serve(self, news: Listener) -> None:
        next_poll = 0.0
        while not self._loop.stop:
            now = time.monotonic()
            try:
                if self._is_gone:
                    self._fence()
                self._end_overdue()
                if now >= next_poll:
                    next_poll, self._look = now + self.poll, True
                    if now < self._doubt_until:
                        self._start(self._await_exchange())
                        self._find_lost_claims()
                self._give_back_late(now)
                self._listen_for_events(news)
                self._go_on()
                if self.until_quiet and self._is_idle and self._is_quiet():
                    return
            except BackendGone:
                self._is_gone = True
                continue
            except psycopg.Error as error:
                # The claim may have been made, although nobody here knows of it.
                self._doubt_until = time.monotonic() + _DOUBT
                if isinstance(error, ConnectionFailed):
                    raise
                _tell(f"tasks can't be claimed, trying again: {one_line(error)}")
                self._look = False
            until = min([next_poll, *self._deadlines()])
            pause = 0.0 if news.has_heard else until - time.monotonic()
            if self._loop.wait(pause, news) or news.has_heard:
                self._hear(news)

    def _hear(self, news: Listener) -> None:
        """Look for new tasks: for one alone, if nothing else is known to be due."""
        families = {family_code for family_code, _ in self._types}
        heard = news.heard_on()
        if news.polls:
            self._look = self._anew = True
            self._hear_of_sources(news)
        for channel, payload in heard:
            if channel == SharedPublisher.channel:
                self._publisher.hear()
            if channel != "omd_dispatch":
                if channel in self._listens_to:
                    self._tell_news(channel, payload)
                continue
            if payload == _SOURCES:
                self._hear_of_sources(news)
                continue
            group, _, task = payload.partition(" ")
            if group == self.group:
                self._anew = True
                match = _NEW.fullmatch(task)
                if match is None or self._new is not None or match[1] not in families:
                    self._look = True
                else:
                    self._new = NewTask(match[1], int(match[2]), int(match[3]))

    def _listen_for_events(self, news: Listener) -> None:
        """Listen for who publishes, only while nothing happens: each run would pay a little."""
        wants = self._publisher.wants_news
        if wants and not self._listens_for_events:
            news.listen(SharedPublisher.channel)
            self._publisher.hear()  # what came before is seen by one more round
        elif (
            self._listens_for_events
            and not wants
            and SharedPublisher.channel not in self._listens_to
        ):
            news.unlisten(SharedPublisher.channel)
        self._listens_for_events = wants
        news.require()

    def _deadlines(self) -> list[float]:
        """Return when something is to be done for a task that runs."""
        return [
            at
            for slot in self._slots.slots
            for at in (slot.deadline, slot.kill_at if slot.process else None)
            if at is not None
        ]

    @property
    def _is_idle(self) -> bool:
        """Whether it has nothing to do, and has found nothing."""
        return not (self._held or self._exchange or self._look or self._new)

    def _is_quiet(self) -> bool:
        """Whether no task of the group is due, none runs here or elsewhere, and none would come.

        What this worker does itself to create tasks rests from then on. Where time itself is news,
        as for a topic over the clock, tasks would come for ever; so those end it that find nothing.
        """
        if self._sources is None or self._near is None:
            return False
        self._sources.pause()
        self._near.pause()
        is_quiet = False
        try:
            # Another worker may have taken what came between the first two looks.
            is_quiet = not self._has_tasks() and (
                (self._is_vain and self._unended <= 0)
                or (not self._can_create_tasks() and not self._has_tasks())
            )
        finally:
            if not is_quiet:
                self._near.resume()
                self._sources.resume()
        return is_quiet

    def _has_tasks(self) -> bool:
        return any(
            row.due or row.claimed
            for row in self._dispatch.report(DispatchQueueRow)
            if row.lane == self.group or row.lane.startswith(f"{self.group}/")
        )

    def _can_create_tasks(self) -> bool:
        """Do at once what other threads do in turn; return whether something came of it."""
        # A schedule may be due.
        done = Maintenance(self._links, _tell, self._ask_sources).round()
        if done.fired or done.reclaimed or done.more:
            return True
        if not self._families:
            return False
        self._look_for_news()
        with self._links.take() as link:
            created = fire_all(link)
        self._is_vain, self._unended = bool(created), created or 0
        return created != 0

    # Claims and results -------------------------------------------------------------------------

    def _go_on(self) -> None:
        """Take over what an exchange has claimed, and begin the next one when it is time.

        There is one at a time: several would always hold the backend, which then could not renew.
        """
        while self._exchange is None or self._exchange.done.is_set():
            exchange = self._take_exchange()
            self._take_ended()
            self._begin_exchange(0 if exchange is None else len(exchange.claimed))
            if exchange is not None:  # while the database works for the next one
                self._start(self._open(exchange))
            elif self._exchange is None:
                return

    def _begin_exchange(self, coming: int) -> None:
        """Begin to report what is over, and to claim what is next, if it is worth a transaction."""
        now = time.monotonic()
        limit = self._room(coming) if now < self._slots.start_until else 0
        if limit:
            is_worth = self._look or bool(self._new or self._results)
        else:
            # While tasks wait for a slot, few results are not worth a transaction of their own.
            has_more = coming or self._slots.queue
            is_worth = bool(self._results) and not (has_more and now - self._reported_at <= REST)
        if is_worth:
            self._send(limit, coming)

    def _send(self, limit: int, coming: int = 0) -> None:
        # What has ended may have made room in a limited lane.
        new = None if self._look or self._results or not limit else self._new
        self._exchange = Exchange(self.backend_id, self._results, limit, self._anew, new)
        self._results = []
        if limit:
            self._look = self._anew = False
            self._new = None
        if self._held or coming:
            self._exchanger.start(self._exchange)
        else:  # nothing can run meanwhile
            self._exchanger.make(self._exchange)

    def _await_exchange(self) -> list[Claim]:
        """Wait for the end of the exchange that is on its way; return what it has claimed."""
        exchange = self._take_exchange()
        return [] if exchange is None else self._open(exchange)

    def _take_exchange(self) -> Exchange | None:
        """Wait for the end of the exchange that is on its way; None: there is none."""
        if (exchange := self._exchange) is None:
            return None
        exchange.done.wait()
        self._exchange = None
        if exchange.error is not None:
            self._results[:0] = exchange.results
            raise exchange.error
        self._reported_at = time.monotonic()
        for ended in exchange.results:
            self._held.pop(ended.claimed.claim.task_id, None)
        for ended in exchange.results:
            if ended.claimed.claim.family_code in self._families:
                self._tell_ended(ended.claimed)
        self._look = self._look or 0 < exchange.limit == len(exchange.claimed)
        return exchange

    def _open(self, exchange: Exchange) -> list[Claim]:
        """Show how tasks went that an exchange has reported; return what it has claimed."""
        self._show(exchange)
        if exchange.types_version is not None and exchange.types_version != self._types_version:
            self._types = task_types(self._dispatch)
            self._types_version = exchange.types_version
            self._seconds.clear()
        return exchange.claimed

    def _complete(self) -> None:
        """Report what is over, and wait until that is done."""
        self._start(self._await_exchange())
        if self._results:
            self._send(0)
            self._await_exchange()

    def _room(self, coming: int) -> int:
        """Return how many tasks to claim now, while so many have been claimed and not added.

        Of those that it may hold ahead it claims half at once, and runs the others meanwhile.
        """
        waiting = len(self._held) - len(self._results) + coming + self._stale
        room = self.workers + self._ahead - waiting
        return min(room, self.workers + self._ahead // 2, _MOST) if room > self._ahead / 4 else 0

    @property
    def _stale(self) -> int:
        """How many tasks still run that were claimed by the backend that it was before."""
        claims = [slot.claimed for slot in self._slots.slots]
        return sum(c is not None and c.backend_id != self.backend_id for c in claims)

    def _take_ended(self) -> None:
        """Take over what has ended; nobody asks for the results of a dead backend."""
        self._results += [
            ended
            for ended in self._slots.take_ended()
            if ended.claimed.backend_id == self.backend_id
        ]

    def _show(self, exchange: Exchange) -> None:
        for claimed, ending, seconds in exchange.results:
            if ending is not None:
                self._is_vain = self._is_vain and ending.outcome == "C"
                self._unended -= 1
                before = self._seconds.get(claimed.kind, seconds)
                self._seconds[claimed.kind] = before + (seconds - before) / 8
                if ending.error is not None:
                    self.has_failed = True
                    _tell(f"{claimed.task}: {ending.error.partition(chr(10))[0]}")
                elif claimed.kind.is_shown:
                    _tell(f"{claimed.task}: {_ENDINGS[ending.outcome]} after {seconds:.1f} s")
        for task_id in exchange.refused:
            _tell(f"task {task_id}: its result was refused, since its claim had ended")

    def _start(self, claims: list[Claim]) -> None:
        """Let claimed tasks wait for a slot, and give back what is too much."""
        if not claims:
            return
        now, backend_id = time.monotonic(), self.backend_id
        master, types = self.master, self._types
        claimed = [
            Claimed(
                claim,
                Task._of(claim, master),
                types[claim.family_code, claim.task_type],
                backend_id,
                now,
            )
            for claim in claims
        ]
        took = {kind: self._seconds.get(kind, 1.0) for kind in {c.kind for c in claimed}}
        seconds = max(took.values())
        if seconds < _SHORT:
            # Half of what can start in time, so that few are given back.
            ahead = self._ahead = min(_AHEAD, int(self.workers * _SOON / 2 / max(seconds, 1e-6)))
        else:
            self._ahead = 0
            # The short ones before the first that may be long start as soon as they would have.
            ahead = next(n for n, c in enumerate(claimed) if took[c.kind] >= _SHORT)
        reported = 0 if self._exchange is None else len(self._exchange.results)
        room = max(self.workers + ahead - len(self._held) + reported, 0)
        for c in claimed[:room]:
            self._held[c.claim.task_id] = c
        self._slots.wake_at = self._ahead * 3 // 4 - 1  # then there is room again
        self._slots.add(claimed[:room])
        self._give_back([c.claim.task_id for c in claimed[room:]])

    def _give_back(self, task_ids: list[int]) -> None:
        """Let others have tasks that have not started."""
        for task_id in task_ids:
            self._held.pop(task_id, None)
        if task_ids:
            self._dispatch.release_tasks(self.backend_id, task_ids)

    def _give_back_late(self, now: float) -> None:
        late = self._slots.take_back(now - _SOON)
        if late:
            # What runs now takes longer than thought.
            for slot in self._slots.running():
                if (running := slot.claimed) is not None:
                    self._seconds[running.kind] = _SOON
            self._ahead = 0
            self._give_back([c.claim.task_id for c in late])

    def _find_lost_claims(self) -> None:
        """Give back what was claimed by a call whose answer was lost."""
        rows = self._dispatch.report(DispatchRunningRow, claimed_by=self.backend_id)
        lost = [row.task_id for row in rows if row.task_id not in self._held]
        if lost:
            self._dispatch.release_tasks(self.backend_id, lost)

    # Ends before the end ------------------------------------------------------------------------

    def _end_overdue(self) -> None:
        """End tasks whose time is over, that are cancelled, or that did not end when asked to."""
        now = time.monotonic()
        cancelled, self._to_cancel = self._to_cancel, set()
        for slot in self._slots.running():
            claimed, deadline, kill_at = slot.claimed, slot.deadline, slot.kill_at
            if claimed is None:
                continue
            what = None
            if claimed.claim.task_id in cancelled:
                what = slot.end("it was cancelled")
                cancelled.remove(claimed.claim.task_id)
            elif kill_at is not None and now >= kill_at and slot.process is not None:
                what = f"it did not end, {slot.kill()}"
            elif deadline is not None and now >= deadline:
                slot.deadline = None
                what = slot.end(f"its timeout of {claimed.kind.timeout} is over")
            if what is not None:
                _tell(f"{claimed.task}: {what}")
        for task_id in cancelled & self._held.keys():
            self._held[task_id].task._end("it was cancelled")

    def _connect_to_control(self, name: str, patience: timedelta = _PATIENCE) -> Connection:
        control = connect(self.dsn or None, application_name=name, patience=patience)
        control._permitted = self.permitted
        return control


def _maintain(maintenance: Maintenance) -> bool:
    """Do a round of what no worker does for itself; in a thread of its own."""
    try:
        return maintenance.round().more
    except ConnectionFailed:  # the main thread tells it
        return False


def _tell(line: str) -> None:
    click.echo(short(line), err=True)

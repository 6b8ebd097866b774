"""``omd worker`` claims due tasks, runs them, and says how they went.

The database decides which task is next, who may have it and what becomes of it, so that any number
of workers may serve one group. A worker registers as a backend of its group, with a name that
nobody has had before: it renews its registration, and what it has claimed goes to others when it no
longer does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import click
import psycopg

from omd._core.error_codes import BackendGone
from omd._core.errors import ConnectionFailed, one_line
from omd._core.functions import Permitted
from omd._core.link import Link
from omd._core.listener import Listener
from omd.doors.control import connect
from omd.programs.service.loop import Links, Loop, Shared
from omd.programs.service.publisher import SharedPublisher
from omd.programs.terminal.text import short
from omd.programs.worker.claims import Claims
from omd.programs.worker.exchange import Exchanger
from omd.programs.worker.looks import Looks
from omd.programs.worker.registration import Registration
from omd.programs.worker.slots import Slots
from omd.rooms.control.connection import Connection
from omd.rooms.dispatch.calls import DispatchCalls
from omd.rooms.dispatch.rows import DispatchQueueRow

_HURRY = 5.0  # so long what is stopped may take to end when the worker ends
_SOURCES = "*"  # the payload of a change of the sources of tasks
_PATIENCE = timedelta(minutes=1)  # so long a task waits for a database that restarts


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
        backend_id: the name under which it was registered last.
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
            self._connect("omd-dispatch", timedelta(0)) as control,
            loop.signals(),
            ExitStack() as ending,
        ):

            def new_link(name: str) -> Link:
                seconds = max(2, int(self.ttl / 5))
                return control._new_link(
                    name=name,
                    patience=timedelta(0),
                    connect_timeout=str(seconds),
                    tcp_user_timeout=str(seconds * 1000),
                )

            # What the main thread asks goes the way of the exchanges: one session less.
            link = new_link("-exchange")
            calls = DispatchCalls(link)
            exchanger = Exchanger(link, loop)
            ending.callback(exchanger.close)
            control._link.rest()
            links = Links(lambda: control._new_link(name="-task", patience=_PATIENCE))
            ending.callback(links.close)
            slots = Slots(
                self.workers,
                loop,
                dsn=self.dsn,
                ttl=self.ttl,
                links=links,
                connect=lambda: self._connect("omd-task"),
                permitted=self.permitted,
            )
            ending.callback(slots.close)
            registration = Registration(
                self.group, self.ttl, slots, lambda: new_link("-renew"), loop.wake
            )
            registration.begin(calls)

            def pause() -> float:
                """Of what all do, and one at a time: seconds between two rounds of this worker."""
                return 1.0 if not registration.position else max(1.0, self.ttl / 3)

            to_look = Shared(lambda: new_link("-look"))
            ending.callback(to_look.close)
            looks = Looks(
                self.group,
                to_look,
                lambda: self._connect("omd-refresh", timedelta(0)),
                self.permitted,
                is_first=lambda: not registration.position,
                pause=pause,
                tell=_tell,
            )
            claims = Claims(
                calls,
                exchanger,
                registration,
                slots,
                master=self.master,
                over=looks.take_in,
                tell=_tell,
            )
            serving = _Serving(self, calls, slots, registration, looks, claims, new_link)
            ending.callback(serving.leave)
            ending.callback(looks.close)
            if not self.until_quiet:
                served = "1 slot" if self.workers == 1 else f"{self.workers} slots"
                line = f"{registration.backend_id} serves {self.group} with {served}"
                _tell(f"{line}; SIGTERM or Ctrl-C stops it")
            with SharedPublisher(to_look, loop.wake, _tell, pause) as serving.publisher:
                loop.stay_connected(serving.connect, serving.serve, serving.end_overdue)

    @property
    def turns(self) -> bool:
        """Whether its loop turns; any thread may ask."""
        return self._loop.turns

    def stop(self) -> None:
        """Ask it to end, as SIGTERM does; any thread may call it."""
        self._loop.stop += 1
        self._loop.wake()

    def _connect(self, name: str, patience: timedelta = _PATIENCE) -> Connection:
        control = connect(self.dsn or None, application_name=name, patience=patience)
        control._permitted = self.permitted
        return control


class _Serving:
    """What the main thread of a worker does: it hears news, and lets tasks be claimed and ended.

    Args:
        worker: the worker, whose outcome is set when it leaves.
        calls: the routines of dispatch.
        slots: run the tasks.
        registration: the backend.
        looks: makes tasks.
        claims: claims tasks, and reports their ends.
        new_link: opens a connection.
    """

    publisher: SharedPublisher

    def __init__(
        self,
        worker: Worker,
        calls: DispatchCalls,
        slots: Slots,
        registration: Registration,
        looks: Looks,
        claims: Claims,
        new_link: Callable[[str], Link],
    ) -> None:
        self._worker = worker
        self._loop = worker._loop
        self._calls = calls
        self._slots = slots
        self._registration = registration
        self._looks = looks
        self._claims = claims
        self._new_link = new_link
        self._listens_for_events = False  # for the publisher

    @contextmanager
    def connect(self) -> Iterator[Listener]:
        """Listen, as long as the connection lasts."""
        with Listener(self._new_link("-listen"), "omd_dispatch") as news:
            self._listens_for_events = False
            self._looks.listen(news, self._calls)
            serves = f"{self._registration.backend_id} serves {self._worker.group}"
            self._loop.service.ready(serves)
            yield news

    def serve(self, news: Listener) -> None:
        """Let tasks be claimed and ended, until the worker is to stop or all is quiet."""
        next_poll = 0.0
        claims, registration = self._claims, self._registration
        while not self._loop.stop:
            now = time.monotonic()
            try:
                if registration.is_gone:
                    self._fence()
                self.end_overdue()
                if now >= next_poll:
                    next_poll, claims.look = now + self._worker.poll, True
                    claims.find_lost(now)
                claims.give_back_late(now)
                self._listen_for_events(news)
                claims.go_on()
                if self._worker.until_quiet and claims.is_idle and self._is_quiet():
                    return
            except BackendGone:
                registration.is_gone = True
                continue
            except psycopg.Error as error:
                claims.doubt()
                if isinstance(error, ConnectionFailed):
                    raise
                _tell(f"tasks can't be claimed, trying again: {one_line(error)}")
                claims.look = False
            until = min([next_poll, *self._slots.deadlines()])
            pause = 0.0 if news.has_heard else until - time.monotonic()
            if self._loop.wait(pause, news) or news.has_heard:
                self._hear(news)

    def end_overdue(self) -> None:
        """End tasks whose time is over, that are cancelled, or that did not end when asked to."""
        cancelled = self._registration.take_cancelled()
        self._claims.cancel(self._slots.end_overdue(cancelled, _tell))

    def leave(self) -> None:
        """Let what runs end, and leave the group."""
        worker, registration = self._worker, self._registration
        try:
            self._claims.give_back_all()
        except psycopg.Error as error:
            _tell(f"tasks that were not started can't be given back now: {one_line(error)}")
        self._loop.let_end(self._slots.running, worker.grace, self._finish, hurry=_HURRY)
        self._finish()
        registration.end()
        worker.backend_id = registration.backend_id
        worker.has_failed = self._claims.has_failed
        worker.still_runs = [s.name for s in self._slots.slots if s.claimed is not None]
        try:
            # Who leaves gives back what has not started. What has ended, and could not be
            # reported, is settled when the claims expire.
            if not worker.still_runs and not self._claims.has_results:
                self._calls.leave_backend(registration.backend_id)
        except psycopg.Error as error:
            _tell(
                f"it could not leave; its claims expire after {worker.ttl:g} s: {one_line(error)}"
            )

    def _finish(self) -> None:
        """Report what is over while the worker ends; what can't be is tried at the next end."""
        self.end_overdue()
        try:
            self._claims.complete()
        except psycopg.Error as error:
            _tell(f"results can't be reported now: {one_line(error)}")

    def _fence(self) -> None:
        """End what runs: others may have it. Then become another backend."""
        dead = self._registration.backend_id
        _tell(f"{dead} was declared dead: it ends what it runs, and registers anew")
        self._slots.backend_id = ""
        self._slots.take_back()
        for slot in self._slots.running():
            _tell(f"{slot.name}: {slot.end('its worker was declared dead')}")
        self._claims.forget()
        self._registration.begin(self._calls)

    def _hear(self, news: Listener) -> None:
        heard = news.heard_on()
        if news.polls:
            self._claims.look_anew()
            self._looks.listen(news, self._calls)
        for channel, payload in heard:
            if channel == SharedPublisher.channel:
                self.publisher.hear()
            if channel != "omd_dispatch":
                if channel in self._looks.channels:
                    self._looks.hear(channel, payload)
            elif payload == _SOURCES:
                self._looks.listen(news, self._calls)
            else:
                group, _, task = payload.partition(" ")
                if group == self._worker.group:
                    self._claims.hear(task)

    def _listen_for_events(self, news: Listener) -> None:
        """Listen for who publishes, only while nothing happens: each run would pay a little."""
        wants, channel = self.publisher.wants_news, SharedPublisher.channel
        if wants and not self._listens_for_events:
            news.listen(channel)
            self.publisher.hear()  # what came before is seen by one more round
        elif self._listens_for_events and not wants and channel not in self._looks.channels:
            news.unlisten(channel)
        self._listens_for_events = wants
        news.require()

    def _is_quiet(self) -> bool:
        """Whether no task of the group is due, none runs here or elsewhere, and none would come.

        What this worker does itself to create tasks rests from then on. Where time itself is news,
        as for a topic over the clock, tasks would come for ever; so those end it that find nothing.
        """
        self._looks.pause()
        is_quiet = False
        try:
            # Another worker may have taken what came between the first two looks.
            is_quiet = not self._has_tasks() and (
                self._looks.is_vain or (not self._looks.create_tasks() and not self._has_tasks())
            )
        finally:
            if not is_quiet:
                self._looks.resume()
        return is_quiet

    def _has_tasks(self) -> bool:
        group = self._worker.group
        return any(
            row.due or row.claimed
            for row in self._calls.report(DispatchQueueRow)
            if row.lane == group or row.lane.startswith(f"{group}/")
        )


def _tell(line: str) -> None:
    click.echo(short(line), err=True)

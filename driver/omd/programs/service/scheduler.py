"""The kind TOPIC of a worker: it starts a step of each topic that is ready.

The database decides which topic may run and how its step ends, so that several schedulers may work
side by side. A scheduler only counts what it has started: calls over a few connections for topics
in PostgreSQL, processes for topics on Spark.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

import click
import psycopg

from omd._core.calls import Repeat, Routine
from omd._core.engines import Engine
from omd._core.errors import ConnectionFailed, one_line
from omd._core.listener import Listener
from omd.doors.lineage import Lineage
from omd.programs.service.loop import Call, Child, Links, Loop
from omd.programs.service.publisher import Publisher
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.options import is_chosen
from omd.programs.terminal.text import short
from omd.rooms.control.codes import ENDS
from omd.rooms.control.connection import Connection
from omd.rooms.control.outcome import Outcome
from omd.rooms.control.rows import CurrentProcessingRow
from omd.rooms.lineage.rows import LineageTopicsRow
from omd.rooms.lineage.step import in_words, step_in_database

# After a read of the whole ready list the next one waits this many times as long as it took; after
# a read of a few topics, the next such one waits once as long. Neither waits for the other.
_REST = 4
_PATIENCE = timedelta(minutes=1)  # so long a step waits for a database that restarts
_NEAR = Routine(
    "omd_lineage.ready_near",
    {"p_topics": "text[]"},
    required=1,
    repeat=Repeat(),
    is_function=True,
)


class _Topic(Protocol):
    """What a look says of a topic."""

    @property
    def topic(self) -> str: ...

    @property
    def engine(self) -> str: ...


@dataclass(frozen=True, slots=True)
class _Near:
    """A topic that has moved, or that reads one that has."""

    topic: str
    engine: str
    is_ready: bool


@dataclass
class Scheduler:
    """Runs steps until it is stopped."""

    connect: Callable[[], Connection]  # opens a connection
    # The command that performs a step in a process of its own, without the topic.
    program: Sequence[str]
    dsn: str  # the database of such a process; empty where libpq's own settings name it
    workers: int = 1  # how many steps may run at once
    poll: float = 10  # seconds between two polls of the sources
    topics: Sequence[str] = ()  # patterns of the topics to run; without any, all topics are run
    once: bool = False  # run the topics that are ready now, and stop
    until_quiet: bool = False  # stop when no topic is ready and no step runs, here or elsewhere
    grace: float = 20  # seconds that running steps have to end after SIGTERM
    _loop: Loop = field(default_factory=lambda: Loop(_tell), init=False)
    _running: dict[str, Call[Outcome[None]] | Child] = field(default_factory=dict)
    _moved: set[str] = field(default_factory=set)  # topics whose offset has moved: who reads them?
    _stirred: set[str] = field(default_factory=set)  # what they read has moved while they ran
    _vain: set[str] = field(default_factory=set)  # topics whose step was not DONE since one was
    _progressed: bool = False  # a step was DONE since the last read of the whole list
    _crowded: bool = False  # another scheduler was faster since the last poll
    _failed: bool = False
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
        return ExitCode.FAILURE if self._failed and not loop.stop else ExitCode.OK

    @property
    def turns(self) -> bool:
        """Whether its loop turns; any thread may ask."""
        return self._loop.turns

    # What is ready ------------------------------------------------------------------------------

    @contextmanager
    def _connect(self) -> Iterator[tuple[Lineage, Listener]]:
        with (
            self.connect() as control,
            Publisher(lambda: control._new_link(name="-publish", patience=timedelta(0)), _tell),
            Lineage(control).listen() as news,
        ):
            control._omd.require_known_server()
            if self._links is None:
                self._links = Links(lambda: control._new_link(name="-step", patience=_PATIENCE))
                if not (self.once or self.until_quiet):
                    _tell(f"polling every {self.poll:g} s; SIGTERM or Ctrl-C stops it")
            yield Lineage(control), news

    def _serve(self, session: tuple[Lineage, Listener]) -> None:
        lineage, news = session
        next_poll = look_at = near_at = 0.0
        look, has_looked, queue = True, False, list[_Topic]()
        while not self._loop.stop:
            self._reap()
            try:
                if time.monotonic() >= next_poll:
                    next_poll = time.monotonic() + self.poll
                    self._crowded = False
                    lineage.probe_sources()
                    look = True
                began = time.monotonic()
                if self._free:
                    if look and began >= look_at and not (self.once and has_looked):
                        look, has_looked, self._progressed = False, True, False
                        self._moved.clear()
                        queue = self._chosen(lineage.ready_list(only_ready=True))
                        self._loop.service.ready(f"polling every {self.poll:g} s")
                        look_at = time.monotonic() + _REST * (time.monotonic() - began)
                    elif self._moved and began >= near_at and not self.once:
                        near = self._chosen(self._near(lineage))
                        named = {row.topic for row in near}
                        queue = near + [row for row in queue if row.topic not in named]
                        near_at = time.monotonic() + (time.monotonic() - began)
            except ConnectionFailed:
                raise
            except psycopg.Error as error:
                if not has_looked:
                    raise
                _tell(f"the ready list can't be read, trying again: {error}")
                look, look_at, near_at = True, next_poll, next_poll
            while queue and self._free:
                row = queue.pop(0)
                if row.topic not in self._running:
                    self._start(row.topic, lineage._control._engines[row.engine])
            is_awake = look or bool(self._moved)
            if not self._running and not queue and (self.once or not is_awake):
                if self.once or (
                    self.until_quiet and not self._progressed and self._is_quiet(lineage)
                ):
                    return
                if self.until_quiet:  # topics that had to wait may run now
                    look = is_awake = True
            soon = next_poll
            if is_awake and self._free and not self.once:
                soon = min(look_at if look else soon, near_at if self._moved else soon, soon)
            if self._loop.wait(soon - time.monotonic(), news):
                self._moved |= news.heard()
                look = look or news.polls

    def _is_quiet(self, lineage: Lineage) -> bool:
        """Whether no topic is ready and nobody's step runs.

        What ends elsewhere makes others ready, and may have done so since the last look. A topic
        that is held by hand is held without a run, until somebody lets it go.
        """
        held = self._held(lineage)
        if held:
            topics = lineage.report(LineageTopicsRow, topic=sorted(held))
            codes = [row.module_code for row in topics]
            if lineage.report(CurrentProcessingRow, instance_type="MODULE", code=codes):
                return False
            return held == self._held(lineage)
        return held is not None

    def _held(self, lineage: Lineage) -> set[str] | None:
        """Return which topics are held, as of one moment; None: one is ready.

        One over the clock is ready again and again, so a step of it that found nothing counts.
        """
        rows = [row for row in lineage.ready_list() if row.topic not in self._running]
        held = {row.topic for row in rows if row.is_held}
        ready = {row.topic for row in rows if row.is_ready} - self._vain
        chosen = {topic for topic in held | ready if is_chosen(topic, self.topics)}
        return None if chosen - held else chosen

    def _near(self, lineage: Lineage) -> list[_Near]:
        """Return the topics that are ready among those that have moved and those that read them."""
        moved, self._moved = sorted(self._moved), set()
        near = lineage._rows(_NEAR, _Near, moved)
        self._stirred |= {row.topic for row in near} & self._running.keys()
        return [row for row in near if row.is_ready]

    def _chosen(self, rows: Iterable[_Topic]) -> list[_Topic]:
        chosen = [
            row
            for row in rows
            if row.topic not in self._running and is_chosen(row.topic, self.topics)
        ]
        if self._crowded:
            # Other schedulers read the same list, and would try the same first topics.
            head, chosen = chosen[: 8 * self._free], chosen[8 * self._free :]
            random.shuffle(head)
            chosen = head + chosen
        return chosen

    # Steps --------------------------------------------------------------------------------------

    @property
    def _free(self) -> int:
        return self.workers - len(self._running)

    def _start(self, topic: str, engine: Engine) -> None:
        assert self._links is not None  # noqa: S101 - there has been a connection
        if not engine.needs_process:
            self._running[topic] = Call(
                topic, self._loop, self._links, lambda link: step_in_database(link, topic)
            )
            return
        self._running[topic] = Child(
            topic,
            [*self.program, topic],
            {**os.environ, **({"OMD_DSN": self.dsn} if self.dsn else {})},
            sys.stderr.fileno(),  # the output of a job is no data of this command
        )

    def _reap(self) -> None:
        """Remove the steps that have ended; report what their processes could not report."""
        for topic in [topic for topic, step in self._running.items() if step.has_ended]:
            step = self._running.pop(topic)
            status = _ended(step) if isinstance(step, Child) else _answered(step)
            was_stirred = topic in self._stirred
            self._stirred.discard(topic)
            if status == "S" or was_stirred:
                self._moved.add(topic)
            if status == "S":
                self._vain.clear()
            elif status != "A":
                self._vain.add(topic)
            self._progressed |= status == "S"
            self._crowded |= status == "A"
            self._failed |= status in (None, "F")


# A process has printed its outcome itself, and its exit code says which status it has.
_STATUSES: dict[int | None, str] = {code: status for status, (code, _) in ENDS.items()}


def _ended(child: Child) -> str | None:
    """Return the status of a process; None, and a line for people, when it could tell none."""
    if child.killer:
        _tell(f"{child.name}: its process was killed by {child.killer}")
    elif child.code not in _STATUSES:
        _tell(f"{child.name}: its process ended with exit code {child.code}")
    return _STATUSES.get(child.code)


def _answered(call: Call[Outcome[None]]) -> str | None:
    """Tell the outcome of a call; return its status, or None when it has raised an exception."""
    if call.answer is None:
        _tell(f"{call.name}: {one_line(call.error) if call.error else 'it was not begun'}")
        return None
    _tell(in_words(call.answer))
    return str(call.answer.status)


def _tell(line: str) -> None:
    click.echo(short(line), err=True)

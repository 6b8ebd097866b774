"""The slots of a worker: threads that take tasks from one queue.

Tasks may take a few microseconds, so a task costs no system call and wakes nobody: a thread wakes
the worker when it finds nothing more to do, or when the worker has not looked for a while.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from omd._core.functions import Permitted
from omd._core.link import Link
from omd.doors.task import Claim, Task
from omd.programs.service.loop import Links, Loop
from omd.programs.worker.child import TaskProcess
from omd.programs.worker.handlers import (
    Ending,
    TaskType,
    run_in_database,
    run_in_python,
    session_of,
)
from omd.rooms.control.connection import Connection

_IDLE = 60.0  # seconds after which a process or a connection that waits for a task is ended
REST = 0.05  # seconds after which a worker is woken for endings, although there is more to do


class Claimed(NamedTuple):
    """A task that waits for a slot."""

    claim: Claim  # what was claimed
    task: Task  # the same, as its handler sees it
    kind: TaskType  # its type
    backend_id: str  # the backend that has claimed it
    since: float  # when, in seconds of `time.monotonic`


class Ended(NamedTuple):
    """A task that is over."""

    claimed: Claimed  # the task
    ending: Ending | None  # how it went; None: it was not started
    seconds: float  # how long it took


class Slots:
    """Threads that take tasks from one queue, each one at a time.

    Args:
        number: how many threads.
        loop: is woken when there is something to do for the worker.
        dsn: the database; empty where libpq's own settings name it.
        ttl: seconds after which the claims of a silent worker expire.
        links: connections for statements.
        connect: opens a connection for a handler in Python.
        permitted: what they execute.
    """

    def __init__(
        self,
        number: int,
        loop: Loop,
        *,
        dsn: str,
        ttl: float,
        links: Links,
        connect: Callable[[], Connection],
        permitted: Permitted,
    ) -> None:
        self.queue: deque[Claimed] = deque()  # tasks that wait, in starting order
        self.ended: deque[Ended] = deque()  # tasks that are over, for the worker
        # When so many tasks wait, the worker is woken, for there is room for others.
        self.wake_at = 0
        self.backend_id = ""  # the backend whose tasks may start
        self.start_until = 0.0  # until when tasks may start, in seconds of `time.monotonic`
        self.loop = loop
        self.dsn = dsn
        self.ttl = ttl
        self.links = links
        self.connect = connect
        self.permitted = permitted
        # Processes that wait for a task. Only who takes one out gives it one.
        self._waiting: list[TaskProcess] = []
        self._taken_at = 0.0
        self._idle = 0
        self._changed = threading.Condition()
        self._closed = threading.Event()
        self.slots = [Slot(self, n) for n in range(number)]  # the threads
        threading.Thread(target=self._beat, name="omd-beat", daemon=True).start()

    def add(self, claimed: list[Claimed]) -> None:
        """Let tasks wait for a slot."""
        self.queue.extend(claimed)
        if self._idle:
            with self._changed:
                self._changed.notify(min(len(claimed), self._idle))

    def take_ended(self) -> list[Ended]:
        """Return what is over since the last call."""
        self._taken_at = time.monotonic()
        return [self.ended.popleft() for _ in range(len(self.ended))]

    def take_back(self, since: float | None = None) -> list[Claimed]:
        """Return tasks that have not started, and start them no more.

        Args:
            since: only those that wait since before this instant of `time.monotonic`.
        """
        taken: list[Claimed] = []
        with suppress(IndexError):  # the queue is empty
            while since is None or self.queue[0].since < since:
                taken.append(self.queue.popleft())
        return taken

    def running(self) -> list[Slot]:
        """Return the slots that run a task and can still be ended."""
        return [slot for slot in self.slots if slot.claimed is not None and not slot.is_left]

    def deadlines(self) -> list[float]:
        """Return when something is to be done for a task that runs."""
        return [
            at
            for slot in self.slots
            for at in (slot.deadline, slot.kill_at if slot.process else None)
            if at is not None
        ]

    def end_overdue(self, cancelled: set[int], tell: Callable[[str], None]) -> set[int]:
        """End tasks whose time is over, that are cancelled, or that did not end when asked to.

        Returns:
            The tasks to cancel that do not run.
        """
        now, left = time.monotonic(), set(cancelled)
        for slot in self.running():
            claimed, deadline, kill_at = slot.claimed, slot.deadline, slot.kill_at
            if claimed is None:
                continue
            what = None
            if claimed.claim.task_id in left:
                what = slot.end("it was cancelled")
                left.remove(claimed.claim.task_id)
            elif kill_at is not None and now >= kill_at and slot.process is not None:
                what = f"it did not end, {slot.kill()}"
            elif deadline is not None and now >= deadline:
                slot.deadline = None
                what = slot.end(f"its timeout of {claimed.kind.timeout} is over")
            if what is not None:
                tell(f"{claimed.task}: {what}")
        return left

    def close(self) -> None:
        """End the threads that are idle; the others end with the process."""
        self._closed.set()
        with self._changed:
            self._changed.notify_all()
        self._end_waiting(math.inf)

    def next_task(self) -> Claimed | None:
        """Return the next task, once there is one that may start; None: there will be none."""
        while True:
            if time.monotonic() < self.start_until:
                with suppress(IndexError):
                    return self.queue.popleft()
            with self._changed:
                if self._closed.is_set():
                    return None
                self._idle += 1
                if not self.queue:
                    self._changed.wait()
                elif time.monotonic() >= self.start_until:
                    self._changed.wait(0.1)  # the renewal of the backend is late
                self._idle -= 1

    def _beat(self) -> None:
        """Tell the processes of tasks, again and again, that the worker lives."""
        while not self._closed.wait(self.ttl / 6):
            for slot in self.slots:
                if (process := slot.process) is not None:
                    process.beat()
            for process in list(self._waiting):
                process.beat()
            since = time.monotonic() - _IDLE
            self._end_waiting(since)
            self.links.end_idle(since)
            for slot in self.slots:
                slot.rest(since)

    def take_waiting(self) -> TaskProcess | None:
        """Return the process that has waited for the shortest time, if there is one."""
        with suppress(IndexError):
            return self._waiting.pop()
        return None

    def keep(self, process: TaskProcess) -> None:
        """Let a process wait for the next task."""
        self._waiting.append(process)
        if self._closed.is_set():
            self._end_waiting(math.inf)

    def _end_waiting(self, since: float) -> None:
        """End the processes that wait since before an instant of `time.monotonic`."""
        for process in list(self._waiting):
            if process.idle_since < since:
                with suppress(ValueError):  # a slot has taken it meanwhile
                    self._waiting.remove(process)
                    process.close()

    def end(self, ended: Ended, now: float) -> None:
        """Hand over what is over; wake the worker if it is time."""
        self.ended.append(ended)
        waiting = len(self.queue)
        if not waiting or waiting == self.wake_at or now - self._taken_at > REST:
            self.loop.wake()


class Slot:
    """A thread that runs one task after the other; as `Work` it is the task that it runs now."""

    def __init__(self, slots: Slots, number: int) -> None:
        self.claimed: Claimed | None = None  # the task that it runs; None: it waits for one
        self.process: TaskProcess | None = None  # the process of that task; None: it has none
        # When its time is over, in seconds of `time.monotonic`; None: never.
        self.deadline: float | None = None
        # When its process is killed, because it was stopped and runs still.
        self.kill_at: float | None = None
        self.is_left = False  # nothing can end it any more
        self._slots = slots
        self._link: Link | None = None
        self._control: Connection | None = None
        self._idle_since = math.inf  # in seconds of `time.monotonic`; infinite: it is not idle
        self._thread = threading.Thread(target=self._work, name=f"omd-slot-{number}", daemon=True)
        self._thread.start()

    @property
    def name(self) -> str:
        """The task that it runs, for messages."""
        claimed = self.claimed
        return "a task that has ended" if claimed is None else str(claimed.task)

    @property
    def has_ended(self) -> bool:
        """Whether it runs no task."""
        return self.claimed is None

    def end(self, because: str) -> str:
        """Ask the task to end, for a reason; returns what was done to it."""
        claimed = self.claimed
        if claimed is None or claimed.task._ended_because is not None:
            return "it ends already"
        claimed.task._end(because)
        self.kill_at = time.monotonic() + 10
        if (process := self.process) is not None:
            return process.stop()
        if (link := self._link) is not None and self.claimed is claimed:
            link.cancel()
            return "its statement is cancelled"
        return "it is asked to end"

    def stop(self) -> str:
        """Ask the task to end because the worker ends."""
        return self.end("its worker was stopped")

    def kill(self) -> str:
        """End the task without its help, if it has a process."""
        self.kill_at = None
        if (process := self.process) is not None:
            return process.kill()
        self.is_left = True
        return "it is left"

    def _work(self) -> None:
        slots = self._slots
        while (claimed := slots.next_task()) is not None:
            began = time.monotonic()
            self._idle_since = math.inf
            self.claimed = claimed
            # The backend is read after the task is shown: who ends the tasks of a backend sets
            # first the backend, and then looks for them.
            is_gone = claimed.backend_id != slots.backend_id
            ending = None if is_gone else self._run(claimed, began)
            self.claimed = None
            now = self._idle_since = time.monotonic()
            slots.end(Ended(claimed, ending, now - began), now)
        if self._control is not None:
            self._control.close()

    def _run(self, claimed: Claimed, began: float) -> Ending:
        task, kind = claimed.task, claimed.kind
        if task.cancelled:
            return kind.failure("it was not begun", task._ended_because)
        if kind.timeout is not None:
            self.deadline = began + kind.timeout.total_seconds()
            self._slots.loop.wake()
        try:
            if kind.needs_process:
                return self._run_in_process(task, kind)
            if kind.handler == "PYTHON":
                task._opens(self.control)
                return run_in_python(task, kind, self._slots.permitted)
            ending = self._run_in_database(task, kind)
            return self._run_in_process(task, kind) if ending is None else ending
        except Exception as error:  # noqa: BLE001 - whatever it is, the task has failed
            return kind.failure(error, task._ended_because)
        finally:
            self.deadline = self.kill_at = None
            self.is_left = False
            if task._has_control:
                self._reset()

    def _run_in_process(self, task: Task, kind: TaskType) -> Ending:
        while True:
            process = self._slots.take_waiting() if kind.may_share_process else None
            if process is None:
                process = TaskProcess(
                    str(task), self._slots.dsn, self._slots.ttl, self._slots.permitted
                )
            self.process = process
            try:
                if task.cancelled:  # that was noticed before there was a process
                    process.stop()
                ending = process.run(task, kind)
            finally:
                self.process = None
            if process.may_go_on:
                self._slots.keep(process)
            if ending is not None:
                return ending

    def _run_in_database(self, task: Task, kind: TaskType) -> Ending | None:
        link = self._link = self._slots.links.take()
        try:
            return run_in_database(task, kind, link, self._slots.permitted)
        finally:
            self._link = None
            self._slots.links.give_back(link)

    def control(self, task: Task) -> Connection:
        """Return the connection that handlers in Python use in this slot."""
        if self._control is None:
            self._control = self._slots.connect()
        self._control._set(**session_of(task))
        return self._control

    def rest(self, since: float) -> None:
        """Close its connection if it is idle since before an instant of `time.monotonic`."""
        if self._idle_since < since and self._control is not None:
            self._control._link.rest()

    def _reset(self) -> None:
        """Undo what a handler has left in the session."""
        if self._control is not None and not self._control._link.reset():
            self._control.close()
            self._control = None

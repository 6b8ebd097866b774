"""What a worker has claimed, and what of it is over: one exchange with the database at a time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress

from omd._core.error_codes import BackendGone
from omd.doors.task import Claim, Task
from omd.programs.worker.exchange import Exchange, Exchanger, NewTask
from omd.programs.worker.handlers import TaskType, task_types
from omd.programs.worker.registration import Registration
from omd.programs.worker.slots import REST, Claimed, Ended, Slots
from omd.rooms.dispatch.calls import DispatchCalls
from omd.rooms.dispatch.rows import DispatchRunningRow

_SHORT = 0.05  # seconds; tasks of types that take less are claimed ahead
_AHEAD = 500  # so many at most,
_SOON = 2.0  # and those that have not started after so many seconds are given back
_MOST = 1000  # the greatest limit that claim_tasks takes
_DOUBT = 60.0  # so long after a lost connection a claim may appear whose answer was lost
_NEW = re.compile("([A-Z0-9_]+) ([0-9]{1,4}) ([0-9]{1,18})")  # family, partition, task

_ENDINGS = {None: "ended", "S": "done", "A": "later", "C": "skipped", "F": "failed"}


class Claims:
    """Claims tasks for the slots, and reports how they went; only the main thread calls it.

    Args:
        calls: the routines of dispatch; what the main thread asks goes the way of the exchanges.
        exchanger: makes the exchanges.
        registration: the backend that claims.
        slots: run the tasks.
        master: Spark's master URL.
        over: is called with each task whose end the database knows.
        tell: is called with what a person is to see.
    """

    def __init__(
        self,
        calls: DispatchCalls,
        exchanger: Exchanger,
        registration: Registration,
        slots: Slots,
        *,
        master: str | None,
        over: Callable[[Ended], None],
        tell: Callable[[str], None],
    ) -> None:
        self.look = True  # there may be tasks to claim
        self.has_failed = False  # an attempt at a task has failed
        self._anew = False  # some are new
        self._new: NewTask | None = None  # a single one
        self._held: dict[int, Claimed] = {}
        self._results: list[Ended] = []  # not reported yet
        self._exchange: Exchange | None = None  # that which is on its way
        self._reported_at = 0.0  # when results were reported last
        self._doubt_until = 0.0  # until when claims may appear of which nobody here knows
        self._types: dict[tuple[str, str], TaskType] = {}
        self._types_version: int | None = None
        # How long the last tasks of a type took, newer ones counting more; so many more than there
        # are slots are claimed.
        self._seconds: dict[TaskType, float] = {}
        self._ahead = 0
        self._calls = calls
        self._exchanger = exchanger
        self._registration = registration
        self._slots = slots
        self._workers = len(slots.slots)
        self._master = master
        self._over = over
        self._tell = tell

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do, and nothing was found."""
        return not (self._held or self._exchange or self.look or self._new)

    @property
    def has_results(self) -> bool:
        """Whether something is over that could not be reported yet."""
        return bool(self._results)

    # What may be claimed ------------------------------------------------------------------------

    def look_anew(self) -> None:
        """Look for tasks from the start: nobody has said which are new."""
        self.look = self._anew = True

    def hear(self, task: str) -> None:
        """Look for new tasks: for one alone, if nothing else is known to be due."""
        self._anew = True
        match = _NEW.fullmatch(task)
        families = {family_code for family_code, _ in self._types}
        if match is None or self._new is not None or match[1] not in families:
            self.look = True
        else:
            self._new = NewTask(match[1], int(match[2]), int(match[3]))

    def doubt(self) -> None:
        """Know that a claim may have been made although its answer was lost."""
        self._doubt_until = time.monotonic() + _DOUBT

    def find_lost(self, now: float) -> None:
        """Give back what was claimed by a call whose answer was lost, while there may be some."""
        if now < self._doubt_until:
            self._start(self._await_exchange())
            backend_id = self._registration.backend_id
            rows = self._calls.report(DispatchRunningRow, claimed_by=backend_id)
            lost = [row.task_id for row in rows if row.task_id not in self._held]
            if lost:
                self._calls.release_tasks(backend_id, lost)

    # Exchanges ----------------------------------------------------------------------------------

    def go_on(self) -> None:
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

    def complete(self) -> None:
        """Report what is over, and wait until that is done."""
        self._take_ended()
        self._start(self._await_exchange())
        if self._results:
            self._send(0)
            self._await_exchange()

    def forget(self) -> None:
        """Report what has ended before the backend was declared dead; others may have the rest."""
        with suppress(BackendGone):
            self._await_exchange()
        self.complete()  # what has ended before may still count
        self._held.clear()

    def _begin_exchange(self, coming: int) -> None:
        """Begin to report what is over, and to claim what is next, if it is worth a transaction."""
        now = time.monotonic()
        limit = self._room(coming) if now < self._slots.start_until else 0
        if limit:
            is_worth = self.look or bool(self._new or self._results)
        else:
            # While tasks wait for a slot, few results are not worth a transaction of their own.
            has_more = coming or self._slots.queue
            is_worth = bool(self._results) and not (has_more and now - self._reported_at <= REST)
        if is_worth:
            self._send(limit, coming)

    def _send(self, limit: int, coming: int = 0) -> None:
        # What has ended may have made room in a limited lane.
        new = None if self.look or self._results or not limit else self._new
        self._exchange = Exchange(
            self._registration.backend_id, self._results, limit, self._anew, new
        )
        self._results = []
        if limit:
            self.look = self._anew = False
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
            self._over(ended)
        self.look = self.look or 0 < exchange.limit == len(exchange.claimed)
        return exchange

    def _open(self, exchange: Exchange) -> list[Claim]:
        """Show how tasks went that an exchange has reported; return what it has claimed."""
        self._show(exchange)
        if exchange.types_version is not None and exchange.types_version != self._types_version:
            self._types = task_types(self._calls)
            self._types_version = exchange.types_version
            self._seconds.clear()
        return exchange.claimed

    def _room(self, coming: int) -> int:
        """Return how many tasks to claim now, while so many have been claimed and not added.

        Of those that it may hold ahead it claims half at once, and runs the others meanwhile.
        """
        waiting = len(self._held) - len(self._results) + coming + self._stale
        room = self._workers + self._ahead - waiting
        return min(room, self._workers + self._ahead // 2, _MOST) if room > self._ahead / 4 else 0

    @property
    def _stale(self) -> int:
        """How many tasks still run that were claimed by the backend that it was before."""
        claims = [slot.claimed for slot in self._slots.slots]
        backend_id = self._registration.backend_id
        return sum(c is not None and c.backend_id != backend_id for c in claims)

    def _take_ended(self) -> None:
        """Take over what has ended; nobody asks for the results of a dead backend."""
        self._results += [
            ended
            for ended in self._slots.take_ended()
            if ended.claimed.backend_id == self._registration.backend_id
        ]

    def _show(self, exchange: Exchange) -> None:
        for claimed, ending, seconds in exchange.results:
            if ending is not None:
                before = self._seconds.get(claimed.kind, seconds)
                self._seconds[claimed.kind] = before + (seconds - before) / 8
                if ending.error is not None:
                    self.has_failed = True
                    self._tell(f"{claimed.task}: {ending.error.partition(chr(10))[0]}")
                elif claimed.kind.is_shown:
                    self._tell(f"{claimed.task}: {_ENDINGS[ending.outcome]} after {seconds:.1f} s")
        for task_id in exchange.refused:
            self._tell(f"task {task_id}: its result was refused, since its claim had ended")

    # Tasks that are held ------------------------------------------------------------------------

    def cancel(self, task_ids: set[int]) -> None:
        """Cancel tasks that have not started."""
        for task_id in task_ids & self._held.keys():
            self._held[task_id].task._end("it was cancelled")

    def give_back_late(self, now: float) -> None:
        """Let others have what could not start soon."""
        late = self._slots.take_back(now - _SOON)
        if late:
            # What runs now takes longer than thought.
            for slot in self._slots.running():
                if (running := slot.claimed) is not None:
                    self._seconds[running.kind] = _SOON
            self._ahead = 0
            self._give_back([c.claim.task_id for c in late])

    def give_back_all(self) -> None:
        """Let others have all that has not started."""
        self._give_back([c.claim.task_id for c in self._slots.take_back()])
        self._give_back([claim.task_id for claim in self._await_exchange()])

    def _start(self, claims: list[Claim]) -> None:
        """Let claimed tasks wait for a slot, and give back what is too much."""
        if not claims:
            return
        now, backend_id = time.monotonic(), self._registration.backend_id
        master, types = self._master, self._types
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
            ahead = self._ahead = min(_AHEAD, int(self._workers * _SOON / 2 / max(seconds, 1e-6)))
        else:
            self._ahead = 0
            # The short ones before the first that may be long start as soon as they would have.
            ahead = next(n for n, c in enumerate(claimed) if took[c.kind] >= _SHORT)
        reported = 0 if self._exchange is None else len(self._exchange.results)
        room = max(self._workers + ahead - len(self._held) + reported, 0)
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
            self._calls.release_tasks(self._registration.backend_id, task_ids)

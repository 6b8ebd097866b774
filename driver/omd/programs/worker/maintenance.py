"""What no worker does for itself: a worker of each group does a round of it each second.

It settles the claims of dead backends, fires schedules, and goes on with suspensions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import psycopg

from omd._core.calls import Calls, Repeat, Routine
from omd._core.error_codes import UnknownSchedule
from omd._core.errors import AnswerLost, ConnectionFailed, OmdError, one_line
from omd.rooms.dispatch.calls import DispatchCalls

if TYPE_CHECKING:
    from omd.programs.service.loop import Shared

_MOST = 1000  # so many claims, and so many tasks of schedules, in a round at most
_LONGEST = "30s"  # so long a source may take
_SLOW = 1.0  # after a schedule that has taken so many seconds the round ends

_SETTLE, _DUE, _CLEAN = (
    Routine(
        f"omd_dispatch.{name}",
        {"p_limit": "integer"},
        required=1,
        repeat=Repeat(),
        is_function=True,
    )
    for name in ("_maintain_backends", "_due_schedules", "_maintain_suspensions")
)


class Round(NamedTuple):
    """What a round has done."""

    reclaimed: int  # so many claims were settled
    fired: int  # so many tasks were created
    more: bool  # there is more to do


class Maintenance:
    """Makes rounds, as ``omd_dispatch.maintain`` does, with a call of its own for each schedule.

    A source of tasks is code of anybody. It is read over a connection that is as new after each of
    them: a timeout is set before the call, since one that is set inside does nothing; and a source
    that has ended its session, or has left settings in it, stops nothing else.

    Args:
        links: connections to do it over.
        tell: is called with what went wrong.
        reclaimed: is called when claims of dead workers were settled: their work may be ready.
    """

    def __init__(
        self,
        links: Shared,
        tell: Callable[[str], None],
        reclaimed: Callable[[], None] = lambda: None,
    ) -> None:
        self._links = links
        self._tell = tell
        self._reclaimed = reclaimed

    def round(self) -> Round:
        """Do one round."""
        with self._links.take() as link:
            calls = Calls(link)
            reclaimed: int = calls._value(_SETTLE, _MOST)
            due = calls._value(_DUE, 100)
        if reclaimed:
            self._reclaimed()
        fired, left, has_ended = 0, _MOST, True
        for code in due:
            begun = time.monotonic()
            created, skipped, has_ended = self._fire(code, left)
            fired += created
            left -= created + skipped
            has_ended = has_ended and left > 0 and time.monotonic() - begun < _SLOW
            if not has_ended:
                break
        with self._links.take() as link:
            calls = Calls(link)
            more = calls._value(_CLEAN, 10000)
            more = more or reclaimed >= _MOST or not has_ended
            more = more or bool(due and calls._value(_DUE, 1))
        return Round(reclaimed, fired, more)

    def _fire(self, code: str, limit: int) -> tuple[int, int, bool]:
        """Return how many tasks were created and skipped, and whether the round goes on."""
        try:
            with self._links.take() as link:
                link.set(statement_timeout=_LONGEST)
                answer = DispatchCalls(link).fire_schedule(code, limit=limit)
        except UnknownSchedule:  # it was removed meanwhile
            return 0, 0, True
        except (psycopg.Error, OmdError) as error:
            if isinstance(error, ConnectionFailed) and not isinstance(error, AnswerLost):
                raise
            self._tell(f"schedule {code} could not be fired: {one_line(error)}")
            return 0, 0, not isinstance(error, psycopg.errors.QueryCanceled)
        return answer.fired, answer.skipped, not answer.is_cancelled

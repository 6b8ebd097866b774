"""What a worker reports to the database, and gets: in a thread of its own, while tasks run."""

from __future__ import annotations

import functools
import threading
from dataclasses import dataclass, field, make_dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from omd._core.calls import AS_TEXT, Calls, Routine
from omd._core.link import Link
from omd.doors.task import Claim
from omd.programs.worker.handlers import SUCCEEDED, Ending

if TYPE_CHECKING:
    from omd.programs.service.loop import Loop
    from omd.programs.worker.slots import Ended

_COMPLETE_AND_CLAIM = Routine(
    "omd_dispatch.complete_and_claim",
    {
        "p_backend_id": "text",
        "p_results": "jsonb",
        "p_limit": "integer",
        "p_anew": "boolean",
        "p_done": "jsonb",
    },
    required=5,
    is_function=True,
)


# The columns of the answer are the fields of a claim. JSON is read when a handler asks for it.
_Columns = make_dataclass(
    "_Columns",
    [
        (name, object, field(metadata={AS_TEXT: True} if name in ("criteria", "payload") else {}))
        for name in Claim._fields
    ],
)


class NewTask(NamedTuple):
    """A task that was created just now, as its notification names it."""

    family_code: str
    partition_code: int
    task_id: int


@dataclass
class Exchange:
    """One exchange: the database ends tasks, and claims others, in one transaction."""

    backend_id: str  # who does it
    results: list[Ended]  # what is over, and is reported
    limit: int  # how many tasks are claimed at most; 0: none
    anew: bool  # whether to look for due tasks from the start, since there are new ones
    new: NewTask | None = None  # a new task, if there is nothing else to look for
    claimed: list[Claim] = field(default_factory=list)  # what was claimed, in starting order
    # The tasks of the results that the backend does not hold any more.
    refused: list[int] = field(default_factory=list)
    # The version of the types of tasks; None when nothing was claimed.
    types_version: int | None = None
    error: Exception | None = None  # why there is no answer
    # Is set when its thread has taken it.
    begun: threading.Event = field(default_factory=threading.Event)
    # Is set when there is an answer, or an error.
    done: threading.Event = field(default_factory=threading.Event)


class Exchanger:
    """Makes exchanges, one after the other.

    Args:
        loop: is woken when one is done.
    """

    def __init__(self, link: Link, loop: Loop) -> None:
        self._link = link
        self._calls = Calls(link)
        self._loop = loop
        self._asked: SimpleQueue[Exchange | None] = SimpleQueue()
        threading.Thread(target=self._work, name="omd-exchange", daemon=True).start()

    def start(self, exchange: Exchange) -> None:
        """Begin an exchange: return when it is on its way, or nearly.

        The thread that has set `begun` keeps the interpreter until it waits for the database, so
        tasks that are started afterwards run while the database works.
        """
        self._asked.put(exchange)
        exchange.begun.wait()

    def close(self) -> None:
        """End the thread and its connection."""
        self._asked.put(None)

    def _work(self) -> None:
        while (exchange := self._asked.get()) is not None:
            exchange.begun.set()
            self.make(exchange)
            self._loop.wake()
        self._link.close()

    def make(self, exchange: Exchange) -> None:
        """Make an exchange, and wait for its end."""
        try:
            self._make(exchange)
        except Exception as error:  # noqa: BLE001 - the worker raises it
            exchange.error = error
        exchange.done.set()

    def _make(self, exchange: Exchange) -> None:
        claim: Any  # a row that is no claim has one value, and else NULL
        for claim in map(Claim._make, self._answer(exchange)):
            if claim.types_version is not None:
                exchange.types_version = claim.types_version
            if claim.claim_token is not None:
                exchange.claimed.append(claim)
            elif claim.task_id is not None:
                exchange.refused.append(claim.task_id)

    def _answer(self, exchange: Exchange) -> list[tuple[Any, ...]]:
        if (new := exchange.new) is not None:
            return self._calls._tuples(
                _take(new.family_code),
                _Columns,
                exchange.backend_id,
                new.partition_code,
                new.task_id,
            )
        done, results = _sorted_out(exchange.results)
        return self._calls._tuples(
            _COMPLETE_AND_CLAIM,
            _Columns,
            exchange.backend_id,
            results,
            exchange.limit,
            # What a claim keeps for the next one is kept in the session, which is another's here.
            exchange.anew or self._link.is_pooled,
            done,
        )


@functools.cache
def _take(family_code: str) -> Routine:
    """Return the function that claims a new task of a family, as _make_claims has made it."""
    return Routine(
        f"omd_dispatch._take_task_data_{family_code.lower()}",
        {"p_backend_id": "text", "p_partition_code": "integer", "p_task_id": "bigint"},
        required=3,
        is_function=True,
    )


def _sorted_out(ended: list[Ended]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the tasks that have succeeded and can't have begun a run, by claims; and the rest."""
    done: dict[tuple[str, int, int], list[int]] = {}
    results = []
    for claimed, ending, _ in ended:
        claim = claimed.claim
        if ending is SUCCEEDED and not claimed.task._has_control:
            place = claim.family_code, claim.partition_code, claim.claim_token
            done.setdefault(place, []).append(claim.task_id)
        elif ending is not None:
            results.append(_result(claim, ending))
    return [
        {
            "family_code": family_code,
            "partition_code": partition_code,
            "claim_token": claim_token,
            "task_ids": task_ids,
        }
        for (family_code, partition_code, claim_token), task_ids in done.items()
    ], results


def _result(claim: Claim, ending: Ending) -> dict[str, Any]:
    result: dict[str, Any] = {
        "family_code": claim.family_code,
        "task_id": claim.task_id,
        "claim_token": claim.claim_token,
        "outcome": ending.outcome,
    }
    if ending.error is not None:
        result["error"] = ending.error
    if ending.error_code is not None:
        result["error_code"] = ending.error_code
    if ending.error_class is not None:
        result["error_class"] = ending.error_class
    return result

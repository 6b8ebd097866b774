"""What a worker tells the database, and what it gets: in a thread of its own, while tasks run."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import datetime  # noqa: TC003 - the types of fields are looked up at run time
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from omd._core.calls import Calls, Routine

if TYPE_CHECKING:
    from omd._core.link import Link
    from omd._core.loop import Loop
    from omd.dispatch.slots import Ended

__all__ = ["ClaimedTask", "Exchange", "Exchanger"]

_COMPLETE_AND_CLAIM = Routine(
    "omd_dispatch._complete_and_claim",
    {"p_backend_id": "text", "p_results": "jsonb", "p_limit": "integer", "p_anew": "boolean"},
    required=4,
    is_function=True,
)


@dataclass(slots=True)
class ClaimedTask:
    """A row of the answer: a claimed task, where it has a claim_token."""

    task_id: int
    family_code: str
    task_type: str
    criteria: dict[str, Any]
    payload: Any
    execution_time: datetime
    priority: int
    attempt: int
    claim_token: int
    types_version: int | None = None


@dataclass
class Exchange:
    """One exchange: the database ends tasks, and claims others, in one transaction.

    Attributes:
        member: who does it.
        results: what is over, and is told.
        limit: how many tasks are claimed at most; 0: none.
        anew: whether to look for due tasks from the start, since there are new ones.
        claimed: the claimed tasks, in starting order.
        refused: the tasks of the results that the member does not hold any more.
        types_version: the version of the types of tasks; None when nothing was claimed.
        error: why there is no answer.
        done: is set when there is an answer, or an error.
    """

    member: str
    results: list[Ended]
    limit: int
    anew: bool
    claimed: list[ClaimedTask] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    types_version: int | None = None
    error: Exception | None = None
    done: threading.Event = field(default_factory=threading.Event)


class Exchanger:
    """Makes exchanges, one after the other.

    Args:
        link: its connection.
        loop: is woken when one is done.
    """

    def __init__(self, link: Link, loop: Loop) -> None:
        self._link = link
        self._calls = Calls(link)
        self._loop = loop
        self._asked: SimpleQueue[Exchange | None] = SimpleQueue()
        threading.Thread(target=self._work, name="omd-exchange", daemon=True).start()

    def start(self, exchange: Exchange) -> None:
        """Begin an exchange."""
        self._asked.put(exchange)

    def close(self) -> None:
        """End the thread and its connection."""
        self._asked.put(None)

    def _work(self) -> None:
        while (exchange := self._asked.get()) is not None:
            try:
                self._make(exchange)
            except Exception as error:  # noqa: BLE001 - the worker raises it
                exchange.error = error
            exchange.done.set()
            self._loop.wake()
        self._link.close()

    def _make(self, exchange: Exchange) -> None:
        rows: list[Any] = self._calls._rows(
            _COMPLETE_AND_CLAIM,
            ClaimedTask,
            exchange.member,
            [_result(ended) for ended in exchange.results if ended.ending is not None],
            exchange.limit,
            exchange.anew,
        )
        for row in rows:
            if row.claim_token is not None:
                exchange.claimed.append(row)
            elif row.types_version is not None:
                exchange.types_version = row.types_version
            else:
                exchange.refused.append(row.task_id)


def _result(ended: Ended) -> dict[str, Any]:
    task, ending = ended.claimed.task, ended.ending
    assert ending is not None  # noqa: S101 - what was not started is no result
    result: dict[str, Any] = {
        "task_id": task.task_id,
        "claim_token": task.claim_token,
        "outcome": ending.outcome,
    }
    if ending.error is not None:
        result["error"] = ending.error
    if ending.error_code is not None:
        result["error_code"] = ending.error_code
    return result

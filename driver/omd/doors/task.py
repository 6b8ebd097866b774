"""The task that a handler in Python gets (docs/explanation/dispatch.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from omd._core.former import Moved
from omd._core.texts import loads

if TYPE_CHECKING:
    from omd.doors.control import Control

_UNREAD = object()


class Claim(NamedTuple):
    """A task as it was claimed, in one piece: from the answer of the database to its handler."""

    task_id: int  # its number
    family_code: str  # its family
    task_type: str  # its type
    criteria: str  # its criteria, as JSON
    payload: str | None  # its payload, as JSON; None: it has none
    execution_time: datetime  # when it was due
    attempt: int  # which attempt this is, from 1
    claim_token: int  # the number of the claim
    partition_code: int  # the partition in which it was claimed
    # The version of the types of tasks; None: the answer has it elsewhere.
    types_version: int | None = None


class Task(Moved):
    """One unit of work, as its handler sees it.

    Instances that are begun over `control` carry the task, so the database knows which task began
    them.

    A handler can't change it: the worker goes by what it says when the handler has ended.
    """

    _formerly = ("omd.dispatch.Task",)

    __slots__ = (
        "_claim",
        "_control",
        "_criteria",
        "_ended_because",
        "_interrupt",
        "_master",
        "_open_control",
        "_payload",
    )

    def __init__(
        self,
        master: str | None,
        task_id: int,
        family_code: str,
        task_type: str,
        criteria_json: str,
        payload_json: str | None,
        execution_time: datetime,
        attempt: int,
        claim_token: int,
        partition_code: int,
    ) -> None:
        self._begin(
            Claim(
                task_id,
                family_code,
                task_type,
                criteria_json,
                payload_json,
                execution_time,
                attempt,
                claim_token,
                partition_code,
            ),
            master,
        )

    @classmethod
    def _of(cls, claim: Claim, master: str | None) -> Task:
        """Return the task that was claimed."""
        task = cls.__new__(cls)
        task._begin(claim, master)
        return task

    def _begin(self, claim: Claim, master: str | None) -> None:
        self._claim = claim
        self._master = master
        self._ended_because: str | None = None
        self._interrupt: Callable[[], object] | None = None
        self._criteria: Any = _UNREAD
        self._payload: Any = _UNREAD
        self._control: Any = None
        self._open_control: Callable[[Task], object] | None = None

    @property
    def task_id(self) -> int:
        """Its number."""
        return self._claim.task_id

    @property
    def attempt(self) -> int:
        """Which attempt this is, from 1."""
        return self._claim.attempt

    @property
    def criteria(self) -> dict[str, Any]:
        """The values of its criteria, by name; of a date or a time the text."""
        if self._criteria is _UNREAD:
            self._criteria = loads(self._claim.criteria)
        return dict(self._criteria)

    @property
    def payload(self) -> Any:
        """What the creator of the task gave to it; None for nothing."""
        if self._payload is _UNREAD:
            payload = self._claim.payload
            self._payload = None if payload is None else loads(payload)
        return self._payload

    def _end(self, because: str) -> None:
        """Say that it is to end, and why; the worker does."""
        self._ended_because = because
        if (interrupt := self._interrupt) is not None:
            interrupt()

    @contextmanager
    def _interrupted_by(self, interrupt: Callable[[], object]) -> Iterator[None]:
        """Have something called, from another thread, when the task is to end inside this block."""
        self._interrupt = interrupt
        try:
            yield
        finally:
            self._interrupt = None

    def _opens(self, open_control: Callable[[Task], object]) -> None:
        """Say where its `control` comes from: from where it runs."""
        self._open_control = open_control

    @property
    def _has_control(self) -> bool:
        """Whether its handler has asked for `control`."""
        return self._control is not None

    @property
    def cancelled(self) -> bool:
        """Whether it is to end: somebody cancels it, its time is over, or its worker ends."""
        return self._ended_because is not None

    @property
    def control(self) -> Control:
        """A connection of its own to the control plane; it is opened on first use."""
        if self._control is None:
            assert self._open_control is not None  # noqa: S101 - a handler asks only while it runs
            self._control = self._open_control(self)
        control: Control = self._control
        return control

    def __str__(self) -> str:
        criteria = " ".join(str(value) for value in self.criteria.values())
        name = f"task {self.task_id}, {self._claim.family_code} {self._claim.task_type}"
        return f"{name} {criteria}" if criteria else name

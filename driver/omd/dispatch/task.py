"""The task that a handler in Python gets (docs/explanation/dispatch.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omd._core.calls import loads

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from omd.control.room import Control
    from omd.control.run import Batch, ModuleRun

__all__ = ["Task"]

_UNREAD = object()


class Task:
    """One unit of work, as its handler sees it.

    Instances that are begun over `control` carry the task, so the database knows which task began
    them.

    Attributes:
        task_id: its number.
        family_code: its family.
        task_type: its type.
        attempt: which attempt this is, from 1.
        execution_time: when it was due.
        claim_token: the number of the claim; only results under it count.
        partition_code: the slot in which it was claimed.
        master: Spark's master URL, as the worker was told; None for the default.
        criteria_json: its criteria, as text; it is read when somebody asks for them.
        payload_json: its payload, in the same way.
    """

    __slots__ = (
        "_control",
        "_criteria",
        "_open_control",
        "_payload",
        "attempt",
        "claim_token",
        "criteria_json",
        "ended_because",
        "execution_time",
        "family_code",
        "master",
        "partition_code",
        "payload_json",
        "task_id",
        "task_type",
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
        self.master = master
        self.task_id = task_id
        self.family_code = family_code
        self.task_type = task_type
        self.criteria_json = criteria_json
        self.payload_json = payload_json
        self.execution_time = execution_time
        self.attempt = attempt
        self.claim_token = claim_token
        self.partition_code = partition_code
        self.ended_because: str | None = None
        self._criteria: Any = _UNREAD
        self._payload: Any = _UNREAD
        self._control: Control | None = None
        self._open_control: Callable[[Task], Control] | None = None

    @property
    def criteria(self) -> dict[str, Any]:
        """The values of its criteria, by name; of a date or a time the text."""
        if self._criteria is _UNREAD:
            self._criteria = loads(self.criteria_json)
        return self._criteria  # type: ignore[no-any-return]

    @property
    def payload(self) -> Any:
        """What the creator of the task gave to it; None for nothing."""
        if self._payload is _UNREAD:
            self._payload = None if self.payload_json is None else loads(self.payload_json)
        return self._payload

    def opens(self, open_control: Callable[[Task], Control]) -> None:
        """Say where its `control` comes from: from where it runs."""
        self._open_control = open_control

    @property
    def has_control(self) -> bool:
        """Whether its handler has asked for `control`."""
        return self._control is not None

    @property
    def cancelled(self) -> bool:
        """Whether it is to end: somebody cancels it, its time is over, or its worker ends."""
        return self.ended_because is not None

    @property
    def control(self) -> Control:
        """A connection of its own to the control plane; it is opened on first use."""
        if self._control is None:
            assert self._open_control is not None  # noqa: S101 - a handler asks only while it runs
            self._control = self._open_control(self)
        return self._control

    def batch(self, code: str, **options: Any) -> Batch:
        """Return a Batch as a block; the options are those of `omd.Control.batch`."""
        return self.control.batch(code, **options)

    def module(self, code: str, **options: Any) -> ModuleRun:
        """Return a Module as a block; the options are those of `omd.Control.module`."""
        return self.control.module(code, **options)

    def __str__(self) -> str:
        told = " ".join(str(value) for value in self.criteria.values())
        name = f"task {self.task_id}, {self.family_code} {self.task_type}"
        return f"{name} {told}" if told else name

"""The task that a handler in Python gets (docs/explanation/dispatch.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from omd.control.room import Control
    from omd.control.run import Batch, ModuleRun
    from omd.dispatch.exchange import ClaimedTask

__all__ = ["Task"]


class Task:
    """One unit of work, as its handler sees it.

    Instances that are begun over `control` carry the task, so the database knows which task began
    them.

    Attributes:
        task_id: its number.
        family_code: its family.
        task_type: its type.
        criteria: the values of its criteria, by name; of a date or a time the text.
        payload: what the creator of the task gave to it; None for nothing.
        attempt: which attempt this is, from 1.
        execution_time: when it was due.
        claim_token: the number of the claim; only results under it count.
        master: Spark's master URL, as the worker was told; None for the default.
    """

    __slots__ = (
        "_control",
        "_open_control",
        "attempt",
        "claim_token",
        "criteria",
        "ended_because",
        "execution_time",
        "family_code",
        "master",
        "payload",
        "task_id",
        "task_type",
    )

    def __init__(self, claimed: ClaimedTask, master: str | None = None) -> None:
        self.task_id: int = claimed.task_id
        self.family_code: str = claimed.family_code
        self.task_type: str = claimed.task_type
        self.criteria: dict[str, Any] = claimed.criteria
        self.payload: Any = claimed.payload
        self.attempt: int = claimed.attempt
        self.execution_time: datetime = claimed.execution_time
        self.claim_token: int = claimed.claim_token
        self.master = master
        self.ended_because: str | None = None
        self._control: Control | None = None
        self._open_control: Callable[[Task], Control] | None = None

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

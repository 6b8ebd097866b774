"""What became of a run of anything (docs/explanation/jobs.md, rule J11)."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

from omd._core.errors import Aborted, NotStarted, OmdError, Skipped, StateError
from omd.rooms.control.codes import Status

T = TypeVar("T")

# What the facts of each kind are; the contract names them.
FACTS: dict[str, tuple[str, ...]] = {
    "BATCH": (),
    "SQL": (),
    "JOB": (),
    "TOPIC": ("rows", "start", "end"),
    "STAGE": ("engine", "waves", "cycles", "rows_input", "rows_output", "rows_rejected"),
    "FACTS": ("rows",),
    "EXPORT": ("delivery_id", "manifest", "rows"),
    "DELIVERY": ("delivery_id", "attempt", "delivery_status", "verdict", "queue_id", "document"),
    "RECALL": ("rows_gone", "rows_returned"),
    "TASK": ("task_id",),
}


class _RunError(StateError):
    """A run failed, and no exception was raised in this process."""


class _Facts:
    """A dict inside, which is pickled; a read-only view of it outside."""

    def __get__(self, outcome: Outcome[Any] | None, owner: object = None) -> Mapping[str, Any]:
        if outcome is None:
            return ()  # type: ignore[return-value] # the default; an empty dict would be refused
        return MappingProxyType(outcome.__dict__["facts"])

    def __set__(self, outcome: Outcome[Any], facts: Mapping[str, Any]) -> None:
        outcome.__dict__["facts"] = dict(facts)


@dataclass(frozen=True, eq=False)
class Outcome(Generic[T]):
    """What became of a run of a Batch, of a Module of any kind, or of what a door runs.

    It pickles. What can't be pickled, a value or an exception, travels as its text; `result` then
    raises an `OmdError` with that text.

    Attributes:
        kind: BATCH, the kind of the Module (SQL, JOB, TOPIC, STAGE, FACTS, EXPORT, DELIVERY),
            RECALL or TASK.
        code: the code of the Batch or Module, or of what was run.
        instance_id: its instance, of several runs the last one; None where there is none.
        status: S; F, it failed or was rejected; C, it was skipped or had nothing to do; A, it
            waits, or another works at it.
        reason: the code of why it is not S, as REJECTED or RUNNING; None where there is none.
        detail: why it is not S, in one line.
        value: what the job returned.
        error: the exception that was raised in this process.
        facts: what else is known of a run of its kind.
    """

    kind: str
    code: str
    instance_id: int | None
    status: Status
    reason: str | None = None
    detail: str | None = None
    value: T | None = None
    error: Exception | None = None
    facts: _Facts = _Facts()

    @property
    def succeeded(self) -> bool:
        """Whether it ran to its end."""
        return self.status == "S"

    def result(self) -> T:
        """Return what the job returned; raise why there is nothing.

        Raises:
            Exception: the run failed, with what it raised in this process.
            StateError: it failed elsewhere; the message is `detail`.
            Skipped: it was skipped, or there was nothing to do.
            Aborted: it waits, or another works at it.
            OmdError: the value or the exception could not be pickled.
        """
        text = self.__dict__.get("_text")
        if text is not None:
            raise OmdError(text)
        if self.succeeded:
            return cast("T", self.value)
        if self.status not in ("C", "A"):
            raise self.error or _RunError(self.detail or f"{self.kind} {self.code} failed")
        refusal = Skipped if self.status == "C" else Aborted
        if isinstance(self.error, refusal):
            raise self.error
        kind = "batch" if self.kind == "BATCH" else "run"
        why = (self.code, self.instance_id or 0, self.reason, self.detail)
        raise refusal(*why, kind=kind) from self.error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Outcome):
            return NotImplemented
        return self._compared == other._compared

    def __hash__(self) -> int:
        return hash((self.kind, self.code, self.instance_id, self.status))

    @property
    def _compared(self) -> tuple[object, ...]:
        error = None if self.error is None else (type(self.error), self.error.args)
        facts = self.__dict__["facts"]
        head = (self.kind, self.code, self.instance_id, self.status, self.reason, self.detail)
        return (*head, self.value, error, facts, self.__dict__.get("_text"))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        for name in ("value", "error"):
            if not _pickles(state[name]):
                text = state["_text"] = _text_of(state[name])
                state[name] = text if name == "value" else OmdError(text)
        state["facts"] = {
            name: fact if _pickles(fact) else _text_of(fact)
            for name, fact in state["facts"].items()
        }
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def status_unbegun(refusal: NotStarted) -> Status:
    """Return what a run ends with that was not to begin."""
    return Status.SKIPPED if isinstance(refusal, Skipped) else Status.ABORTED


def status_of(error: Exception) -> Status:
    """Return what a run ends with that raises this: A where its block was taken back (OM114)."""
    is_undone = getattr(error, "sqlstate", None) == "OM114"
    return Status.ABORTED if is_undone else Status.FAILED


def _text_of(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - it is of whoever wrote the job
        return f"an object of {type(value).__qualname__}"


def _pickles(value: object) -> bool:
    """Return whether another process gets the same."""
    with contextlib.suppress(Exception):
        copy = pickle.loads(pickle.dumps(value))  # noqa: S301 - it is our own
        return type(copy) is type(value)
    return False

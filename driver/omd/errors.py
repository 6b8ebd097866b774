"""Errors of OMD (process-control.md section 11).

Every SQLSTATE of class ``OM`` has a class here, and psycopg raises that class itself: a subclass
that names its ``code`` registers it with psycopg. The table ``omd.error_catalogue`` is the other
half of the catalogue; the names of the classes are its error names.

    OM0nn  CallerError         the call was wrong
    OM1nn  StateError          the state of the instance does not allow the call
    OM2nn  ConfigurationError  something has to be registered or created first
    OM9nn  InternalError       a broken invariant

A business outcome is no error: `NotStarted` says that a run was skipped or aborted.
"""
# ruff: noqa: N818 - the names say what happened; an Error behind each would say it twice

from __future__ import annotations

import json
from typing import Any

import psycopg

__all__ = [
    "AnswerLost",
    "BaseTableUnfit",
    "BatchAborted",
    "BatchNotComplete",
    "BatchSkipped",
    "CallerError",
    "ConfigurationError",
    "ConnectionFailed",
    "CyclicDependency",
    "CyclicHierarchy",
    "DirectEditRefused",
    "InstanceNotExecuting",
    "InternalError",
    "InvalidArgument",
    "InvalidCode",
    "InvalidLease",
    "InvalidLoadWindow",
    "InvalidTableCode",
    "InvalidTopic",
    "LeaseExpired",
    "LeaseLost",
    "LoadWindowExists",
    "LoadWindowKind",
    "MigrationChanged",
    "MissingArgument",
    "ModuleAborted",
    "ModuleSkipped",
    "NegativeRowCount",
    "NoExecutable",
    "NoRollbackExecutor",
    "NoRollbackPending",
    "NoRollbackTemplate",
    "NotAtRest",
    "NotInstalled",
    "NotProceeding",
    "NotStarted",
    "OmdError",
    "StateError",
    "StepFenced",
    "StepNotStarted",
    "TargetColumnNotFound",
    "TargetNotFound",
    "TransformUnfit",
    "UnknownBatch",
    "UnknownBatchInstance",
    "UnknownModule",
    "UnknownModuleInstance",
    "UnknownParameter",
    "UnknownTopic",
    "WriteFailed",
    "WrongIsolationLevel",
    "WrongPlatform",
    "WrongTopicState",
]


class OmdError(psycopg.DatabaseError):
    """An error of OMD: `sqlstate`, `message`, `detail` and, with the next command, `hint`."""

    def __init__(self, *args: Any, hint: str | None = None, **psycopg_arguments: Any) -> None:
        super().__init__(*args, **psycopg_arguments)
        self._hint = hint

    @property
    def message(self) -> str:
        """What is wrong, in one sentence."""
        return self.diag.message_primary or str(self)

    @property
    def detail(self) -> dict[str, Any]:
        """The values involved, by name; empty when there are none."""
        try:
            detail = json.loads(self.diag.message_detail or "{}")
        except ValueError:
            return {"detail": self.diag.message_detail}
        return detail if isinstance(detail, dict) else {"detail": detail}

    @property
    def hint(self) -> str | None:
        """The command to run next."""
        return self._hint or self.diag.message_hint


class CallerError(OmdError):
    """The caller's mistake: an unknown code, a missing or impossible value."""


class StateError(OmdError):
    """The instance is not in a state that allows the call."""


class ConfigurationError(OmdError):
    """Something the run needs is not registered or does not exist."""


class InternalError(OmdError, code="OM902"):
    """A broken invariant of OMD itself."""


class UnknownBatch(CallerError, code="OM001"):
    """No Batch has this code."""


class UnknownModule(CallerError, code="OM002"):
    """No Module has this code."""


class UnknownBatchInstance(CallerError, code="OM003"):
    """No Batch Instance has this id."""


class UnknownModuleInstance(CallerError, code="OM004"):
    """No Module Instance has this id."""


class MissingArgument(CallerError, code="OM005"):
    """A value that the call can't do without is NULL."""


class InvalidCode(CallerError, code="OM006"):
    """A code that its reference table does not know."""


class NegativeRowCount(CallerError, code="OM007"):
    """A row count below zero."""


class CyclicHierarchy(CallerError, code="OM008"):
    """A Batch would contain itself."""


class InvalidTableCode(CallerError, code="OM009"):
    """A table code that is not ``schema.table``."""


class InvalidLoadWindow(CallerError, code="OM010"):
    """A load window without an end, or that ends before it starts, or beyond all dates."""


class InvalidLease(CallerError, code="OM011"):
    """A lease that is not longer than zero and at most 100 years."""


class UnknownParameter(CallerError, code="OM012"):
    """No parameter has this code."""


class InvalidArgument(CallerError, code="OM013"):
    """A value outside what the argument allows."""


class WrongIsolationLevel(CallerError, code="OM014"):
    """A decision asked for in a transaction that is not READ COMMITTED."""


class UnknownTopic(CallerError, code="OM015"):
    """No topic has this name."""


class InvalidTopic(CallerError, code="OM016"):
    """A name of a topic that is not ``schema.table[#tag][:shard]``."""


class CyclicDependency(CallerError, code="OM017"):
    """A topic would depend on itself."""


class LoadWindowKind(CallerError, code="OM019"):
    """A load window by another kind of position than the Module's windows before."""


class InstanceNotExecuting(StateError, code="OM101"):
    """The instance has ended already, or was given up."""


class NotProceeding(StateError, code="OM102"):
    """The instance was not told to proceed."""


class NoRollbackPending(StateError, code="OM103"):
    """There is no rollback to do or to confirm."""


class BatchNotComplete(StateError, code="OM104"):
    """A Batch can't succeed while one of its Modules failed or still runs."""


class LoadWindowExists(StateError, code="OM105"):
    """The instance has its load window already."""


class DirectEditRefused(StateError, code="OM106"):
    """A direct UPDATE of a column that only OMD writes."""


class LeaseExpired(StateError, code="OM107"):
    """The lease has passed; the instance will be given up."""


class StepFenced(StateError, code="OM108"):
    """The topic was released, or taken by another step: this one can't commit any more."""


class NotAtRest(StateError, code="OM113"):
    """A Batch or Module that executes, or waits for a rollback, was to retire."""


class NoRollbackTemplate(ConfigurationError, code="OM201"):
    """A rollback is pending and no template says how to do it."""


class TargetNotFound(ConfigurationError, code="OM202"):
    """The target table of the Module does not exist."""


class NoExecutable(ConfigurationError, code="OM203"):
    """The Module has no SQL to execute in the database."""


class WrongPlatform(ConfigurationError, code="OM204"):
    """The call is for a target on another platform."""


class TargetColumnNotFound(ConfigurationError, code="OM205"):
    """A rollback needs a column that the target table does not have."""


class BaseTableUnfit(ConfigurationError, code="OM206"):
    """The base table lacks what reading it by blocks needs."""


class TransformUnfit(ConfigurationError, code="OM207"):
    """A transform does not exist, or does not fit the destination."""


class WrongTopicState(ConfigurationError, code="OM208"):
    """The topic does not allow the call: it is a source, or of the other engine, or needed."""


class MigrationChanged(InternalError, code="OM901"):
    """A released migration was edited."""


class ConnectionFailed(OmdError):
    """The database can't be reached."""


class AnswerLost(ConnectionFailed):
    """The connection broke while a call that may not be repeated was on its way.

    Whether the database executed it is unknown.
    """


class NotInstalled(OmdError):
    """The database has no OMD, or an older one: ``omd install`` mends it."""


class LeaseLost(OmdError):
    """The run outlived its lease: the database gave it up, or could not be reached in time.

    Its rows are rolled back by the next begin (process-control.md section 7). What the job itself
    raised, if anything, is the ``__cause__``.
    """


class WriteFailed(OmdError):
    """A write to the target failed, and the run with it; the next begin rolls it back.

    `sqlstate` is the server's, if it was the server that refused. What Spark raised is the
    ``__cause__``.
    """


class NoRollbackExecutor(OmdError):
    """A rollback on Spark is pending and the run was given nothing to execute it with."""


class NotStarted(Exception):
    """The evaluation decided against this run (process-control.md sections 4 and 5).

    The instance is closed already. `reason` is the reason code: RUNNING, DIRECTIVE, FREQUENCY, ….
    """

    kind = "run"
    verdict = "not started"

    def __init__(self, code: str, instance_id: int, reason: str | None) -> None:
        super().__init__(code, instance_id, reason)
        self.code = code
        self.instance_id = instance_id
        self.reason = reason

    def __str__(self) -> str:
        instance = f"instance {self.instance_id}"
        return f"{self.kind} {self.code} was {self.verdict}: {self.reason} ({instance})"


class ModuleSkipped(NotStarted):
    """Indicator C: there is no need to run the Module."""

    kind, verdict = "module", "skipped"


class ModuleAborted(NotStarted):
    """Indicator A: the Module must not run now."""

    kind, verdict = "module", "aborted"


class BatchSkipped(NotStarted):
    """Indicator C: there is no need to run the Batch."""

    kind, verdict = "batch", "skipped"


class BatchAborted(NotStarted):
    """Indicator A: the Batch must not run now."""

    kind, verdict = "batch", "aborted"


class StepNotStarted(NotStarted):
    """The database decided against this step; `reason` is its outcome (lineage.md section 4)."""

    kind, verdict = "step of", "not started"

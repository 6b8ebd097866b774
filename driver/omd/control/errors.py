"""Errors of process control (docs/explanation/process-control.md, rule P18).

A business outcome is no error: `NotStarted` says that a run was skipped or aborted.
"""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

from omd._core.errors import CallerError, ConfigurationError, OmdError, StateError

__all__ = [
    "BatchAborted",
    "BatchNotComplete",
    "BatchSkipped",
    "CyclicHierarchy",
    "DirectEditRefused",
    "InstanceNotExecuting",
    "InvalidArgument",
    "InvalidCode",
    "InvalidLease",
    "InvalidLoadWindow",
    "InvalidRollbackTemplate",
    "InvalidTableCode",
    "LeaseExpired",
    "LeaseLost",
    "LoadWindowExists",
    "LoadWindowKind",
    "ModuleAborted",
    "ModuleSkipped",
    "NegativeRowCount",
    "NoExecutable",
    "NoRollbackExecutor",
    "NoRollbackPending",
    "NoRollbackTemplate",
    "NotAtRest",
    "NotProceeding",
    "NotStarted",
    "ProtectedTarget",
    "RollbackIncomplete",
    "TargetColumnNotFound",
    "TargetInUse",
    "TargetNotFound",
    "TransactionBlock",
    "UnknownBatch",
    "UnknownBatchInstance",
    "UnknownModule",
    "UnknownModuleInstance",
    "UnknownParameter",
    "WriteFailed",
    "WrongIsolationLevel",
    "WrongPlatform",
]


class UnknownBatch(CallerError, code="OM001"):
    """No Batch has this code."""


class UnknownModule(CallerError, code="OM002"):
    """No Module has this code."""


class UnknownBatchInstance(CallerError, code="OM003"):
    """No Batch Instance has this id."""


class UnknownModuleInstance(CallerError, code="OM004"):
    """No Module Instance has this id."""


class InvalidCode(CallerError, code="OM006"):
    """The reference table does not have this code."""


class NegativeRowCount(CallerError, code="OM007"):
    """A row count is below zero."""


class CyclicHierarchy(CallerError, code="OM008"):
    """A Batch would contain itself."""


class InvalidTableCode(CallerError, code="OM009"):
    """A table code is not of the form ``schema.table``."""


class InvalidLoadWindow(CallerError, code="OM010"):
    """A load window has no end, ends before it starts, or ends beyond all dates."""


class InvalidLease(CallerError, code="OM011"):
    """A lease is not longer than zero, or is longer than 100 years."""


class UnknownParameter(CallerError, code="OM012"):
    """No parameter has this code."""


class InvalidArgument(CallerError, code="OM013"):
    """The argument does not allow this value."""


class WrongIsolationLevel(CallerError, code="OM014"):
    """A decision was requested in a transaction that is not READ COMMITTED."""


class TransactionBlock(CallerError, code="OM018"):
    """A procedure that commits was called in a transaction block or from a function."""


class LoadWindowKind(CallerError, code="OM019"):
    """A load window has another kind of position than the earlier windows of the Module."""


class InstanceNotExecuting(StateError, code="OM101"):
    """The instance has ended already, or was declared dead."""


class NotProceeding(StateError, code="OM102"):
    """The instance may not proceed."""


class NoRollbackPending(StateError, code="OM103"):
    """There is no rollback to do or to confirm."""


class BatchNotComplete(StateError, code="OM104"):
    """A Batch can't succeed while one of its Modules failed or still runs."""


class LoadWindowExists(StateError, code="OM105"):
    """The instance has its load window already."""


class DirectEditRefused(StateError, code="OM106"):
    """A direct UPDATE wanted to change a column that only OMD writes."""


class LeaseExpired(StateError, code="OM107"):
    """The lease has expired; the instance will be declared dead."""


class TargetInUse(StateError, code="OM111"):
    """A Module was to get another target or way of undoing while a run waits for its rollback."""


class RollbackIncomplete(StateError, code="OM112"):
    """Rows of the runs to undo are still there, or rows of other runs refer to them."""


class NotAtRest(StateError, code="OM113"):
    """A Batch or Module was to retire while it executes or waits for a rollback."""


class NoRollbackTemplate(ConfigurationError, code="OM201"):
    """A rollback is pending, and no rollback template says how to do it."""


class TargetNotFound(ConfigurationError, code="OM202"):
    """The target table of the Module does not exist."""


class NoExecutable(ConfigurationError, code="OM203"):
    """The Module has no SQL to execute in the database."""


class WrongPlatform(ConfigurationError, code="OM204"):
    """The call is for a target on another platform."""


class TargetColumnNotFound(ConfigurationError, code="OM205"):
    """A rollback needs a column that the target table does not have."""


class InvalidRollbackTemplate(ConfigurationError, code="OM209"):
    """A rollback template names an unknown placeholder, or its count is not a plain SELECT."""


class ProtectedTarget(ConfigurationError, code="OM210"):
    """The target is in a schema of OMD or of PostgreSQL itself."""


class LeaseLost(OmdError):
    """The run outlived its lease: it was declared dead, or the database was not reached in time.

    The next begin rolls its rows back (rule P12). If the job itself raised an exception, that is
    the ``__cause__``.
    """


class WriteFailed(OmdError):
    """A write to the target failed, and the run with it; the next begin rolls it back.

    `sqlstate` is that of the server, if the server refused the write. The exception of Spark is the
    ``__cause__``.
    """


class NoRollbackExecutor(OmdError):
    """A rollback on Spark is pending, and the run has no session that could execute it."""


class NotStarted(Exception):
    """The evaluation decided against this run (rules P4 and P5).

    The instance is closed already. `reason` is the reason code: RUNNING, DIRECTIVE, FREQUENCY, ….
    """

    __module__ = "omd.errors"  # the name that users import
    kind = "run"
    verdict = "not started"

    def __init_subclass__(cls) -> None:
        cls.__module__ = "omd.errors"

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

"""Errors of process control (docs/explanation/process-control.md, rule P18).

A business outcome is no error: `NotStarted` says that a run was skipped or aborted.
"""
# ruff: noqa: N818 - the names say what happened; an Error behind each would say it twice

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


class TransactionBlock(CallerError, code="OM018"):
    """A procedure that commits was called in a transaction block or from a function."""


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


class TargetInUse(StateError, code="OM111"):
    """Another target for a Module whose failed rows are still in the present one."""


class RollbackIncomplete(StateError, code="OM112"):
    """Rows of the undone runs are still there, or rows of others refer to them."""


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


class InvalidRollbackTemplate(ConfigurationError, code="OM209"):
    """A rollback template names an unknown placeholder, or its count is no mere SELECT."""


class ProtectedTarget(ConfigurationError, code="OM210"):
    """A target in a schema of OMD or of PostgreSQL itself."""


class LeaseLost(OmdError):
    """The run outlived its lease: the database gave it up, or could not be reached in time.

    Its rows are rolled back by the next begin (rule P12). What the job itself
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

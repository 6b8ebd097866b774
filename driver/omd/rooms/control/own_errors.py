"""What only the driver raises in process control (docs/explanation/process-control.md, rule P18).

A business outcome is no error: `NotStarted` says that a run was skipped or aborted.
"""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

from omd._core.errors import OmdError


class LeaseLost(OmdError):
    """The run outlived its lease: it was declared dead, or the database was not reached in time.

    The next begin rolls its rows back (rule P12). If the job itself raised an exception, that is
    the ``__cause__``.
    """


class UnfencedCommit(OmdError):
    """A text has ended a transaction of `run.connect()` by itself, so that no fence went with it.

    The run ends with F, and the next begin rolls back what was written.
    """


class UncommittedWork(OmdError):
    """A block would succeed while a connection of `run.connect()` has written and not committed."""


class MembersFailed(OmdError):
    """Members of a Batch failed, and the Batch with them; each is a line of the message."""


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
    With UNKNOWN_INDICATOR a newer database has answered what this client does not know, so the
    client has ended the instance; `detail` names the indicator.
    """

    __module__ = "omd.errors"  # the name that users import
    kind = "run"
    verdict = "not started"

    def __init_subclass__(cls) -> None:
        cls.__module__ = "omd.errors"

    def __init__(
        self, code: str, instance_id: int, reason: str | None, detail: str | None = None
    ) -> None:
        super().__init__(code, instance_id, reason)
        self.code = code
        self.instance_id = instance_id
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        about = f"instance {self.instance_id}"
        if self.detail is not None:
            about = f"{self.detail}; {about}"
        return f"{self.kind} {self.code} was {self.verdict}: {self.reason} ({about})"


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

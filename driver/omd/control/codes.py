"""The codes of process control (docs/explanation/process-control.md, rule P2)."""

from omd._core.rows import Code

__all__ = ["ExecutionStatus", "NextRunIndicator", "ProcessingIndicator"]


class ExecutionStatus(Code):
    """Where an instance stands."""

    EXECUTING = "E"
    SUCCEEDED = "S"
    FAILED = "F"
    ABORTED = "A"
    CANCELLED = "C"


class ProcessingIndicator(Code):
    """What the evaluation tells an instance to do."""

    PROCEED = "P"
    ABORT = "A"
    CANCEL = "C"
    ROLLBACK = "R"


class NextRunIndicator(Code):
    """What an instance tells the next run; an administrator may change it."""

    PROCEED = "P"
    ROLLBACK = "R"
    CANCEL = "C"


# The columns and answers that hold them.
COLUMNS = {
    "execution_status_code": ExecutionStatus,
    "last_execution_status_code": ExecutionStatus,
    "next_run_indicator": NextRunIndicator,
    "processing_indicator": ProcessingIndicator,
}

"""The codes of process control (docs/explanation/process-control.md, rule P2)."""

from omd._core.rows import CODES, Code


class Letter(Code):
    """A code of one letter, which people read with its word."""

    @property
    def word(self) -> str:
        """What it means."""
        return {"CANCELLED": "skipped", "CANCEL": "skip"}.get(self.name, self.name.lower())


class ExecutionStatus(Letter):
    """The status of an instance."""

    EXECUTING = "E"
    SUCCEEDED = "S"
    FAILED = "F"
    ABORTED = "A"
    CANCELLED = "C"


class ProcessingIndicator(Letter):
    """The instruction of the evaluation to an instance."""

    PROCEED = "P"
    ABORT = "A"
    CANCEL = "C"
    ROLLBACK = "R"


class NextRunIndicator(Letter):
    """The instruction of an instance to the next run; an administrator may change it."""

    PROCEED = "P"
    ROLLBACK = "R"
    CANCEL = "C"


# The columns and answers that hold these codes.
COLUMNS: dict[str, type[Code]] = {
    "execution_status_code": ExecutionStatus,
    "last_execution_status_code": ExecutionStatus,
    "next_run_indicator": NextRunIndicator,
    "processing_indicator": ProcessingIndicator,
}
CODES.update(COLUMNS)

"""The codes of lineage (docs/explanation/lineage.md, rule L8)."""

from omd._core.rows import Code

__all__ = ["StepResult"]


class StepResult(Code):
    """How a step of a topic went."""

    RUN = "RUN"  # only as the answer of begin_step: go on
    DONE = "DONE"
    ERROR = "ERROR"
    NOJOBS = "NOJOBS"
    MUTEX = "MUTEX"
    FAILED = "FAILED"
    ABORTED = "ABORTED"
    SKIPPED = "SKIPPED"


# The columns and answers that hold them.
COLUMNS = {
    "outcome": StepResult,
}

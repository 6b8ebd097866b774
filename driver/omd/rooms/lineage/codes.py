"""The codes of lineage (docs/explanation/lineage.md, rule L8)."""

from omd._core.rows import Code


class StepResult(Code):
    """The outcome of a step of a topic."""

    RUN = "RUN"  # only begin_step returns it: the step proceeds
    DONE = "DONE"
    QUEUED = "QUEUED"  # only restate returns it: the rest waits for steps
    ERROR = "ERROR"
    NOJOBS = "NOJOBS"
    MUTEX = "MUTEX"
    ABORTED = "ABORTED"
    SKIPPED = "SKIPPED"


# The columns and answers that hold these codes.
COLUMNS = {
    "outcome": StepResult,
}

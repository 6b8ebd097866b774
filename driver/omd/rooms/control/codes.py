"""The codes of process control (docs/explanation/process-control.md, rule P2)."""

import enum
from typing import TYPE_CHECKING

from omd._core.former import refusal
from omd._core.rows import CODES, Code

# What a run ends with: its exit code, and its word (docs/explanation/jobs.md, rule J11).
ENDS = {"S": (0, "succeeded"), "F": (1, "failed"), "C": (3, "skipped"), "A": (4, "aborted")}
REJECTED = 7  # the exit code of F with the reason REJECTED


class Letter(Code):
    """A code of one letter, which people read with its word."""

    @property
    def word(self) -> str:
        """What it means."""
        return "skip" if self.name == "CANCEL" else self.name.lower()


class _Words(enum.EnumMeta):
    """Answers a former word with the new one."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> enum.Enum:
            if name in cls.__dict__.get("_member_map_", ()):  # before Python 3.12
                return cls._member_map_[name]
            now = None if name.startswith("_") else refusal(".".join(("omd", cls.__name__, name)))
            raise AttributeError(
                now or f"type object {cls.__name__!r} has no attribute {name!r}", name=name
            )


class Status(Letter, metaclass=_Words):
    """How an instance ended, or that it executes."""

    SUCCEEDED = "S"
    FAILED = "F"
    SKIPPED = "C"
    ABORTED = "A"
    EXECUTING = "E"

    @property
    def word(self) -> str:
        """What it means."""
        return ENDS[self.value][1] if self.value in ENDS else self.name.lower()


def exit_code(status: str, reason: str | None = None) -> int:
    """Return the exit code of a command that ends so; an unknown status is a failure."""
    code = ENDS.get(str(status), ENDS["F"])[0]
    return REJECTED if reason == "REJECTED" and code == ENDS["F"][0] else code


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
    "execution_status_code": Status,
    "last_execution_status_code": Status,
    "next_run_indicator": NextRunIndicator,
    "processing_indicator": ProcessingIndicator,
}
CODES.update(COLUMNS)

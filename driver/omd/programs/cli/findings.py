"""What the doctor says: a finding about each thing that it looks at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

SHOWN = 10  # findings of one kind; the last says how many more there are


def more(count: int, what: str = "more") -> str:
    """Return how many of so many are not shown, to be put behind a text; empty: none."""
    return f" (and {count - SHOWN:,} {what})" if count > SHOWN else ""


class Verdict(str, Enum):
    """What the doctor says about one thing."""

    OK = "ok"
    MISSING = "missing"  # needed by an optional part only
    WARNING = "warning"  # it works, and somebody should know
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the doctor looked at, and how to mend it."""

    check: str
    verdict: Verdict
    found: str
    mend: str = ""

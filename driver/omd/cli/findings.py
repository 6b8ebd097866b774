"""What the doctor says: a finding about each thing that it looks at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


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

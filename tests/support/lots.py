"""How long tests that draw lots (mark random) go on, and from which seed they draw.

OMD_SOAK   how many times as long as a whole run; without it they make a third of the draws
OMD_SEED   the seed; without it that of the date. A failure shows it, and OMD_SEED repeats it.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from datetime import date, datetime, timezone

import pytest

_SOAK = float(os.environ.get("OMD_SOAK") or 0)
_A_DAY = 101  # seeds, so that those of the next day are others
_DAYS = datetime.now(timezone.utc).date() - date(2020, 1, 1)
# Processes that this one starts, as workers of xdist, draw the same lots after midnight too.
SEED = int(os.environ.setdefault("OMD_SEED", str(_DAYS.days * _A_DAY)))
IS_WHOLE, IS_LONG = _SOAK >= 1, _SOAK > 1


def draws(whole: int, *, least: int = 1) -> int:
    """Return how many draws a test makes.

    Args:
        whole: how many a whole run makes.
        least: how many it makes in any case.
    """
    return max(int(whole * (_SOAK or 1 / 3)), least)


def seconds(whole: float, *, least: float = 0) -> float:
    """Return how long a test goes on that draws for a while.

    Args:
        whole: how long it does in a whole run.
        least: how long it does in any case.
    """
    return max(whole * (_SOAK or 1 / 3), least)


def seeds(whole: int) -> range:
    """Return a seed for each draw, the first of which OMD_SEED names.

    Args:
        whole: how many a whole run has.
    """
    return range(SEED, SEED + draws(whole))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a case by the number of its seed: what it costs is found by its name on other days."""
    if argname == "seed" and isinstance(val, int) and val >= SEED > 0:
        return f"seed {val - SEED}"
    return None


def pytest_report_header() -> str:
    return f"lots: OMD_SEED={SEED}" + (f" OMD_SOAK={_SOAK:g}" if _SOAK else "")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and item.get_closest_marker("random"):
        report.sections.append(("lots", pytest_report_header().removeprefix("lots: ")))
    return report

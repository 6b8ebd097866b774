"""Sides that are measured in turns, so that all meet the same noise of the machine."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

Connection = psycopg.Connection[Any]
Take = Callable[[], float]
"""Takes a path once, and returns the seconds that count."""


def seconds(call: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def timed(call: Callable[[], object]) -> Take:
    """Return the path of a call that counts as a whole."""
    return lambda: seconds(call)


def processor_time(conn: Connection) -> float:
    """Return how many seconds the server has worked for a connection; 0 if nobody tells."""
    try:
        told = Path(f"/proc/{conn.info.backend_pid}/schedstat").read_text()
    except OSError:
        return 0
    return int(told.split()[0]) / 1e9


def medians(rounds: int, *takes: Take) -> list[float]:
    """Return the median seconds of each; three rounds before do not count."""
    taken: list[list[float]] = [[] for _ in takes]
    for n in range(rounds + 3):
        for take, found in zip(takes, taken, strict=True):
            found.append(take())
            if n < 3:
                found.clear()
    return [statistics.median(found) for found in taken]


def compare(
    left: Callable[[int], None], right: Callable[[int], None], rounds: int, per_round: int
) -> tuple[float, float, float]:
    """Return each side's median time in seconds per call, and the median ratio of all rounds."""
    for n in range(per_round):
        left(-1 - n), right(-1 - n)
    lefts: list[float] = []
    rights: list[float] = []
    for r in range(rounds):
        sides = [(left, lefts), (right, rights)]
        for side, times in sides if r % 2 else reversed(sides):
            start = time.perf_counter()
            for n in range(per_round):
                side(r * per_round + n)
            times.append((time.perf_counter() - start) / per_round)
    ratios = [a / b for a, b in zip(lefts, rights, strict=True)]
    return statistics.median(lefts), statistics.median(rights), statistics.median(ratios)

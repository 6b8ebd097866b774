"""The lag of each topic over time, drawn as text, as a monitor would draw lineage_lag."""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import psycopg
from psycopg.rows import tuple_row

_BLOCKS = " ▁▂▃▄▅▆▇█"
_EVERY = 0.2


@dataclass
class LagSampler:
    """Reads the lag view five times a second, on a connection and a thread of its own."""

    dsn: str
    samples: list[tuple[float, dict[str, timedelta]]] = field(default_factory=list)
    marks: list[tuple[float, str]] = field(default_factory=list)

    def __enter__(self) -> LagSampler:
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def mark(self, name: str) -> None:
        """Mark the begin of an act on the axis."""
        self.marks.append((time.monotonic(), name))

    def _sample(self) -> None:
        with psycopg.connect(
            self.dsn, autocommit=True, application_name="omd demo lag", row_factory=tuple_row
        ) as connection:
            while not self._end.is_set():
                rows = connection.execute(
                    "SELECT topic, coalesce(lag, interval '0') FROM omd_report.lineage_lag"
                    " WHERE topic IN ('fact.departure', 'dash.sky_day')"
                ).fetchall()
                self.samples.append((time.monotonic(), dict(rows)))
                self._end.wait(_EVERY)


def chart(sampler: LagSampler, topics: Sequence[str], width: int = 11, height: int = 3) -> str:
    """Return the lag of topics, one below the other.

    Time is linear between two marks, but each mark gets the same width, because a step on Spark
    takes longer than all other steps together.

    Args:
        topics: the topics from the top; each has a scale of its own.
        width: columns per mark.
        height: lines per topic.
    """
    return "\n".join(_lines(sampler, topics, width, height))


def _lines(sampler: LagSampler, topics: Sequence[str], width: int, height: int) -> Iterator[str]:
    samples, marks = sampler.samples, sampler.marks
    if not samples or not marks:
        yield "  (there are no samples)"
        return
    starts = [instant for instant, _ in marks]
    ends = [*starts[1:], max(samples[-1][0], starts[-1] + _EVERY)]

    def column(instant: float) -> int:
        at = max(bisect_right(starts, instant) - 1, 0)
        share = (instant - starts[at]) / max(ends[at] - starts[at], _EVERY)
        return at * width + min(max(int(share * width), 0), width - 1)

    name_width = max(map(len, topics))
    for topic in topics:
        most = max((lags[topic] for _, lags in samples if topic in lags), default=timedelta(0))
        # A column shows its greatest lag; without a sample it shows that of the column before.
        seen: list[timedelta | None] = [None] * (width * len(marks))
        for instant, lags in samples:
            if topic in lags:
                at = column(instant)
                seen[at] = max(seen[at] or timedelta(0), lags[topic])
        levels, level = [], 0
        for lag in seen:
            if lag is not None:
                share = lag / (most or timedelta(1))
                # A small lag is visible too.
                level = max(round(share * height * 8), int(lag > timedelta(0)))
            levels.append(level)
        for line in reversed(range(height)):
            name = topic if line == height - 1 else ""
            scale = _days(most) if line == height - 1 else "0" if line == 0 else ""
            row = "".join(_BLOCKS[min(max(level - 8 * line, 0), 8)] for level in levels)
            yield f"  {name:<{name_width}}  {scale:>7} ┤{row}".rstrip()
    margin = " " * (name_width + 11)
    yield f"{margin} └{('┴' + '─' * (width - 1)) * len(marks)}"
    names = [
        f"{name} ({end - start:.0f} s)"[: width - 1].ljust(width)
        for (start, name), end in zip(marks, ends, strict=True)
    ]
    yield f"{margin}  {''.join(names)}".rstrip()


def _days(lag: timedelta) -> str:
    return f"{lag / timedelta(days=1):.1f} d"

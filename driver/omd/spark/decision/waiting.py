"""Records that wait for a later link: first in, first out, in memory and beyond that in a file."""

from __future__ import annotations

import pickle
import tempfile
from collections import deque
from collections.abc import Iterator
from typing import IO, NamedTuple

_PER_RECORD = 120  # what Python needs for a text and a number, besides their digits


class Record(NamedTuple):
    """A record that waits."""

    sort_key: str  # the sort key of wave and keys, or of wave and batch
    arrival: int
    text: str  # the record as JSON


class Segment(NamedTuple):
    """Records of one link and one sort key that follow each other."""

    wave_key: str  # the sort key of their wave
    sort_key: str  # the sort key of wave and keys
    place: int  # the place of their link among those that are no buffer links
    arrivals: list[int]  # their arrivals
    records: list[str]  # the records as JSON


class Waiting:
    """Records of one link that wait.

    What is taken next is in memory, and so is what came last; what is between is in a file. Both
    parts in memory take `limit` bytes, or one segment.
    """

    __slots__ = (
        "_back",
        "_back_bytes",
        "_blocks",
        "_file",
        "_front",
        "_front_bytes",
        "_limit",
        "_next",
        "_read_at",
        "count",
    )

    def __init__(self, limit: int) -> None:
        self.count = 0  # how many wait
        self._limit = limit
        self._front: deque[Segment] = deque()
        self._front_bytes = 0
        self._next = 0  # the place of the next record in the first segment
        self._back: list[Segment] = []
        self._back_bytes = 0
        self._file: IO[bytes] | None = None
        self._blocks = 0  # in the file, unread
        self._read_at = 0

    def put(self, segment: Segment) -> None:
        """Add records behind the others."""
        size = _size(segment)
        self.count += len(segment.records)
        if not self._blocks and not self._back and self._front_bytes < self._limit:
            self._front.append(segment)
            self._front_bytes += size
            return
        self._back.append(segment)
        self._back_bytes += size
        if self._back_bytes >= self._limit:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as this
            self._file.seek(0, 2)
            pickle.dump(self._back, self._file, pickle.HIGHEST_PROTOCOL)
            self._blocks += 1
            self._back, self._back_bytes = [], 0

    def head(self) -> Segment | None:
        """Return the segment of the next record; None when there is no record."""
        if not self._front and self.count:
            if self._blocks:
                assert self._file is not None  # noqa: S101 - the blocks are in it
                self._file.seek(self._read_at)
                self._front = deque(pickle.load(self._file))  # noqa: S301 - our own
                self._read_at = self._file.tell()
                self._blocks -= 1
                self._front_bytes = sum(map(_size, self._front))
            else:
                self._front = deque(self._back)
                self._front_bytes = self._back_bytes
                self._back, self._back_bytes = [], 0
        return self._front[0] if self._front else None

    def pop(self) -> Record:
        """Take the next record."""
        segment = self.head()
        assert segment is not None  # noqa: S101 - the caller has looked
        at = self._next
        self.count -= 1
        self._next += 1
        if self._next == len(segment.records):
            self._drop()
        return Record(segment.sort_key, segment.arrivals[at], segment.records[at])

    def pop_all(self) -> tuple[list[int], list[str]]:
        """Take all records: their arrivals and texts."""
        arrivals: list[int] = []
        records: list[str] = []
        while (segment := self.head()) is not None:
            arrivals += segment.arrivals[self._next :]
            records += segment.records[self._next :]
            self.count -= len(segment.records) - self._next
            self._drop()
        return arrivals, records

    def drain(self) -> Iterator[Record]:
        """Take the records one by one."""
        while self.count:
            yield self.pop()

    def _drop(self) -> None:
        segment = self._front.popleft()
        self._next = 0
        self._front_bytes = self._front_bytes - _size(segment) if self._front else 0


def _size(segment: Segment) -> int:
    return sum(map(len, segment.records)) + _PER_RECORD * len(segment.records)

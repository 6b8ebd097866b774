"""KEY with a batch size of 2 or more (docs/explanation/decision.md, C5): a batch crosses keys.

What an attempt leaves decides about the next one, so a wave is one task. The links are merged: the
primary link gives a batch, the others are read up to the greatest key of it, and wait.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from omd.spark.decision.outcomes import KEY_MISMATCH, LEFTOVER, Call, Reject, calls_of, too_large
from omd.spark.decision.waiting import Record, Waiting

if TYPE_CHECKING:
    from omd.spark.decision.shape import Shape
    from omd.spark.decision.stream import Stream
    from omd.spark.decision.wave import Wave


def decide(shape: Shape, stream: Stream, wave: Wave, limit: int) -> Iterator[Call | Reject]:
    """Return what becomes of the records of a wave.

    Args:
        stream: the records.
        limit: the bytes that the records of a link may take in memory.
    """
    links = _Links(shape, stream, wave, limit)
    while batch := links.batch():
        links.read_up_to(batch[-1].sort_key)
        wave.attempts += 1
        yield from _Attempt(shape, wave, links.waiting, batch).outcomes()
    # The primary link has no more, so nothing can match what the others have left.
    for place, waiting in enumerate(links.waiting):
        for record in waiting.drain():
            yield Reject(place, record, LEFTOVER)


class _Links:
    """The links of a wave, each with what was read of it and not taken yet."""

    def __init__(self, shape: Shape, stream: Stream, wave: Wave, limit: int) -> None:
        self.waiting = [Waiting(limit) for _ in shape.links]
        self._shape = shape
        self._stream = stream
        self._wave = wave

    def batch(self) -> list[Record]:
        """Take the next records of the primary link, whatever their keys; none at its end."""
        primary = self.waiting[0]
        batch: list[Record] = []
        while len(batch) < self._shape.size and (primary.count or self._read()):
            if primary.count:
                batch.append(primary.pop())
                if len(batch) > self._shape.most:
                    raise too_large(self._shape, self._wave, 0, batch[-1], len(batch))
        return batch

    def read_up_to(self, sort_key: str) -> None:
        """Read all records that have this sort key or a smaller one."""
        while (head := self._stream.head_of(self._wave)) is not None:
            if head.sort_key > sort_key:
                break
            self._read()

    def _read(self) -> bool:
        """Read the next piece of the wave; return whether there was one."""
        head = self._stream.head_of(self._wave)
        if head is None:
            return False
        self._stream.at = head.sort_key
        self.waiting[head.place].put(head.segment())
        self._stream.take(self._wave, head)
        return True


class _Attempt:
    """An attempt: its batch, and the records that wait, by place."""

    def __init__(
        self, shape: Shape, wave: Wave, waiting: list[Waiting], batch: list[Record]
    ) -> None:
        self._shape = shape
        self._wave = wave
        self._waiting = waiting
        self._batch = batch
        self._keys = {record.sort_key for record in batch}
        self._greatest = batch[-1].sort_key

    def outcomes(self) -> Iterator[Call | Reject]:
        """Take from the secondary links what matches, and call the rules."""
        shape, cycle_no = self._shape, self._wave.attempts
        taken = [self._batch]
        for place in range(1, len(shape.links)):
            matches = yield from self._matches(place)
            if not matches and place in shape.singles:
                # The attempt fails: what it has taken is rejected. That is a KEY_MISMATCH where the
                # link has a greater key than the batch, which nobody knows yet.
                for before, records in enumerate(taken):
                    for record in records:
                        yield Reject(before, record, None, cycle_no, place, self._greatest)
                return
            taken.append(matches)
        values, inputs = [], []
        for link, records in zip(shape.links, taken, strict=True):
            if link.is_array:
                values.append(f"[{', '.join(record.text for record in records)}]")
                inputs.append(str([record.arrival for record in records]))
            else:
                values.append(records[0].text)
                inputs.append(str(records[0].arrival))
        key = shape.key_text(self._batch[0].text)
        yield from calls_of(shape, Call(key, cycle_no, 1, values, inputs), self._follow)

    def _matches(self, place: int) -> Generator[Reject, None, list[Record]]:
        """Take one match of a link that is no array, and all of an array."""
        matches: list[Record] = []
        while (record := (yield from self._follow(place))) is not None:
            matches.append(record)
            if len(matches) > self._shape.most:
                raise too_large(self._shape, self._wave, place, record, len(matches))
            if place in self._shape.singles:
                break
        return matches

    def _follow(self, place: int) -> Generator[Reject, None, Record | None]:
        """Take the next record that has a key of the batch."""
        waiting = self._waiting[place]
        while (head := waiting.head()) is not None:
            if head.sort_key in self._keys:
                return waiting.pop()
            if head.sort_key > self._greatest:
                return None  # it is kept for a later attempt
            yield Reject(place, waiting.pop(), KEY_MISMATCH)
        return None

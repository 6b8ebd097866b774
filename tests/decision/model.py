"""A record-at-a-time model of how records form cycles (docs/explanation/decision.md).

It is written from the rules and from nothing else: plain lists, one record after the other. What a
stage answers in the database, and on Spark, is compared with it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cmp_to_key
from typing import Any

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Record:
    """A record of a link: its key and its arrival."""

    key: Key
    arrival: int


@dataclass(frozen=True)
class Link:
    """How a stage reads a link."""

    name: str
    array: bool = True
    buffer: bool = False


@dataclass(frozen=True)
class Call:
    """An invocation; inputs are arrivals."""

    key: Key | None
    cycle_no: int
    invocation_no: int
    inputs: tuple[tuple[str, int | tuple[int, ...]], ...]


@dataclass(frozen=True)
class Reject:
    """A rejected record."""

    link: str
    key: Key | None
    arrival: int
    code: str
    cycle_no: int | None = None
    cause_link: str | None = None


class EmptyBufferLink(Exception):  # noqa: N818 - the name of the error OM285
    """A buffer link that is no array has no record."""


def compare(one: Key, other: Key, directions: list[str]) -> int:
    """Compare two keys in the declared order; NULL is smaller than any value."""
    for a, b, direction in zip(one, other, directions, strict=True):
        if a == b:
            continue
        less = a is None or (b is not None and a < b)
        return -1 if less == (direction == "ASC") else 1
    return 0


@dataclass
class Stage:
    """The settings of a stage, and the model of one of its waves."""

    mode: str
    batch_size: int
    directions: list[str]
    links: list[Link]
    calls: list[Call] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    _heads: dict[str, list[Record]] = field(default_factory=dict)
    _cycle_no: int = 0
    _attempts_of_key: Counter[Key] = field(default_factory=Counter)

    @property
    def size(self) -> int:
        """The batch size that is used."""
        read = [link for link in self.links if not link.buffer]
        forcing = read if self.mode == "BATCH" else read[:1]
        return 1 if any(not link.array for link in forcing) else self.batch_size

    def run(self, wave: dict[str, list[Record]]) -> tuple[list[Call], list[Reject]]:
        """Run one wave; return the calls and the rejects."""
        self.calls, self.rejects, self._cycle_no = [], [], 0
        self._attempts_of_key = Counter()
        by = cmp_to_key(
            lambda a, b: (
                (self.mode == "KEY" and compare(a.key, b.key, self.directions))
                or a.arrival - b.arrival
            )
        )
        in_order = cmp_to_key(lambda a, b: a.arrival - b.arrival)
        self._heads = {
            link.name: sorted(wave.get(link.name, []), key=in_order if link.buffer else by)
            for link in self.links
        }
        for link in self.links:
            if link.buffer and not link.array:
                if not self._heads[link.name]:
                    raise EmptyBufferLink(link.name)
                self._reject(link, self._heads[link.name][1:], "LEFTOVER")
        primary, *rest = [link for link in self.links if not link.buffer]
        attempt = self._batch if self.mode == "BATCH" else self._key
        while self._heads[primary.name]:
            attempt(primary, rest)
        for link in rest:
            self._reject(link, self._heads[link.name], "LEFTOVER")
        return self.calls, self.rejects

    def _reject(self, link: Link, records: list[Record], code: str, *failed: Any) -> None:
        self.rejects += [
            Reject(
                link.name,
                None if link.buffer or self.mode == "BATCH" else record.key,
                record.arrival,
                code,
                *failed,
            )
            for record in records
        ]

    def _take(self, link: Link, count: int) -> list[Record]:
        """Take the next records; 0: all."""
        head = self._heads[link.name]
        taken = head[: count or len(head)]
        del head[: len(taken)]
        return taken

    def _call(
        self, key: Key | None, cycle_no: int, number: int, values: dict[str, tuple[Link, Any]]
    ) -> None:
        self.calls.append(
            Call(
                key,
                cycle_no,
                number,
                tuple(
                    (name, tuple(r.arrival for r in value) if link.array else value[0].arrival)
                    for name, (link, value) in sorted(values.items())
                ),
            )
        )

    def _batch(self, primary: Link, rest: list[Link]) -> None:
        self._cycle_no += 1
        read = {link.name: (link, self._take(link, self.size)) for link in [primary, *rest]}
        for link in rest:
            if not link.array and not read[link.name][1]:
                for other, records in read.values():
                    self._reject(other, records, "LEFTOVER", self._cycle_no, link.name)
                return
        self._call(None, self._cycle_no, 1, read)

    def _key(self, primary: Link, rest: list[Link]) -> None:
        head = self._heads[primary.name]
        count = self.size or sum(1 for record in head if record.key == head[0].key)
        batch = self._take(primary, count)
        keys, high = {record.key for record in batch}, batch[-1].key
        first = batch[0].key
        if self.size <= 1:
            self._attempts_of_key[first] += 1
            cycle_no = self._attempts_of_key[first]
        else:
            self._cycle_no += 1
            cycle_no = self._cycle_no

        def follow(link: Link) -> Record | str:
            """next(j): the next record of the batch's keys, or END, or HOLD."""
            head = self._heads[link.name]
            while head:
                if head[0].key in keys:
                    return head.pop(0)
                if compare(head[0].key, high, self.directions) > 0:
                    return "HOLD"
                self._reject(link, [head.pop(0)], "KEY_MISMATCH")
            return "END"

        values: dict[str, tuple[Link, list[Record]]] = {primary.name: (primary, batch)}
        for link in rest:
            taken: list[Record] = []
            while isinstance(found := follow(link), Record):
                taken.append(found)
                if not link.array:
                    break
            if not link.array and not taken:
                code = "KEY_MISMATCH" if found == "HOLD" else "LEFTOVER"
                for other, records in values.values():
                    self._reject(other, records, code, cycle_no, link.name)
                return
            values[link.name] = (link, taken)
        number = 1
        self._call(first, cycle_no, number, values)
        while True:
            took = False
            for link in rest:
                if not link.array and isinstance(found := follow(link), Record):
                    values[link.name] = (link, [found])
                    took = True
            if not took:
                return
            number += 1
            self._call(first, cycle_no, number, values)

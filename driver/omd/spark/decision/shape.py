"""A stage as the operator needs it; it is sent to every task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from omd.rooms.decision.rules import read_json, write_json


@dataclass(frozen=True)
class LinkShape:
    """How a link is read.

    A link has a *number*, by which Spark and the database sort, and a *place* among the links that
    are no buffer links, by which everything here finds it. The primary link is at place 0.
    """

    number: int
    name: str
    parameter: str
    is_array: bool


@dataclass(frozen=True)
class Buffers:
    """What the buffer links give to each call of a wave."""

    links: tuple[LinkShape, ...] = ()  # they, in order
    # By the number of a link and the sort key of a wave (None: every wave), the text of the
    # parameter.
    texts: Mapping[tuple[int, str | None], str] = field(default_factory=dict)
    # Likewise, what is wrong with the records: SQLSTATE and DETAIL.
    errors: Mapping[tuple[int, str | None], tuple[str, dict[str, Any]]] = field(
        default_factory=dict
    )


@dataclass(frozen=True)
class Shape:
    """A stage as the operator needs it."""

    stage: str
    ruleset: str
    is_key: bool  # whether its mode is KEY
    size: int  # the batch size that is used
    most: int  # how many records an array may have
    wave: str | None  # the column of the wave
    keys: tuple[str, ...]  # the columns of the keys
    links: tuple[LinkShape, ...]  # the links that are no buffer links, in order
    keeps_inputs: bool = True  # whether calls go out with their arrivals
    # Of which parameters calls go out with the records; None: of all.
    params: frozenset[str] | None = None
    buffers: Buffers = field(default_factory=Buffers)  # what the buffer links give

    @property
    def link_bits(self) -> int:
        """How many bits the number of a link takes."""
        return max(link.number for link in self.links).bit_length()

    @property
    def crosses_keys(self) -> bool:
        """Whether a batch may have records of several keys."""
        return self.is_key and self.size > 1

    @cached_property
    def singles(self) -> tuple[int, ...]:
        """The places of the secondary links that are no arrays: each must have a record."""
        return tuple(p for p, link in enumerate(self.links) if p and not link.is_array)

    @cached_property
    def is_one_call(self) -> bool:
        """Whether a group that has a primary record is one call, and has no reject."""
        gives_all = not (self.is_key and self.size == 1)
        return not self.singles and self.links[0].is_array and gives_all

    def takes_one(self, place: int) -> bool:
        """Return whether an attempt in a group takes one record of a link, and not all."""
        return place in self.singles or (place == 0 and self.size == 1)

    def wave_of(self, record: str) -> str | None:
        """Return the wave of a record, as a text."""
        if self.wave is None:
            return None
        value = read_json(record).get(self.wave)
        return None if value is None else str(value)

    def key_of(self, record: str) -> dict[str, Any] | None:
        """Return the key of a record."""
        if not self.is_key:
            return None
        values = read_json(record)
        return {name: values.get(name) for name in self.keys}

    def key_text(self, record: str) -> str | None:
        """Return the key of a record as JSON."""
        key = self.key_of(record)
        return None if key is None else write_json(key)

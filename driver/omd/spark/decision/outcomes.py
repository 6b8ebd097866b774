"""What becomes of the records: calls of the rules and rejects, or a failure of the whole run.

`by_batch`, `by_key` and `across_keys` answer calls and rejects, one after the other: a group may
have more records than fit the memory, so nobody holds all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from omd.spark.decision.failed import Failed

if TYPE_CHECKING:
    from omd.spark.decision.shape import Shape
    from omd.spark.decision.waiting import Record
    from omd.spark.decision.wave import Wave

    Outcome = "Call | Reject"

LEFTOVER, KEY_MISMATCH = "LEFTOVER", "KEY_MISMATCH"


class Call(NamedTuple):
    """A call of the rules."""

    key: str | None  # the key of its cycle, as JSON
    cycle_no: int  # the number of the cycle
    invocation_no: int  # which call of the cycle it is
    values: Sequence[str]  # by place, the JSON that the link gives
    inputs: Sequence[str]  # by place, the arrivals of that: a number or a list of JSON


class Reject(NamedTuple):
    """A record that is rejected.

    Without a code, what other groups have decides it, maybe those of other partitions (C6): of a
    record that a failed attempt has taken, whether the link without a match has a greater key than
    `bound_key`; of one that no attempt has taken, whether an attempt with a greater key has looked
    at its link.
    """

    place: int  # the place of its link
    record: Record
    code: str | None = None  # why, if that is known already
    cycle_no: int | None = None  # the attempt that has taken it
    cause: int | None = None  # the place of the link for which that attempt has failed
    bound_key: str | None = None  # the key that is compared with the bound; None: its own


def too_large(shape: Shape, wave: Wave, place: int, record: Record, rows: int) -> Failed:
    """Return the failure of an array that has too many records; one of them tells the key."""
    return Failed(
        "OM291",
        link=shape.links[place].name,
        wave=wave.text,
        key=shape.key_of(record.text),
        rows=rows,
        max_array_rows=shape.most,
    )


def calls_of(
    shape: Shape,
    first: Call,
    follow: Callable[[int], Generator[Reject, None, Record | None]],
) -> Iterator[Call | Reject]:
    """Call the rules as often as a link that is no array has a next record (C5, 3).

    Args:
        first: the first call of the cycle.
        follow: takes the next record that belongs to the cycle, of the link at a place; what it
            rejects on the way comes first.
    """
    yield first
    if not shape.singles:
        return
    key, cycle_no, number, values, inputs = first
    while True:
        values, inputs, took = [*values], [*inputs], False
        for place in shape.singles:
            record = yield from follow(place)
            # A link without a further record keeps its last one.
            if record is not None:
                _, arrival, values[place] = record
                inputs[place] = str(arrival)
                took = True
        if not took:
            return
        number += 1
        yield Call(key, cycle_no, number, values, inputs)

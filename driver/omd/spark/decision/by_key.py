"""KEY with a batch size of 0 or 1 (docs/explanation/decision.md, C5): a group has one key.

With a size of 0 a key is one attempt, which takes all of its primary records. With a size of 1 each
primary record is an attempt, and the first one takes all that arrays have.

Whether a reject is a KEY_MISMATCH depends on other keys (C6). So the wave notes which links an
attempt has looked at, and with which key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from omd.spark.decision.groups import Arrays, Group, groups_of
from omd.spark.decision.outcomes import Call, Reject

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
    for group in groups_of(shape, stream, wave, limit):
        if isinstance(group, Arrays):
            wave.attempts += 1
            wave.reach(len(shape.links), group.sort_key)
            yield Call(shape.key_text(group.first), 1, 1, group.values, group.inputs)
        elif group.links[0].count:
            yield from _key(shape, wave, group)
        else:
            # No attempt has this key.
            for place, waiting in enumerate(group.links):
                for record in waiting.drain():
                    yield Reject(place, record)


def _key(shape: Shape, wave: Wave, group: Group) -> Iterator[Call | Reject]:
    counts = [waiting.count for waiting in group.links]
    attempts = counts[0] if shape.size == 1 else 1
    wave.attempts += attempts
    cause = next((place for place in shape.singles if not counts[place]), None)
    if cause is not None:
        # Each attempt fails here, at the latest: it has not looked at the links behind.
        wave.reach(cause + 1, group.sort_key)
        yield from _failed(shape, group, counts, attempts)
        return
    wave.reach(len(counts), group.sort_key)
    yield from group.cycle(shape, wave, 1)
    # The first cycle has taken all that the secondary links have. So the next attempt fails at the
    # first link that is no array; if there is none, it is a cycle with empty arrays.
    for cycle_no in range(2, attempts + 1):
        if shape.singles:
            yield Reject(0, group.links[0].pop(), cycle_no=cycle_no, cause=shape.singles[0])
        else:
            yield from group.cycle(shape, wave, cycle_no)


def _failed(
    shape: Shape, group: Group, counts: list[int], attempts: int
) -> Iterator[Call | Reject]:
    """Reject the records of a key of which no attempt becomes a cycle."""
    for place, waiting in enumerate(group.links):
        takes_one = shape.takes_one(place)
        for number, record in enumerate(waiting.drain(), start=1):
            # An attempt takes one record of such a link, so the third one belongs to the third.
            # What an array has belongs to the first.
            cycle_no = number if takes_one else 1
            if cycle_no <= attempts:
                # It has failed at the first link that has no such record.
                cause = next(single for single in shape.singles if counts[single] < cycle_no)
                if place < cause:
                    yield Reject(place, record, None, cycle_no, cause)
                    continue
            # There is no such attempt, or it has not come to this link.
            yield Reject(place, record)

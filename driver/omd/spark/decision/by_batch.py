"""BATCH (docs/explanation/decision.md, C4): the records of one batch are one attempt.

`links` has counted the records of each link and put the number of the batch into the sort key. So
the first batch has the first records of each link, and a group is one attempt.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from omd.spark.decision.groups import Arrays, Group, groups_of
from omd.spark.decision.outcomes import LEFTOVER, Call, Reject

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
        # Batches are counted from 0, cycles from 1.
        cycle_no = int(group.sort_key[len(wave.key) :], 16) + 1
        if isinstance(group, Arrays):
            wave.attempts += 1
            yield Call(None, cycle_no, 1, group.values, group.inputs)
        else:
            yield from _batch(shape, wave, group, cycle_no)


def _batch(shape: Shape, wave: Wave, group: Group, cycle_no: int) -> Iterator[Call | Reject]:
    has_primary = group.links[0].count > 0
    cause: int | None = None
    if has_primary:
        wave.attempts += 1
        cause = next((place for place in shape.singles if not group.links[place].count), None)
        if cause is None:
            yield from group.cycle(shape, wave, cycle_no)
            return
    # Without a primary record there is no attempt; else a link that is no array has none, and the
    # attempt has failed. Nothing comes back to a batch, so all of it is left over.
    for place, waiting in enumerate(group.links):
        for record in waiting.drain():
            yield Reject(place, record, LEFTOVER, cycle_no if has_primary else None, cause)

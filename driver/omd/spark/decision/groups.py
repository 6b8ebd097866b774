"""Groups: the pieces of one key, or of one batch, together.

Where all links are arrays, a group with a primary record is one call (`Shape.is_one_call`). Such a
group is made of the texts that Arrow has joined: its records never become texts of Python. That is
most of what a run does.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, NamedTuple

from omd.spark.decision.outcomes import Call, Reject, calls_of, too_large
from omd.spark.decision.waiting import Record, Waiting

if TYPE_CHECKING:
    from omd.spark.decision.shape import Shape
    from omd.spark.decision.stream import Piece, Stream
    from omd.spark.decision.wave import Wave


class Arrays(NamedTuple):
    """A group that is one call."""

    sort_key: str  # the sort key of wave and keys, or of wave and batch
    first: str  # its first primary record
    values: list[str]  # by place, the list of the records as JSON
    inputs: list[str]  # by place, the list of their arrivals


class Group(NamedTuple):
    """A group whose records are taken one by one."""

    sort_key: str  # the sort key of wave and keys, or of wave and batch
    links: list[Waiting]  # by place, the records that wait

    def cycle(self, shape: Shape, wave: Wave, cycle_no: int) -> Iterator[Call | Reject]:
        """Call the rules with what the next attempt takes, which has to have a primary record."""
        key: str | None = None
        values: list[str] = []
        inputs: list[str] = []
        for place, waiting in enumerate(self.links):
            if shape.takes_one(place):
                _, arrival, record = waiting.pop()
                arrivals, records = [arrival], [record]
            elif (rows := waiting.count) > shape.most:
                raise too_large(shape, wave, place, waiting.pop(), rows)
            else:
                arrivals, records = waiting.pop_all()
            if place == 0:
                key = shape.key_text(records[0])
            if shape.links[place].is_array:
                values.append(f"[{', '.join(records)}]")
                inputs.append(str(arrivals))
            else:
                values.append(records[0])
                inputs.append(str(arrivals[0]))
        return calls_of(shape, Call(key, cycle_no, 1, values, inputs), self._follow)

    def _follow(self, place: int) -> Generator[Reject, None, Record | None]:
        waiting = self.links[place]
        yield from ()  # all records have the key, so none is rejected on the way
        return waiting.pop() if waiting.count else None


def groups_of(shape: Shape, stream: Stream, wave: Wave, limit: int) -> Iterator[Arrays | Group]:
    """Read the groups of a wave.

    Args:
        stream: the records.
        limit: the bytes that the records of a link may take in memory.
    """
    while (head := stream.head_of(wave)) is not None:
        stream.at = head.sort_key
        pieces: list[Piece] = []
        if shape.is_one_call:
            arrays = _arrays(shape, stream, wave, head, pieces)
            if arrays is not None:
                yield arrays
                continue
        groups: dict[str, list[Waiting]] = {}
        for piece in itertools.chain(pieces, _rest_of(stream, wave, head.cluster)):
            if piece.sort_key not in groups:
                groups[piece.sort_key] = [Waiting(limit) for _ in shape.links]
            groups[piece.sort_key][piece.place].put(piece.segment())
        for sort_key, links in groups.items():
            stream.at = sort_key
            yield Group(sort_key, links)


def _arrays(
    shape: Shape, stream: Stream, wave: Wave, head: Piece, pieces: list[Piece]
) -> Arrays | None:
    """Read a cluster as one call; None if it is none, then `pieces` has what was read of it.

    Most clusters are one, of a piece for each link.
    """
    values = ["[]"] * len(shape.links)
    inputs = values[:]
    cluster, sort_key, most = head.cluster, head.sort_key, shape.most
    place, rows = -1, 0
    piece: Piece | None = head
    while piece is not None and piece.cluster == cluster:
        is_further = piece.place == place  # the records of the link go over batches
        rows = piece.end - piece.start + (rows if is_further else 0)
        if piece.sort_key != sort_key or rows > most:
            return None
        place = piece.place
        if is_further:
            values[place] = f"{values[place][:-1]}, {piece.text[1:]}"
            inputs[place] = f"{inputs[place][:-1]}, {piece.inputs[1:]}"
        else:
            if place and not pieces:
                return None  # there is no primary record
            values[place], inputs[place] = piece.text, piece.inputs
        pieces.append(piece)
        piece = stream.take(wave, piece)
    return Arrays(sort_key, head.first, values, inputs)


def _rest_of(stream: Stream, wave: Wave, cluster: int | str) -> Iterator[Piece]:
    """Read what is left of a cluster."""
    while (head := stream.head) is not None and head.cluster == cluster:
        yield head
        stream.take(wave, head)

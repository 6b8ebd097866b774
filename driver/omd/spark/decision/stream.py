"""The stream of sorted records: it cuts Arrow batches into pieces of one link and one sort key.

A batch of Arrow has thousands of records, and a key may have ten. So all that can be done for a
whole batch is done by Arrow: to find where pieces begin, to join texts, to look for what is unfit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from omd.rooms.decision.rules import odd_character
from omd.spark.decision.failed import Failed
from omd.spark.decision.waiting import Segment

if TYPE_CHECKING:
    from omd.spark.decision.shape import Shape
    from omd.spark.decision.wave import Wave

RECORDS = pa.schema(
    [
        ("wave_key", pa.string()),
        ("sort_key", pa.string()),
        ("link", pa.int32()),
        ("arrival", pa.int64()),
        ("record", pa.string()),
    ]
)
"""What comes in: in BATCH the sort key is that of the wave and 16 hex digits of the batch."""

CLUSTERED = pa.schema([("place", pa.int32()), *(RECORDS.field(n) for n in (1, 3, 4))])
"""What may come in instead where there is no wave: the groups in clusters, in any order.

A group belongs to one cluster, and the records of a cluster follow each other. Those of one group
and link are in the order of arrival, and its links in theirs; other groups may come between. The
place has the number of the link in its lowest bits (`Shape.link_bits`), above it the cluster.
"""


class _Batch:
    """A batch whose records become texts of Python only where they are taken one by one."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    @cached_property
    def arrivals(self) -> list[int]:
        arrivals: list[int] = self._batch.column("arrival").to_pylist()
        return arrivals

    @cached_property
    def records(self) -> list[str]:
        records: list[str] = self._batch.column("record").to_pylist()
        return records


class Piece(NamedTuple):
    """Records of one link and one sort key that follow each other in a batch."""

    cluster: int | str  # the cluster of their group; without clusters a group is one
    wave_key: str  # the sort key of their wave
    sort_key: str  # the sort key of wave and keys, or of wave and batch
    place: int  # the place of their link
    first: str  # the first record
    text: str  # the list of the records as JSON, where a group is one call (`Shape.is_one_call`)
    inputs: str  # likewise, the list of their arrivals
    start: int  # where in the batch the first one is
    end: int  # where in the batch the last one is, and one more
    batch: _Batch

    def segment(self) -> Segment:
        """Return the records one by one."""
        return Segment(
            self.wave_key,
            self.sort_key,
            self.place,
            self.batch.arrivals[self.start : self.end],
            self.batch.records[self.start : self.end],
        )


class Stream:
    """The pieces of sorted records.

    Args:
        batches: the records, as `RECORDS` or `CLUSTERED` says.
    """

    def __init__(self, shape: Shape, batches: Iterable[pa.RecordBatch]) -> None:
        # The next piece; None before the first `read`, and at the end.
        self.head: Piece | None = None
        self.at = ""  # the sort key of the group that is decided, which an error goes out with
        self._shape = shape
        self._places = {link.number: place for place, link in enumerate(shape.links)}
        self._pieces = self._all(batches)

    def read(self) -> Piece | None:
        """Make the next piece the head, and return it."""
        self.head = next(self._pieces, None)
        return self.head

    def head_of(self, wave: Wave) -> Piece | None:
        """Return the head if it belongs to a wave."""
        head = self.head
        return head if head is not None and head.wave_key == wave.key else None

    def take(self, wave: Wave, head: Piece) -> Piece | None:
        """Count the head in its wave, and read on; return the next piece of any wave."""
        wave.rows += head.end - head.start
        if wave.greatest[head.place] < head.sort_key:
            wave.greatest[head.place] = head.sort_key
        self.head = next(self._pieces, None)
        return self.head

    def _all(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Piece]:
        last: _Edge | None = None
        for batch in batches:
            if batch.num_rows:
                first = _Edge.of(batch, 0)
                before = last.arrival if last is not None and last[:2] == first[:2] else None
                yield from self._pieces_of(batch, before)
                last = _Edge.of(batch, -1)

    def _pieces_of(self, batch: pa.RecordBatch, before: int | None) -> Iterable[Piece]:
        """Cut a batch into pieces, and refuse records that are unfit.

        Args:
            before: the arrival of the record before it, if that belongs to its first piece.
        """
        sort_keys, links, arrivals, records = _columns(batch)
        starts = [0]
        is_unfit = arrivals.null_count > 0 or arrivals[0].as_py() == before
        if batch.num_rows > 1:
            same = pc.and_(pc.equal(sort_keys[1:], sort_keys[:-1]), pc.equal(links[1:], links[:-1]))
            starts += pc.add(pc.indices_nonzero(pc.invert(same)), 1).to_pylist()
            twice = pc.and_(same, pc.equal(arrivals[1:], arrivals[:-1]))
            is_unfit = is_unfit or bool(pc.any(twice).as_py())
        pieces = self._cut(batch, starts)
        # A DataFrame may have it; most batches end the search here. That for a substring, which is
        # no regular expression, takes six times as long.
        if pc.any(pc.match_substring_regex(records, r"\\u0000")).as_py():
            pieces = [*pieces]
            for piece in pieces:
                self._require_texts(piece)
        if is_unfit:
            self._refuse_arrivals(pieces, before)
        return pieces

    def _cut(self, batch: pa.RecordBatch, starts: list[int]) -> Iterable[Piece]:
        sort_keys, links, arrivals, records = _columns(batch)
        at, ends = pa.array(starts, pa.int32()), [*starts[1:], batch.num_rows]
        keys: list[str] = sort_keys.take(at).to_pylist()
        numbers: list[int] = links.take(at).to_pylist()
        clusters: Sequence[int | str]
        if _is_clustered(batch):
            bits = self._shape.link_bits
            clusters = [number >> bits for number in numbers]
            numbers = [number & ((1 << bits) - 1) for number in numbers]
            wave_keys = [""] * len(starts)
        else:
            clusters = keys
            wave_keys = batch.column("wave_key").take(at).to_pylist()
        texts = inputs = [""] * len(starts)
        if self._shape.is_one_call:
            texts = _lists(starts, records)
            if self._shape.keeps_inputs:
                inputs = _lists(starts, arrivals)
        columns = zip(
            clusters,
            wave_keys,
            keys,
            map(self._places.__getitem__, numbers),
            records.take(at).to_pylist(),
            texts,
            inputs,
            starts,
            ends,
            [_Batch(batch)] * len(starts),
            strict=True,
        )
        return map(Piece._make, columns)

    def _refuse_arrivals(self, pieces: Iterable[Piece], before: int | None) -> NoReturn:
        """Refuse the first piece with a record that has no arrival, or that of another one."""
        for piece in pieces:
            segment = piece.segment()
            arrivals: list[int | None] = [*segment.arrivals]
            if None in arrivals:
                record = segment.records[arrivals.index(None)]
                self._refuse(piece, record, "OM289", problem="a record has no arrival")
            twice = [one for one, other in pairwise([before, *arrivals]) if one == other]
            if twice:
                self._refuse(piece, piece.first, "OM290", arrival=twice[-1])
            before = None
        raise AssertionError(before)  # the caller has found that one is unfit

    def _require_texts(self, piece: Piece) -> None:
        for record in piece.segment().records:
            if character := odd_character(record):
                self._refuse(
                    piece,
                    record.replace("\\u0000", "\\ufffd"),  # the error goes to PostgreSQL
                    "OM289",
                    problem=f"a text has {character}",
                )

    def _refuse(self, piece: Piece, record: str, sqlstate: str, **detail: Any) -> NoReturn:
        shape = self._shape
        link = shape.links[piece.place].name
        wave, key = shape.wave_of(record), shape.key_of(record)
        raise Failed(sqlstate, link=link, wave=wave, key=key, **detail)


class _Edge(NamedTuple):
    """The first or the last record of a batch; in clusters the link has the cluster too."""

    sort_key: str
    link: int
    arrival: int | None

    @classmethod
    def of(cls, batch: pa.RecordBatch, at: int) -> _Edge:
        """Return the first record of a batch, at 0, or the last one, at -1."""
        sort_keys, links, arrivals, _ = _columns(batch)
        return cls(sort_keys[at].as_py(), links[at].as_py(), arrivals[at].as_py())


def _is_clustered(batch: pa.RecordBatch) -> bool:
    return "place" in batch.schema.names


def _columns(batch: pa.RecordBatch) -> tuple[pa.Array, pa.Array, pa.Array, pa.Array]:
    """Return sort keys, links (in clusters places), arrivals and records."""
    link = "place" if _is_clustered(batch) else "link"
    sort_keys, links, arrivals, records = map(batch.column, ("sort_key", link, "arrival", "record"))
    return sort_keys, links, arrivals, records


def _lists(starts: list[int], values: pa.Array) -> list[str]:
    """Return the values of each piece as a list of JSON, without a text of Python for each one."""
    cuts = pa.array([*starts, len(values)], pa.int32())
    texts = values if pa.types.is_string(values.type) else values.cast(pa.string())
    joined = pc.binary_join(pa.ListArray.from_arrays(cuts, texts), ", ")
    lists: list[str] = pc.binary_join_element_wise("[", joined, "]", "").to_pylist()
    return lists

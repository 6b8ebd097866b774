"""The stream over groups: sorted records become calls, rejects, and what their codes depend on.

It is Python over Arrow batches and needs no Spark. The records of a partition come in the order of
sort key, link and arrival, so a group, the records of one wave and key or of one batch, is met as a
whole. In clusters the groups are in no order, and a few may come at once. Whatever depends on the
group alone is told here. Which code a reject gets depends on other groups, maybe of other
partitions: so a reject carries which bound decides, and each partition tells its own bounds, of
which the greatest one counts (docs/explanation/decision.md, C6 and C10).
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from omd.decision.rules import NoJson, odd_character, read_json, write_json
from omd.spark.decision.waiting import Segment, Waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Answers = Callable[[Sequence[str]], Sequence[tuple[str, str | None]]]

__all__ = [
    "BOUND",
    "CALL",
    "CLUSTERED",
    "ERROR",
    "GREATEST",
    "KEY_MISMATCH",
    "LEFTOVER",
    "REACHED",
    "RECORDS",
    "REJECT",
    "RESULTS",
    "WAVE",
    "Buffers",
    "LinkShape",
    "Shape",
    "decided",
]

CALL, REJECT, WAVE, BOUND, ERROR = "C", "R", "W", "B", "E"
GREATEST, REACHED = "A", "V"
LEFTOVER, KEY_MISMATCH = "LEFTOVER", "KEY_MISMATCH"

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

_TEXTS = ("wave", "wave_key", "sort_key", "key", "link", "code", "cause_link", "bound", "bound_key")
_DOCUMENTS = ("inputs", "params", "result", "trace")
_COUNTS = ("rows", "attempts", "cycles", "invocations", "rejects")
RESULTS = pa.schema(
    [
        ("kind", pa.string()),
        *((name, pa.string()) for name in (*_TEXTS, *_DOCUMENTS)),
        ("cycle_no", pa.int64()),
        ("invocation_no", pa.int64()),
        ("arrival", pa.int64()),
        ("bound_link", pa.int32()),
        *((name, pa.int64()) for name in _COUNTS),
    ]
)
"""What goes out, by kind.

CALL: a call and its answer. REJECT: a record in params; without a code it is a KEY_MISMATCH if its
bound_key is less than the `bound` (GREATEST or REACHED) of bound_link in the wave. BOUND: such a
bound of this partition, in sort_key. WAVE: the counts of a wave in this partition. ERROR: the
SQLSTATE in code, its DETAIL in params; nothing follows.
"""

_COLUMNS = {
    CALL: (*("wave", "key", "cycle_no", "invocation_no", "inputs", "params", "result", "trace"),),
    REJECT: (
        *("wave", "wave_key", "key", "link", "arrival", "params", "cycle_no", "cause_link"),
        *("code", "sort_key", "bound", "bound_link", "bound_key"),
    ),
    WAVE: ("wave", "wave_key", *_COUNTS),
    BOUND: ("wave_key", "bound_link", "bound", "sort_key"),
    ERROR: ("sort_key", "code", "params"),
}

_CALLS = 1000
_CALL_BYTES = 8 * 1024 * 1024
_ROWS = 5000
_WAITING_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class LinkShape:
    """How a link is read."""

    number: int
    name: str
    parameter: str
    is_array: bool


@dataclass(frozen=True)
class Buffers:
    """What the buffer links give to each call of a wave.

    Attributes:
        links: they, in order.
        texts: by the number of a link and the sort key of a wave (None: every wave), the text of
            the parameter.
        errors: likewise, what is wrong with the records: SQLSTATE and DETAIL.
    """

    links: tuple[LinkShape, ...] = ()
    texts: Mapping[tuple[int, str | None], str] = field(default_factory=dict)
    errors: Mapping[tuple[int, str | None], tuple[str, dict[str, Any]]] = field(
        default_factory=dict
    )


@dataclass(frozen=True)
class Shape:
    """A stage as the operator needs it.

    Attributes:
        stage: the stage.
        ruleset: the ruleset.
        is_key: whether its mode is KEY.
        size: the batch size that is used.
        most: how many records an array may have.
        wave: the column of the wave.
        keys: the columns of the keys.
        links: the links that are no buffer links, in order.
        keeps_inputs: whether calls tell their arrivals.
        params: of which parameters calls tell the records; None: of all.
        buffers: what the buffer links give.
    """

    stage: str
    ruleset: str
    is_key: bool
    size: int
    most: int
    wave: str | None
    keys: tuple[str, ...]
    links: tuple[LinkShape, ...]
    keeps_inputs: bool = True
    params: frozenset[str] | None = None
    buffers: Buffers = field(default_factory=Buffers)

    @property
    def link_bits(self) -> int:
        """How many bits the number of a link takes."""
        return max(link.number for link in self.links).bit_length()


class _Failed(Exception):  # noqa: N818 - it never leaves this module
    def __init__(self, sqlstate: str, **detail: Any) -> None:
        super().__init__(sqlstate)
        self.sqlstate = sqlstate
        self.detail = detail


def decided(
    shape: Shape, answers: Answers, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Return what becomes of the records of a partition, as batches of `RESULTS`.

    Args:
        shape: the stage.
        answers: calls the ruleset: documents of JSON, to an answer and a trace each.
        batches: the records, as `RECORDS` says, sorted by sort key, link and arrival; or as
            `CLUSTERED` says.
    """
    return _Operator(shape, answers, batches).run()


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


class _Piece(NamedTuple):
    """Records of one link and one sort key that follow each other in a batch.

    Attributes:
        cluster: the cluster of their group; without clusters a group is one.
        wave_key: the sort key of their wave.
        sort_key: the sort key of wave and keys.
        place: the place of their link.
        first: the first record.
        text: the list of the records as JSON, where a group of arrays is one call.
        told: likewise, the list of their arrivals.
        start: the place of the first one in the batch.
        end: the place behind the last one.
        batch: the batch.
    """

    cluster: int | str
    wave_key: str
    sort_key: str
    place: int
    first: str
    text: str
    told: str
    start: int
    end: int
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


class _Stream:
    """The pieces of sorted records; `head` is the next one."""

    def __init__(self, shape: Shape, batches: Iterable[pa.RecordBatch], *, is_plain: bool) -> None:
        self._places = {link.number: place for place, link in enumerate(shape.links)}
        self._shape = shape
        self._is_plain = is_plain
        self._pieces = self._all(batches)
        self.head: _Piece | None = None
        self.advance()

    def advance(self) -> _Piece | None:
        """Return the piece behind the head, which is the head now."""
        self.head = next(self._pieces, None)
        return self.head

    def _all(self, batches: Iterable[pa.RecordBatch]) -> Iterator[_Piece]:
        last: tuple[str, int, int] | None = None
        bits = self._shape.link_bits
        mask = (1 << bits) - 1
        for batch in batches:
            if not batch.num_rows:
                continue
            is_clustered = batch.schema.names[0] == "place"
            keys, arrivals, records = map(batch.column, ("sort_key", "arrival", "record"))
            links = batch.column("place" if is_clustered else "link")
            unfit = arrivals.null_count > 0
            starts = [0]
            if len(keys) > 1:
                same = pc.and_(pc.equal(keys[1:], keys[:-1]), pc.equal(links[1:], links[:-1]))
                starts += pc.add(pc.indices_nonzero(pc.invert(same)), 1).to_pylist()
                twice = pc.and_(same, pc.equal(arrivals[1:], arrivals[:-1]))
                unfit = unfit or bool(pc.any(twice).as_py())
            cuts = [*starts, len(keys)]
            at = pa.array(starts, pa.int32())
            texts = told = [""] * len(starts)
            if self._is_plain:
                texts = _lists(cuts, records)
                told = _lists(cuts, arrivals) if self._shape.keeps_inputs else told
            clusters = sort_keys = keys.take(at).to_pylist()
            numbers = links.take(at).to_pylist()
            if is_clustered:
                wave_keys = [""] * len(starts)
                clusters = [number >> bits for number in numbers]
                numbers = [number & mask for number in numbers]
            else:
                wave_keys = batch.column("wave_key").take(at).to_pylist()
            columns = zip(
                clusters,
                wave_keys,
                sort_keys,
                map(self._places.__getitem__, numbers),
                records.take(at).to_pylist(),
                texts,
                told,
                starts,
                cuts[1:],
                [_Batch(batch)] * len(starts),
                strict=True,
            )
            pieces: Iterable[_Piece] = map(_Piece._make, columns)
            # A DataFrame may have it; most batches end the search here. That for a substring, which
            # is no regular expression, takes six times as long.
            if pc.any(pc.match_substring_regex(records, r"\\u0000")).as_py():
                pieces = [*pieces]
                for piece in pieces:
                    self._require_texts(piece.segment())
            if unfit or (sort_keys[0], numbers[0], arrivals[0].as_py()) == last:
                for piece in pieces:
                    self._require_arrivals(piece.segment(), last)
                    last = None
                raise AssertionError(last)  # it has found what is unfit
            yield from pieces
            last = (sort_keys[-1], numbers[-1], arrivals[-1].as_py())

    def _require_arrivals(self, segment: Segment, last: tuple[str, int, int] | None) -> None:
        link = self._shape.links[segment.place]
        arrivals: list[int | None] = [*segment.arrivals]
        twice = None
        if (segment.sort_key, link.number, arrivals[0]) == last:
            twice = arrivals[0]
        for place, arrival in enumerate(arrivals):
            if arrival is None:
                self._refuse(
                    link, segment.records[place], "OM289", problem="a record has no arrival"
                )
            if place and arrival == arrivals[place - 1]:
                twice = arrival
        if twice is not None:
            self._refuse(link, segment.records[0], "OM290", arrival=twice)

    def _require_texts(self, segment: Segment) -> None:
        for record in segment.records:
            if character := odd_character(record):
                self._refuse(
                    self._shape.links[segment.place],
                    record.replace("\\u0000", "\\ufffd"),  # it is told by PostgreSQL
                    "OM289",
                    problem=f"a text has {character}",
                )

    def _refuse(self, link: LinkShape, record: str, sqlstate: str, **detail: Any) -> None:
        wave, key = _wave_of(self._shape, record), _key_of(self._shape, record)
        raise _Failed(sqlstate, link=link.name, wave=wave, key=key, **detail)


class _Operator:
    def __init__(self, shape: Shape, answers: Answers, batches: Iterable[pa.RecordBatch]) -> None:
        self._shape = shape
        self._answers = answers
        self._batches = iter(batches)
        links = shape.links
        self._names = [link.name for link in links]
        # The links that are no arrays, the primary one left out.
        self._singles = [p for p, link in enumerate(links) if p and not link.is_array]
        self._prefixes = [
            (", " if place else "{") + json.dumps(link.parameter) + ": "
            for place, link in enumerate(links)
        ]
        self._kept = [
            place
            for place, link in enumerate(links)
            if shape.params is None or link.parameter in shape.params
        ]
        # A group of arrays makes one call, and no reject, where it has a primary record.
        self._is_plain = (
            not self._singles and links[0].is_array and not (shape.is_key and shape.size == 1)
        )
        self._limit = _WAITING_BYTES // (2 * len(links))
        self._stream: _Stream
        self._sort_key = ""
        # The wave.
        self._wave: str | None = None
        self._wave_key: str | None = None
        self._buffered = ""
        self._kept_buffered = ""
        self._greatest: list[str] = []
        self._reached: list[str] = []
        self._counts = dict.fromkeys(_COUNTS, 0)
        # Calls to make, and what they go out as.
        self._texts: list[str] = []
        self._text_bytes = 0
        self._calls: list[tuple[Any, ...]] = []
        self._out: dict[str, list[tuple[Any, ...]]] = {kind: [] for kind in _COLUMNS}
        self._out_count = 0
        self._out_bytes = 0

    def run(self) -> Iterator[pa.RecordBatch]:
        shape = self._shape
        try:
            self._stream = _Stream(shape, self._batches, is_plain=self._is_plain)
            while (head := self._stream.head) is not None:
                self._open_wave(head)
                if shape.is_key and shape.size > 1:
                    yield from self._across_keys()
                else:
                    yield from self._groups()
                yield from self._close_wave()
            yield from self._answer()
        except _Failed as failure:
            detail = json.dumps({"stage_code": shape.stage, **failure.detail})
            yield _rows(ERROR, [(self._sort_key, failure.sqlstate, detail)])
            # Spark takes a worker that stops early for a broken one.
            for _ in self._batches:
                pass

    # Waves

    def _open_wave(self, head: _Piece) -> None:
        shape, buffers = self._shape, self._shape.buffers
        self._wave_key = head.wave_key
        self._wave = _wave_of(shape, head.first)
        self._greatest = [""] * len(shape.links)
        self._reached = [""] * len(shape.links)
        self._counts = dict.fromkeys(_COUNTS, 0)
        self._buffered = self._kept_buffered = ""
        for link in buffers.links:
            places = ((link.number, head.wave_key), (link.number, None))
            for place in places:
                if place in buffers.errors:
                    sqlstate, detail = buffers.errors[place]
                    raise _Failed(sqlstate, link=link.name, wave=self._wave, key=None, **detail)
            text = next((buffers.texts[p] for p in places if p in buffers.texts), None)
            if text is None:
                if not link.is_array:
                    raise _Failed("OM285", link=link.name, wave=self._wave)
                text = "[]"
            told = f", {json.dumps(link.parameter)}: {text}"
            self._buffered += told
            if shape.params is None or link.parameter in shape.params:
                self._kept_buffered += told

    def _close_wave(self) -> Iterator[pa.RecordBatch]:
        counts = tuple(self._counts.values())
        yield from self._put(WAVE, (self._wave, self._wave_key, *counts))
        if not self._shape.is_key:
            return
        for bound, keys in ((GREATEST, self._greatest), (REACHED, self._reached)):
            for link, key in zip(self._shape.links, keys, strict=True):
                if key:
                    yield from self._put(BOUND, (self._wave_key, link.number, bound, key))

    # Groups: batches, and keys with a batch size of 0 or 1

    def _groups(self) -> Iterator[pa.RecordBatch]:
        stream, wave_key, limit = self._stream, self._wave_key, self._limit
        decide = self._key if self._shape.is_key else self._batch
        while (head := stream.head) is not None and head.wave_key == wave_key:
            self._sort_key = head.sort_key
            group, is_whole = self._plain_group(head) if self._is_plain else ([], False)
            if is_whole:
                self._take_plain(group)
                if self._is_full():
                    yield from self._answer()
                continue
            held: dict[str, list[Waiting]] = {}
            for piece in itertools.chain(group, self._rest_of(head.cluster)):
                if piece.sort_key not in held:
                    held[piece.sort_key] = [Waiting(limit) for _ in self._names]
                held[piece.sort_key][piece.place].put(piece.segment())
            for sort_key, waiting in held.items():
                self._sort_key = sort_key
                counts = [link.count for link in waiting]
                self._counts["rows"] += sum(counts)
                yield from decide(waiting, counts)

    def _plain_group(self, head: _Piece) -> tuple[list[_Piece], bool]:
        """Read a cluster as long as it can be one call of arrays; return whether all of it is.

        Most clusters are such ones, of a piece for each link.
        """
        sort_key, most = head.sort_key, self._shape.most
        group: list[_Piece] = []
        place = rows = 0
        piece: _Piece | None = head
        while piece is not None and piece.cluster == head.cluster:
            if piece.place != place:
                if not group:
                    return group, False  # there is no primary record
                place, rows = piece.place, 0
            rows += piece.end - piece.start
            if piece.sort_key != sort_key or rows > most:
                return group, False
            group.append(piece)
            piece = self._stream.advance()
        return group, True

    def _rest_of(self, cluster: int | str) -> Iterator[_Piece]:
        """Read what is left of a cluster."""
        while (head := self._stream.head) is not None and head.cluster == cluster:
            yield head
            self._stream.advance()

    def _take_plain(self, group: list[_Piece]) -> None:
        """Add the call of a group of arrays.

        It says nothing that `_key` and `_batch` do not say.
        """
        sort_key, counts, greatest = self._sort_key, self._counts, self._greatest
        values = ["[]"] * len(self._names)
        inputs = values[:]
        last = -1
        for piece in group:
            place = piece.place
            counts["rows"] += piece.end - piece.start
            if place == last:  # it goes over batches
                values[place] = f"{values[place][:-1]}, {piece.text[1:]}"
                inputs[place] = f"{inputs[place][:-1]}, {piece.told[1:]}"
                continue
            last = place
            values[place] = piece.text
            inputs[place] = piece.told
            if greatest[place] < sort_key:
                greatest[place] = sort_key
        cycle_no = 1
        if self._shape.is_key:
            self._reached = [max(self._reached[0], sort_key)] * len(values)
        else:
            cycle_no = self._batch_no() + 1
        counts["attempts"] += 1
        counts["cycles"] += 1
        self._add(self._key_text(group[0].first), cycle_no, 1, values, inputs)

    def _batch_no(self) -> int:
        assert self._wave_key is not None  # noqa: S101 - it is open
        return int(self._sort_key[len(self._wave_key) :], 16)

    def _batch(self, held: list[Waiting], counts: list[int]) -> Iterator[pa.RecordBatch]:
        if not counts[0]:
            for place, waiting in enumerate(held):
                yield from self._reject_all(place, waiting, code=LEFTOVER)
            return
        cycle_no = self._batch_no() + 1
        self._counts["attempts"] += 1
        missing = next((place for place in self._singles if not counts[place]), None)
        if missing is None:
            yield from self._cycle(held, cycle_no, is_whole=True)
            return
        for place, waiting in enumerate(held):
            yield from self._reject_all(
                place, waiting, code=LEFTOVER, cycle_no=cycle_no, cause=missing
            )

    def _key(self, held: list[Waiting], counts: list[int]) -> Iterator[pa.RecordBatch]:
        sort_key, singles, is_single = self._sort_key, self._singles, self._shape.size == 1
        missing = None
        for place, count in enumerate(counts):
            if count:
                self._greatest[place] = max(self._greatest[place], sort_key)
            if counts[0] and missing is None:
                self._reached[place] = max(self._reached[place], sort_key)
                if not count and place in singles:
                    missing = place
        if not counts[0]:
            for place, waiting in enumerate(held):
                yield from self._reject_all(place, waiting)
            return
        self._counts["attempts"] += counts[0] if is_single else 1
        if missing is None:
            yield from self._cycle(held, 1, is_whole=not is_single)
            # Each further primary record finds the other links empty.
            number = 1
            while held[0].count:
                number += 1
                if singles:
                    _, arrival, record = held[0].pop()
                    yield from self._reject(0, arrival, record, cycle_no=number, cause=singles[0])
                else:
                    yield from self._cycle(held, number, is_whole=False)
            return
        for place, waiting in enumerate(held):
            # Which attempt has taken the record, and where it failed. Without a primary record of
            # its own a record stays, and so does one of a link that the attempt has not reached.
            by_one = place in singles or (not place and is_single)
            for number, (_, arrival, record) in enumerate(waiting.drain(), start=1):
                cycle_no, cause = 1, missing
                if by_one:
                    cycle_no = number
                    cause = next(single for single in singles if counts[single] < number)
                if cause > place and cycle_no <= (counts[0] if is_single else 1):
                    yield from self._reject(place, arrival, record, cycle_no=cycle_no, cause=cause)
                else:
                    yield from self._reject(place, arrival, record)

    def _cycle(
        self, held: list[Waiting], cycle_no: int, *, is_whole: bool
    ) -> Iterator[pa.RecordBatch]:
        """Call the rules with all records of a group, or with its next primary record."""
        values: list[str] = []
        inputs: list[str] = []
        key: str | None = None
        for place, link in enumerate(self._shape.links):
            waiting = held[place]
            if place in self._singles:
                _, arrival, record = waiting.pop()
                values.append(record)
                inputs.append(str(arrival))
                continue
            if place == 0 and not (is_whole and link.is_array):
                _, arrival, record = waiting.pop()
                arrivals, records = [arrival], [record]
            else:
                if (count := waiting.count) > self._shape.most:
                    raise self._too_large(place, waiting.pop()[2], count)
                arrivals, records = waiting.pop_all()
            if place == 0:
                key = self._key_text(records[0])
            if link.is_array:
                values.append(f"[{', '.join(records)}]")
                inputs.append(str(arrivals))
            else:
                values.append(records[0])
                inputs.append(str(arrivals[0]))
        yield from self._invoke(key, cycle_no, values, inputs, held)

    def _too_large(self, place: int, record: str, rows: int) -> _Failed:
        return _Failed(
            "OM291",
            link=self._names[place],
            wave=self._wave,
            key=_key_of(self._shape, record),
            rows=rows,
            max_array_rows=self._shape.most,
        )

    # Batches that cross keys

    def _across_keys(self) -> Iterator[pa.RecordBatch]:
        """Take a wave as C5 tells it; what an attempt leaves decides about the next one."""
        shape, stream, wave_key = self._shape, self._stream, self._wave_key
        heads = [Waiting(self._limit) for _ in shape.links]
        cycle_no = 0
        while True:
            batch: list[tuple[str, int, str]] = []
            while len(batch) < shape.size and (heads[0].count or self._read(heads)):
                if heads[0].count:
                    batch.append(heads[0].pop())
                    if len(batch) > shape.most:
                        raise self._too_large(0, batch[-1][2], len(batch))
            if not batch:
                break
            high = batch[-1][0]
            while (head := stream.head) is not None and head.wave_key == wave_key:
                if head.sort_key > high:
                    break
                self._read(heads)
            cycle_no += 1
            self._counts["attempts"] += 1
            yield from self._attempt(heads, batch, cycle_no)
        for place, waiting in enumerate(heads):
            yield from self._reject_all(place, waiting, code=LEFTOVER)

    def _read(self, heads: list[Waiting]) -> bool:
        """Read the next segment of the wave; return whether there was one."""
        head = self._stream.head
        if head is None or head.wave_key != self._wave_key:
            return False
        self._sort_key = head.sort_key
        self._greatest[head.place] = head.sort_key
        self._counts["rows"] += head.end - head.start
        heads[head.place].put(head.segment())
        self._stream.advance()
        return True

    def _attempt(
        self, heads: list[Waiting], batch: list[tuple[str, int, str]], cycle_no: int
    ) -> Iterator[pa.RecordBatch]:
        shape = self._shape
        keys, high = {sort_key for sort_key, _, _ in batch}, batch[-1][0]
        taken: list[list[tuple[str, int, str]]] = [batch]
        for place in range(1, len(shape.links)):
            found: list[tuple[str, int, str]] = []
            while not (found and place in self._singles):
                yield from self._pass_over(place, heads[place], keys, high)
                head = heads[place].head()
                if head is None or head.sort_key not in keys:
                    break
                found.append(heads[place].pop())
                if len(found) > shape.most:
                    raise self._too_large(place, found[-1][2], len(found))
            taken.append(found)
            if not found and place in self._singles:
                for before, records in enumerate(taken):
                    for sort_key, arrival, record in records:
                        yield from self._reject(
                            before,
                            arrival,
                            record,
                            cycle_no=cycle_no,
                            cause=place,
                            sort_key=sort_key,
                            bound_key=high,
                        )
                return
        values, inputs = [], []
        for link, records in zip(shape.links, taken, strict=True):
            if link.is_array:
                values.append(f"[{', '.join(record for _, _, record in records)}]")
                inputs.append(str([arrival for _, arrival, _ in records]))
            else:
                values.append(records[0][2])
                inputs.append(str(records[0][1]))
        key = self._key_text(batch[0][2])
        yield from self._invoke(key, cycle_no, values, inputs, heads, keys, high)

    def _invoke(
        self,
        key: str | None,
        cycle_no: int,
        values: list[str],
        inputs: list[str],
        held: Sequence[Waiting],
        keys: set[str] | None = None,
        high: str = "",
    ) -> Iterator[pa.RecordBatch]:
        """Call the rules as often as links that are no arrays have a next record.

        Args:
            key: the key of the cycle.
            cycle_no: its number.
            values: what each parameter is at first.
            inputs: the arrivals of that.
            held: the records that wait, by link.
            keys: only records with these keys belong to the cycle; None: all that wait.
            high: the greatest of them.
        """
        self._counts["cycles"] += 1
        number = 1
        while True:
            self._add(key, cycle_no, number, values, inputs)
            if self._is_full():
                yield from self._answer()
            took = False
            for place in self._singles:
                if keys is not None:
                    yield from self._pass_over(place, held[place], keys, high)
                head = held[place].head()
                if head is not None and (keys is None or head.sort_key in keys):
                    _, arrival, record = held[place].pop()
                    values[place], inputs[place] = record, str(arrival)
                    took = True
            if not took:
                return
            number += 1

    def _pass_over(
        self, place: int, waiting: Waiting, keys: set[str], high: str
    ) -> Iterator[pa.RecordBatch]:
        """Reject records before the greatest key of the batch that match none of its keys."""
        while (head := waiting.head()) is not None:
            if head.sort_key in keys or head.sort_key > high:
                return
            sort_key, arrival, record = waiting.pop()
            yield from self._reject(place, arrival, record, code=KEY_MISMATCH, sort_key=sort_key)

    # What goes out

    def _key_text(self, record: str) -> str | None:
        key = _key_of(self._shape, record)
        return None if key is None else write_json(key)

    def _by_parameter(self, values: list[str], more: str = "") -> str:
        """Return an object of JSON with a value for each link; they may be long."""
        parts = itertools.chain.from_iterable(zip(self._prefixes, values, strict=True))
        return "".join([*parts, more, "}"])

    def _add(
        self, key: str | None, cycle_no: int, number: int, values: list[str], inputs: list[str]
    ) -> None:
        """Add a call to those that are made next."""
        text = self._by_parameter(values, self._buffered)
        params = told = None
        if self._shape.params is None:
            params = text
        elif self._kept or self._kept_buffered:
            params = ", ".join(self._prefixes[place][1:] + values[place] for place in self._kept)
            params = "{" + (params + self._kept_buffered).removeprefix(", ") + "}"
        if self._shape.keeps_inputs:
            told = self._by_parameter(inputs)
        self._calls.append((self._wave, key, cycle_no, number, told, params))
        self._texts.append(text)
        self._text_bytes += len(text)
        self._counts["invocations"] += 1

    def _is_full(self) -> bool:
        return len(self._texts) >= _CALLS or self._text_bytes >= _CALL_BYTES

    def _answer(self) -> Iterator[pa.RecordBatch]:
        self._make_calls()
        yield from self._flush()

    def _reject_all(self, place: int, waiting: Waiting, **why: Any) -> Iterator[pa.RecordBatch]:
        for sort_key, arrival, record in waiting.drain():
            yield from self._reject(place, arrival, record, sort_key=sort_key, **why)

    def _reject(
        self,
        place: int,
        arrival: int,
        record: str,
        *,
        code: str | None = None,
        cycle_no: int | None = None,
        cause: int | None = None,
        sort_key: str | None = None,
        bound_key: str | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Reject a record; without a code the bounds of its link, or of the cause, decide."""
        shape = self._shape
        sort_key = (sort_key or self._sort_key) if shape.is_key else self._wave_key
        self._counts["rejects"] += 1
        row = (
            self._wave,
            self._wave_key,
            self._key_text(record),
            self._names[place],
            arrival,
            record,
            cycle_no,
            None if cause is None else self._names[cause],
            code,
            sort_key,
            None if code else GREATEST if cycle_no else REACHED,
            None if code else shape.links[place if cause is None else cause].number,
            None if code else bound_key or sort_key,
        )
        yield from self._put(REJECT, row, len(record))

    def _put(self, kind: str, row: tuple[Any, ...], size: int = 0) -> Iterator[pa.RecordBatch]:
        self._out[kind].append(row)
        self._out_count += 1
        self._out_bytes += size
        if self._out_count >= _ROWS or self._out_bytes >= _CALL_BYTES:
            yield from self._flush()

    def _flush(self) -> Iterator[pa.RecordBatch]:
        self._out_count = self._out_bytes = 0
        for kind, rows in self._out.items():
            if rows:
                self._out[kind] = []
                yield _rows(kind, rows)

    def _make_calls(self) -> None:
        if self._calls:
            told = self._called()
            self._out[CALL] += [
                (*call, *answer) for call, answer in zip(self._calls, told, strict=True)
            ]
            self._calls, self._texts, self._text_bytes = [], [], 0

    def _called(self) -> Sequence[tuple[str, str | None]]:
        """Make the calls together; if that fails, one by one, to name the first that fails."""
        try:
            return self._answers(self._texts)
        except _RAISED as error:
            together = error
        for call, text in zip(self._calls, self._texts, strict=True):
            try:
                self._answers([text])
            except _RAISED as error:
                raise self._call_failed(call, error) from None
        raise self._call_failed(self._calls[0], together)

    def _call_failed(self, call: tuple[Any, ...], error: BaseException) -> _Failed:
        wave, key, cycle_no, number, _, _ = call
        detail = {
            "ruleset_code": self._shape.ruleset,
            "wave": wave,
            "key": None if key is None else json.loads(key),
            "cycle_no": cycle_no,
            "invocation_no": number,
        }
        if isinstance(error, NoJson):
            return _Failed("OM284", **detail, problem=str(error))
        return _Failed("OM283", **detail, error=_told(error))


# What rules may raise; one that leaves the process must not take its name with it.
_RAISED = (Exception, SystemExit)


def _told(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - the rules may raise anything
        text = "it has no text"
    sqlstate = getattr(error, "sqlstate", None)
    if sqlstate is not None:
        message = getattr(getattr(error, "diag", None), "message_primary", None) or text
        told = f"{message} ({sqlstate})"
    else:
        told = f"{type(error).__name__}: {text}"
    # The database takes neither a null character nor half a surrogate pair.
    return told.replace("\0", "\\0").encode(errors="backslashreplace").decode()


def _lists(cuts: list[int], values: pa.Array) -> list[str]:
    """Return the values between two cuts as a list of JSON each, without a text for each value."""
    texts = values if pa.types.is_string(values.type) else values.cast(pa.string())
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(cuts, pa.int32()), texts), ", ")
    lists: list[str] = pc.binary_join_element_wise("[", joined, "]", "").to_pylist()
    return lists


def _wave_of(shape: Shape, record: str) -> str | None:
    if shape.wave is None:
        return None
    value = read_json(record).get(shape.wave)
    return None if value is None else str(value)


def _key_of(shape: Shape, record: str) -> dict[str, Any] | None:
    if not shape.is_key:
        return None
    values = read_json(record)
    return {name: values.get(name) for name in shape.keys}


def _rows(kind: str, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    columns = dict(zip(_COLUMNS[kind], zip(*rows, strict=True), strict=True))
    columns["kind"] = (kind,) * len(rows)
    return pa.RecordBatch.from_arrays(
        [
            pa.array(columns[field.name], field.type)
            if field.name in columns
            else pa.nulls(len(rows), field.type)
            for field in RESULTS
        ],
        schema=RESULTS,
    )

"""What a partition answers, as batches of Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from omd.spark.decision.outcomes import Reject
    from omd.spark.decision.shape import Shape
    from omd.spark.decision.wave import Wave

CALL, REJECT, WAVE, BOUND, ERROR = "C", "R", "W", "B", "E"
GREATEST, REACHED = "A", "V"

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
    CALL: ("wave", "key", "cycle_no", "invocation_no", "inputs", "params", "result", "trace"),
    REJECT: (
        *("wave", "wave_key", "key", "link", "arrival", "params", "cycle_no", "cause_link"),
        *("code", "sort_key", "bound", "bound_link", "bound_key"),
    ),
    WAVE: ("wave", "wave_key", *_COUNTS),
    BOUND: ("wave_key", "bound_link", "bound", "sort_key"),
    ERROR: ("sort_key", "code", "params"),
}


class Results:
    """Rows that wait until they fill a batch.

    Args:
        most: how many rows are held, at most.
        most_bytes: after how many characters of rejected records they go out, too.
    """

    def __init__(self, shape: Shape, most: int, most_bytes: int) -> None:
        self._shape = shape
        self._most = most
        self._most_bytes = most_bytes
        self._rows: dict[str, list[tuple[Any, ...]]] = {kind: [] for kind in _COLUMNS}
        self._count = 0
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether the rows shall go out now."""
        return self._count >= self._most or self._bytes >= self._most_bytes

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the rows that wait, as a batch for each kind."""
        self._count = self._bytes = 0
        for kind, rows in self._rows.items():
            if rows:
                self._rows[kind] = []
                yield rows_of(kind, rows)

    def add_calls(self, rows: list[tuple[Any, ...]]) -> None:
        """Add calls with their answers; whoever has made them sends them out."""
        self._rows[CALL] += rows

    def add_reject(self, wave: Wave, reject: Reject) -> None:
        """Add a reject, and count it in its wave."""
        place, (sort_key, arrival, record), code, cycle_no, cause, bound_key = reject
        wave.rejects += 1
        links = self._shape.links
        if not self._shape.is_key:
            sort_key = wave.key
        bound: tuple[str | int | None, ...] = (None, None, None)
        if code is None:
            # That of the link for which its attempt has failed; without an attempt that of its own.
            bounding = links[place if cause is None else cause].number
            bound = (GREATEST if cycle_no else REACHED, bounding, bound_key or sort_key)
        row = (
            wave.text,
            wave.key,
            self._shape.key_text(record),
            links[place].name,
            arrival,
            record,
            cycle_no,
            None if cause is None else links[cause].name,
            code,
            sort_key,
            *bound,
        )
        self._add(REJECT, row)
        self._bytes += len(record)

    def add_wave(self, wave: Wave) -> None:
        """Add the counts of a wave, and its bounds."""
        counts = (wave.rows, wave.attempts, wave.cycles, wave.invocations, wave.rejects)
        self._add(WAVE, (wave.text, wave.key, *counts))
        if not self._shape.is_key:
            return
        for bound, keys in ((GREATEST, wave.greatest), (REACHED, wave.reached)):
            for link, key in zip(self._shape.links, keys, strict=True):
                if key:
                    self._add(BOUND, (wave.key, link.number, bound, key))

    def _add(self, kind: str, row: tuple[Any, ...]) -> None:
        self._rows[kind].append(row)
        self._count += 1


def rows_of(kind: str, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    """Return rows of a kind as a batch of `RESULTS`."""
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

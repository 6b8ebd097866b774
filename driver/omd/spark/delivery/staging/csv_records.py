"""Records of CSV: where a quote opens, and where a record ends.

All is bytes, since a line may have some that are no text. A quote opens only at the beginning of a
field; elsewhere it is a character like others. That is how Spark's parser reads a line, too.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omd.spark.delivery.staging.file_numbers import FileNumbers, joint

if TYPE_CHECKING:
    import pyarrow as pa

LINE_ENDS = ("\n", "\r\n", "\r")  # where one of them ends a row, all of them do
_LINE_END = re.compile(rb"(\r\n|\r|\n)")
_BATCH = 10_000


@dataclass(frozen=True)
class Records:
    """How the records of files are written."""

    field: str  # what is between fields
    quote: str  # what is around fields, or nothing
    row: str  # what is between records
    has_header: bool  # whether the first record of a file is none of its rows

    @property
    def between(self) -> str:
        """What is between the pieces of a file of which `joined` makes records."""
        return "\n" if self.row in LINE_ENDS else self.row

    def header(self, text: str) -> tuple[str, bool]:
        """Return the first record of a text, and whether it has its end; blank ones are none."""
        data = text.encode("utf-8", "surrogatepass")
        records = self.of([data] if self.row in LINE_ENDS else data.split(self.row.encode()))
        first = next((record for _, record in records if not _is_blank(record)), b"")
        return first.decode("utf-8", "surrogatepass"), next(records, None) is not None

    def of(self, pieces: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Return the records of a file, which is cut into pieces at `between`.

        Before each is the number of its first line, from 1.
        """
        parts: list[bytes] = []
        is_open = False
        first, number = 1, 0
        for piece in pieces:
            for line, end in self._lines(piece):
                number += 1
                parts.append(line)
                is_open = self.is_open(line, is_open)
                if is_open:
                    parts.append(end)
                else:
                    yield first, b"".join(parts)
                    parts = []
                    first = number + 1
        if parts:
            yield first, b"".join(parts[:-1])  # behind the last line nothing ends

    def is_open(self, line: bytes, was_open: bool) -> bool:
        """Return whether a line ends within quotes.

        Args:
            was_open: whether the line before does.
        """
        quote, field = self.quote.encode(), self.field.encode()
        if not quote or quote not in line:
            return was_open
        at = 0
        while True:
            while not was_open:
                was_open = line.startswith(quote, at)
                if was_open:
                    at += len(quote)
                elif (at := line.find(field, at)) < 0:
                    return False
                else:
                    at += len(field)
            while was_open:
                at = line.find(quote, at)
                if at < 0:
                    return True
                was_open = line.startswith(quote, at + len(quote))  # twice, it is a character
                at += len(quote) * (2 if was_open else 1)
            at = line.find(field, at)  # what else stands behind a closing quote is no field
            if at < 0:
                return False
            at += len(field)

    def joined(
        self, batches: Iterable[pa.RecordBatch], numbers: FileNumbers | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Return the records, but for headers, of files that follow each other in pieces.

        Args:
            batches: the pieces, and the file of each.
            numbers: if they are given, there is a column more, the `joint` number of each record.
        """
        records: list[bytes] = []
        origins: list[str | None] = []
        places: list[int] | None = None if numbers is None else []
        for file, pieces in _by_file(batches):
            is_header = self.has_header
            number = 0 if numbers is None else numbers.number(str(file))
            for line, record in self.of(pieces):
                if is_header:
                    is_header = _is_blank(record)
                    continue
                records.append(record)
                origins.append(file)
                if places is not None:
                    places.append(joint(number, line))
                if len(records) == _BATCH:
                    yield _batch(records, origins, places)
                    records, origins, places = [], [], None if places is None else []
        yield _batch(records, origins, places)

    def _lines(self, piece: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Return the lines of a piece, and what ends each."""
        between = self.between.encode()
        if self.row not in LINE_ENDS:
            yield piece, between
            return
        if piece.endswith(b"\r"):
            piece, between = piece[:-1], b"\r" + between
        parts = _LINE_END.split(piece) if b"\r" in piece or b"\n" in piece else [piece]
        yield from zip(parts[::2], [*parts[1::2], between], strict=True)


def _is_blank(record: bytes) -> bool:
    return not record.strip(b" ")


def _by_file(
    batches: Iterable[pa.RecordBatch],
) -> Iterator[tuple[str | None, Iterator[bytes]]]:
    """Return each file with its pieces, which must be taken before the next file is."""
    import pyarrow as pa

    def pieces() -> Iterator[tuple[str | None, bytes]]:
        for batch in batches:
            lines = batch.column(0).view(pa.binary()).to_pylist()
            yield from zip(batch.column(1).to_pylist(), lines, strict=True)

    for file, pairs in itertools.groupby(pieces(), operator.itemgetter(0)):
        yield file, (piece for _, piece in pairs)


def _batch(
    records: list[bytes], origins: list[str | None], places: list[int] | None
) -> pa.RecordBatch:
    import pyarrow as pa

    texts = pa.array(records, pa.binary()).view(pa.string())
    files = pa.array(origins, pa.string())
    if places is None:
        return pa.RecordBatch.from_arrays([texts, files], names=["value", "_from"])
    columns = [texts, files, pa.array(places, pa.int64())]
    return pa.RecordBatch.from_arrays(columns, names=["value", "_from", "_place"])

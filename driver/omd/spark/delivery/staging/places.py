"""Where staged rows stand: the number of a file, and the line in it; only where that is kept.

A row has a place, which is the number of its partition and its number there. Spark reads a file in
splits, which do not know how many lines are before them. So another scan, which reads no values,
finds the first place of each split, and counts its lines. It is made for the delta alone: most
deliveries have few rows in it, and some are rejected.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from omd.spark.delivery.staging.file_numbers import LINE_BITS, FileNumbers
from omd.spark.delivery.staging.staged import FROM, PLACE

FILE, LINE = "acm_source_file", "acm_source_line"
BLOCK = "_block"  # where in its file the split of a row begins
_IN_FILE = "_in_file"  # the number of a row in its file, from 0, where the file says it
_BITS = 63  # of a place, which is not negative
_PART_BITS = 33  # of a place: what `monotonically_increasing_id` leaves to the number of the row


class Split(NamedTuple):
    """A piece of a file that one task reads in order."""

    first: int  # the place of its first row
    last: int  # that of its last one
    file: int  # the number of its file
    before: int  # how many lines of the file are before it


def by_place(rows: DataFrame) -> DataFrame:
    """Return rows with file and line, instead of places that are `joint`."""
    file = F.shiftright(PLACE, LINE_BITS).cast("int")
    line = F.col(PLACE).bitwiseAND(F.lit((1 << LINE_BITS) - 1))
    return rows.withColumns({FILE: file, LINE: line}).drop(PLACE)


def numbered(rows: DataFrame, number: int = 0, of: int = 1) -> DataFrame:
    """Return the rows of files with their places.

    Args:
        rows: all rows of the files: lines that are no records too.
        number: the number of these files among those that the entity has, from 0; it is in the
            upper bits of a place, so that no others have the same.
        of: how many such numbers there are.
    """
    shift = _BITS - (of - 1).bit_length()
    place = F.monotonically_increasing_id() + F.lit(number << shift)
    return rows.withColumn(PLACE, place)


def rows_in_files(frame: DataFrame) -> DataFrame:
    """Return of the rows of files that know their numbers what `splits` looks at."""
    about = frame.metadataColumn("_metadata")
    return numbered(
        frame.select(
            about.getField("file_path").alias(FROM),
            about.getField("file_block_start").alias(BLOCK),
            about.getField("row_index").alias(_IN_FILE),
        )
    )


def splits(frames: Iterable[DataFrame], numbers: FileNumbers) -> list[Split]:
    """Return the splits of files.

    Args:
        frames: the rows, with places, files and ``_block``.
        numbers: those of the files.
    """
    counted = []
    for rows in frames:
        own = F.min(_IN_FILE) if _IN_FILE in rows.columns else F.lit(None)
        counted += rows.groupBy(FROM, BLOCK).agg(F.min(PLACE), F.count("*"), own).collect()
    splits = []
    for uri, rows_of in groupby(sorted(counted, key=lambda row: row[:2]), key=lambda row: row[0]):
        before = 0
        for _, _, first, count, number in rows_of:
            start = before if number is None else number
            splits.append(Split(first, first + count - 1, numbers.number(uri), start))
            before += count
    return splits


def by_splits(rows: DataFrame, known: list[Split]) -> DataFrame:
    """Return rows with file and line, instead of places that `numbered` has made."""
    names = ("_first", "_last", FILE, "_before")
    types = (pa.int64(), pa.int64(), pa.int32(), pa.int64())
    arrays = [pa.array([s[n] for s in known], of) for n, of in enumerate(types)]
    table = rows.sparkSession.createDataFrame(pa.Table.from_arrays(arrays, names))
    table = table.withColumn("_part", _part("_first"))
    is_in = (_part(PLACE) == F.col("_part")) & F.col(PLACE).between(F.col("_first"), F.col("_last"))
    line = F.col(PLACE) - F.col("_first") + F.col("_before") + 1
    joined = rows.join(F.broadcast(table), is_in, "left").withColumn(LINE, line)
    return joined.drop(PLACE, "_first", "_last", "_before", "_part")


def _part(place: str) -> Column:
    return F.shiftright(place, _PART_BITS)

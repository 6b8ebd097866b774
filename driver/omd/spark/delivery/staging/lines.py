"""Text that is read line by line, so that a big file is split among tasks."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from omd.spark.delivery.staging.files import literal
from omd.spark.delivery.staging.places import BLOCK
from omd.spark.delivery.staging.reader import FileReader, path_of
from omd.spark.delivery.staging.staged import FROM, PLACE
from omd.spark.sessions import plain

MARK = secrets.token_hex(4)  # it stands behind each record while it is parsed; no file can know it


class LineReader(FileReader):
    """Reads files of text; each line is a row."""

    def text(
        self,
        spark: SparkSession,
        paths: Sequence[str],
        *,
        in_blocks: bool = False,
        **options: str,
    ) -> DataFrame:
        """Return the lines of files as ``value``, and ``_from`` as a URI; and ``_block``."""
        frame = spark.read.options(**options).text(literal(paths))
        # The column of Spark with the file of a row would be read even where nobody asks for it.
        block = [F.input_file_block_start().alias(BLOCK)] if self.keeps_lines or in_blocks else []
        return frame.select("value", F.input_file_name().alias(FROM), *block)

    def rows_of(
        self, lines: DataFrame, parse: Callable[[DataFrame, Column], DataFrame]
    ) -> DataFrame:
        """Return the rows that are made of lines.

        Args:
            parse: makes rows of lines, and puts the number of a line next to what is made of it.
        """
        return _from_path(parse(lines, self.place(lines).alias(PLACE)))

    def place(self, lines: DataFrame) -> Column:
        """Return the place of each line: where lines are kept, they have it already."""
        return F.col(PLACE) if PLACE in lines.columns else F.monotonically_increasing_id()

    def rows_at(
        self,
        lines: DataFrame,
        parse: Callable[[DataFrame, Column], DataFrame],
        places: DataFrame,
    ) -> DataFrame:
        """Return those rows that `rows_of` makes of the lines at some places.

        Args:
            parse: makes rows of lines, as that of `rows_of` does.
            places: ``_place`` of the rows; each task has all of them.
        """
        placed = lines.withColumn(PLACE, self.place(lines))
        # As a plan, it would have filters pushed below it, which parse every line.
        there = plain(placed.join(F.broadcast(places), PLACE, "left_semi"))
        return _from_path(parse(there, F.col(PLACE).alias(PLACE)))


def _from_path(rows: DataFrame) -> DataFrame:
    return rows.withColumn(FROM, path_of(F.col(FROM)))


def no_lines(spark: SparkSession) -> DataFrame:
    """Return a frame as `LineReader.text` does, without lines."""
    return spark.createDataFrame([], f"value string, {FROM} string")


def unmarked(text: str) -> str | None:
    """Return a staged text as it was staged, without the mark that follows its record.

    It is in the place of a field that lacks, or within a quote that is left open.
    """
    at = text.rfind(MARK)
    if at < 0:
        return text
    return text[: at - 1] if at else None

"""CSV, read by lines; or by records, where a line ends within quotes.

Nothing is lost on the way: Spark's parser is held to what it would pass over, which is another
number of fields, a quote that is never closed, and bytes of another code page.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from omd._core.error_codes import DeliveryArgumentInvalid
from omd.spark.delivery.staging.csv_dialect import Dialect
from omd.spark.delivery.staging.csv_records import LINE_ENDS
from omd.spark.delivery.staging.csv_regular import (
    Form,
    can_read_regular,
    read_regular,
    regular_forms,
)
from omd.spark.delivery.staging.files import Files, literal
from omd.spark.delivery.staging.heads import head
from omd.spark.delivery.staging.lines import MARK, LineReader, no_lines
from omd.spark.delivery.staging.places import BLOCK, by_place, numbered
from omd.spark.delivery.staging.reader import uri_of
from omd.spark.delivery.staging.staged import BAD, FROM, HEAD, PLACE, RAW, TORN, Staged
from omd.spark.names import quote
from omd.spark.sessions import cloned, in_session, is_connect

if TYPE_CHECKING:
    from omd.spark.delivery.plan import EntityPlan, Plan

_WHOLE_FILES = {
    "spark.sql.files.maxPartitionBytes": str(2**60),
    "spark.sql.files.openCostInBytes": str(2**60),
}
_HEADS = (1 << 14, 1 << 20)  # how much of a file is read to find its header
_FEW_BYTES = 1 << 25  # of less text, to start Python costs more than it saves
_UNFIT = "\ufffd"  # what the decoder puts in the place of bytes that the code page does not have
_AT = "_at"  # the number of a piece in its block
_FIELDS = "_s"  # the parsed fields of a record, a struct of c0, c1 …


@dataclass
class Layout:
    """Files whose records have the same fields."""

    names: tuple[str, ...]  # the names of the fields, in order
    paths: list[str] = field(default_factory=list)
    # The header of each file, as it is written; files without one have none.
    headers: set[str] = field(default_factory=set)


class CsvReader(LineReader):
    """Reads CSV; files with the same header are read at once."""

    def __init__(self, spark: SparkSession, plan: Plan, entity: EntityPlan, files: Files) -> None:
        super().__init__(spark, plan, entity, files)
        self.dialect = Dialect.of(files.options)

    @classmethod
    def endings(cls, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Return how the names of such files end; an agreement may say it."""
        csv = options.get("csv") or {}
        return ("." + str(csv.get("file_extension") or "csv").lstrip(".").lower(),)

    def staged(self) -> Staged:
        """Return the staged rows of all files."""
        layouts = self.layouts()
        # Such a header equals no line. But it is the first record of its file.
        by_record = any(
            re.search(f"{self.dialect.row_end}|{_UNFIT}", header)
            for layout in layouts
            for header in layout.headers
        )
        return self.staged_by(layouts, by_record=by_record)

    def staged_by(self, layouts: Sequence[Layout], *, by_record: bool) -> Staged:
        """Return the staged rows of all files, by lines or by records.

        Args:
            layouts: the files.
            by_record: a line may end within quotes. Then a file is one task.
        """
        columns = list(dict.fromkeys(c for layout in layouts for c in layout.names))
        forms = self.forms(max((len(layout.names) for layout in layouts), default=0))
        frames, values, at = [], [], None
        counted: list[DataFrame] = []
        for layout in layouts:
            paths = layout.paths
            lines = self.records(paths) if by_record else self.lines(self.spark, paths)
            if self.keeps_lines and not by_record:
                # Blank lines count too, and the lines of each layout have other numbers.
                lines = numbered(lines, len(counted), len(layouts))
                counted.append(lines)
            lines = self.filled(lines, layout)
            headers = [] if by_record else sorted(layout.headers)
            parse = partial(self.rows, names=layout.names, columns=columns, headers=headers)
            frames.append(self.rows_of(lines, parse))
            if forms:
                values.append(self.rows_of(lines, partial(parse, forms=forms)))
            if len(layouts) == 1:  # the lines of each layout have the same numbers
                at = partial(self.rows_at, lines, parse)
        if not frames:
            frames.append(self.no_rows())
        frame = functools.reduce(DataFrame.unionAll, frames)
        are_in_lines = self.dialect.has_header and not by_record
        return Staged(
            self.entity.entity,
            frame,
            functools.reduce(DataFrame.unionAll, values) if values else frame,
            tuple(columns),
            findings=self.findings(columns),
            missing=self.missing_in(layouts),
            headers=sum(len(layout.paths) for layout in layouts) if are_in_lines else 0,
            unchanged=self.files.unchanged,
            whole=None if by_record else lambda: self.staged_by(layouts, by_record=True),
            at=at,
            stand=self.stand_of(counted, by_record=by_record),
            size=self.files.size,
        )

    # The fields of each file ----------------------------------------------------------------------

    def layouts(self) -> list[Layout]:
        """Return the files by the names of their fields; an empty file beside others has none."""
        layouts: dict[tuple[str, ...], Layout] = {}
        for path, size, *_ in self.files.listed:
            header = self.header(path) if self.dialect.has_header and size > 0 else ""
            names = self.names(header)
            if names:
                layout = layouts.setdefault(names, Layout(names))
                layout.paths.append(path)
                if header:
                    layout.headers.add(header)
        return list(layouts.values())

    def names(self, header: str) -> tuple[str, ...]:
        """Return the names of the fields of a file; without headers, those of the model."""
        if self.dialect.has_header:
            return tuple(self.dialect.split(header)) if header else ()
        names = tuple(dict.fromkeys(self.mapped))
        if self.entity.load == "DELTA" and self.entity.indicator_column not in names:
            names += (self.entity.indicator_column,)
        return names

    def missing_in(self, layouts: Sequence[Layout]) -> tuple[str, ...]:
        """Return the columns that attributes are read from and some file has not just once."""
        if not layouts:
            return tuple(dict.fromkeys(self.mapped))
        missing = (c for lay in layouts for c in self.mapped if lay.names.count(c) != 1)
        return tuple(dict.fromkeys(missing))

    def header(self, path: str) -> str:
        """Return the first record of a file."""
        for most in _HEADS:
            text, size = head(self.spark, path, most, self.dialect.charset, self.files.options)
            header, has_end = self.dialect.records.header(text.removeprefix("\ufeff"))
            if has_end or size < most:
                return header
        raise DeliveryArgumentInvalid(
            f"the first record of {path} has no end within {_HEADS[-1]} bytes"
        )

    # Lines and records ----------------------------------------------------------------------------

    def stand_of(
        self, lines: Sequence[DataFrame], *, by_record: bool
    ) -> Callable[[DataFrame], DataFrame] | None:
        """Return what `Staged.stand` is."""
        if by_record and self.keeps_lines:
            return by_place
        return self.stand(*lines) if lines else None

    def filled(self, lines: DataFrame, layout: Layout) -> DataFrame:
        """Return those of the lines or records of files that are not empty."""
        # A line of blanks is no row, except where it has as many fields as a row has.
        fields = F.size(F.split("value", re.escape(self.dialect.field)))
        lines = lines.where((F.trim("value") != "") | (fields == len(layout.names)))
        return lines.where(F.col("value") != "")

    def lines(
        self,
        spark: SparkSession,
        paths: Sequence[str],
        row: str | None = None,
        *,
        in_blocks: bool = False,
    ) -> DataFrame:
        """Return the lines of files, decoded; or what is between a text, where one is given.

        Args:
            in_blocks: a file that is read in blocks has ``_block``, wherever lines are kept or not.
        """
        dialect = self.dialect
        if dialect.charset.startswith("UTF-16"):
            # Bytes that look like a line end may be a part of a character.
            files = spark.read.format("binaryFile").load(literal(paths))
            whole = [F.lit(0).cast("bigint").alias(BLOCK)] if self.keeps_lines else []
            files = files.select("content", uri_of(files).alias(FROM), *whole)
            text = F.regexp_replace(F.decode("content", dialect.charset), "\\A\ufeff", "")
            others = [name for name in files.columns if name != "content"]
            if row in LINE_ENDS:  # which are all looked for
                return files.select(text.alias("value"), *others)
            text = F.explode(F.split(text, dialect.row_end))
            return files.select(text.alias("value"), *others)
        if row is None and not dialect.ends_by_line:
            row = dialect.row
        options = {} if row is None else {"lineSep": row}
        lines = self.text(spark, paths, in_blocks=in_blocks, **options)
        if dialect.charset == "UTF-8":
            return lines
        return lines.withColumn("value", F.decode(F.col("value").cast("binary"), dialect.charset))

    def records(self, paths: Sequence[str]) -> DataFrame:
        """Return the records of files, without headers; a line may end within quotes of one."""
        # A file must be one partition, in order. Reading is planned by the settings of the session.
        records = self.dialect.records
        if is_connect(self.spark):
            pieces = in_order(self.lines(self.spark, paths, records.between, in_blocks=True))
        else:
            pieces = self.lines(cloned(self.spark, _WHOLE_FILES), paths, records.between)
        numbers = self.numbers if self.keeps_lines else None
        schema = f"value string, {FROM} string" + (f", {PLACE} bigint" if numbers else "")
        joined = pieces.select("value", FROM).mapInArrow(
            partial(records.joined, numbers=numbers), schema
        )
        return in_session(self.spark, joined)

    # Rows -----------------------------------------------------------------------------------------

    def rows(
        self,
        lines: DataFrame,
        place: Column,
        names: Sequence[str],
        columns: Sequence[str],
        headers: Sequence[str],
        forms: Mapping[str, Form] | None = None,
    ) -> DataFrame:
        """Return the rows of lines or records that have these fields.

        Args:
            lines: the lines or records.
            place: the number of each.
            names: its fields.
            columns: the staged columns.
            headers: the lines that are headers, the first time in each file.
            forms: if they are given, regular lines are read by Arrow, and no row names its file.
        """
        line = F.col("value")
        is_header = line.isin(*headers) if headers else F.lit(False)
        records = lines.select("value", FROM, place, is_header.alias(HEAD))
        fields, is_corrupt, is_open = self.parsed(line, len(names))
        is_torn = F.when(is_corrupt | is_open, self.may_go_on(line)).otherwise(False)
        fits = (
            F.is_valid_utf8(line)
            if self.dialect.charset == "UTF-8"
            else ~F.contains(line, F.lit(_UNFIT))
        )
        is_bad = is_corrupt | is_torn | ~fits
        # Of several fields with one name the first counts.
        columns_of = {c: _parsed(f"c{n}") for n, c in reversed([*enumerate(names)])}
        nothing = F.lit(None).cast("string")
        raw = F.struct(*(columns_of.get(c, nothing).alias(c) for c in columns)).alias(RAW)
        if forms:
            dialect = self.dialect
            records = read_regular(records.drop(FROM), names, forms, dialect.field, dialect.quote)
            records = records.withColumn(FROM, nothing)
            # The text of a line that Arrow has read is NULL.
            is_torn, is_bad = line.isNotNull() & is_torn, line.isNotNull() & is_bad
        kept = [quote(name) for name in records.columns if name != "value"]
        return records.withColumn(_FIELDS, fields).select(
            raw, (is_bad | F.col(HEAD)).alias(BAD), is_torn.alias(TORN), *kept
        )

    def no_rows(self) -> DataFrame:
        """Return a frame as `rows` does, without rows."""
        place = F.lit(0).cast("bigint").alias(PLACE)
        return self.rows(no_lines(self.spark), place, ("nothing",), ["nothing"], ())

    def forms(self, number: int) -> dict[str, Form]:
        """Return the forms of the staged columns in regular lines; of none where they do not pay.

        Expressions of the model see all columns as texts, so such entities have no regular lines.

        Args:
            number: how many fields a line has at most.
        """
        size, dialect = self.files.size, self.dialect
        are_few = size is not None and size < _FEW_BYTES
        can_read = can_read_regular(number, dialect.field, dialect.quote)
        if are_few or self.expressions or not can_read:
            return {}
        return regular_forms(self.entity.attributes, [self.entity.indicator_column])

    def may_go_on(self, line: Column) -> Column:
        """Return whether a line that does not fit may end within quotes, and is no whole record."""
        dialect = self.dialect
        if not dialect.quote:
            return F.lit(False)
        if len(dialect.field) > 1:  # which may begin within another one
            return F.contains(line, F.lit(dialect.quote))
        q, f = re.escape(dialect.quote), re.escape(dialect.field)
        # Without all fields in quotes: the next one that has a quote there is not closed.
        closed = rf"(?:\A|{f}){q}[^{q}]*+(?:{q}{q}[^{q}]*+)*+{q}(?!{q})"
        rest = F.regexp_replace(line, closed, "")
        return F.startswith(rest, F.lit(dialect.quote)) | F.contains(
            rest, F.lit(dialect.field + dialect.quote)
        )

    def parsed(self, line: Column, number: int) -> tuple[Column, Column, Column]:
        """Return the fields of a record as a struct, and two facts about the column ``_s`` of it.

        The facts are whether the record has another number of fields, and whether its last field
        lacks its closing quote; this may be true for some that have theirs.
        """
        fields = "".join(f"c{n} string, " for n in range(number))
        options = {
            "mode": "PERMISSIVE",
            "sep": self.dialect.field,
            "quote": self.dialect.quote,
            "escape": self.dialect.quote,
            "maxColumns": "200000",
        }
        if len(self.dialect.field) == 1:
            return self.parsed_with_mark(line, fields, options)
        # A value may end as a longer terminator begins, and a mark would be taken for its rest.
        options["columnNameOfCorruptRecord"] = "bad"
        last = F.coalesce(_parsed(f"c{number - 1}"), F.lit(""))
        plain = last if number == 1 else F.concat(F.lit(self.dialect.field), last)
        is_open = F.when(
            line.endswith(self.dialect.quote), last.endswith(self.dialect.quote)
        ).otherwise(~line.endswith(plain))
        parsed = F.from_csv(line, f"{fields}bad string", options)
        return parsed, _parsed("bad").isNotNull(), is_open

    def parsed_with_mark(
        self, line: Column, fields: str, options: dict[str, str]
    ) -> tuple[Column, Column, Column]:
        """Return what `parsed` does, where the field terminator is one character.

        A mark follows the record as one more field. If it is not parsed as that field, one of both
        facts is true. This costs less than Spark's column for records that it can't read. Behind
        the mark is an empty field, at which Spark finds the end of the text at the lowest cost.
        """
        separator = self.dialect.field
        ended = F.concat(line, F.lit(separator + MARK + separator))
        parsed = F.from_csv(ended, f"{fields}mark string, rest string", options)
        return parsed, ~_parsed("mark").eqNullSafe(MARK), F.lit(False)


def in_order(pieces: DataFrame) -> DataFrame:
    """Return pieces of files so that each file is in one partition, from its beginning to its end.

    Without ``_block`` they are so already.
    """
    if BLOCK not in pieces.columns:
        return pieces
    numbered = pieces.withColumn(_AT, F.monotonically_increasing_id())
    return numbered.repartition(FROM).sortWithinPartitions(FROM, BLOCK, _AT)


def _parsed(name: str) -> Column:
    return F.col(_FIELDS).getField(name)

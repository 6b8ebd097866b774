"""JSON lines: an object per line, whose values are exact, since a variant keeps decimals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from omd.spark.delivery.staging.lines import MARK, LineReader, no_lines
from omd.spark.delivery.staging.places import numbered
from omd.spark.delivery.staging.staged import BAD, FROM, HEAD, RAW, TORN, Staged

_MOST_COLUMNS = 10_000
# The next number of a line of JSON that is not within a string, and what is before it.
_NUMBER = (
    r'(?s)\G((?:[^"0-9-]++|"(?:[^"\\]++|\\.)*+")*+)'
    r"(-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?+[0-9]++)?+)(?![0-9.eE+-])"
)
# Each escape of a text but for half a surrogate pair, which is no character.
_ESCAPED = (
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|u(?![dD][89a-fA-F])|[^u])"
)


class JsonReader(LineReader):
    """Reads JSON lines; the staged columns are the names that some object has."""

    @classmethod
    def endings(cls, options: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG003 - none is about it
        """Return how the names of such files end."""
        return (".json", ".jsonl")

    def staged(self) -> Staged:
        """Return the staged rows."""
        paths = [file.path for file in self.files.listed if file.size > 0]
        lines = self.text(self.spark, paths) if paths else no_lines(self.spark)
        if self.keeps_lines and paths:
            lines = numbered(lines)
        stand = self.stand(lines) if paths else None
        lines = lines.where(F.trim("value") != "")
        columns = self.columns(lines)
        parse = partial(self.rows, columns=columns)
        rows = self.rows_of(lines, parse)
        return Staged(
            self.entity.entity,
            rows,
            rows,
            tuple(columns),
            findings=self.findings(columns),
            # Without an object there is nothing that could lack a column.
            missing=self.missing(columns) if columns else (),
            unchanged=self.files.unchanged,
            at=partial(self.rows_at, lines, parse),
            stand=stand,
            size=self.files.size,
        )

    def columns(self, lines: DataFrame) -> list[str]:
        """Return the names that objects have: those of the model first, then the others."""
        keys = _objects(lines).select(F.explode(F.map_keys("_map")).alias("key")).distinct()
        seen = {row[0] for row in keys.limit(_MOST_COLUMNS).collect()}
        wanted = dict.fromkeys([*self.mapped, self.entity.indicator_column])
        first = [c for c in wanted if c in seen]
        return first + sorted(seen - set(first))

    def rows(self, lines: DataFrame, place: Column, columns: Sequence[str]) -> DataFrame:
        """Return the rows of lines; a line that is no object is bad."""
        return _objects(lines).select(
            F.struct(*(_value(c).alias(c) for c in columns)).alias(RAW),
            FROM,
            F.col("_map").isNull().alias(BAD),
            F.lit(False).alias(TORN),
            F.lit(False).alias(HEAD),
            place,
        )


def _objects(lines: DataFrame) -> DataFrame:
    """Return the objects of lines as ``_map``, which is NULL where there is none.

    A number is parsed as a list of a text with a mark, since the parser would round it; and a list
    can't be taken for a name. The mark behind the line is parsed only where the line is one value:
    what stands behind a value could else end the list, and nobody would see the rest.
    """
    line = F.col("value")
    texts = F.regexp_replace(line, _NUMBER, rf'$1["{MARK}$2"]')
    parsed = F.try_parse_json(F.concat(F.lit("["), texts, F.lit(f',"{MARK}"]')))
    is_one = F.try_variant_get("_all", "$[1]", "string") == MARK
    others = F.contains(F.regexp_replace(line, _ESCAPED, ""), F.lit("\\"))
    is_text = F.is_valid_utf8(line) & ~(F.contains(line, F.lit("\\u")) & others)
    object_ = F.try_variant_get("_all", "$[0]", "map<string,string>")
    return lines.withColumn("_all", parsed).withColumn("_map", F.when(is_one & is_text, object_))


def _value(column: str) -> Column:
    """Return the text of a value of an object, with its numbers as they are written."""
    text = F.col("_map")[column]
    numbers = F.regexp_replace(text, rf'\["{MARK}([^"]*)"\]', "$1")
    return F.when(F.contains(text, F.lit(MARK)), numbers).otherwise(text)

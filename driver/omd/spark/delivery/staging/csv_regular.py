"""Regular lines of CSV, which Arrow reads in less time than Spark's parser and casts take.

A line is regular when it has the right number of fields, and each is written as most programs
write it: in quotes as a whole or without any, and a number or a time in the form that
`casts.regular` names. One regular expression, made of those of the fields, decides. All other
lines are left to Spark. What a line means does not depend on who reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DataType, StringType, StructType

from omd.spark.arrow import arrow_type
from omd.spark.delivery import casts
from omd.spark.names import quote as quoted

if TYPE_CHECKING:
    import pyarrow as pa

    from omd.spark.delivery.plan import Attribute

_READ = "_read_"
_MOST_FIELDS = 1_000  # the pattern of many more would be too large for RE2

# In no field: what ends a line, or a text for some programs, and what may stand for bytes that are
# no text: unpaired surrogates, and the sign of the decoder. Arrow passes over a byte order mark.
_NOWHERE = r"\r\n\x00\x{D800}-\x{DFFF}\x{FEFF}\x{FFFD}"


@dataclass(frozen=True)
class Form:
    """How the values of a staged column are written in a regular line; pattern None: any text."""

    pattern: str | None
    type: DataType


_TEXT = Form(None, StringType())


def regular_forms(attributes: Iterable[Attribute], texts: Iterable[str]) -> dict[str, Form]:
    """Return the forms of the staged columns of attributes, and of those that are texts."""
    forms: dict[str, Form] = {}
    for attribute in attributes:
        if attribute.source is not None:
            typed = casts.regular(attribute)
            form = _TEXT if typed is None else Form(*typed)
            if forms.setdefault(attribute.source, form) != form:  # two attributes are made of it
                forms[attribute.source] = _TEXT
    return forms | dict.fromkeys(texts, _TEXT)


def can_read_regular(number: int, separator: str, quote: str) -> bool:
    """Return whether `read_regular` takes such lines: no separator may be a part of a number.

    Args:
        number: how many fields they have at most.
        separator: what is between fields.
        quote: what is around them, or nothing.
    """
    both = separator + quote
    return (
        number <= _MOST_FIELDS
        and len(separator) == 1
        and both.isascii()
        and separator != quote
        and not set(both) & set("\0\r\n +-.:T0123456789")
    )


def regular_column(frame: DataFrame, name: str | None) -> tuple[Column, DataType] | None:
    """Return the values of a staged column in regular lines and their type.

    It is None where `read_regular` has not added such a column.
    """
    added = f"{_READ}{name}"
    if added not in frame.columns:
        return None
    return F.col(quoted(added)), frame.schema[added].dataType


def read_regular(
    lines: DataFrame, names: Sequence[str], wanted: Mapping[str, Form], separator: str, quote: str
) -> DataFrame:
    """Return lines with the values of those that are regular, whose text is NULL then.

    For each form a column is added, see `regular_column`. It is NULL in other lines.

    Args:
        lines: the lines as ``value``, and columns to keep.
        names: the names of the fields of a line; of several with one name the first counts.
        wanted: the forms of the fields that are wanted; those that lines lack are NULL.
        separator: the character between fields.
        quote: the character around fields, or nothing.
    """
    schema = StructType()
    for kept in lines.schema:  # a text that was never NULL may be so now
        schema.add(kept.name, kept.dataType)
    for name, form in wanted.items():
        schema.add(_READ + name, form.type)
    types = [arrow_type(form.type) for form in wanted.values()]
    pattern = _line([wanted.get(name, _TEXT).pattern for name in names], separator, quote)
    # Arrow calls the fields by their numbers, since names may come twice.
    numbers = {name: str(n) for n, name in reversed([*enumerate(names)])}
    fields = [numbers.get(name, f"no {name}") for name in wanted]
    nothing = separator * (len(names) - 1)
    at, titles = lines.columns.index("value"), schema.names

    def added(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import csv

        parsing = csv.ParseOptions(
            delimiter=separator, quote_char=quote or False, ignore_empty_lines=False
        )
        converting = csv.ConvertOptions(
            check_utf8=False,
            column_types=dict(zip(fields, types, strict=True)),
            include_columns=fields,
            include_missing_columns=True,
            null_values=[""],
            strings_can_be_null=True,
        )

        def values(texts: pa.Array) -> list[pa.Array]:
            every = pa.ListArray.from_arrays(pa.array([0, len(texts)], pa.int32()), texts)
            joined = pc.binary_join_element_wise(pc.binary_join(every, "\n"), "", "\n")
            text = joined[0].as_buffer()
            reading = csv.ReadOptions(
                use_threads=False,
                block_size=text.size + 1,
                column_names=[str(n) for n in range(len(names))],
            )
            table = csv.read_csv(pa.BufferReader(text), reading, parsing, converting)
            return [column.combine_chunks() for column in table.columns]

        for batch in batches:
            columns, texts = batch.columns, batch.column(at)
            is_regular = pc.match_substring_regex(texts, pattern)
            others = pa.nulls(len(texts), texts.type)
            if not pc.all(is_regular).as_py():
                others = pc.if_else(is_regular, others, texts)
                texts = pc.if_else(is_regular, texts, nothing)
            columns[at] = others
            yield pa.RecordBatch.from_arrays(columns + values(texts), titles)

    return lines.mapInArrow(added, schema)


def _line(patterns: Sequence[str | None], separator: str, quote: str) -> str:
    """Return a pattern of RE2 for a line whose fields have these."""
    bare, around = _none_of(separator + quote), _one(quote) if quote else ""
    fields = []
    for pattern in patterns:
        ways = [f"{bare}*" if pattern is None else f"(?:{pattern})?"]
        if quote:
            within = f"{_none_of(quote)}*" if pattern is None else f"(?:{pattern})"
            ways.append(around + within + around)
        fields.append(f"(?:{'|'.join(ways)})")
    return rf"\A{_one(separator).join(fields)}\z"


def _one(character: str) -> str:
    return f"\\x{{{ord(character):X}}}"


def _none_of(characters: str) -> str:
    return f"[^{''.join(map(_one, characters))}{_NOWHERE}]"

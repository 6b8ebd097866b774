r"""How CSV is written: the options ``csv`` of an agreement, as bulk loaders call them.

They are ``field_terminator``, ``row_terminator``, ``quote``, ``first_row_is_header``,
``datafile_type`` and ``code_page``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from omd._core.error_codes import DeliveryArgumentInvalid
from omd.spark.delivery.staging.csv_records import LINE_ENDS, Records

_ESCAPES = {"\\n": "\n", "\\r": "\r", "\\t": "\t", "\\0": "\0", "\\\\": "\\"}


@dataclass(frozen=True)
class Dialect:
    """How the CSV of an agreement is written."""

    field: str  # what is between fields
    row: str  # what is between rows; where it is one of `LINE_ENDS`, all of them are
    quote: str  # what is around fields, or nothing
    has_header: bool  # whether the first record of a file names its fields
    charset: str  # the code page, as Java calls it

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Dialect:
        """Return what the options of an agreement say.

        Raises:
            DeliveryArgumentInvalid: such CSV can't be read.
        """
        csv = options.get("csv") or {}
        dialect = cls(
            field=_unescaped(csv.get("field_terminator"), ","),
            row=_unescaped(csv.get("row_terminator"), "\n"),
            quote=str(csv.get("quote", '"') or ""),
            has_header=str(csv.get("first_row_is_header", True)).lower() == "true",
            charset=_charset(csv),
        )
        if len(dialect.quote) > 1 or not dialect.field or not dialect.row:
            raise DeliveryArgumentInvalid(
                f"CSV can't be read with the field terminator {dialect.field!r}, the row terminator"
                f" {dialect.row!r} and the quote {dialect.quote!r}"
            )
        return dialect

    @property
    def records(self) -> Records:
        """What cuts files into records."""
        return Records(self.field, self.quote, self.row, self.has_header)

    @property
    def ends_by_line(self) -> bool:
        """Whether a row ends where a line does."""
        return self.row in LINE_ENDS

    @property
    def row_end(self) -> str:
        """A pattern for what ends a row."""
        return "\r\n|\n|\r" if self.ends_by_line else re.escape(self.row)

    def split(self, record: str) -> list[str]:
        """Return the fields of a record."""
        if not self.quote:
            return record.split(self.field)
        q, f = re.escape(self.quote), re.escape(self.field)
        # A field in quotes that ends where the next one begins; or anything up to that place.
        one = re.compile(f"(?:{q}((?:[^{q}]|{q}{q})*){q} *(?={f}|\\Z))|((?:(?!{f}).)*)", re.DOTALL)
        fields, at = [], 0
        while True:
            field = one.match(record, at)
            assert field is not None  # noqa: S101 - the second form takes anything
            quoted, bare = field[1], field[2]
            fields.append(bare if quoted is None else quoted.replace(self.quote * 2, self.quote))
            at = field.end() + len(self.field)
            if field.end() >= len(record):
                return fields


def _unescaped(text: Any, default: str) -> str:
    r"""Return a terminator, which may be written as bulk loaders do: \t, \r\n, 0x1e."""
    if text is None or text == "":
        return default
    text = str(text)
    if re.fullmatch(r"0[xX](?:[0-9a-fA-F]{2})+", text):
        return bytes.fromhex(text[2:]).decode("latin-1")
    return re.sub(r"\\[nrt0\\]", lambda escape: _ESCAPES[escape[0]], text)


# The code pages of Windows and DOS by their numbers, as Java calls them.
_CHARSETS = {
    "65001": "UTF-8",
    "UTF-8": "UTF-8",
    "RAW": "UTF-8",
    "1200": "UTF-16LE",
    "1201": "UTF-16BE",
    "20127": "US-ASCII",
    "ACP": "windows-1252",
    "OEM": "IBM437",
    "874": "x-windows-874",
    "932": "windows-31j",
    "936": "x-mswin-936",
    "949": "x-windows-949",
    "950": "x-windows-950",
    "54936": "GB18030",
    "20866": "KOI8-R",
    "21866": "KOI8-U",
}
_CHARSETS |= {str(n): f"windows-{n}" for n in range(1250, 1259)}
_CHARSETS |= {str(28590 + n): f"ISO-8859-{n}" for n in (*range(1, 10), 13, 15)}
_CHARSETS |= {
    str(n): f"IBM{n:03}"
    for n in (437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 866, 869)
}


def _charset(csv: Mapping[str, Any]) -> str:
    """Return the name that Java has for the code page of files."""
    kind = str(csv.get("datafile_type") or "char").lower()
    page = str(csv.get("code_page") or "65001").strip().upper().removeprefix("CP")
    if kind == "widechar":
        page = "1200"
    if page not in _CHARSETS or kind not in ("char", "widechar"):
        raise DeliveryArgumentInvalid(
            f"CSV of the data file type {kind} and the code page {page} can't be read",
            hint="Use char with a code page such as 65001 or 1252, or widechar.",
        )
    return _CHARSETS[page]

"""Checks of a model: names, literals and patterns as PostgreSQL and Spark both read them."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

from omd.integrations.contracts.types import is_number, kind

# What stands in quotes as a name: the reserved words of SQL, and those of checks.
_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        all analyse analyze and any array as asc asymmetric authorization between bigint binary bit
        boolean both case cast char character check coalesce collate collation column concurrently
        constraint create cross current_catalog current_date current_role current_schema
        current_time current_timestamp current_user date dec decimal default deferrable desc
        distinct do else end except exists extract false fetch float for foreign freeze from full
        grant greatest group grouping having ilike in initially inner inout int integer intersect
        interval into is isnull join lateral leading least left like limit localtime localtimestamp
        matches national natural nchar none normalize not notnull null nullif numeric offset on only
        or order out outer overlaps overlay placing position precision primary real references
        returning right row select session_user setof similar smallint some substring symmetric
        system_user table tablesample then time timestamp to trailing treat trim true union unique
        user using values varchar variadic verbose when where window with xmlattributes xmlconcat
        xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable
        abs length lower upper delivery_date
        """,
    )
)
_DATE = r"\d{4}-\d{2}-\d{2}"
_INSTANTS = {
    "date": _DATE,
    "timestamp": rf"{_DATE}[ T]\d{{2}}:\d{{2}}:\d{{2}}(\.\d{{1,6}})?",
    "timestamptz": rf"{_DATE}[ T]\d{{2}}:\d{{2}}:\d{{2}}(\.\d{{1,6}})?(Z|[-+]\d{{2}}:\d{{2}})?",
}


def name(attribute: str) -> str:
    """Return the name of an attribute in a check."""
    return f'"{attribute}"' if attribute in _WORDS else attribute


def quoted(text: str) -> str:
    """Return a text in quotes."""
    return "'" + text.replace("'", "''") + "'"


def number(value: Any) -> Decimal | None:
    """Return a number of JSON exactly; None: it is none, or not finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    return Decimal(str(value)) if math.isfinite(value) else None


def literal(value: Any, data_type: str) -> str | None:
    """Return a value as the literal that an attribute of a type is compared with; None: no such."""
    if is_number(data_type):
        digits = number(value)
        return None if digits is None or digits.adjusted() > 40 else f"{digits:f}"
    if kind(data_type) == "boolean":
        return str(value).upper() if isinstance(value, bool) else None
    if not isinstance(value, str):
        return None
    pattern = _INSTANTS.get(kind(data_type))
    return quoted(value) if pattern is None or re.fullmatch(pattern, value) else None


def listed(attribute: str, values: list[Any], data_type: str, *, is_in: bool = False) -> str | None:
    """Return the check that a value is one of these, or none of them; None: it can't be said."""
    literals = [literal(value, data_type) for value in values]
    if not literals or None in literals:
        return None
    return f"{name(attribute)} {'' if is_in else 'NOT '}IN ({', '.join(map(str, literals))})"


# Patterns ---------------------------------------------------------------------------------------

_PIECE = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^]\\])*\]|\(\?:|\(\?|\{\d+(?:,\d*)?\}[?+]?|[*+?][?+]?|.", re.DOTALL
)
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": " \\t\\n\\r\\f\\v"}
_MARKS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v"}


def matching(attribute: str, pattern: Any) -> str | None:
    """Return the check that a part of a value matches a pattern; None: it can't be said."""
    whole = whole_pattern(pattern)
    return None if whole is None else f"matches({name(attribute)}, {quoted(whole)})"


def whole_pattern(pattern: Any) -> str | None:
    r"""Return the pattern of the whole value where a part of it matches; None: there is none.

    Classes such as \d are written out. What only some engines have, such as look-around, has no
    place in a check.
    """
    if not isinstance(pattern, str) or len(pattern) > 1000 or not pattern:
        return None
    pieces = [_piece(match[0]) for match in _PIECE.finditer(pattern)]
    if None in pieces:
        return None
    parts = [piece for piece in pieces if piece is not None]
    starts, ends = parts[:1] == ["^"], parts[-1:] == ["$"]
    inner = parts[starts : len(parts) - ends]
    if "^" in inner or "$" in inner:
        return None
    # In ^a|b$ each anchor belongs to one way only.
    if _has_ways(inner) and (starts or ends):
        return None
    text = "".join(inner)
    if not (starts and ends) and _has_ways(inner):
        text = f"(?:{text})"
    return f"{'' if starts else '.*'}{text}{'' if ends else '.*'}"


def _piece(piece: str) -> str | None:
    if piece.startswith("["):
        return _bracket(piece)
    if piece.startswith("\\"):
        letter = piece[1:]
        if letter in _MARKS:
            return _MARKS[letter]
        if letter.lower() in _CLASSES:
            inside = _written_out(_CLASSES[letter.lower()])
            return f"[{'^' if letter.isupper() else ''}{inside}]"
        return piece if letter.isascii() and letter and not letter.isalnum() else None
    if piece in ("(?", "{", "}", "]") or (piece.endswith("+") and len(piece) > 1):
        return None
    return piece


def _bracket(piece: str) -> str | None:
    if piece in ("[", "[]", "[^]"):
        return None
    is_negative = piece.startswith("[^")
    inner = piece[1 + is_negative : -1]
    if inner.startswith("]") or "[" in inner or "&&" in inner:
        return None
    written = ""
    for match in re.finditer(r"\\(.)|(.)", inner, re.DOTALL):
        escaped, plain = match[1], match[2]
        if plain is not None:
            written += plain
        elif escaped in _MARKS:
            written += _MARKS[escaped]
        elif escaped in _CLASSES:
            written += _written_out(_CLASSES[escaped])
        elif escaped.isalnum() or not escaped.isascii():
            return None
        else:
            written += f"\\{escaped}"
    return f"[{'^' if is_negative else ''}{written}]"


def _written_out(characters: str) -> str:
    return re.sub(r"\\(.)", lambda match: _MARKS[match[1]], characters)


def _has_ways(pieces: list[str]) -> bool:
    depth = 0
    for piece in pieces:
        depth += piece.startswith("(")
        depth -= piece == ")"
        if piece == "|" and depth == 0:
            return True
    return False

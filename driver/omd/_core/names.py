"""Names of tables, types and operators, as PostgreSQL writes them."""

from __future__ import annotations

import re

# The grammar resolves these itself, and takes no schema before them.
_KEYWORDS = frozenset(
    {
        *("bigint", "boolean", "character varying", "double precision", "integer", "interval"),
        *("real", "smallint", "timestamp with time zone", "timestamp without time zone"),
    }
)

_PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')


def parts(table: str) -> list[str]:
    """Return the parts (schema and table) of a table code, which is quoted as in PostgreSQL."""
    return [quoted.replace('""', '"') if quoted else bare for quoted, bare in _PART.findall(table)]


def qualified(type_: str) -> str:
    """Return a type with its schema; one without is PostgreSQL's own, whatever the path finds."""
    if "." in type_ or type_.removesuffix("[]") in _KEYWORDS:
        return type_
    return f"pg_catalog.{type_}"


def operator(symbol: str) -> str:
    """Return an operator of PostgreSQL, whatever the path finds."""
    return f"OPERATOR(pg_catalog.{symbol})"

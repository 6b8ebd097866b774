"""Names as Spark SQL quotes them."""

from __future__ import annotations

import re

__all__ = ["parts", "quote"]

_PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')


def parts(table: str) -> list[str]:
    """The parts of a table code, which is quoted as in PostgreSQL: schema and table."""
    return [quoted.replace('""', '"') if quoted else bare for quoted, bare in _PART.findall(table)]


def quote(name: str) -> str:
    """One part of a name, quoted."""
    return f"`{name.replace('`', '``')}`"

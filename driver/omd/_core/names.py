"""Names of tables, as PostgreSQL writes them."""

from __future__ import annotations

import re

__all__ = ["parts"]

_PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')


def parts(table: str) -> list[str]:
    """Return the parts (schema and table) of a table code, which is quoted as in PostgreSQL."""
    return [quoted.replace('""', '"') if quoted else bare for quoted, bare in _PART.findall(table)]

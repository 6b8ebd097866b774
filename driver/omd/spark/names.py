"""Names, quoted as Spark SQL requires."""

from __future__ import annotations


def quote(name: str) -> str:
    """Return one part of a name, quoted."""
    return f"`{name.replace('`', '``')}`"

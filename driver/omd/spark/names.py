"""Names, quoted as Spark SQL requires."""

from __future__ import annotations

from omd._core.names import parts

__all__ = ["parts", "quote"]


def quote(name: str) -> str:
    """Return one part of a name, quoted."""
    return f"`{name.replace('`', '``')}`"

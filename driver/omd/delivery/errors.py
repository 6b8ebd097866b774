"""Errors of the room delivery (docs/explanation/delivery.md)."""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

from omd._core.errors import CallerError

__all__ = [
    "UnknownInterface",
]


class UnknownInterface(CallerError, code="OM031"):
    """No model of this interface was deployed."""

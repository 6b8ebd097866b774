"""Errors of lake tables (docs/explanation/lake.md)."""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

from omd._core.errors import CallerError, ConfigurationError, StateError

__all__ = [
    "LakeConflict",
    "LakeFilesUnfit",
    "LakeTableUnreadable",
]


class LakeConflict(StateError, code="OM120"):
    """The table has moved on since the change was prepared."""


class LakeFilesUnfit(StateError):
    """The files that Spark wrote can't become part of the table."""


class LakeTableUnreadable(ConfigurationError):
    """The table uses a feature without which its rows can't be read correctly."""

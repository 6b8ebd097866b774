"""Errors of the room lake (docs/explanation/lake.md)."""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

from omd._core.errors import CallerError, ConfigurationError, StateError

__all__ = [
    "AmbiguousFormat",
    "FolderInUse",
    "InvalidCommit",
    "LakeConflict",
    "LakeFilesUnfit",
    "LakeTableGone",
    "LakeTableUnreadable",
    "NothingKept",
    "UnknownCatalog",
    "UnknownLakeTable",
    "UnknownNamespace",
]


class UnknownLakeTable(CallerError, code="OM020"):
    """The table is not in the catalogue of the lake."""


class NothingKept(CallerError, code="OM021"):
    """Nothing is kept of the table as of that moment."""


class InvalidCommit(CallerError, code="OM022"):
    """A commit is malformed, or its table was not opened in this transaction."""


class LakeConflict(StateError, code="OM120"):
    """The table has moved on since the commit was staged."""


class FolderInUse(StateError, code="OM121"):
    """The files in a folder were committed, or their run still executes."""


class LakeTableGone(StateError, code="OM122"):
    """Runs that stand have written to the table, and it is gone or renamed in the catalogue."""


class UnknownNamespace(ConfigurationError, code="OM220"):
    """The namespace of the table is not registered."""


class AmbiguousFormat(ConfigurationError, code="OM221"):
    """Modules load the table in several formats."""


class LakeFilesUnfit(StateError):
    """The files that Spark wrote can't become part of the table."""


class LakeTableUnreadable(ConfigurationError):
    """The table uses a feature without which its rows can't be read correctly."""


class UnknownCatalog(ConfigurationError):
    """pyiceberg's configuration has no such catalogue, or it can't be used."""

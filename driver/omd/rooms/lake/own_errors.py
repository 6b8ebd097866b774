"""What only the driver raises in the room lake."""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

from omd._core.errors import ConfigurationError, StateError


class LakeFilesUnfit(StateError):
    """The files that Spark wrote can't become part of the table."""


class LakeTableUnreadable(ConfigurationError):
    """The table uses a feature without which its rows can't be read correctly."""


class KeysLeft(StateError):
    """Files of a table that may hold erased keys can't be removed."""


class UnknownCatalog(ConfigurationError):
    """pyiceberg's configuration has no such catalogue, or it can't be used."""

"""Errors of the room lineage (docs/explanation/lineage.md)."""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

from omd._core.errors import CallerError, ConfigurationError, StateError
from omd.control.errors import NotStarted

__all__ = [
    "AmbiguousKey",
    "BaseTableLocked",
    "BaseTableUnfit",
    "BaseTableUnread",
    "CyclicDependency",
    "DestinationFilled",
    "InvalidTopic",
    "OffsetUndecided",
    "ReloadStillReferenced",
    "ReplacedRowsPurged",
    "ReplacedRowsUnfit",
    "RestatementGoesOn",
    "StepFenced",
    "StepNotStarted",
    "TopicNotUndone",
    "TopicWithoutTime",
    "TransformUnfit",
    "UndoRefused",
    "UnknownTopic",
    "WrongTopicState",
]


class UnknownTopic(CallerError, code="OM015"):
    """No topic has this name."""


class InvalidTopic(CallerError, code="OM016"):
    """The name of a topic is not of the form ``schema.table[#tag][:shard]``."""


class CyclicDependency(CallerError, code="OM017"):
    """A topic would depend on itself."""


class StepFenced(StateError, code="OM108"):
    """The topic was released, or another step has taken it: this step can't commit any more."""


class TopicNotUndone(StateError, code="OM115"):
    """A topic can't be removed while rows of its failed or dead runs may be in its table."""


class UndoRefused(StateError, code="OM116"):
    """What failed runs of a topic have left can't be undone now, or not in this database."""


class AmbiguousKey(StateError, code="OM117"):
    """A block has several rows with one key, and it is not known which of them is the newest."""


class ReloadStillReferenced(StateError, code="OM118"):
    """A RELOAD would remove rows that another table refers to by a foreign key."""


class RestatementGoesOn(StateError, code="OM119"):
    """A step takes a block again, or a block that is undone must be loaded first."""


class BaseTableUnfit(ConfigurationError, code="OM206"):
    """The base table lacks something that is needed to read it by blocks."""


class TransformUnfit(ConfigurationError, code="OM207"):
    """A transform does not exist, or does not fit the destination."""


class BaseTableUnread(ConfigurationError, code="OM213"):
    """A view of a STEP does not read its base table by blocks, or reads one that was renamed."""


class WrongTopicState(ConfigurationError, code="OM208"):
    """The topic does not allow the call: it is a source, has another engine, or is needed."""


class ReplacedRowsPurged(ConfigurationError, code="OM217"):
    """A step can't be undone any more: the rows that it replaced are purged."""


class ReplacedRowsUnfit(ConfigurationError, code="OM218"):
    """A step can't be undone: the destination has changed since it replaced rows."""


class BaseTableLocked(ConfigurationError, code="OM212"):
    """Another session locks the base table, so that it can't be read now."""


class TopicWithoutTime(ConfigurationError, code="OM211"):
    """The position of a topic is the id alone, and an argument or a dependency needs a time."""


class OffsetUndecided(ConfigurationError, code="OM215"):
    """Another base table, or other columns, without a word about the offset of the topic."""


class DestinationFilled(ConfigurationError, code="OM216"):
    """A topic would load all rows of its base table into a table that may hold them already."""


class StepNotStarted(NotStarted):
    """The database decided against this step; `reason` is its outcome (rule L8)."""

    kind, verdict = "step of", "not started"

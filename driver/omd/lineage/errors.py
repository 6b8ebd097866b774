"""Errors of the room lineage (docs/explanation/lineage.md)."""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

from omd._core.errors import CallerError, ConfigurationError, StateError
from omd.control.errors import NotStarted

__all__ = [
    "BaseTableUnfit",
    "CyclicDependency",
    "DestinationFilled",
    "InvalidTopic",
    "OffsetUndecided",
    "StepFenced",
    "StepNotStarted",
    "TopicNotUndone",
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


class BaseTableUnfit(ConfigurationError, code="OM206"):
    """The base table lacks something that is needed to read it by blocks."""


class TransformUnfit(ConfigurationError, code="OM207"):
    """A transform does not exist, or does not fit the destination."""


class WrongTopicState(ConfigurationError, code="OM208"):
    """The topic does not allow the call: it is a source, has another engine, or is needed."""


class OffsetUndecided(ConfigurationError, code="OM215"):
    """Another base table, or other columns, without a word about the offset of the topic."""


class DestinationFilled(ConfigurationError, code="OM216"):
    """A topic would load all rows of its base table into a table that may hold them already."""


class StepNotStarted(NotStarted):
    """The database decided against this step; `reason` is its outcome (rule L8)."""

    kind, verdict = "step of", "not started"

"""Errors of the room lineage (docs/explanation/lineage.md)."""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

from omd._core.errors import CallerError, ConfigurationError, StateError
from omd.control.errors import NotStarted

__all__ = [
    "BaseTableUnfit",
    "CyclicDependency",
    "InvalidTopic",
    "StepFenced",
    "StepNotStarted",
    "TopicWithoutTime",
    "TransformUnfit",
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


class BaseTableUnfit(ConfigurationError, code="OM206"):
    """The base table lacks something that is needed to read it by blocks."""


class TransformUnfit(ConfigurationError, code="OM207"):
    """A transform does not exist, or does not fit the destination."""


class WrongTopicState(ConfigurationError, code="OM208"):
    """The topic does not allow the call: it is a source, has another engine, or is needed."""


class TopicWithoutTime(ConfigurationError, code="OM211"):
    """The position of a topic is the id alone, and an argument or a dependency needs a time."""


class StepNotStarted(NotStarted):
    """The database decided against this step; `reason` is its outcome (rule L8)."""

    kind, verdict = "step of", "not started"

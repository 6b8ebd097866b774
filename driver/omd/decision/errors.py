"""Errors of the room decision (docs/explanation/decision.md)."""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

from omd._core.errors import CallerError, ConfigurationError, StateError

__all__ = [
    "ArrayTooLarge",
    "DuplicateArrival",
    "EmptyBufferLink",
    "InvalidDefinition",
    "KeyMismatchNotAllowed",
    "LeftoverNotAllowed",
    "LinkUnfit",
    "NoRulesetVersion",
    "NotAStageRun",
    "OutputUnfit",
    "RejectLimitExceeded",
    "RulesetChanged",
    "RulesetFailed",
    "RulesetUntested",
    "UnknownRuleset",
    "UnknownStage",
    "WrongEngine",
]


class UnknownStage(CallerError, code="OM080"):
    """No stage has this code."""


class UnknownRuleset(CallerError, code="OM081"):
    """No ruleset has this code, or it has no such version."""


class InvalidDefinition(CallerError, code="OM082"):
    """The document of a stage or a ruleset is wrong; its DETAIL lists all problems."""


class RulesetUntested(StateError, code="OM180"):
    """The version has not passed every test case."""


class NotAStageRun(StateError, code="OM181"):
    """The Module Instance is no executing run of a stage."""


class LeftoverNotAllowed(ConfigurationError, code="OM280"):
    """A link rejects records with LEFTOVER, and its reject link does not list it."""


class KeyMismatchNotAllowed(ConfigurationError, code="OM281"):
    """A link rejects records with KEY_MISMATCH, and its reject link does not list it."""


class RejectLimitExceeded(ConfigurationError, code="OM282"):
    """A link rejects more records than its abort_after."""


class RulesetFailed(ConfigurationError, code="OM283"):
    """A call of the ruleset failed."""


class OutputUnfit(ConfigurationError, code="OM284"):
    """What the ruleset answered does not fit an output."""


class EmptyBufferLink(ConfigurationError, code="OM285"):
    """A buffer link that is no array has no record for a wave."""


class NoRulesetVersion(ConfigurationError, code="OM286"):
    """No version of the ruleset is active and effective."""


class RulesetChanged(ConfigurationError, code="OM287"):
    """The function of the ruleset is not as it was when it was defined."""


class WrongEngine(ConfigurationError, code="OM288"):
    """The ruleset does not run in this engine."""


class LinkUnfit(ConfigurationError, code="OM289"):
    """A source or DataFrame lacks something, or a record has no arrival."""


class DuplicateArrival(ConfigurationError, code="OM290"):
    """Two records of a link have the same arrival."""


class ArrayTooLarge(ConfigurationError, code="OM291"):
    """An array has more records than max_array_rows."""

"""Errors of the room facts (docs/explanation/facts.md)."""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

from omd._core.errors import ConfigurationError, StateError

__all__ = ["FactsNotDeployed", "FactsWouldChange", "InvalidFacts", "LoadNotUndone"]


class LoadNotUndone(StateError, code="OM153"):
    """A load can't be undone; the detail says why."""


class InvalidFacts(ConfigurationError, code="OM250"):
    """What a model says for the facts can't be."""


class FactsNotDeployed(ConfigurationError, code="OM251"):
    """The facts of an interface are not deployed, or an older version of them is."""


class FactsWouldChange(ConfigurationError, code="OM252"):
    """A deployment would give stored facts another meaning."""

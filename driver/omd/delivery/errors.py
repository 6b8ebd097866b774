"""Errors of the room delivery (docs/explanation/delivery.md)."""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

from omd._core.errors import CallerError, ConfigurationError, StateError

__all__ = [
    "AlternateKeyBroken",
    "ImpossibleSetting",
    "InUse",
    "InvalidModel",
    "ModelLosesRows",
    "SchemaNotCreated",
    "SchemaTaken",
    "UnknownConstraint",
    "UnknownInterface",
]


class InvalidModel(CallerError, code="OM030"):
    """The model document is wrong; the detail lists every problem with its path."""


class UnknownInterface(CallerError, code="OM031"):
    """No model of this interface was deployed."""


class UnknownConstraint(CallerError, code="OM035"):
    """A setting names no constraint of the model."""


class ImpossibleSetting(CallerError, code="OM042"):
    """A constraint can't be set so."""


class InUse(StateError, code="OM136"):
    """What is to be changed or removed is in use."""


class ModelLosesRows(ConfigurationError, code="OM230"):
    """Rows would be lost or reinterpreted by the model."""


class AlternateKeyBroken(ConfigurationError, code="OM231"):
    """Current rows break an alternate key of the model."""


class SchemaNotCreated(ConfigurationError, code="OM234"):
    """The owner of OMD may not create schemas in this database."""


class SchemaTaken(ConfigurationError, code="OM233"):
    """A schema of the interface belongs to somebody else."""

"""Errors of the room delivery (docs/explanation/delivery.md)."""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

from omd._core.errors import CallerError, ConfigurationError, StateError
from omd.control.errors import NotStarted

__all__ = [
    "AgreementNotEffective",
    "AlternateKeyBroken",
    "AttemptFenced",
    "DeliveryAborted",
    "DeliveryArgumentInvalid",
    "DeliveryInFuture",
    "DeliveryOvertaken",
    "DeliveryPending",
    "DeliverySkipped",
    "DeliveryWaits",
    "DeltaMisfit",
    "EntityMissing",
    "ImpossibleSetting",
    "InUse",
    "MeasuresInvalid",
    "ModelLosesRows",
    "NoContext",
    "NotReverted",
    "QueueItemNotReady",
    "SchemaNotCreated",
    "SchemaTaken",
    "UnknownAgreement",
    "UnknownConstraint",
    "UnknownDelivery",
    "UnknownInterface",
    "UnknownTenant",
    "WrongDeliveryState",
]


class UnknownInterface(CallerError, code="OM031"):
    """No model of this interface was deployed."""


class UnknownTenant(CallerError, code="OM032"):
    """No tenant has this code."""


class UnknownAgreement(CallerError, code="OM033"):
    """No agreement has this code."""


class UnknownDelivery(CallerError, code="OM034"):
    """There is no delivery with this id."""


class UnknownConstraint(CallerError, code="OM035"):
    """A setting names no constraint of the model."""


class DeliveryArgumentInvalid(CallerError, code="OM036"):
    """An agreement or a delivery can't be as this argument says."""


class DeliveryOvertaken(CallerError, code="OM037"):
    """An entity was delivered at the same time or later."""


class DeliveryInFuture(CallerError, code="OM038"):
    """The time of the delivery is in the future."""


class NoContext(CallerError, code="OM039"):
    """A Full entity has context filters, and none of them is active."""


class MeasuresInvalid(CallerError, code="OM040"):
    """The counts of a run do not fit its plan."""


class EntityMissing(CallerError, code="OM041"):
    """The agreement asks for complete deliveries."""


class ImpossibleSetting(CallerError, code="OM042"):
    """A constraint can't be set so."""


class WrongDeliveryState(StateError, code="OM130"):
    """The status of the delivery does not allow this."""


class DeliveryPending(StateError, code="OM131"):
    """Another delivery of the agreement is not decided yet."""


class AttemptFenced(StateError, code="OM132"):
    """The run has ended, or a later one has begun: stop the work."""


class NotReverted(StateError, code="OM133"):
    """What was accepted can't be taken back."""


class DeltaMisfit(StateError, code="OM134"):
    """The delta is not what was written, or does not fit the current rows."""


class QueueItemNotReady(StateError, code="OM135"):
    """The facts can't do this with the item of the queue."""


class InUse(StateError, code="OM136"):
    """What is to be changed or removed is in use."""


class RowsRefused(StateError, code="OM137"):
    """A work table or a staging table does not take rows of this session now."""


class ModelLosesRows(ConfigurationError, code="OM230"):
    """Rows would be lost or reinterpreted by the model."""


class AlternateKeyBroken(ConfigurationError, code="OM231"):
    """Current rows break an alternate key of the model."""


class AgreementNotEffective(ConfigurationError, code="OM232"):
    """The agreement is inactive, or not effective today."""


class SchemaNotCreated(ConfigurationError, code="OM234"):
    """The owner of OMD may not create schemas in this database."""


class SchemaTaken(ConfigurationError, code="OM233"):
    """A schema of the interface belongs to somebody else."""


class DeliverySkipped(NotStarted):
    """Process control says that there is no need to run the delivery now."""

    kind, verdict = "delivery", "skipped"


class DeliveryAborted(NotStarted):
    """Process control says that the delivery must not run now."""

    kind, verdict = "delivery", "aborted"


class DeliveryWaits(NotStarted):
    """The delivery could not begin in time; it may be resumed."""

    kind, verdict = "delivery", "not begun in time"

    def __str__(self) -> str:
        return f"{self.kind} {self.code} was {self.verdict}: {self.reason}"

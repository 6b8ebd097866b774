"""Errors of the room facts (docs/explanation/facts.md)."""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

from omd._core.errors import CallerError, ConfigurationError, StateError

__all__ = [
    "AlternateKeyTaken",
    "ChildrenExist",
    "ControlAnswerUnknown",
    "DeleteTypeUnknown",
    "DeliveryOpen",
    "ExportEnded",
    "FactExists",
    "FactImmutable",
    "FactOvertaken",
    "FactsNotDeployed",
    "FactsWouldChange",
    "InvalidControl",
    "InvalidExport",
    "InvalidFacts",
    "ItemRefused",
    "KeyChanged",
    "LoadNotUndone",
    "NoOpenDelivery",
    "ParentMissing",
    "PhysicalDeleteRefused",
    "ResyncBlocked",
    "RowNotAgreed",
    "SystemColumnSet",
    "ValueMissing",
    "ValueNotExported",
    "ValueOutOfRange",
    "ViewsNotHeld",
    "WritesBlocked",
]


class LoadNotUndone(StateError, code="OM153"):
    """A load can't be undone; the detail says why."""


class InvalidFacts(ConfigurationError, code="OM250"):
    """What a model says for the facts can't be."""


class FactsNotDeployed(ConfigurationError, code="OM251"):
    """The facts of an interface are not deployed, or an older version of them is."""


class FactsWouldChange(ConfigurationError, code="OM252"):
    """A deployment would give stored facts another meaning."""


class FactExists(CallerError, code="OM051"):
    """The key that is inserted exists."""


class KeyChanged(CallerError, code="OM052"):
    """A key was to be changed."""


class ValueMissing(CallerError, code="OM053"):
    """A key or mandatory attribute has no value."""


class ParentMissing(CallerError, code="OM054"):
    """The parent that is named does not exist."""


class ChildrenExist(CallerError, code="OM055"):
    """Children of the row exist."""


class FactImmutable(CallerError, code="OM056"):
    """An immutable attribute was to be changed."""


class AlternateKeyTaken(CallerError, code="OM057"):
    """The values of an alternate key are taken."""


class SystemColumnSet(CallerError, code="OM058"):
    """A column of the house was to be written."""


class ValueOutOfRange(CallerError, code="OM061"):
    """A value is one that no delivery may bring."""


class RowNotAgreed(CallerError, code="OM062"):
    """The agreement of the delivery does not name the row, or its entity."""


class DeleteTypeUnknown(CallerError, code="OM063"):
    """The setting omd_facts.delete_type has a wrong word."""


class ItemRefused(StateError, code="OM158"):
    """A row of an item breaks what the facts must hold; the detail names its key."""


class ValueNotExported(StateError, code="OM159"):
    """No file can hold a value."""


class ViewsNotHeld(StateError, code="OM160"):
    """Readers or writers keep the views of an interface from being changed."""


class NoOpenDelivery(StateError, code="OM150"):
    """The session names no open delivery of the interface."""


class WritesBlocked(StateError, code="OM151"):
    """An LVL delivery of the interface is not at an end."""


class DeliveryOfAnother(CallerError, code="OM069"):
    """The delivery was opened by another login."""


class DeliveryOpen(StateError, code="OM152"):
    """The agreement has an open delivery."""


class PhysicalDeleteRefused(StateError, code="OM156"):
    """The delivery does not allow to delete physically."""


class FactOvertaken(StateError, code="OM157"):
    """The row was changed since the statement read it."""


class ResyncBlocked(StateError, code="OM154"):
    """An LVL delivery of the interface is not at an end."""


class ControlAnswerUnknown(CallerError, code="OM059"):
    """A control answers an attribute that there is not."""


class InvalidControl(ConfigurationError, code="OM253"):
    """A control is no SECURITY DEFINER function of the right signature."""


class InvalidExport(CallerError, code="OM060"):
    """An argument of an export is refused, or there is nothing to export."""


class ExportEnded(StateError, code="OM155"):
    """An export was published or cancelled."""

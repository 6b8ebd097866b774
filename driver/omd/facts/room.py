"""Facts as Python sees them: the routines as methods (docs/explanation/facts.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omd.facts.export import Export, Exports

if TYPE_CHECKING:
    from omd.control.room import Control

__all__ = ["Export", "Facts"]


class Facts(Exports):
    """The room facts: ``control.facts`` (docs/explanation/facts.md).

    Args:
        control: the connection; it may serve other calls too.
    """

    def __init__(self, control: Control) -> None:
        super().__init__(control._link)
        self.control = control

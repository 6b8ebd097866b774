"""Decision as Python sees it: the routines as methods (docs/explanation/decision.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omd.decision.calls import DecisionCalls

if TYPE_CHECKING:
    from omd.control.room import Control

__all__ = ["Decision"]


class Decision(DecisionCalls):
    """The room decision: ``control.decision`` (docs/explanation/decision.md).

    Examples:
        with omd.connect() as control:
            control.decision.run_stage("flight_care")

    Args:
        control: the connection; it may serve other calls too.
    """

    def __init__(self, control: Control) -> None:
        super().__init__(control._link)
        self.control = control

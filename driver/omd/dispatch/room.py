"""Dispatch as Python sees it: the routines as methods (docs/explanation/dispatch.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omd.dispatch.calls import DispatchCalls

if TYPE_CHECKING:
    from omd.control.room import Control

__all__ = ["Dispatch"]


class Dispatch(DispatchCalls):
    """The room dispatch: ``control.dispatch`` (docs/explanation/dispatch.md).

    Examples:
        with omd.connect() as control:
            control.dispatch.create_task("RUN", "BATCH", {"CODE": "b_flights"})

    Args:
        control: the connection; it may serve other calls too.
    """

    def __init__(self, control: Control) -> None:
        super().__init__(control._link)
        self.control = control

"""Dispatch as Python sees it: the routines as methods (docs/explanation/dispatch.md)."""

from __future__ import annotations

from omd.rooms.control.connection import Door
from omd.rooms.dispatch.calls import DispatchCalls


class Dispatch(Door, DispatchCalls):
    """The room dispatch: ``control.dispatch`` (docs/explanation/dispatch.md).

    Examples:
        with omd.connect() as control:
            control.dispatch.create_task("RUN", "BATCH", {"CODE": "b_flights"})
    """

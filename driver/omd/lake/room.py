"""Lake as Python sees it: the routines as methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omd.lake.calls import LakeCalls

if TYPE_CHECKING:
    from omd.control.room import Control

__all__ = ["Lake"]


class Lake(LakeCalls):
    """The room lake: ``control.lake`` (docs/explanation/lake.md).

    Args:
        control: the connection; it may serve other calls too.
    """

    def __init__(self, control: Control) -> None:
        super().__init__(control._link)
        self.control = control

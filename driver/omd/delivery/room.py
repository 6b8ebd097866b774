"""Delivery as Python sees it: the routines as methods (docs/explanation/delivery.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omd.delivery.calls import DeliveryCalls

if TYPE_CHECKING:
    from omd.control.room import Control

__all__ = ["Delivery"]


class Delivery(DeliveryCalls):
    """The room delivery: ``control.delivery`` (docs/explanation/delivery.md).

    Args:
        control: the connection; it may serve other calls too.
    """

    def __init__(self, control: Control) -> None:
        super().__init__(control._link)
        self.control = control

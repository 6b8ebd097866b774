"""Delivery: was what arrived agreed and acceptable, what has changed (schema omd_delivery)."""

from typing import TYPE_CHECKING

from omd._core.lazy import lazily

if TYPE_CHECKING:
    from omd.rooms.delivery.run import DeliveryBlock as DeliveryBlock

__all__, __getattr__, __dir__ = lazily(__name__, {"omd.rooms.delivery.run": ["DeliveryBlock"]})

"""Events as Python sees them."""

from __future__ import annotations

from omd.rooms.control.connection import Door
from omd.rooms.event.calls import EventCalls


class Event(Door, EventCalls):
    """The room event: ``control.event``."""

"""Events as Python sees them."""

from __future__ import annotations

from omd.control.connection import Door
from omd.event.calls import EventCalls


class Event(Door, EventCalls):
    """The room event: ``control.event``."""

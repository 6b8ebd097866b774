"""Events as Python sees them."""

from __future__ import annotations

from omd.control.connection import Door


class Event(Door):
    """The room event: ``control.event``."""

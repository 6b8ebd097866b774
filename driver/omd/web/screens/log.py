"""``/log``: the event log, newest first: who did what, and why.

It may have millions of rows, so it is paged by its key. A filter that no index serves looks through
a slice of the newest events only, and a link goes on with the slice before it.
"""

from __future__ import annotations

from datetime import datetime

from omd._terminal.markup import Html, badge, el, join, message, moment, name
from omd.web import cells, lists, parts
from omd.web.section import Asked, Screen, Section, Select

_ROWS = 100
_SLICE = 100_000  # events that are looked through for a filter that no index serves

# The event types that say that something is wrong (omd.event_type has the list).
_COLOURS = {1: "F", 2: "F", 6: "F"}


def screen(asked: Asked) -> Screen:
    """Return a page of the event log."""
    return Screen("log", "Event log", (_events(asked),), form=_form(asked))

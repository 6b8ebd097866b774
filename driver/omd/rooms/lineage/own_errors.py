"""What only the driver raises in the room lineage."""

from __future__ import annotations

from omd.rooms.control.errors import NotStarted


class StepNotStarted(NotStarted):
    """The database decided against this step; `reason` is its outcome (rule L8)."""

    kind, verdict = "step of", "not started"

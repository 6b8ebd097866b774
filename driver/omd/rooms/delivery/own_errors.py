"""What only the driver raises in the room delivery."""

from __future__ import annotations

from omd._core.errors import OmdError
from omd.rooms.control.errors import NotStarted


class DeliverySkipped(NotStarted):
    """Process control says that there is no need to run the delivery now."""

    kind, verdict = "delivery", "skipped"


class DeliveryAborted(NotStarted):
    """Process control says that the delivery must not run now."""

    kind, verdict = "delivery", "aborted"


class DeliveryWaits(NotStarted):
    """The delivery could not begin in time; it may be resumed."""

    kind, verdict = "delivery", "not begun in time"

    def __str__(self) -> str:
        return f"{self.kind} {self.code} was {self.verdict}: {self.reason}"


class ArrivalChanged(OmdError):  # noqa: N818 - named like the other errors of OMD
    """The folder of a delivery has another content than what was found."""

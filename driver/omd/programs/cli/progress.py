"""What happens to a delivery while it runs, shown line by line."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from omd._core.periodic import Periodic
from omd.rooms.delivery.calls import DeliveryCalls
from omd.rooms.delivery.rows import DeliveryEventsRow, DeliveryMetricsRow

if TYPE_CHECKING:
    from omd._core.link import Link
    from omd.rooms.control.connection import Connection


class Progress:
    """Tells each change of status and each count, over a connection of its own, until it is left.

    Args:
        connection: is not used itself while the delivery runs.
        delivery_id: the delivery.
        tell: gets each line.
    """

    def __init__(
        self, connection: Connection, delivery_id: int, tell: Callable[[str], None]
    ) -> None:
        self._connection = connection
        self._delivery_id = delivery_id
        self._tell = tell
        self._event = 0
        self._counts: dict[str, tuple[Any, ...]] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Progress:
        link = self._connection._new_link(name="-progress")
        self._looks = Periodic(
            "progress",
            1.0,
            0.0,
            call=lambda: self._look(link),
            refused=self._tell,
            link=link,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._looks.stop()
        self._look(self._connection._link)

    def _look(self, link: Link) -> bool:
        calls = DeliveryCalls(link)
        with self._lock:
            for event in calls.report(
                DeliveryEventsRow,
                delivery_id=self._delivery_id,
                after={"delivery_event_id": self._event},
                order_by=["delivery_event_id"],
            ):
                self._event = event.delivery_event_id
                self._tell(_event(event))
            for row in calls.report(
                DeliveryMetricsRow, delivery_id=self._delivery_id, order_by=["entity_code"]
            ):
                counts = (row.rows_delivered, row.rows_skipped, row.rows_new)
                if row.rows_delivered is not None and self._counts.get(row.entity_code) != counts:
                    self._counts[row.entity_code] = counts
                    self._tell(_counts(row))
        return False


def _event(event: DeliveryEventsRow) -> str:
    run = f", run {event.attempt}" if event.event == "begin_delivery" else ""
    # REFUSED says it, and the verdict is REJECTED then.
    why = f": {event.reason}" if event.reason and event.to_status != "REFUSED" else ""
    return f"{event.to_status}{run}{why}"


def _counts(row: DeliveryMetricsRow) -> str:
    line = f"{row.entity_code}: {row.rows_delivered:,} rows, {row.rows_skipped:,} left out"
    if row.rows_new is not None:
        line += (
            f"; {row.rows_new:,} new, {row.rows_changed:,} changed, {row.rows_deleted:,} deleted"
        )
    return line

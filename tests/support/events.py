"""What the tests of events share: publishing, and reading what was published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from support.flow import Flow


def publish(flow: Flow, limit: int | None = None) -> int | None:
    """Publish one round; returns how much it published."""
    arguments = {} if limit is None else {"limit": limit}
    published: int | None = flow.call("omd_event.publish", **arguments)["published"]
    return published


def published(flow: Flow, limit: int | None = None) -> list[tuple[str, int]]:
    """Publish until nothing is left; returns the type and the subject of each new event."""
    newest = flow.one("SELECT event_number FROM omd_event.setting")
    while publish(flow, limit) != 0:
        pass
    return after(flow, newest)


def after(flow: Flow, number: int = 0) -> list[tuple[str, int]]:
    """Return the type and the subject of each event after a number, in order."""
    return [
        (row["event_type"], row["subject_id"])
        for row in flow.rows("SELECT * FROM omd_event.events_after(%s, 1000000)", number)
    ]


def take(flow: Flow, sink: str = "s", holder: str = "h", **arguments: Any) -> list[int]:
    """Take events of a sink; returns their numbers."""
    named = "".join(f", p_{name} => %({name})s" for name in arguments)
    return [
        row["event_number"]
        for row in flow.conn.execute(
            f"SELECT event_number FROM omd_event.take_events(%(sink)s, %(holder)s{named})".encode(),
            {"sink": sink, "holder": holder, **arguments},
        )
    ]


def confirm(
    flow: Flow, number: int | None, sink: str = "s", holder: str = "h", **more: Any
) -> None:
    """Confirm the events of a sink up to a number."""
    flow.call(
        "omd_event.confirm_events", sink_code=sink, holder=holder, event_number=number, **more
    )

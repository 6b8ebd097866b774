"""The transports of sinks as they are registered now: a change is followed while a sender runs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from omd.programs.sender.command import TIMEOUT, Command
from omd.programs.sender.sender import Outcome, Transport, Wait
from omd.programs.sender.webhook import Webhook
from omd.rooms.event.calls import EventCalls
from omd.rooms.event.rows import SinkDefinitionRow, TakeEventsRow

KINDS = ("COMMAND", "WEBHOOK")
_FRESH = 1.0  # so many seconds a definition is used without another look


@dataclass(frozen=True)
class Allowed:
    """What this process may be asked to do by who registers sinks."""

    urls: Sequence[str] = ()  # prefixes; without any, all whose address is public
    commands: Sequence[str] = ()  # paths


class Registered:
    """Sends as the sink is registered; it looks again each second in which it sends.

    Args:
        calls: its own, over a connection that nobody else uses.
        sink_code: the sink.
        allowed: what may be done.
    """

    def __init__(self, calls: EventCalls, sink_code: str, allowed: Allowed) -> None:
        self._calls = calls
        self._sink_code = sink_code
        self._allowed = allowed
        self._definition: SinkDefinitionRow | None = None
        self._transport: Transport | None = None
        self._looked_at = 0.0

    @property
    def timeout(self) -> float:
        """The seconds after which one send is over."""
        transport = self._current()
        return TIMEOUT if transport is None else transport.timeout

    def send(self, event: TakeEventsRow) -> Outcome:
        """Send an event, once."""
        transport = self._current()
        if transport is None:
            return Wait("its kind has changed")
        return transport.send(event)

    def close(self) -> None:
        """Close its connections."""
        if self._transport is not None:
            self._transport.close()
        self._calls._link.close()

    def _current(self) -> Transport | None:
        if time.monotonic() - self._looked_at > _FRESH:
            [definition] = self._calls.sink_definition(self._sink_code)
            if definition != self._definition:
                if self._transport is not None:
                    self._transport.close()
                self._transport = _transport(definition, self._allowed)
                self._definition = definition
            self._looked_at = time.monotonic()
        return self._transport


def _transport(sink: SinkDefinitionRow, allowed: Allowed) -> Transport | None:
    timeout = None if sink.timeout is None else sink.timeout.total_seconds()
    target = sink.target or ""
    if sink.sink_kind == "WEBHOOK":
        return Webhook(
            target,
            format=sink.format,
            secret_name=sink.secret_name,
            allowed=allowed.urls,
            timeout=timeout,
        )
    if sink.sink_kind == "COMMAND":
        return Command(target, allowed=allowed.commands, timeout=timeout)
    return None

"""What a CALL that performs a run has cost the server: read around it, and recorded if it was long.

The server shows the cost of a statement only after it, so no routine reads its own. Servers before
PostgreSQL 18 do not show it at all, and are not asked.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from omd._core.calls import Calls, Repeat, Routine
from omd._core.link import Link

_log = logging.getLogger("omd.cost")

_SHORTEST = 0.1  # seconds of a run whose cost is recorded
_FIRST_VERSION = 180000  # of a server that shows it
_SESSION_COST = Routine("omd_event.session_cost", repeat=Repeat(), is_function=True)
_RECORD_COST = Routine(
    "omd_event.record_cost",
    {"p_subject_type": "text", "p_instance_id": "bigint", "p_before": "jsonb"},
    required=3,
    repeat=Repeat(),
)


@contextmanager
def measured(link: Link) -> Iterator[Callable[[str, int | None], None]]:
    """Measure the CALL inside; what is yielded takes the run that it has performed.

    Args:
        link: the connection of the CALL.
    """
    costs = _Costs(link)
    performed: list[tuple[str, int]] = []

    def note(subject_type: str, instance_id: int | None) -> None:
        if instance_id:
            performed.append((subject_type, instance_id))

    before = costs.read()
    begun = time.monotonic()
    yield note
    if performed and before is not None and time.monotonic() - begun >= _SHORTEST:
        costs.record(*performed[0], before)


class _Costs(Calls):
    """No run fails because nobody knows its cost, such as somebody without the right."""

    def read(self) -> Any:
        """Return what the session has cost; None: the server does not show it."""
        try:
            link = self._link
            if (
                link.server_version < _FIRST_VERSION
                or link.is_in_transaction
                or link.is_pooled  # the run may be performed by another backend
            ):
                return None
            return self._value(_SESSION_COST)
        except Exception:  # noqa: BLE001 - see above
            _log.debug("the cost of the session was not read", exc_info=True)
            return None

    def record(self, subject_type: str, instance_id: int, before: Any) -> None:
        """Record the cost of a run."""
        try:
            self._value(_SESSION_COST)  # the server adds up what was done
            self._do(_RECORD_COST, subject_type, instance_id, before)
        except Exception:  # noqa: BLE001 - see above
            _log.debug(
                "the cost of %s %s is not recorded", subject_type, instance_id, exc_info=True
            )

"""What a sensor looks for in the database; each look answers None as long as it is not there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from omd._core.calls import Reports
from omd._core.errors import CallerError
from omd.rooms.control.rows import (
    BatchExecutionLogRow,
    BatchListRow,
    ModuleExecutionLogRow,
    ModuleListRow,
)
from omd.rooms.delivery.rows import DeliveryAgreementsRow, DeliveryLogRow

_NEWEST = 100  # so many runs of a Module may have been rolled back since


@dataclass(frozen=True, slots=True)
class _Offset:
    view: ClassVar[str] = "omd_lineage.offsets"

    topic: str
    last_ts: datetime | None


def run(calls: Reports, code: str, subject: str, since: str) -> dict[str, Any] | None:
    """Return the newest run that has succeeded after `since` and was not rolled back."""
    row: Any = BatchExecutionLogRow if subject == "BATCH" else ModuleExecutionLogRow
    name = f"{subject.lower()}_instance_id"
    runs = calls.report(
        row,
        **{f"{subject.lower()}_code": code},
        execution_status_code="S",
        after={"end_datetime": datetime.fromisoformat(since)},
        order_by=[name],
        descending=True,
        limit=_NEWEST,
    )
    for one in runs:
        if getattr(one, "rolled_back_by_module_instance_id", None) is None:
            return {"instance_id": getattr(one, name), "status": "S"}
    if subject == "BATCH":
        _require(calls.report(BatchListRow, batch_code=code), f"Batch {code}")
    else:
        _require(calls.report(ModuleListRow, module_code=code), f"Module {code}")
    return None


def topic(calls: Reports, topic: str, upto: str) -> dict[str, Any] | None:
    """Return how far a topic is, once it is complete up to a moment."""
    offsets = calls.report(_Offset, topic=topic)
    _require(offsets, f"topic {topic}")
    (offset,) = offsets
    if offset.last_ts is None or offset.last_ts < datetime.fromisoformat(upto):
        return None
    return {"topic": topic, "upto": offset.last_ts.isoformat()}


def delivery(
    calls: Reports, agreement: str, since: str, statuses: Sequence[str]
) -> dict[str, Any] | None:
    """Return the newest delivery of an agreement that got one of these statuses after `since`."""
    deliveries = calls.report(
        DeliveryLogRow,
        agreement_code=agreement,
        delivery_status=list(statuses),
        is_dry_run=False,
        after={"status_datetime": datetime.fromisoformat(since)},
        order_by=["delivery_id"],
        descending=True,
        limit=1,
    )
    for one in deliveries:
        return {"delivery_id": one.delivery_id, "status": one.delivery_status}
    known = calls.report(DeliveryAgreementsRow, agreement_code=agreement, limit=1)
    _require(known, f"agreement {agreement}")
    return None


def _require(rows: Sequence[Any], name: str) -> None:
    """Refuse to wait for what is not registered."""
    if not rows:
        raise CallerError(f"there is no {name}", hint="Register it, or mend the name.")


LOOKS: dict[str, Callable[..., Any]] = {"run": run, "topic": topic, "delivery": delivery}

"""Runs and events as lists show them: their columns, and how the newest are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omd.control.connection import Connection

BATCH_RUN = {
    "instance": "batch_instance_id",
    "batch": "batch_code",
    "status": "execution_status_code",
    "told": "processing_indicator",
    "next": "next_run_indicator",
    "reason": "reason_code",
    "started": "start_datetime",
    "took": "duration",
}
MODULE_RUN = {
    "instance": "module_instance_id",
    "module": "module_code",
    "in": "batch_instance_id",
    "status": "execution_status_code",
    "next": "next_run_indicator",
    "reason": "reason_code",
    "started": "start_datetime",
    "took": "duration",
    "inserted": "rows_inserted",
}
EVENT = {
    "event": "event_id",
    "at": "event_datetime",
    "type": "event_type_description",
    "batch": "batch_code",
    "module": "module_code",
    "detail": "event_detail",
}


def batch_runs(control: Connection, limit: int | None, **conditions: Any) -> list[Any]:
    """Return the last Batch Instances, the newest last."""
    from omd.control.rows import BatchExecutionLogRow

    return _newest(control, BatchExecutionLogRow, "batch_instance_id", limit, conditions)


def module_runs(control: Connection, limit: int | None, **conditions: Any) -> list[Any]:
    """Return the last Module Instances, the newest last."""
    from omd.control.rows import ModuleExecutionLogRow

    return _newest(control, ModuleExecutionLogRow, "module_instance_id", limit, conditions)


def events(control: Connection, limit: int | None, **conditions: Any) -> list[Any]:
    """Return the last events, the newest last."""
    from omd.control.rows import EventLogRow

    return _newest(control, EventLogRow, "event_id", limit, conditions)


def _newest(
    control: Connection, row: type[Any], key: str, limit: int | None, conditions: dict[str, Any]
) -> list[Any]:
    rows = control.report(row, order_by=[key], descending=True, limit=limit, **conditions)
    return rows[::-1]

"""Runs and events as lists show them: their columns, and how the newest are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omd.programs.terminal.tables import titled

if TYPE_CHECKING:
    from omd.rooms.control.connection import Connection

BATCH_RUN = titled(
    "batch_instance_id AS instance, batch_code, execution_status_code AS status,"
    " processing_indicator, next_run_indicator AS next, reason_code,"
    " start_datetime AS started, duration AS took",
    processing_indicator="answer",
)
MODULE_RUN = titled(
    "module_instance_id AS instance, module_code, batch_instance_id AS in,"
    " execution_status_code AS status, next_run_indicator AS next, reason_code,"
    " start_datetime AS started, duration AS took, rows_inserted AS inserted"
)
EVENT = titled(
    "event_id, event_datetime AS at, event_type_description AS type, batch_code, module_code,"
    " event_detail AS detail"
)


def batch_runs(control: Connection, limit: int | None, **conditions: Any) -> list[Any]:
    """Return the last Batch Instances, the newest last."""
    from omd.rooms.control.rows import BatchExecutionLogRow

    return _newest(control, BatchExecutionLogRow, "batch_instance_id", limit, conditions)


def module_runs(control: Connection, limit: int | None, **conditions: Any) -> list[Any]:
    """Return the last Module Instances, the newest last."""
    from omd.rooms.control.rows import ModuleExecutionLogRow

    return _newest(control, ModuleExecutionLogRow, "module_instance_id", limit, conditions)


def events(control: Connection, limit: int | None, **conditions: Any) -> list[Any]:
    """Return the last events, the newest last."""
    from omd.rooms.control.rows import EventLogRow

    return _newest(control, EventLogRow, "event_id", limit, conditions)


def _newest(
    control: Connection, row: type[Any], key: str, limit: int | None, conditions: dict[str, Any]
) -> list[Any]:
    rows = control.report(row, order_by=[key], descending=True, limit=limit, **conditions)
    return rows[::-1]

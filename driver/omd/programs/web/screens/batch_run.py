"""One run of a Batch: why it could start, what it ran, and its events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omd.programs.page.markup import (
    Html,
    described,
    el,
    message,
    moment,
    name,
    number,
)
from omd.programs.web import linked, parts
from omd.programs.web.linked import to
from omd.programs.web.screens.module_run import WHY, context, instance
from omd.programs.web.section import Asked, NotThere, Row, Screen, Section, Select

if TYPE_CHECKING:
    from collections.abc import Sequence

_RUN = """\
SELECT batch_instance_id, batch_code, parent_batch_instance_id, execution_status_code,
    processing_indicator, next_run_indicator, reason_code, start_datetime, end_datetime,
    execution_context, started_by
FROM omd_report.batch_execution_log
WHERE batch_instance_id = %(run)s"""

_MODULES = """\
SELECT module_instance_id, module_code, execution_status_code, reason_code, start_datetime,
    end_datetime, rows_inserted, rows_updated, rows_deleted
FROM omd_report.module_execution_log
WHERE batch_instance_id = %(run)s AND batch_instance_id <> 0
ORDER BY module_instance_id
LIMIT %(limit)s"""

_BATCHES = """\
SELECT batch_instance_id, batch_code, execution_status_code, reason_code, start_datetime,
    end_datetime
FROM omd_report.batch_execution_log
WHERE parent_batch_instance_id = %(run)s AND parent_batch_instance_id <> 0
ORDER BY batch_instance_id
LIMIT %(limit)s"""

_EVENTS = """\
SELECT event_id, event_datetime, event_type_description, module_code, module_instance_id,
    event_return_code_details, event_detail
FROM omd_report.event_log
WHERE batch_instance_id = %(run)s AND batch_instance_id <> 0
ORDER BY event_id
LIMIT %(limit)s"""


def screen(asked: Asked) -> Screen:
    """Return the screen."""
    run = instance(asked.path["id"])
    log = Select(_RUN, {"run": run})
    known = asked.read(log)
    if not known:
        raise NotThere(f"There is no run {run} of a Batch")
    its = {"run": run, "limit": 500}
    sections = (
        Section("run", "The run", (log,), _run),
        linked.actions(asked, "BATCH_INSTANCE", run),
        Section("modules", "What it ran", (Select(_MODULES, its),), _modules),
        Section("batches", "Batches that it ran", (Select(_BATCHES, its),), _batches),
        Section("events", "Events", (Select(_EVENTS, its),), _events),
        Section(
            "context",
            "Context",
            (log,),
            lambda rows: context([r["execution_context"] for r in rows]),
        ),
    )
    return Screen("run", f"Run {run} of {known[0]['batch_code']}", sections)


def _run(rows: Sequence[Row]) -> Html:
    if not rows:
        return el("p", "It is no longer there.", cls="none")
    [row] = rows
    parent = row["parent_batch_instance_id"]
    return described(
        {
            "status": [linked.status_of(row)],
            "Batch": [to("BATCH", row["batch_code"])],
            "in": [to("BATCH_INSTANCE", parent)] if parent else None,
            "could start": [
                WHY.get(row["processing_indicator"], ""),
                f": {row['reason_code']}" if row["reason_code"] else "",
            ],
            "begun by": name(row["started_by"] or "?"),
            "started": moment(row["start_datetime"]),
            "ended": moment(row["end_datetime"]) if row["end_datetime"] else None,
            "took" if row["end_datetime"] else "runs for": [
                linked.took(row["start_datetime"], row["end_datetime"])
            ],
            "next run": {"R": "will undo it first", "C": "will be skipped"}.get(
                row["next_run_indicator"]
            ),
        }
    )


def _modules(rows: Sequence[Row]) -> Html:
    columns = {
        "run#": lambda row: to("MODULE_INSTANCE", row["module_instance_id"]),
        "Module": lambda row: to("MODULE", row["module_code"]),
        "started": lambda row: moment(row["start_datetime"]),
        "took#": lambda row: linked.took(row["start_datetime"], row["end_datetime"]),
        "inserted#": lambda row: number(row["rows_inserted"]),
        "updated#": lambda row: number(row["rows_updated"]),
        "deleted#": lambda row: number(row["rows_deleted"]),
        "status": linked.status_of,
    }
    return parts.table("omd_report.module_execution_log", rows, columns, key="module_instance_id")


def _batches(rows: Sequence[Row]) -> Html:
    columns = {
        "run#": lambda row: to("BATCH_INSTANCE", row["batch_instance_id"]),
        "Batch": lambda row: to("BATCH", row["batch_code"]),
        "started": lambda row: moment(row["start_datetime"]),
        "took#": lambda row: linked.took(row["start_datetime"], row["end_datetime"]),
        "status": linked.status_of,
    }
    return parts.table("omd_report.batch_execution_log", rows, columns, key="batch_instance_id")


def _context(rows: Sequence[Row]) -> Html:
    return context([row["execution_context"] for row in rows])


def _events(rows: Sequence[Row]) -> Html:
    columns = {
        "at": lambda row: moment(row["event_datetime"]),
        "what": lambda row: row["event_type_description"],
        "Module": lambda row: to("MODULE_INSTANCE", row["module_instance_id"], row["module_code"])
        if row["module_instance_id"] else None,
        "code": lambda row: el("span", row["event_return_code_details"], cls="code")
        if row["event_return_code_details"] else None,
        "detail": lambda row: message(row["event_detail"]) if row["event_detail"] else None,
    }  # fmt: skip
    return parts.table("omd_report.event_log", rows, columns, key="event_id")

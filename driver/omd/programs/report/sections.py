"""The columns of the tables that `omd status --html` and `omd web` both show.

A row has the names of its view as attributes. What is named in a cell leads to it where the page
has a place for it: ``to`` makes a link or only a name of a kind, a key and perhaps a text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from omd.programs.report.receipt import row_counts
from omd.programs.terminal.markup import Html, badge, el, message, moment, name, number
from omd.programs.terminal.text import short

Columns = dict[str, Callable[[Any], object]]
To = Callable[..., Html]


def nowhere(_kind: str, key: object, text: object = None) -> Html:
    """Return the name of something on a page that has no place for it."""
    return name(key if text is None else text)


def count(column: str) -> Callable[[Any], str]:
    """Return the cell of a column that holds a number."""
    return lambda row: number(getattr(row, column))


# Control ----------------------------------------------------------------------------------------

# What is worst comes first; a kind that a newer database knows comes last, under its own name.
EXCEPTIONS = (
    "LAST_RUN_FAILED", "LEASE_EXPIRED", "RUNNING_LONG", "NOT_RUN", "NOT_READY", "DISABLED",
)  # fmt: skip
_EXCEPTION = {"LAST_RUN_FAILED": "F", "LEASE_EXPIRED": "F", "RUNNING_LONG": "A", "NOT_RUN": "A"}


def exceptions(to: To = nowhere) -> Columns:
    """Return the columns of omd_report.exceptions."""
    return {
        "what": lambda r: badge(
            _EXCEPTION.get(r.exception_code, "C"), r.exception_code.lower().replace("_", " ")
        ),
        "of": lambda r: r.instance_type.capitalize(),
        "code": lambda r: to(r.instance_type, r.code),
        "instance#": lambda r: _of(to, r),
        "since": lambda r: moment(r.since_datetime),
        "detail": lambda r: message(r.detail),
    }


def running(to: To = nowhere) -> Columns:
    """Return the columns of omd_report.current_processing."""
    return {
        "of": lambda r: r.instance_type.capitalize(),
        "code": lambda r: to(r.instance_type, r.code),
        "instance#": lambda r: _of(to, r),
        "in#": lambda r: to("BATCH_INSTANCE", r.batch_instance_id) if r.batch_instance_id else "",
        "started": lambda r: moment(r.start_datetime),
        "for#": lambda r: r.running_for,
        "lease until": lambda r: moment(r.lease_expires_at),
    }


def failures(to: To = nowhere) -> Columns:
    """Return the columns of omd_report.failures."""
    return {
        "failed": lambda r: moment(r.event_datetime),
        "of": lambda r: r.instance_type.capitalize(),
        "code": lambda r: to(r.instance_type, r.code),
        "instance#": lambda r: _of(to, r),
        "undone by#": lambda r: _undone(to, r),
        "error": lambda r: el(
            "span", r.event_return_code_details, cls="code", title=r.event_return_code_details
        ) if r.event_return_code_details else None,
        "detail": lambda r: message(r.event_detail),
    }  # fmt: skip


def directives(to: To = nowhere) -> Columns:
    """Return the columns of omd_report.directives."""
    return {
        "of": lambda r: r.instance_type.capitalize(),
        "code": lambda r: to(r.instance_type, r.code),
        "instance#": lambda r: _of(to, r),
        "status": lambda r: badge(r.execution_status_code),
        "asks for": lambda r: {"R": "rollback", "C": "skip"}[str(r.next_run_indicator)],
        "ended": lambda r: moment(r.end_datetime),
    }


def module_runs(to: To = nowhere) -> Columns:
    """Return the columns of omd_report.module_execution_log."""
    return {
        "instance#": lambda r: to("MODULE_INSTANCE", r.module_instance_id),
        "Module": lambda r: to("MODULE", r.module_code),
        "Batch": lambda r: to("BATCH", r.batch_code) if r.batch_code else "",
        "status": lambda r: badge(r.execution_status_code),
        "reason": lambda r: r.reason_code,
        "started": lambda r: moment(r.start_datetime),
        "took#": lambda r: r.duration,
        "inserted#": count("rows_inserted"),
        "updated#": count("rows_updated"),
        "deleted#": count("rows_deleted"),
    }


def _of(to: To, row: Any) -> Html | None:
    """Return the instance of a row whose instance_type says its kind."""
    if row.instance_id is None:
        return None
    return to(f"{row.instance_type}_INSTANCE", row.instance_id)


def _undone(to: To, row: Any) -> Html | None:
    by = row.rolled_back_by_module_instance_id
    return None if by is None else to("MODULE_INSTANCE", by)


# Dispatch ---------------------------------------------------------------------------------------

LANE_COUNTS = ("due", "later", "suspended", "claimed", "dead")


def dead(to: To = nowhere) -> Columns:
    """Return the columns of omd_report.dispatch_dead."""
    return {
        "task#": lambda r: to("TASK", r.task_id),
        "family": lambda r: r.family_code,
        "type": lambda r: r.task_type,
        "criteria": lambda r: name(short(r.criteria)),
        "attempts#": count("attempt"),
        "since": lambda r: moment(r.finished_at),
        "instance": lambda r: instance(r.batch_instance_id, r.module_instance_id, to),
        "error": lambda r: message(r.error),
    }


def lanes() -> Columns:
    """Return the columns of omd_report.dispatch_queue that do not depend on the time."""
    return {
        "family": lambda r: r.family_code,
        "type": lambda r: r.task_type,
        "lane": lambda r: name(r.lane),
        **{f"{word}#": count(word) for word in LANE_COUNTS},
        "oldest due": lambda r: moment(r.oldest_due),
    }


def workers() -> Columns:
    """Return the columns of omd_report.dispatch_backends."""
    return {
        "group": lambda r: name(r.backend_type),
        "worker": lambda r: name(r.backend_id),
        "state": lambda r: badge("S", "alive") if r.is_alive else badge("F", "dead"),
        "place#": lambda r: r.position,
        "tasks#": count("claimed"),
        "lives for#": lambda r: r.ttl,
        "renewed": lambda r: moment(r.registration_time),
    }


def suspensions(to: To = nowhere) -> Columns:
    """Return the columns of omd_report.dispatch_suspensions."""
    return {
        "suspension#": lambda r: to("SUSPENSION", r.suspension_id),
        "family": lambda r: r.family_code,
        "types": lambda r: ", ".join(r.task_types or ["all"]),
        "criteria": lambda r: name(short(r.criteria or {})),
        "since": lambda r: moment(r.suspended_at),
        "by": lambda r: name(r.suspended_by),
        "resumed": lambda r: moment(r.resumed_at),
        "reason": lambda r: message(r.reason),
    }


def schedules(to: To = nowhere) -> Columns:
    """Return the columns of omd_report.dispatch_schedules."""
    return {
        "schedule": lambda r: to("SCHEDULE", r.schedule_code),
        "family": lambda r: r.family_code,
        "type": lambda r: r.task_type,
        "next": lambda r: moment(r.next_time),
        "problem": lambda r: message(r.problem),
    }


# Delivery ---------------------------------------------------------------------------------------


def deliveries(to: To = nowhere) -> Columns:
    """Return the columns of omd_report.delivery_state."""
    return {
        "delivery#": lambda r: to("DELIVERY", r.delivery_id),
        "agreement": lambda r: name(r.agreement_code),
        "interface": lambda r: r.interface_code,
        "data of": lambda r: moment(r.snapshot_datetime),
        "status": lambda r: badge("E", r.delivery_status.lower()),
        "run#": lambda r: r.attempt or None,
        "for#": lambda r: r.status_age,
        "waits for": lambda r: r.waits_for,
    }


def verdicts(to: To = nowhere) -> Columns:
    """Return the columns of omd_report.delivery_log."""
    return {
        "delivery#": lambda r: to("DELIVERY", r.delivery_id),
        "agreement": lambda r: name(r.agreement_code),
        "data of": lambda r: moment(r.snapshot_datetime),
        "status": lambda r: r.delivery_status.lower() + (" (trial)" if r.is_dry_run else ""),
        "verdict": lambda r: badge(r.verdict),
        "since": lambda r: moment(r.status_datetime),
        "Batch#": lambda r: to("BATCH_INSTANCE", r.batch_instance_id)
        if r.batch_instance_id else None,
        "tenant": lambda r: name(r.tenant_name),
    }  # fmt: skip


def deltas(to: To = nowhere) -> Columns:
    """Return the columns of omd_report.delivery_queue."""
    return {
        "item#": lambda r: r.queue_id,
        "interface": lambda r: r.interface_code,
        "delivery#": lambda r: to("DELIVERY", r.delivery_id),
        "data of": lambda r: moment(r.snapshot_datetime),
        "status": lambda r: r.queue_status.lower(),
        "queued": lambda r: moment(r.queued_datetime),
        "rows": lambda r: row_counts(r.row_counts),
    }


def marks(to: To = nowhere) -> Columns:
    """Return the columns of omd_report.delivery_marks."""
    return {
        "interface": lambda r: r.interface_code,
        "entity": lambda r: r.entity_code,
        "delivery#": lambda r: to("DELIVERY", r.delivery_id),
        "data of": lambda r: moment(r.snapshot_datetime),
    }


def instance(batch: int | None, module: int | None, to: To = nowhere) -> Html | None:
    """Return an instance of one of the two kinds."""
    if batch is None and module is None:
        return None
    if module:
        return el("span", to("MODULE_INSTANCE", module, f"Module {module}"), cls="nowrap")
    return el("span", to("BATCH_INSTANCE", batch, f"Batch {batch}"), cls="nowrap")

"""What runs, could run or waits, for what, since when, and who performs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omd.programs.page.markup import (
    Html,
    badge,
    el,
    light,
    message,
    moment,
    name,
    number,
)
from omd.programs.page.markup import state as looks
from omd.programs.web import charts, linked, parts
from omd.programs.web.linked import to
from omd.programs.web.section import Asked, Row, Screen, Section, Select

if TYPE_CHECKING:
    from collections.abc import Sequence

# What needs a look comes first.
STATES = ("FAILED", "BACK_OFF", "RUNNING", "READY", "WAITING", "PAUSED", "IDLE")

_SUMMARY = """\
SELECT state, sum(modules)::bigint AS modules
FROM omd_report.work_summary
GROUP BY state"""

_WORK = """\
SELECT w.module_kind_code, w.code, w.engine_code, w.state, w.reason, w.waits_for, w.since,
    w.not_before, w.failures, w.last_problem, w.module_instance_id, w.task_id, w.last_platform,
    r.claimed_by, p.user_name
FROM omd_report.work AS w
LEFT JOIN omd_report.dispatch_running AS r ON w.task_id = r.task_id
LEFT JOIN omd_report.current_processing AS p
    ON p.instance_type = 'MODULE' AND w.module_instance_id = p.instance_id
WHERE (%(state)s IS NULL OR w.state = %(state)s)
    AND (%(kind)s IS NULL OR w.module_kind_code = %(kind)s)
    AND (%(code)s IS NULL OR strpos(w.code, %(code)s) > 0)
ORDER BY array_position(%(states)s::text[], w.state), w.code
LIMIT %(limit)s"""

_BATCHES = """\
SELECT code, state, reason, since, failures, last_problem
FROM omd_report.batch_work
WHERE (%(state)s IS NULL OR state = %(state)s) AND (%(code)s IS NULL OR strpos(code, %(code)s) > 0)
ORDER BY array_position(%(states)s::text[], state), code
LIMIT %(limit)s"""

_KINDS = """\
SELECT DISTINCT module_kind_code
FROM omd_report.work_summary
ORDER BY module_kind_code"""


def screen(asked: Asked) -> Screen:
    """Return the screen."""
    state, kind, code = (asked.query.get(field) or None for field in ("state", "kind", "code"))
    asked_for = {"state": state, "code": code, "states": list(STATES), "limit": 500}
    work = Select(_WORK, {**asked_for, "kind": kind})
    form = linked.form(
        parts.path("/work"),
        linked.choice("State", "state", [("", "all"), *((s, looks(s)[1]) for s in STATES)], state),
        linked.choice(
            "Kind",
            "kind",
            [("", "all"), *((r["module_kind_code"],) * 2 for r in asked.read(Select(_KINDS)))],
            kind,
        ),
        linked.entry("Module", "code", code, "a part of its code"),
    )
    sections = (
        Section("states", "States", (Select(_SUMMARY),), _tiles),
        Section("work", "Modules", (work,), _table),
        Section("batches", "Batches", (Select(_BATCHES, asked_for),), _batches),
    )
    return Screen("work", "Work", sections, form)


def _tiles(rows: Sequence[Row]) -> Html:
    counts = {row["state"]: row["modules"] for row in rows}
    return charts.tiles(
        (parts.path("/work", {"state": state}), looks(state)[1],
         charts.compact(counts.get(state, 0)), None if state == "IDLE" else looks(state)[0])
        for state in STATES
    )  # fmt: skip


def _table(rows: Sequence[Row]) -> Html:
    columns = {
        "Module": lambda row: to("MODULE", row["code"]),
        "kind": lambda row: row["module_kind_code"].lower(),
        "state": lambda row: light(row["state"], row["failures"]),
        "reason?": lambda row: None if row["reason"] == row["state"] else row["reason"],
        "waits for?": lambda row: name(row["waits_for"]) if row["waits_for"] else None,
        "since": lambda row: moment(row["since"]),
        "for?#": lambda row: (
            linked.running_since(row["since"]) if row["state"] == "RUNNING" else ""
        ),
        "performed by": _by,
        "run?#": lambda row: _run(row),
        "task?#": lambda row: to("TASK", row["task_id"]) if row["task_id"] else "",
        "failures?#": lambda row: number(row["failures"]) if row["failures"] else "",
        "not before?": lambda row: moment(row["not_before"]),
        "problem?": lambda row: message(row["last_problem"]) if row["last_problem"] else None,
    }
    return parts.table("omd_report.work", rows, columns, key="code")


def _batches(rows: Sequence[Row]) -> Html:
    columns = {
        "Batch": lambda row: to("BATCH", row["code"]),
        "state": lambda row: badge(row["state"]),
        "reason?": lambda row: None if row["reason"] == row["state"] else row["reason"],
        "since": lambda row: moment(row["since"]),
        "failures?#": lambda row: number(row["failures"]) if row["failures"] else "",
        "problem?": lambda row: message(row["last_problem"]) if row["last_problem"] else None,
    }
    return parts.table("omd_report.batch_work", rows, columns, key="code")


def _run(row: Row) -> Html | None:
    if row["module_instance_id"] is None:
        return None
    # Of a DELIVERY it is the Batch Instance.
    kind = "BATCH_INSTANCE" if row["module_kind_code"] == "DELIVERY" else "MODULE_INSTANCE"
    return to(kind, row["module_instance_id"])


def _by(row: Row) -> Html | str:
    who = row["claimed_by"] or row["user_name"]
    if who is None and row["engine_code"] is not None:
        return str(row["engine_code"]).lower()
    if who is None:
        where = row["last_platform"]
        return el("span", "outside, on ", name(where)) if where else "outside"
    return name(who)

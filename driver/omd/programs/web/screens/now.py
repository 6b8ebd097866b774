"""What happens now: counts, what runs, what failed, what lags, and what ran in the last hours."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace
from typing import TYPE_CHECKING

from omd.programs.page.markup import Html, badge, el, join, message, moment, name, number
from omd.programs.terminal.text import as_text
from omd.programs.web import charts, linked, parts
from omd.programs.web.linked import to
from omd.programs.web.section import Asked, Row, Screen, Section, Select

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST = 10_000  # what a lane counts up to (W8)
_RUNS = 1000  # of the timeline
_FAILURES = 10
_LANE_COUNTS = ("due", "later", "suspended", "claimed", "dead")

SPANS = {"1": "1 hour", "6": "6 hours", "24": "24 hours", "72": "3 days", "168": "7 days"}

_WORK = """\
SELECT state, sum(modules)::bigint AS modules
FROM omd_report.work_summary
GROUP BY state"""

_COUNTS = """\
SELECT
    (SELECT count(*) FROM omd_report.todo) AS todo,
    (SELECT count(*) FROM omd_report.current_processing) AS running,
    (SELECT count(*) FROM omd_report.batch_work WHERE state = 'FAILED') AS batches,
    (
        SELECT count(*) FROM omd_report.delivery_state WHERE delivery_status <> 'ACCEPTED'
    ) AS deliveries,
    (SELECT count(*) FROM omd_report.dispatch_backends WHERE is_alive) AS workers"""

_LANES = """\
SELECT family_code, lane, due, later, suspended, claimed, dead, oldest_due
FROM omd_dispatch.queue_lanes(%(most)s)
ORDER BY family_code, lane
LIMIT %(limit)s"""

_RUNNING = """\
SELECT instance_type, instance_id, code, batch_instance_id, start_datetime, lease_expires_at,
    user_name, host
FROM omd_report.current_processing
ORDER BY start_datetime
LIMIT %(limit)s"""

_FAILED = """\
SELECT event_datetime, instance_type, instance_id, code, rolled_back_by_module_instance_id,
    event_return_code_details, event_detail
FROM omd_report.failures
WHERE event_datetime >= now() - %(span)s::interval
ORDER BY event_datetime DESC
LIMIT %(limit)s"""

_LAG = """\
SELECT topic, lag, state, reason, blocker, problem
FROM omd_report.lineage_lag
ORDER BY lag DESC NULLS LAST, topic
LIMIT %(limit)s"""

_DELIVERIES = """\
SELECT delivery_id, agreement_code, interface_code, snapshot_datetime, delivery_status,
    attempt, now() - status_age AS since, waits_for
FROM omd_report.delivery_state
WHERE delivery_status <> 'ACCEPTED'
ORDER BY delivery_id
LIMIT %(limit)s"""

# The newest are found before they are joined, so that the joins are few.
_MODULES = """\
SELECT l.module_instance_id, l.module_code, l.batch_code, l.execution_status_code, l.reason_code,
    l.start_datetime, l.end_datetime, l.rows_inserted
FROM (
    SELECT i.module_instance_id
    FROM omd.module_instance AS i
    WHERE i.start_datetime >= now() - %(span)s::interval
    ORDER BY i.start_datetime DESC
    LIMIT %(limit)s
) AS n
INNER JOIN omd_report.module_execution_log AS l ON n.module_instance_id = l.module_instance_id
ORDER BY l.module_instance_id DESC"""

_BATCHES = """\
SELECT l.batch_instance_id, l.batch_code, l.parent_batch_instance_id, l.execution_status_code,
    l.reason_code, l.start_datetime, l.end_datetime
FROM (
    SELECT i.batch_instance_id
    FROM omd.batch_instance AS i
    WHERE i.start_datetime >= now() - %(span)s::interval
    ORDER BY i.start_datetime DESC
    LIMIT %(limit)s
) AS n
INNER JOIN omd_report.batch_execution_log AS l ON n.batch_instance_id = l.batch_instance_id
ORDER BY l.batch_instance_id DESC"""


def screen(asked: Asked) -> Screen:
    """Return the screen."""
    hours = asked.query.get("hours", "")
    hours = hours if hours in SPANS else "24"
    form = linked.form(parts.path("/"), linked.choice("Span", "hours", SPANS.items(), hours))
    return Screen("now", "Now", sections(hours), form)


def sections(hours: str) -> tuple[Section, ...]:
    """Return the sections of the last hours, of one of `SPANS`."""
    span = SPANS[hours]

    def select(text: str, limit: int = 50, **values: object) -> Select:
        return Select(text, {"limit": limit, **values})

    lanes = select(_LANES, most=MOST)
    failed = select(_FAILED, _FAILURES, span=span)
    return (
        Section("tiles", "Summary", (Select(_COUNTS), Select(_WORK), lanes), _tiles),
        Section("running", "Running", (select(_RUNNING),), _running),
        Section("failed", f"Failed in the last {span}", (failed,), _failed),
        Section("lag", "Lag of topics", (select(_LAG),), _lag),
        Section("deliveries", "Unfinished deliveries", (select(_DELIVERIES),), _deliveries),
        Section("queue", "Queue", (lanes,), _queue),
        Section(
            "timeline",
            f"The last {span}",
            (select(_MODULES, _RUNS, span=span), select(_BATCHES, _RUNS, span=span)),
            lambda modules, batches: _timeline(modules, batches, int(hours)),
        ),
    )


def _tiles(counts: Sequence[Row], work: Sequence[Row], lanes: Sequence[Row]) -> Html:
    [count] = counts
    states = {row["state"]: row["modules"] for row in work}
    due, dead = (sum(row[column] for row in lanes) for column in ("due", "dead"))
    is_more = any(row[column] >= MOST for row in lanes for column in ("due", "dead"))

    def work_in(state: str) -> str:
        return parts.path("/work", {"state": state})

    def many(value: int) -> str:
        return charts.compact(value) + ("+" if is_more and value >= MOST else "")

    return charts.tiles(
        [
            (parts.path("/todo"), "wait for a person", charts.compact(count["todo"]), "A"),
            (f"{parts.path('/')}#running", "runs execute", charts.compact(count["running"]), "E"),
            (work_in("FAILED"), "Modules failed", charts.compact(states.get("FAILED", 0)), "F"),
            (f"{work_in('FAILED')}#batches", "Batches failed",
             charts.compact(count["batches"]), "F"),
            (work_in("WAITING"), "Modules wait", charts.compact(states.get("WAITING", 0)), None),
            (work_in("READY"), "could run now", charts.compact(states.get("READY", 0)), None),
            (parts.path("/queue"), "tasks due", many(due), None if count["workers"] else "A"),
            (parts.path("/queue", {"status": "DEAD"}), "dead tasks", many(dead), "F"),
            (parts.path("/queue"), "workers alive", charts.compact(count["workers"]), None),
            (parts.path("/deliveries"), "deliveries",
             charts.compact(count["deliveries"]), None),
        ]
    )  # fmt: skip


def _running(rows: Sequence[Row]) -> Html:
    columns = {
        "of": lambda row: row["instance_type"].capitalize(),
        "code": lambda row: to(row["instance_type"], row["code"]),
        "instance#": _instance_link,
        "in#": lambda row: (
            to("BATCH_INSTANCE", row["batch_instance_id"]) if row["batch_instance_id"] else ""
        ),
        "started": lambda row: moment(row["start_datetime"]),
        "for#": lambda row: linked.running_since(row["start_datetime"]),
        "lease until": lambda row: moment(row["lease_expires_at"]),
        "begun by?": lambda row: name(row["user_name"]) if row["user_name"] else None,
    }
    return parts.table("omd_report.current_processing", rows, columns, key=_instance)


def _instance(row: Row) -> str:
    return f"{row['instance_type'].lower()}-{row['instance_id']}"


def _instance_link(row: Row) -> Html | None:
    if row["instance_id"] is None:
        return None
    return to(f"{row['instance_type']}_INSTANCE", row["instance_id"])


def _undone(row: Row) -> Html | None:
    by = row["rolled_back_by_module_instance_id"]
    return None if by is None else to("MODULE_INSTANCE", by)


def _error(row: Row) -> Html | None:
    text = row["event_return_code_details"]
    return el("span", text, cls="code", title=text) if text else None


def _failed(rows: Sequence[Row]) -> Html:
    columns = {
        "failed": lambda row: moment(row["event_datetime"]),
        "of": lambda row: row["instance_type"].capitalize(),
        "code": lambda row: to(row["instance_type"], row["code"]),
        "instance#": _instance_link,
        "undone by#": _undone,
        "error": _error,
        "detail": lambda row: message(row["event_detail"]),
    }
    table = parts.table("omd_report.failures", rows, columns, key=_instance)
    if len(rows) < _FAILURES:
        return table
    return join([table, el("p", f"Only the newest {_FAILURES} are shown.", cls="note")])


def _lag(rows: Sequence[Row]) -> Html:
    columns = {
        "topic": lambda row: to("TOPIC", row["topic"]),
        "lag?#": lambda row: as_text(row["lag"]) if row["lag"] else "",
        "state": lambda row: badge(row["state"]),
        "reason?": lambda row: row["reason"],
        "waits for?": lambda row: name(row["blocker"]) if row["blocker"] else None,
        "problem?": lambda row: row["problem"],
    }
    return parts.table("omd_report.lineage_lag", rows, columns, key="topic")


def _deliveries(rows: Sequence[Row]) -> Html:
    columns = {
        "delivery#": lambda row: to("DELIVERY", row["delivery_id"]),
        "agreement": lambda row: name(row["agreement_code"]),
        "interface": lambda row: row["interface_code"],
        "data of": lambda row: moment(row["snapshot_datetime"]),
        "status": lambda row: badge("E", row["delivery_status"].lower()),
        "run#": lambda row: row["attempt"] or None,
        "for#": lambda row: linked.running_since(row["since"]),
        "waits for": lambda row: row["waits_for"],
    }
    return parts.table("omd_report.delivery_state", rows, columns, key="delivery_id")


def _queue(rows: Sequence[Row]) -> Html:
    def counted(column: str) -> Callable[[Row], object]:
        return lambda row: number(row[column]) + ("+" if row[column] >= MOST else "")

    columns = {
        "family": lambda row: row["family_code"],
        "lane": lambda row: name(row["lane"]),
        **{f"{column}#": counted(column) for column in _LANE_COUNTS},
        "oldest due": lambda row: moment(row["oldest_due"]),
    }
    return parts.table(
        "omd_dispatch.queue_lanes", rows, columns,
        key=lambda row: f"{row['family_code']}/{row['lane']}",
    )  # fmt: skip


def _timeline(modules: Sequence[Row], batches: Sequence[Row], hours: int) -> Html:
    if not modules and not batches:
        return el("p", "Nothing ran.", cls="none")
    # The picture moves on by a four hundredth of its width at a time, so that a watch rests.
    step = max(hours * 9, 60)
    now = datetime.now(timezone.utc).timestamp()
    end = datetime.fromtimestamp(math.ceil(now / step) * step, timezone.utc)
    runs = [SimpleNamespace(**row) for row in reversed(modules)]
    above = [SimpleNamespace(**row) for row in reversed(batches)]
    lanes = charts.lanes(above, runs, end, linked.path_of)
    is_cut = max(len(modules), len(batches)) >= _RUNS
    note = f"Only the newest {_RUNS:,} runs are shown." if is_cut else None
    return el(
        "div",
        charts.timeline(lanes, end - timedelta(hours=hours), end),
        el("p", note, cls="note") if note else None,
    )

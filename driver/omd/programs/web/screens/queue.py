"""``/queue``: lanes, workers, schedules, suspensions, limits, dead tasks, and a search of tasks."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial

from omd.programs.page.markup import Html, el, join, moment, number
from omd.programs.terminal.text import as_text
from omd.programs.web import cells, linked, lists, parts
from omd.programs.web.section import Asked, Row, Screen, Section, Select

_STATUSES = {"PENDING": "A", "CLAIMED": "E", "DONE": "S", "DEAD": "F", "CANCELLED": "C"}
_CRITERION = "c."  # before the name of a criterion, among the parameters of the URL


def screen(asked: Asked) -> Screen:
    """Return what waits and runs in the queue, and the tasks that somebody looks for."""
    first: list[Section] = []
    for parameter, kind in _KINDS.items():
        if key := asked.query.get(parameter):
            first += [linked.actions(asked, kind, key), _OF_KIND[kind](asked)]
    if asked.query.get("family"):
        first.append(_search(asked))
    rest = [
        _lanes(), _dead_groups(asked), _dead(asked), _running(), _suspensions(asked), _workers(),
        _sessions(), _limits(asked), _schedules(asked), _sources(), _history(),
    ]  # fmt: skip
    chosen = {section.id for section in first}
    sections = (*first, *(section for section in rest if section.id not in chosen))
    return Screen("queue", "Queue", sections, form=_form(asked))


def status(value: str) -> Html:
    """Return the status of a task in words and colour."""
    return cells.state(_STATUSES.get(value, "C"), value.lower())


# The search -------------------------------------------------------------------------------------


def _form(asked: Asked) -> Html:
    criteria = asked.read(
        Select(
            "SELECT family_code, criterion FROM omd_dispatch.task_conf_family_model"
            " ORDER BY family_code, criterion"
        )
    )
    families = list(dict.fromkeys(row["family_code"] for row in criteria))
    family = asked.query.get("family")
    return lists.filters(
        lists.choice(asked, "family", "tasks of the family", families, any_="none"),
        *(
            lists.field(asked, _CRITERION + row["criterion"], row["criterion"])
            for row in criteria
            if row["family_code"] == family
        ),
        *(
            (
                lists.field(asked, "task_type", "type"),
                lists.choice(asked, "status", "status", list(_STATUSES)),
            )
            if family
            else ()
        ),
    )


def _search(asked: Asked) -> Section:
    given = {
        name.removeprefix(_CRITERION): value
        for name, value in asked.query.items()
        if name.startswith(_CRITERION) and value
    }
    select = Select(
        """\
SELECT task_id, task_type, criteria, status, priority, execution_time, attempt, suspension_id,
    outcome, error
FROM omd_dispatch.search_tasks(
    %(family)s, %(criteria)s::jsonb, %(types)s::text[], %(statuses)s::text[],
    p_limit => 1000, p_before_task_id => %(before)s::bigint
)
ORDER BY task_id DESC
LIMIT %(limit)s""",
        {
            "family": asked.query["family"],
            "criteria": json.dumps(given, ensure_ascii=False),
            "types": [asked.query["task_type"]] if asked.query.get("task_type") else None,
            "statuses": [asked.query["status"]] if asked.query.get("status") else None,
            "before": asked.query.get("before") or None,
            "limit": 100,
        },
    )
    wanted = asked.query.get("status", "")
    may_pick = _may_pick(asked, wanted)

    def render(rows: Sequence[Row]) -> Html:
        columns: dict[str, Callable[[Row], object]] = {
            **({"pick": partial(_pick, "found")} if may_pick else {}),
            "task#": lambda r: cells.task(r["task_id"]),
            "type": lambda r: cells.text(r["task_type"]),
            "criteria": lambda r: cells.pairs(r["criteria"]),
            "status": lambda r: status(r["status"]),
            "priority#": lambda r: r["priority"],
            "due": lambda r: moment(r["execution_time"]),
            "attempt#": lambda r: r["attempt"],
            "suspension#": lambda r: cells.of("SUSPENSION", r["suspension_id"]),
            "outcome": lambda r: cells.words(r["outcome"]),
            "error": lambda r: cells.words(r["error"]),
        }
        table = parts.table("omd_dispatch.search_tasks", rows, columns, key="task_id")
        if may_pick and rows:
            table = _picked(may_pick, asked.query["family"], wanted, table)
        pages = lists.pages(lists.Paged(asked, "before", "task_id"), rows, 100)
        return join(piece for piece in (table, pages) if piece)

    return Section("found", "The tasks that you look for", (select,), render)


# What there is ----------------------------------------------------------------------------------


_MOST = 10_000  # what a lane counts up to (W8)


def _lanes() -> Section:
    select = Select(
        """\
SELECT family_code, lane, due, later, suspended, claimed, dead, oldest_due
FROM omd_dispatch.queue_lanes(%(most)s)
ORDER BY family_code, lane
LIMIT %(limit)s""",
        {"most": _MOST, "limit": lists.MOST},
    )

    def counted(column: str) -> Callable[[Row], str]:
        return lambda r: number(r[column]) + ("+" if r[column] >= _MOST else "")

    return lists.listing(
        "lanes", "Lanes", "omd_dispatch.queue_lanes", select,
        {
            "family": lambda r: cells.text(r["family_code"]),
            "lane": lambda r: cells.text(r["lane"]),
            "due#": counted("due"),
            "later#": counted("later"),
            "suspended#": counted("suspended"),
            "running#": counted("claimed"),
            "dead#": counted("dead"),
            "oldest due": lambda r: moment(r["oldest_due"]),
        },
        key=("family_code", "lane"),
    )  # fmt: skip


def _dead_groups(asked: Asked) -> Section:
    select = Select(
        """\
SELECT family_code, task_type, sqlstate_code, dead, is_all, since, first_task_id
FROM omd_dispatch.dead_groups()
ORDER BY family_code, task_type, sqlstate_code
LIMIT %(limit)s""",
        {"limit": lists.MOST},
    )

    def of_type(row: Row) -> dict[str, object]:
        return {
            "family_code": row["family_code"],
            "statuses": "DEAD",
            "task_types": row["task_type"],
        }

    columns = {
        "family": lambda r: cells.text(r["family_code"]),
        "type": lambda r: linked.to("TASK_TYPE", _type(r), r["task_type"]),
        "error": lambda r: cells.text(r["sqlstate_code"]),
        "dead#": lambda r: number(r["dead"]) + ("" if r["is_all"] else "+"),
        "since": lambda r: moment(r["since"]),
        "one of them#": lambda r: cells.task(r["first_task_id"]),
        "actions": lambda r: cells.bulk(asked, "REVIVE_TASK", of_type(r), "Revive all of the type"),
    }
    return lists.listing(
        "dead-groups", "Dead tasks by type and error", "omd_dispatch.dead_groups", select, columns,
        key=("family_code", "task_type", "sqlstate_code"),
    )  # fmt: skip


def _dead(asked: Asked) -> Section:
    select = Select(
        """\
SELECT task_id, family_code, task_type, criteria, attempt, finished_at, error, batch_instance_id,
    module_instance_id
FROM omd_dispatch.dead_tasks(%(limit)s, %(before)s::bigint)
ORDER BY task_id DESC
LIMIT %(limit)s""",
        {"before": asked.query.get("dead_before") or None, "limit": 100},
    )

    def render(rows: Sequence[Row]) -> Html:
        families = {row["family_code"] for row in rows}
        may_pick = _may_pick(asked, "DEAD") if len(families) == 1 else []
        columns: dict[str, Callable[[Row], object]] = {
            **({"pick": partial(_pick, "dead")} if may_pick else {}),
            "task#": lambda r: cells.task(r["task_id"]),
            "family": lambda r: cells.text(r["family_code"]),
            "type": lambda r: cells.text(r["task_type"]),
            "criteria": lambda r: cells.pairs(r["criteria"]),
            "attempts#": lambda r: r["attempt"],
            "died": lambda r: moment(r["finished_at"]),
            "error": lambda r: cells.words(r["error"]),
            "run#": lambda r: (
                cells.run(r["module_instance_id"]) or cells.batch_run(r["batch_instance_id"])
            ),
            "actions": lambda r: cells.action(asked, "REVIVE_TASK", r["task_id"], "Revive"),
        }
        table = parts.table("omd_dispatch.dead_tasks", rows, columns, key="task_id")
        if may_pick:
            table = _picked(may_pick, families.pop(), "DEAD", table)
        pages = lists.pages(lists.Paged(asked, "dead_before", "task_id"), rows, 100)
        return join(piece for piece in (table, pages) if piece)

    return Section("dead", "Dead tasks", (select,), render)


# What can be done with tasks that are picked: the code, its title, and the statuses that it is for.
_BULK = {
    "REVIVE_TASK": ("Revive the picked ones", ("DEAD",)),
    "CANCEL_TASK": ("Cancel the picked ones", ("PENDING",)),
    "CANCEL_RUNNING_TASK": ("End the picked ones", ("CLAIMED",)),
    "RESCHEDULE_TASK": ("Reschedule the picked ones", ("PENDING",)),
}


def _may_pick(asked: Asked, status_: str) -> list[str]:
    return [
        code
        for code, (_, statuses) in _BULK.items()
        if status_ in statuses and code in asked.person.rights.actions
    ]


def _pick(section: str, row: Row) -> Html:
    task_id = row["task_id"]
    return el(
        "input",
        type="checkbox",
        name="task_ids",
        value=task_id,
        id=f"{section}-pick-{task_id}",
        aria_label=f"Pick task {task_id}",
    )


def _picked(may: Sequence[str], family: str, status_: str, table: Html) -> Html:
    """Return a table whose picked rows are the filter of a bulk action."""
    buttons = [
        el(
            "button",
            _BULK[code][0],
            type="submit",
            formaction=parts.path("/bulk/{action_code}", action_code=code),
            cls="quiet",
        )
        for code in may
    ]
    return el(
        "form",
        el("input", type="hidden", name="family_code", value=family),
        el("input", type="hidden", name="statuses", value=status_),
        # With nothing picked it is a filter that is refused, and not one that means all.
        el("input", type="hidden", name="task_ids", value=""),
        table,
        el("p", *lists.spaced(buttons), cls="actions"),
        method="get",
    )


def _running() -> Section:
    select = Select(
        """\
SELECT task_id, family_code, task_type, criteria, lane, attempt, claimed_by, claimed_at,
    cancel_requested
FROM omd_report.dispatch_running
ORDER BY claimed_at, task_id
LIMIT %(limit)s""",
        {"limit": lists.MOST},
    )
    return lists.listing(
        "running", "Tasks that run", "omd_report.dispatch_running", select,
        {
            "task#": lambda r: cells.task(r["task_id"]),
            "family": lambda r: cells.text(r["family_code"]),
            "type": lambda r: cells.text(r["task_type"]),
            "criteria": lambda r: cells.pairs(r["criteria"]),
            "lane": lambda r: cells.text(r["lane"]),
            "attempt#": lambda r: r["attempt"],
            "worker": lambda r: cells.text(r["claimed_by"]),
            "since": lambda r: linked.running_since(r["claimed_at"]),
            "asked": lambda r: cells.state("A", "is to end") if r["cancel_requested"] else None,
        },
        key="task_id",
    )  # fmt: skip


def _suspensions(asked: Asked) -> Section:
    select = lists.select(
        asked,
        """\
SELECT suspension_id, family_code, task_types, criteria, reason, suspended_at, suspended_by,
    resumed_at
FROM omd_report.dispatch_suspensions{where}
ORDER BY suspension_id
LIMIT %(limit)s""",
        suspension="suspension_id = %s::bigint",
    )
    return lists.listing(
        "suspensions", "Suspensions", "omd_report.dispatch_suspensions", select,
        {
            "suspension#": lambda r: cells.of("SUSPENSION", r["suspension_id"]),
            "family": lambda r: cells.text(r["family_code"]),
            "types": lambda r: cells.codes(r["task_types"] or ["all"]),
            "criteria": lambda r: cells.pairs(r["criteria"]),
            "since": lambda r: moment(r["suspended_at"]),
            "by": lambda r: cells.text(r["suspended_by"]),
            "resumed": lambda r: moment(r["resumed_at"]),
            "reason": lambda r: cells.words(r["reason"]),
            "actions": lambda r: (
                None
                if r["resumed_at"]
                else cells.action(asked, "RESUME", r["suspension_id"], "Resume")
            ),
        },
        key="suspension_id",
    )  # fmt: skip


def _workers() -> Section:
    select = Select(
        """\
SELECT backend_type, backend_id, is_alive, position, claimed, slots, sessions, registration_time,
    ttl
FROM omd_report.dispatch_backends
ORDER BY backend_type, position, backend_id
LIMIT %(limit)s""",
        {"limit": lists.MOST},
    )
    return lists.listing(
        "workers", "Workers", "omd_report.dispatch_backends", select,
        {
            "group": lambda r: cells.text(r["backend_type"]),
            "worker": lambda r: cells.text(r["backend_id"]),
            "state": lambda r: (
                cells.state("S", "lives") if r["is_alive"] else cells.state("F", "dead")
            ),
            "place#": lambda r: r["position"],
            "tasks#": lambda r: number(r["claimed"]),
            "at once#": lambda r: r["slots"],
            "sessions#": lambda r: r["sessions"],
            "renewed": lambda r: moment(r["registration_time"]),
            "lives for": lambda r: as_text(r["ttl"]),
        },
        key=("backend_type", "backend_id"),
    )  # fmt: skip


def _sessions() -> Section:
    select = Select(
        """\
SELECT workers, slots, sessions, available, max_connections, is_too_many
FROM omd_report.dispatch_sessions
LIMIT %(limit)s""",
        {"limit": lists.MOST},
    )
    return lists.listing(
        "sessions", "Sessions that all workers need", "omd_report.dispatch_sessions", select,
        {
            "workers#": lambda r: number(r["workers"]),
            "tasks at once#": lambda r: number(r["slots"]),
            "sessions#": lambda r: number(r["sessions"]),
            "there are#": lambda r: number(r["available"]),
            "max_connections#": lambda r: number(r["max_connections"]),
            "state": lambda r: (
                cells.state("F", "too many") if r["is_too_many"] else cells.state("S", "enough")
            ),
        },
        key="workers",
    )  # fmt: skip


def _limits(asked: Asked) -> Section:
    select = lists.select(
        asked,
        """\
SELECT family_code, task_type, deliver_id, max_running, limit_criterion, max_attempts, timeout,
    backoff
FROM omd_dispatch.task_conf_type_desc{where}
ORDER BY family_code, task_type
LIMIT %(limit)s""",
        type="family_code || '/' || task_type = %s",
    )
    return lists.listing(
        "limits", "Types and limits", "omd_dispatch.task_conf_type_desc", select,
        {
            "family": lambda r: cells.text(r["family_code"]),
            "type": lambda r: linked.to("TASK_TYPE", _type(r), r["task_type"]),
            "workers of": lambda r: cells.text(r["deliver_id"]),
            "at once#": lambda r: r["max_running"],
            "in lanes by": lambda r: cells.text(r["limit_criterion"]),
            "attempts#": lambda r: r["max_attempts"],
            "may take": lambda r: as_text(r["timeout"]),
            "pause after an error": lambda r: as_text(r["backoff"]),
            "actions": lambda r: cells.actions(
                asked,
                ("SET_LIMIT", _type(r), "Set limit"), ("SUSPEND", _type(r), "Suspend")
            ),
        },
        key=("family_code", "task_type"),
    )  # fmt: skip


def _type(row: Row) -> str:
    return f"{row['family_code']}/{row['task_type']}"


def _schedules(asked: Asked) -> Section:
    select = lists.select(
        asked,
        """\
SELECT schedule_code, family_code, task_type, criteria, cron, time_zone, every, inactive_indicator,
    next_time, last_fired_at, created_count, skipped_count, lost_count, problem, retry_time
FROM omd_report.dispatch_schedules{where}
ORDER BY schedule_code
LIMIT %(limit)s""",
        schedule="schedule_code",
    )
    return lists.listing(
        "schedules", "Schedules", "omd_report.dispatch_schedules", select,
        {
            "schedule": lambda r: linked.to("SCHEDULE", r["schedule_code"]),
            "creates": lambda r: linked.to("TASK_TYPE", _type(r)),
            "criteria": lambda r: cells.pairs(r["criteria"]),
            "when": lambda r: (
                f"{r['cron']} ({r['time_zone']})" if r["cron"] else f"every {as_text(r['every'])}"
            ),
            "state": _schedule_state,
            "next": lambda r: moment(r["next_time"]),
            "last": lambda r: moment(r["last_fired_at"]),
            "created#": lambda r: number(r["created_count"]),
            "lost#": lambda r: number(r["lost_count"]),
            "problem": lambda r: cells.words(r["problem"]),
            "actions": lambda r: cells.actions(
                asked,
                ("RESUME_SCHEDULE", r["schedule_code"], "Resume")
                if r["inactive_indicator"] == "Y"
                else ("PAUSE_SCHEDULE", r["schedule_code"], "Pause"),
                ("FIRE_SCHEDULE", r["schedule_code"], "Fire"),
                ("REMOVE_SCHEDULE", r["schedule_code"], "Remove"),
            ),
        },
        key="schedule_code",
    )  # fmt: skip


def _schedule_state(row: Row) -> Html:
    if row["inactive_indicator"] == "Y":
        return cells.state("C", "paused")
    return cells.state("F", "fails") if row["problem"] else cells.state("S", "active")


def _sources() -> Section:
    select = Select(
        """\
SELECT family_code, task_type, source, every, listen, inactive_indicator, last_fired_at, took,
    created_count, problem, retry_time
FROM omd_report.dispatch_sources
ORDER BY family_code, task_type, source
LIMIT %(limit)s""",
        {"limit": lists.MOST},
    )
    return lists.listing(
        "sources", "Views whose rows become tasks", "omd_report.dispatch_sources", select,
        {
            "view": lambda r: cells.text(r["source"]),
            "creates": lambda r: linked.to("TASK_TYPE", _type(r)),
            "every": lambda r: as_text(r["every"]),
            "listens to": lambda r: cells.codes(r["listen"]),
            "state": _schedule_state,
            "last": lambda r: moment(r["last_fired_at"]),
            "took": lambda r: as_text(r["took"]),
            "created#": lambda r: number(r["created_count"]),
            "problem": lambda r: cells.words(r["problem"]),
        },
        key=("family_code", "task_type", "source"),
    )  # fmt: skip


def _history() -> Section:
    select = Select(
        """\
SELECT schema_name, table_code, is_purged, keep, needs_keep, old_rows, next_time, command
FROM omd_report.history
ORDER BY schema_name, table_code
LIMIT %(limit)s""",
        {"limit": lists.MOST},
    )
    return lists.listing(
        "history", "History that a purge would delete", "omd_report.history", select,
        {
            "table": lambda r: cells.text(r["table_code"]),
            "rows at most#": lambda r: (
                number(r["old_rows"]) + ("+" if r["old_rows"] >= 1000 else "")
            ),
            "older than": lambda r: (
                (as_text(r["keep"]) or "90 days") if r["needs_keep"] else "needed by nobody"
            ),
            "state": lambda r: (
                cells.state("S", "purged")
                if r["is_purged"]
                else cells.state("C", "kept for ever")
            ),
            "next": lambda r: moment(r["next_time"]),
            "is switched on by": lambda r: None if r["is_purged"] else cells.codes([r["command"]]),
        },
        key=("schema_name", "table_code"),
    )  # fmt: skip


# What a parameter of the URL names, with its list.
_KINDS = {"suspension": "SUSPENSION", "schedule": "SCHEDULE", "type": "TASK_TYPE"}
_OF_KIND = {"SUSPENSION": _suspensions, "SCHEDULE": _schedules, "TASK_TYPE": _limits}

"""``/deliveries``: what arrives, what is not at an end, the verdicts, and how far the facts are."""

from __future__ import annotations

from omd.programs.page.markup import Html, moment, number
from omd.programs.report.receipt import row_counts
from omd.programs.web import cells, linked, lists, parts
from omd.programs.web.screens import recall
from omd.programs.web.section import Asked, Row, Screen, Section, Select

_VERDICTS = {"ACCEPTED": "S", "ACCEPTED WITH FINDINGS": "A", "REJECTED": "F"}
_STATUSES = {
    "RECEIVED": "E",
    "LOADED": "E",
    "VALIDATED": "E",
    "ACCEPTED": "S",
    "PERSISTED": "S",
    "EXPORTED": "S",
    "CHECKED": "C",
    "REFUSED": "F",
    "REJECTED": "F",
    "CANCELLED": "C",
    "REVERTED": "C",
}
_ARRIVALS = {
    "FOUND": "E",
    "TAKEN": "E",
    "DONE": "S",
    "INCOMPLETE": "A",
    "CHANGED": "A",
    "REFUSED": "F",
    "UNFIT": "F",
}


def screen(asked: Asked) -> Screen:
    """Return the deliveries of all agreements, or those that are asked for."""
    arrival = asked.query.get("arrival")
    chosen = (linked.actions(asked, "ARRIVAL", arrival), _arrivals(asked)) if arrival else ()
    return Screen(
        "deliveries",
        "Deliveries",
        (
            *chosen,
            _unfinished(),
            _log(asked),
            *(() if arrival else (_arrivals(asked),)),
            _queue(),
            _facts(asked),
            _marks(),
            _exports(asked),
            _recalls(),
            _locations(),
        ),
        form=lists.filters(
            lists.field(asked, "agreement", "agreement"),
            lists.field(asked, "interface", "interface"),
            lists.choice(asked, "status", "status", list(_STATUSES)),
            lists.choice(asked, "folders", "folders", ["all"], any_="not done"),
        ),
    )


def status(value: str) -> Html:
    """Return the status of a delivery in words and colour; how good it was, its verdict says."""
    word = value.removesuffix(" WITH VIOLATED CONSTRAINTS")
    return cells.state(_STATUSES.get(word, "C"), word.lower())


def verdict(value: str | None) -> Html | None:
    """Return a verdict in words and colour."""
    return None if value is None else cells.state(_VERDICTS.get(value, "C"), value.lower())


def _unfinished() -> Section:
    select = Select(
        """\
SELECT delivery_id, agreement_code, interface_code, snapshot_datetime, delivery_status,
    batch_instance_id, is_running, waits_for
FROM omd_report.delivery_state
ORDER BY delivery_id
LIMIT %(limit)s""",
        {"limit": lists.MOST},
    )
    return lists.listing(
        "unfinished", "Not at an end", "omd_report.delivery_state", select,
        {
            "delivery#": lambda r: cells.delivery(r["delivery_id"]),
            "agreement": lambda r: cells.text(r["agreement_code"]),
            "interface": lambda r: cells.text(r["interface_code"]),
            "data of": lambda r: moment(r["snapshot_datetime"]),
            "status": lambda r: status(r["delivery_status"]),
            "run#": lambda r: cells.batch_run(r["batch_instance_id"]),
            "at work": lambda r: cells.state("E", "runs") if r["is_running"] else None,
            "waits for": lambda r: cells.text(r["waits_for"]),
        },
        key="delivery_id",
    )  # fmt: skip


_SLICE = 10_000  # deliveries or folders that are looked through for what no index serves

# The deliveries of an agreement are in an index with it; the newest of them are found there first.
_OF_AGREEMENT = """\
SELECT l.delivery_id, l.agreement_code, l.tenant_name, l.snapshot_datetime, l.delivery_status,
    l.verdict, l.is_dry_run, l.status_datetime, l.created_by, l.batch_instance_id
FROM omd_delivery.agreement AS a
CROSS JOIN LATERAL (
    SELECT d.delivery_id
    FROM omd_delivery.delivery AS d
    WHERE d.agreement_id BETWEEN a.agreement_id AND a.agreement_id
        AND d.delivery_id < coalesce(%(before)s::bigint, 9223372036854775807)
        AND (%(status)s IS NULL OR d.delivery_status = %(status)s)
    ORDER BY d.agreement_id DESC, d.delivery_id DESC
    LIMIT %(limit)s
) AS n
INNER JOIN omd_report.delivery_log AS l ON n.delivery_id = l.delivery_id
WHERE a.agreement_code = %(agreement)s
    AND (%(interface)s IS NULL OR l.interface_code = %(interface)s)
ORDER BY l.delivery_id DESC
LIMIT %(limit)s"""


def _log(asked: Asked) -> Section:
    paged: lists.Paged | lists.Slice = lists.Paged(asked, "before", "delivery_id")
    asked_for = {
        name: asked.query.get(name) or None
        for name in ("agreement", "interface", "status", "before")
    }
    if asked_for["agreement"]:
        select = Select(_OF_AGREEMENT, {**asked_for, "limit": 100})
    else:
        if asked_for["interface"] or asked_for["status"]:
            last = lists.newest(asked, "before", "delivery_id", "omd_delivery.delivery")
            paged = lists.Slice(lists.Paged(asked, "before", "delivery_id"), last, _SLICE)
        select = lists.select(
            asked,
            """\
SELECT delivery_id, agreement_code, tenant_name, snapshot_datetime, delivery_status, verdict,
    is_dry_run, status_datetime, created_by, batch_instance_id
FROM omd_report.delivery_log{where}
ORDER BY delivery_id DESC
LIMIT %(limit)s""",
            100,
            paged.conditions if isinstance(paged, lists.Slice) else [],
            paged.values if isinstance(paged, lists.Slice) else {},
            interface="interface_code",
            status="delivery_status",
            before="delivery_id < %s::bigint",
        )
    return lists.listing(
        "log", "All deliveries", "omd_report.delivery_log", select,
        {
            "delivery#": lambda r: cells.delivery(r["delivery_id"]),
            "agreement": lambda r: cells.text(r["agreement_code"]),
            "tenant": lambda r: cells.text(r["tenant_name"]),
            "data of": lambda r: moment(r["snapshot_datetime"]),
            "status": lambda r: status(r["delivery_status"]),
            "verdict": lambda r: verdict(r["verdict"]),
            "trial": lambda r: "trial" if r["is_dry_run"] else None,
            "since": lambda r: moment(r["status_datetime"]),
            "by": lambda r: cells.text(r["created_by"]),
            "run#": lambda r: cells.batch_run(r["batch_instance_id"]),
        },
        key="delivery_id",
        paged=paged,
    )  # fmt: skip


# What is done comes to be most of it. An index begins with the agreement and the status.
_OPEN_ARRIVALS = """\
SELECT l.arrival_id, l.agreement_code, l.folder, l.snapshot_datetime, l.arrival_status, l.files,
    l.bytes, l.changed_datetime, l.delivery_id, l.problem
FROM omd_delivery.agreement AS a
INNER JOIN omd_delivery.interface AS i ON a.interface_id = i.interface_id
CROSS JOIN unnest(
    ARRAY['UNFIT', 'INCOMPLETE', 'FOUND', 'TAKEN', 'REFUSED', 'CHANGED']
) AS s (arrival_status)
CROSS JOIN LATERAL (
    SELECT r.arrival_id
    FROM omd_delivery.arrival AS r
    WHERE r.agreement_id = a.agreement_id AND r.arrival_status = s.arrival_status
    ORDER BY r.snapshot_datetime DESC, r.arrival_id DESC
    LIMIT %(limit)s
) AS n
INNER JOIN omd_report.arrivals AS l ON n.arrival_id = l.arrival_id
WHERE (%(agreement)s IS NULL OR a.agreement_code = %(agreement)s)
    AND (%(interface)s IS NULL OR i.interface_code = %(interface)s)
ORDER BY l.snapshot_datetime DESC, l.arrival_id DESC
LIMIT %(limit)s"""


def _arrivals(asked: Asked) -> Section:
    paged: lists.Slice | None = None
    if asked.query.get("folders") == "all" or asked.query.get("arrival"):
        last = None
        if asked.query.get("agreement") or asked.query.get("interface"):
            last = lists.newest(asked, "arrived_before", "arrival_id", "omd_delivery.arrival")
        paged = lists.Slice(lists.Paged(asked, "arrived_before", "arrival_id"), last, _SLICE)
        select = lists.select(
            asked,
            """\
SELECT arrival_id, agreement_code, folder, snapshot_datetime, arrival_status, files, bytes,
    changed_datetime, delivery_id, problem
FROM omd_report.arrivals{where}
ORDER BY arrival_id DESC
LIMIT %(limit)s""",
            100,
            paged.conditions,
            paged.values,
            arrival="arrival_id = %s::bigint",
            agreement="agreement_code",
            interface="interface_code",
            arrived_before="arrival_id < %s::bigint",
        )
    else:
        given = {name: asked.query.get(name) or None for name in ("agreement", "interface")}
        select = Select(_OPEN_ARRIVALS, {**given, "limit": lists.MOST})
    return lists.listing(
        "arrivals", "Folders that arrived", "omd_report.arrivals", select,
        {
            "arrival#": lambda r: r["arrival_id"],
            "agreement": lambda r: cells.text(r["agreement_code"]),
            "folder": lambda r: cells.text(r["folder"]),
            "data of": lambda r: moment(r["snapshot_datetime"]),
            "state": lambda r: cells.state(
                _ARRIVALS.get(r["arrival_status"], "C"), r["arrival_status"].lower()
            ),
            "files#": lambda r: number(r["files"]),
            "bytes#": lambda r: number(r["bytes"]),
            "changed": lambda r: moment(r["changed_datetime"]),
            "delivery#": lambda r: cells.delivery(r["delivery_id"]),
            "problem": lambda r: cells.words(r["problem"]),
            "actions": lambda r: cells.action(asked, "FORGET_ARRIVAL", r["arrival_id"], "Forget"),
        },
        key="arrival_id",
        paged=paged,
    )  # fmt: skip


def _queue() -> Section:
    select = Select(
        """\
SELECT queue_id, interface_code, delivery_id, snapshot_datetime, queue_status, row_counts,
    queued_datetime, started_datetime, module_instance_id
FROM omd_report.delivery_queue
WHERE queue_status IN ('QUEUED', 'LOADING')
ORDER BY queue_id
LIMIT %(limit)s""",
        {"limit": lists.MOST},
    )
    return lists.listing(
        "queue", "Waits for the facts", "omd_report.delivery_queue", select,
        {
            "item#": lambda r: r["queue_id"],
            "interface": lambda r: cells.text(r["interface_code"]),
            "delivery#": lambda r: cells.delivery(r["delivery_id"]),
            "data of": lambda r: moment(r["snapshot_datetime"]),
            "status": lambda r: queue_status(r["queue_status"]),
            "queued": lambda r: moment(r["queued_datetime"]),
            "began": lambda r: moment(r["started_datetime"]),
            "rows": lambda r: row_counts(r["row_counts"] or {}),
            "run#": lambda r: cells.run(r["module_instance_id"]),
        },
        key="queue_id",
    )  # fmt: skip


def queue_status(value: str) -> Html:
    """Return the status of an item of the queue in words and colour."""
    return cells.state({"LOADING": "E", "QUEUED": "A"}.get(value, "S"), value.lower())


def _facts(asked: Asked) -> Section:
    select = Select(
        """\
SELECT interface_code, traveling_now, model_version, deployed_version, queued_items, oldest_queued,
    is_blocked, unfinished_delivery_id, is_paused
FROM omd_report.facts_state
ORDER BY interface_code
LIMIT %(limit)s""",
        {"limit": lists.MOST},
    )
    return lists.listing(
        "facts", "The facts", "omd_report.facts_state", select,
        {
            "interface": lambda r: cells.text(r["interface_code"]),
            "state": _facts_state,
            "facts up to": lambda r: moment(r["traveling_now"]),
            "queued#": lambda r: number(r["queued_items"]),
            "oldest": lambda r: moment(r["oldest_queued"]),
            "unfinished#": lambda r: cells.delivery(r["unfinished_delivery_id"]),
            "model#": lambda r: r["model_version"],
            "deployed#": lambda r: r["deployed_version"],
            "actions": lambda r: cells.actions(
                asked,
                ("UNDO_LOAD", r["interface_code"], "Undo a load"),
                ("RESYNC", r["interface_code"], "Resync"),
            ),
        },
        key="interface_code",
    )  # fmt: skip


def _facts_state(row: Row) -> Html:
    if row["is_paused"]:
        return cells.state("F", "paused after failures")
    if row["queued_items"]:
        return cells.state("A", "behind")
    return cells.state("S", "has all that was accepted")


def _marks() -> Section:
    select = Select(
        """\
SELECT interface_code, entity_code, snapshot_datetime, delivery_id
FROM omd_report.delivery_marks
ORDER BY interface_code, entity_code
LIMIT %(limit)s""",
        {"limit": lists.MOST},
    )
    return lists.listing(
        "marks", "Delivered up to", "omd_report.delivery_marks", select,
        {
            "interface": lambda r: cells.text(r["interface_code"]),
            "entity": lambda r: parts.link(
                parts.path(
                    "/facts/{interface}/{entity}",
                    interface=r["interface_code"],
                    entity=r["entity_code"],
                ),
                r["entity_code"],
            ),
            "data of": lambda r: moment(r["snapshot_datetime"]),
            "delivery#": lambda r: cells.delivery(r["delivery_id"]),
        },
        key=("interface_code", "entity_code"),
    )  # fmt: skip


def _exports(asked: Asked) -> Section:
    select = Select(
        """\
SELECT delivery_id, agreement_code, delivery_status, export_mode, as_of, target_uri, entity_codes,
    module_instance_id, created_datetime
FROM omd_report.facts_exports
ORDER BY delivery_id DESC
LIMIT %(limit)s""",
        {"limit": 50},
    )
    return lists.listing(
        "exports", "Exports", "omd_report.facts_exports", select,
        {
            "delivery#": lambda r: cells.delivery(r["delivery_id"]),
            "agreement": lambda r: cells.text(r["agreement_code"]),
            "status": lambda r: status(r["delivery_status"]),
            "mode": lambda r: r["export_mode"].lower(),
            "as of": lambda r: moment(r["as_of"]),
            "entities": lambda r: cells.codes(r["entity_codes"]),
            "to": lambda r: cells.text(r["target_uri"]),
            "ordered": lambda r: moment(r["created_datetime"]),
            "run#": lambda r: cells.run(r["module_instance_id"]),
            "actions": lambda r: (
                cells.action(asked, "CANCEL_EXPORT", r["delivery_id"], "Cancel")
                if r["delivery_status"] == "RECEIVED"
                else None
            ),
        },
        key="delivery_id",
    )  # fmt: skip


def _recalls() -> Section:
    select = Select(
        """\
SELECT recall_id, recall_status, target, reason, planned_by, planned_datetime, executed_datetime,
    items, blocked
FROM omd_report.recalls
ORDER BY recall_id DESC
LIMIT %(limit)s""",
        {"limit": 20},
    )
    return lists.listing(
        "recalls", "Recalls", "omd_report.recalls", select,
        {
            "recall#": lambda r: cells.of("RECALL", r["recall_id"]),
            "status": lambda r: recall.status(r["recall_status"]),
            "of": lambda r: cells.pairs(r["target"]),
            "planned": lambda r: moment(r["planned_datetime"]),
            "by": lambda r: cells.text(r["planned_by"]),
            "executed": lambda r: moment(r["executed_datetime"]),
            "items#": lambda r: number(r["items"]),
            "in the way#": lambda r: number(r["blocked"]),
            "reason": lambda r: cells.words(r["reason"]),
        },
        key="recall_id",
    )  # fmt: skip


def _locations() -> Section:
    select = Select(
        """\
SELECT agreement_code, location, is_inactive, looked_datetime, next_look, problem
FROM omd_report.arrival_locations
ORDER BY agreement_code
LIMIT %(limit)s""",
        {"limit": lists.MOST},
    )
    return lists.listing(
        "locations", "Where deliveries arrive", "omd_report.arrival_locations", select,
        {
            "agreement": lambda r: cells.text(r["agreement_code"]),
            "location": lambda r: cells.text(r["location"]),
            "state": _location_state,
            "looked": lambda r: moment(r["looked_datetime"]),
            "next look": lambda r: moment(r["next_look"]),
            "problem": lambda r: cells.words(r["problem"]),
        },
        key="agreement_code",
    )  # fmt: skip


def _location_state(row: Row) -> Html:
    if row["is_inactive"]:
        return cells.state("C", "nobody looks")
    return cells.state("F", "can't be read") if row["problem"] else cells.state("S", "is read")

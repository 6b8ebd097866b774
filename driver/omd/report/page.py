"""The page of `omd report` (see `omd._terminal.markup`)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psycopg.conninfo import conninfo_to_dict

from omd._terminal.markup import (
    Html,
    el,
    join,
    message,
    moment,
    name,
    number,
    page,
    section,
    table,
)
from omd._terminal.text import as_text, short
from omd.control import rows as t
from omd.control.codes import ExecutionStatus
from omd.delivery import rows as v
from omd.delivery.receipt import row_counts
from omd.dispatch import rows as d
from omd.lineage.rows import SourcesRow

if TYPE_CHECKING:
    from omd.doors import Control

MOST_RUNS = 3000  # with more, a browser would not open the page at once
MOST_ROWS = 200
DAYS = 30

_STATUS = {
    "S": "succeeded",
    "F": "failed",
    "E": "executing",
    "A": "aborted",
    "C": "skipped",
}
# What is worst comes first; a kind that a newer database knows comes last, under its own name.
_EXCEPTIONS = (
    "LAST_RUN_FAILED", "LEASE_EXPIRED", "RUNNING_LONG", "NOT_RUN", "NOT_READY", "DISABLED",
)  # fmt: skip


# Markup -----------------------------------------------------------------------------------------


def badge(status: ExecutionStatus | None) -> Html:
    """Return a status in words and colour."""
    return Html("") if status is None else el("span", _STATUS[status.value], cls=f"badge {status}")


def compact(value: int) -> str:
    """Return a number shortened for a tile: 9,999, 12.3 k, 4.5 M."""
    if value < 10_000:
        return f"{value:,}"
    unit, size = next((u, s) for u, s in _UNITS if value >= s)
    return f"{value / size:.3g} {unit}"


_UNITS = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))


# The timeline -----------------------------------------------------------------------------------


@dataclass
class Bar:
    """One instance on the timeline."""

    start: datetime
    end: datetime
    status: str
    title: str


@dataclass
class Lane:
    """A line of the timeline: a Batch, or a Module under it."""

    label: str
    depth: int
    is_batch: bool
    bars: list[Bar] = field(default_factory=list)


def _bar(run: Any, kind: str, instance: int, code: str, now: datetime) -> Bar:
    end = run.end_datetime or now
    began = f"{run.start_datetime.astimezone():%Y-%m-%d %H:%M:%S}"
    until = f"{end.astimezone():%H:%M:%S}" if run.end_datetime else "now"
    lines = [
        f"{code} ({kind} Instance {instance})",
        f"{_STATUS[run.execution_status_code.value]}"
        + (f": {run.reason_code}" if run.reason_code else ""),
        f"{began} to {until}, {as_text(end - run.start_datetime)}",
    ]
    if inserted := getattr(run, "rows_inserted", 0):
        lines.append(f"{inserted:,} rows inserted")
    return Bar(run.start_datetime, end, run.execution_status_code.value, "\n".join(lines))


def lanes(batches: Sequence[Any], modules: Sequence[Any], now: datetime) -> list[Lane]:
    """Return the Batches by their first start, with child Batches and Modules below them."""
    batch_of = {run.batch_instance_id: run.batch_code for run in batches}
    bars: dict[str | None, list[Bar]] = defaultdict(list)
    beneath: dict[str | None, dict[str, list[Bar]]] = defaultdict(dict)
    parents: dict[str, str | None] = {}
    for run in batches:
        bars[run.batch_code].append(_bar(run, "Batch", run.batch_instance_id, run.batch_code, now))
        parents[run.batch_code] = batch_of.get(run.parent_batch_instance_id)
    for run in modules:
        bar = _bar(run, "Module", run.module_instance_id, run.module_code, now)
        beneath[run.batch_code].setdefault(run.module_code, []).append(bar)
        if run.batch_code is not None:
            parents.setdefault(run.batch_code, None)

    children: dict[str | None, list[str]] = defaultdict(list)
    for code, parent in parents.items():
        children[parent].append(code)

    lanes: list[Lane] = []

    def add(code: str, depth: int) -> None:
        lanes.append(Lane(code, depth, True, bars[code]))
        lanes.extend(Lane(m, depth + 1, False, b) for m, b in beneath[code].items())
        for child in children[code]:
            add(child, depth + 1)

    for code in children[None]:
        add(code, 0)
    if beneath[None]:
        lanes.append(Lane("on their own", 0, True))
        lanes.extend(Lane(m, 1, False, b) for m, b in beneath[None].items())
    return lanes


_STEPS = [
    *(timedelta(minutes=m) for m in (1, 2, 5, 10, 15, 30)),
    *(timedelta(hours=h) for h in (1, 2, 3, 6, 12)),
    *(timedelta(days=d) for d in (1, 2, 7, 14, 28, 91, 364)),
]


def ticks(start: datetime, end: datetime) -> list[datetime]:
    """Return at most ten instants between two others, which are round in local time."""
    step = next((s for s in _STEPS if (end - start) / s <= 10), _STEPS[-1])
    local = start.astimezone()
    first = local.replace(hour=0, minute=0, second=0, microsecond=0)
    first += math.ceil((local - first) / step) * step
    return [first + n * step for n in range(math.ceil((end - first) / step))]


AXIS, BATCH, MODULE, GAP = 24, 24, 18, 6


def timeline(lanes: Sequence[Lane], start: datetime, end: datetime) -> Html:
    """Return the lanes as a chart: names in a column, bars in an SVG as wide as the window allows.

    If nothing ran in the first half of the span, the chart begins with the first run.
    """
    first = min(bar.start for lane in lanes for bar in lane.bars)
    if first - start > end - first:
        start = first - (end - first) / 50 - timedelta(seconds=1)
    span = (end - start).total_seconds()

    def x(at: datetime) -> float:
        return min(100.0, max(0.0, (at - start).total_seconds() / span * 100))

    labels: list[Html] = []
    backs: list[Html] = []
    shapes: list[Html] = []
    y = 0
    for index, lane in enumerate(lanes):
        if lane.is_batch and index:
            labels.append(el("div", style=f"height:{GAP}px"))
            y += GAP
        height = BATCH if lane.is_batch else MODULE
        labels.append(
            el(
                "div",
                name(lane.label),
                cls="batch" if lane.is_batch else "module",
                title=lane.label,
                style=f"height:{height}px;padding-left:{lane.depth * 12 + 4}px",
            )
        )
        backs.append(
            el("rect", cls="lane batch" if lane.is_batch else "lane", x=0, y=y, width="100%",
               height=height)
        )  # fmt: skip
        # A run that was skipped or aborted is a ring; it is drawn last, so that no bar hides it.
        for bar in sorted(lane.bars, key=lambda b: b.status in "AC"):
            left, right = x(bar.start), x(bar.end)
            if bar.status in "AC":
                place: dict[str, object] = {"cx": f"{left:.3f}%", "cy": y + height / 2, "r": 3.5}
                shape = "circle"
            else:
                inset = 4 if lane.is_batch else 3
                wide = max(right - left, 0.25)
                place = {
                    "x": f"{min(left, 100 - wide):.3f}%",
                    "y": y + inset,
                    "width": f"{wide:.3f}%",
                    "height": height - 2 * inset,
                }
                shape = "rect"
            shapes.append(el(shape, el("title", bar.title), cls=f"bar {bar.status}", **place))
        y += height

    axis: list[Html] = []
    lines: list[Html] = []
    shown = ticks(start, end)
    by_day = len(shown) > 1 and shown[1] - shown[0] >= timedelta(days=1)
    for index, tick in enumerate(shown):
        at = f"{x(tick):.3f}%"
        midnight = (tick.hour, tick.minute) == (0, 0)
        label = f"{tick:%b %d}" if by_day or midnight else f"{tick:%H:%M}"
        lines.append(el("line", cls="tick", x1=at, x2=at, y1=0, y2=y))
        axis.append(el("text", label, cls="odd" if index % 2 else None, x=at, y=AXIS - 9))
    now = el("line", cls="now", x1="100%", x2="100%", y1=0, y2=y)
    alt = "Timeline of Batch and Module Instances; the table below has the same data."
    plot = el(
        "svg", *backs, *lines, *shapes, now, width="100%", height=y, role="img", aria_label=alt
    )
    instants = el("svg", *axis, width="100%", height=AXIS, aria_hidden="true")
    legend = (el("span", el("i", cls=f"key {status}"), word) for status, word in _STATUS.items())
    return el(
        "figure",
        el("figcaption", *legend, cls="legend"),
        el(
            "div",
            el("div", cls="axis"),
            el("div", instants, cls="axis plot"),
            el("div", *labels, cls="labels"),
            el("div", plot, cls="plot"),
            cls="timeline",
            tabindex=0,
        ),
    )


# Charts by day ----------------------------------------------------------------------------------


def columns_chart(
    days: Sequence[date], stacks: Sequence[Sequence[tuple[str, int]]], titles: Sequence[str],
    caption: str,
) -> Html:  # fmt: skip
    """Return a chart with a column per day; its parts have the colours of their classes."""
    height, foot = 120, 20
    most = max((sum(value for _, value in stack) for stack in stacks), default=0)
    width = 100 / len(days)
    shapes = [el("line", cls="tick", x1=0, x2="100%", y1=height, y2=height)]
    for index, (day, stack, title) in enumerate(zip(days, stacks, titles, strict=True)):
        top = float(height)
        for status, value in stack:
            tall = value / most * (height - 14) if most else 0
            if value:
                tall = max(tall, 1.5)
            top -= tall
            shapes.append(
                el("rect", cls=f"bar {status}", x=f"{index * width + width * 0.12:.3f}%",
                   y=f"{top:.1f}", width=f"{width * 0.76:.3f}%", height=f"{tall:.1f}")
            ) if value else None  # fmt: skip
        # The whole column reacts to the pointer.
        shapes.append(
            el("rect", el("title", title), cls="touch", x=f"{index * width:.3f}%", y=0,
               width=f"{width:.3f}%", height=height)
        )  # fmt: skip
        if (len(days) - 1 - index) % 7 == 0:
            at = f"{(index + 0.5) * width:.3f}%"
            shapes.append(el("text", f"{day:%b %d}", x=at, y=height + foot - 6))
    return el(
        "figure",
        el("figcaption", f"{caption}, at most {compact(most)}"),
        el("svg", *shapes, width="100%", height=height + foot, role="img", aria_label=caption),
        cls="days",
    )


def _count(column: str) -> Callable[[Any], str]:
    return lambda row: number(getattr(row, column))


def throughput(rows: Sequence[t.ThroughputPerDayRow], today: date) -> Html:
    """Return the instances and rows of the last days, as two charts and a table."""
    if not rows:
        return el("p", "None.", cls="none")
    by_day = {row.day: row for row in rows}
    days = [today - timedelta(days=n) for n in reversed(range(DAYS))]
    counts: list[list[tuple[str, int]]] = []
    loaded: list[list[tuple[str, int]]] = []
    titles: list[str] = []
    for day in days:
        row = by_day.get(day)
        parts = [(code, getattr(row, word) if row else 0) for code, word in _STATUS.items()]
        counts.append(parts)
        loaded.append([("rows", int(row.rows_inserted) if row else 0)])
        counted = ", ".join(f"{value:,} {_STATUS[code]}" for code, value in parts if value)
        titles.append(
            f"{day:%a %Y-%m-%d}\n{counted or 'nothing ran'}"
            + (f"\n{row.rows_inserted:,} rows inserted" if row else "")
        )
    return join(
        [
            el(
                "div",
                columns_chart(days, counts, titles, "Module Instances per day"),
                columns_chart(days, loaded, titles, "Rows inserted per day"),
                cls="charts",
            ),
            el(
                "details",
                el("summary", "The same as a table"),
                table(
                    rows,
                    {
                        "day": lambda r: r.day,
                        **{f"{word}#": _count(word) for word in _STATUS.values()},
                        "rows read#": lambda r: number(r.rows_input),
                        "inserted#": lambda r: number(r.rows_inserted),
                        "updated#": lambda r: number(r.rows_updated),
                        "deleted#": lambda r: number(r.rows_deleted),
                        "load time#": lambda r: r.load_time,
                        "rows/s#": lambda r: number(r.rows_per_second),
                    },
                ),
            ),
        ]
    )


# The page ---------------------------------------------------------------------------------------


def worst_first(exceptions: Sequence[t.ExceptionsRow]) -> list[t.ExceptionsRow]:
    """Return the exceptions by their kind; within a kind their order stays."""
    places = {kind: place for place, kind in enumerate(_EXCEPTIONS)}
    return sorted(exceptions, key=lambda row: places.get(row.exception_code, len(places)))


def make(control: Control, start: datetime) -> str:
    """Read the reports and return the page; its timeline begins at ``start``."""
    now = datetime.now(timezone.utc)
    start = min(start, now - timedelta(minutes=1))
    today = now.astimezone().date()
    after = {"start_datetime": start}

    running = control.report(t.CurrentProcessingRow, order_by=["start_datetime"])
    batches = _runs(control, t.BatchExecutionLogRow, "batch_instance_id", after)
    modules = _runs(control, t.ModuleExecutionLogRow, "module_instance_id", after)
    failures = control.report(
        t.FailuresRow, order_by=["event_id"], descending=True, limit=MOST_ROWS,
        after={"event_datetime": start},
    )  # fmt: skip
    exceptions = worst_first(control.report(t.ExceptionsRow, order_by=["instance_type", "code"]))
    pending = control.report(t.PendingRollbacksRow, order_by=["since_datetime", "module_code"])
    directives = control.report(
        t.DirectivesRow, order_by=["instance_type", "instance_id"], limit=MOST_ROWS
    )
    days = control.report(
        t.ThroughputPerDayRow,
        order_by=["day"],
        descending=True,
        after={"day": today - timedelta(DAYS)},
    )
    errors = control.report(
        t.CommonErrorsRow, order_by=["event_count", "last_datetime"], descending=True, limit=20
    )
    audit = [row for row in control.report(t.AuditColumnsRow, order_by=["module_code"])
             if row.problems]  # fmt: skip

    sources = [row for row in control.report(SourcesRow) if row.problem]
    task_tiles, task_sections = _dispatch(control, now)
    delivery_tiles, delivery_sections = _delivery(control, start)

    settings = conninfo_to_dict(control.dsn)
    database = str(settings.get("dbname", ""))
    tiles = (
        ("running", "running now", compact(len(running)), "E"),
        ("exceptions", "exceptions", compact(len(exceptions)), "F"),
        ("failures", "failures", _counted(failures, MOST_ROWS), "F"),
        ("pending", "rollbacks wait", compact(len(pending)), "A"),
        ("sources", "sources with a problem", compact(len(sources)), "F"),
        *task_tiles,
        *delivery_tiles,
        ("runs", "Module Instances", _counted(modules, MOST_RUNS), None),
        ("throughput", "rows inserted", compact(sum(run.rows_inserted for run in modules)), None),
    )
    body = [
        el(
            "header",
            el("h1", "OMD · ", name(database)),
            el(
                "p",
                moment(start),
                " to ",
                moment(now),
                f" ({now.astimezone():%Z}, UTC{now.astimezone():%z})",
            ),
        ),
        el(
            "nav",
            *(
                el(
                    "a",
                    el("b", count),
                    el("span", word),
                    href=f"#{id_}",
                    cls=f"tile {kind}" if kind and count != "0" else "tile",
                )
                for id_, word, count, kind in tiles
            ),
            aria_label="Summary",
        ),
        section(
            "timeline",
            "Timeline",
            timeline(lanes(batches, modules, now), start, now)
            if batches or modules
            else el("p", "Nothing ran.", cls="none"),
            el("p", f"Only the newest {MOST_RUNS:,} instances are shown.", cls="note")
            if max(len(batches), len(modules)) >= MOST_RUNS
            else None,
        ),
        section("exceptions", "Exceptions", table(exceptions, {
            "what": lambda r: el(
                "span", r.exception_code.lower().replace("_", " "), cls=f"kind {r.exception_code}"
            ),
            "of": lambda r: r.instance_type.capitalize(),
            "code": lambda r: name(r.code),
            "instance#": lambda r: r.instance_id,
            "since": lambda r: moment(r.since_datetime),
            "detail": lambda r: message(r.detail),
        })),
        section("running", "Running now", table(running, {
            "of": lambda r: r.instance_type.capitalize(),
            "code": lambda r: name(r.code),
            "instance#": lambda r: r.instance_id,
            "in#": lambda r: r.batch_instance_id or "",
            "started": lambda r: moment(r.start_datetime),
            "for#": lambda r: r.running_for,
            "lease until": lambda r: moment(r.lease_expires_at),
        })),
        section("failures", "Failures", table(failures, {
            "failed": lambda r: moment(r.event_datetime),
            "of": lambda r: r.instance_type.capitalize(),
            "code": lambda r: name(r.code),
            "instance#": lambda r: r.instance_id,
            "undone by#": lambda r: r.rolled_back_by_module_instance_id,
            "error": lambda r: el(
                "span", r.event_return_code_details, cls="code", title=r.event_return_code_details
            ) if r.event_return_code_details else None,
            "detail": lambda r: message(r.event_detail),
        })),
        section("pending", "Rolled back by the next begin", table(pending, {
            "Module": lambda r: name(r.module_code),
            "target": lambda r: name(r.table_code),
            "platform": lambda r: r.platform_code,
            "instances": lambda r: _ids(r.module_instance_ids),
            "since": lambda r: moment(r.since_datetime),
        })),
        section("sources", "Sources with a problem", table(sources, {
            "source": lambda r: name(r.source),
            "newest row": lambda r: moment(r.newest_pos),
            "probed": lambda r: moment(r.probed_at),
            "problem": lambda r: message(r.problem),
        })),
        *task_sections,
        *delivery_sections,
        section("directives", "Directives for the next run", table(directives, {
            "of": lambda r: r.instance_type.capitalize(),
            "code": lambda r: name(r.code),
            "instance#": lambda r: r.instance_id,
            "status": lambda r: badge(r.execution_status_code),
            "asks for": lambda r: {"R": "rollback", "C": "skip"}[r.next_run_indicator.value],
            "ended": lambda r: moment(r.end_datetime),
        })),
        section("throughput", "Throughput", throughput(days, today)),
        section("errors", f"Common errors of {DAYS} days", table(errors, {
            "count#": lambda r: number(r.event_count),
            "first": lambda r: moment(r.first_datetime),
            "last": lambda r: moment(r.last_datetime),
            "last instance": lambda r: _instance(
                r.last_batch_instance_id, r.last_module_instance_id
            ),
            "message": lambda r: message(r.message),
        })),
        section("audit", "Audit columns of targets", table(audit, {
            "Module": lambda r: name(r.module_code),
            "target": lambda r: name(r.table_code),
            "problems": lambda r: ", ".join(p.lower().replace("_", " ") for p in r.problems),
        })),
        section("runs", "Module Instances", el(
            "details",
            el("summary", f"{len(modules):,} of the timeline as a table"),
            table(modules[::-1], {
                "instance#": lambda r: r.module_instance_id,
                "Module": lambda r: name(r.module_code),
                "Batch": lambda r: name(r.batch_code or ""),
                "status": lambda r: badge(r.execution_status_code),
                "reason": lambda r: r.reason_code,
                "started": lambda r: moment(r.start_datetime),
                "took#": lambda r: r.duration,
                "inserted#": lambda r: number(r.rows_inserted),
                "updated#": lambda r: number(r.rows_updated),
                "deleted#": lambda r: number(r.rows_deleted),
            }),
        )),
    ]  # fmt: skip
    title = f"OMD · {database} · {now.astimezone():%Y-%m-%d %H:%M}"
    return page(title, *body, style=STYLE)


def _dispatch(
    control: Control, now: datetime
) -> tuple[list[tuple[str, str, str, str | None]], list[Html]]:
    """Return the tiles and sections of the room dispatch; there are none until it is used."""
    queue = control.report(d.DispatchQueueRow, order_by=["family_code", "task_type", "lane"])
    workers = control.report(d.DispatchBackendsRow, order_by=["backend_type", "backend_id"])
    suspensions = control.report(d.DispatchSuspensionsRow, order_by=["suspension_id"])
    schedules = control.report(d.DispatchSchedulesRow, order_by=["schedule_code"])
    if not (queue or workers or suspensions or schedules):
        return [], []
    dead = control.report(
        d.DispatchDeadRow, order_by=["finished_at"], descending=True, limit=MOST_ROWS
    )
    counts = ("due", "later", "suspended", "claimed", "dead")
    due = sum(row.due for row in queue)
    dead_count = sum(row.dead for row in queue)
    alive = sum(row.is_alive for row in workers)
    tiles = [
        ("dead", "dead tasks", compact(dead_count), "F"),
        ("queue", "tasks due", compact(due), None if alive else "A"),
        ("workers", "workers alive", compact(alive), None),
        ("suspensions", "suspensions", compact(len(suspensions)), "A"),
    ]
    sections = [
        section("dead", "Dead tasks", table(dead, {
            "task#": lambda r: r.task_id,
            "family": lambda r: r.family_code,
            "type": lambda r: r.task_type,
            "criteria": lambda r: name(short(r.criteria)),
            "attempts#": lambda r: number(r.attempt),
            "since": lambda r: moment(r.finished_at),
            "instance": lambda r: _instance(r.batch_instance_id, r.module_instance_id),
            "error": lambda r: message(r.error),
        }), _only(len(dead), dead_count, "tasks")),
        section("queue", "Queue", table(queue[:MOST_ROWS], {
            "family": lambda r: r.family_code,
            "type": lambda r: r.task_type,
            "lane": lambda r: name(r.lane),
            **{f"{word}#": _count(word) for word in counts},
            "waits for#": lambda r: None if r.oldest_due is None else now - r.oldest_due,
            "oldest due": lambda r: moment(r.oldest_due),
        }), _only(len(queue[:MOST_ROWS]), len(queue), "lanes")),
        section("workers", "Workers", table(workers, {
            "group": lambda r: name(r.backend_type),
            "worker": lambda r: name(r.backend_id),
            "state": lambda r: el(
                "span", "alive" if r.is_alive else "dead",
                cls="badge S" if r.is_alive else "badge F",
            ),
            "place#": lambda r: r.position,
            "tasks#": _count("claimed"),
            "lives for#": lambda r: r.ttl,
            "renewed": lambda r: moment(r.registration_time),
        })),
        section("suspensions", "Suspensions", table(suspensions, {
            "suspension#": lambda r: r.suspension_id,
            "family": lambda r: r.family_code,
            "types": lambda r: ", ".join(r.task_types or ["all"]),
            "criteria": lambda r: name(short(r.criteria or {})),
            "since": lambda r: moment(r.suspended_at),
            "by": lambda r: name(r.suspended_by),
            "resumed": lambda r: moment(r.resumed_at),
            "reason": lambda r: message(r.reason),
        })),
    ]  # fmt: skip
    if wrong := [row for row in schedules if row.problem]:
        tiles.append(("schedules", "schedules with a problem", compact(len(wrong)), "F"))
        sections.append(section("schedules", "Schedules with a problem", table(wrong, {
            "schedule": lambda r: name(r.schedule_code),
            "family": lambda r: r.family_code,
            "type": lambda r: r.task_type,
            "next": lambda r: moment(r.next_time),
            "problem": lambda r: message(r.problem),
        })))  # fmt: skip
    return tiles, sections


_VERDICT = {"ACCEPTED": "S", "ACCEPTED WITH FINDINGS": "A", "REJECTED": "F"}


def _delivery(
    control: Control, start: datetime
) -> tuple[list[tuple[str, str, str, str | None]], list[Html]]:
    """Return the tiles and sections of the room delivery; there are none until it is used."""
    marks = control.report(v.DeliveryMarksRow, order_by=["interface_code", "entity_code"])
    if not marks:
        return [], []
    log = control.report(
        v.DeliveryLogRow, order_by=["delivery_id"], descending=True, limit=MOST_ROWS,
        after={"status_datetime": start},
    )  # fmt: skip
    queue = control.report(
        v.DeliveryQueueRow, order_by=["queue_id"], queue_status=["QUEUED", "LOADING"]
    )
    state = control.report(v.DeliveryStateRow, order_by=["delivery_id"])
    # What is accepted waits for the facts, and stands in the queue.
    unfinished = [row for row in state if row.delivery_status != "ACCEPTED"]
    rejected = sum(row.verdict == "REJECTED" for row in log)
    tiles = [
        ("deliveries", "deliveries unfinished", compact(len(unfinished)), "A"),
        ("verdicts", "deliveries rejected", compact(rejected), "F"),
        ("deltas", "deltas queued", compact(len(queue)), None),
    ]
    sections = [
        section("deliveries", "Unfinished deliveries", table(unfinished[:MOST_ROWS], {
            "delivery#": lambda r: r.delivery_id,
            "agreement": lambda r: name(r.agreement_code),
            "interface": lambda r: r.interface_code,
            "data of": lambda r: moment(r.snapshot_datetime),
            "status": lambda r: el("span", r.delivery_status, cls="badge E"),
            "run#": lambda r: r.attempt or None,
            "for#": lambda r: r.status_age,
            "waits for": lambda r: r.waits_for,
        }), _only(len(unfinished[:MOST_ROWS]), len(unfinished), "deliveries")),
        section("verdicts", "Deliveries", table(log, {
            "delivery#": lambda r: r.delivery_id,
            "agreement": lambda r: name(r.agreement_code),
            "data of": lambda r: moment(r.snapshot_datetime),
            "status": lambda r: r.delivery_status.lower() + (" (trial)" if r.is_dry_run else ""),
            "verdict": lambda r: el(
                "span", r.verdict.lower(), cls=f"badge {_VERDICT.get(r.verdict, '')}"
            ) if r.verdict else None,
            "since": lambda r: moment(r.status_datetime),
            "Batch#": lambda r: r.batch_instance_id,
            "tenant": lambda r: name(r.tenant_name),
        }), el("p", f"Only the newest {MOST_ROWS:,} are shown.", cls="note")
            if len(log) >= MOST_ROWS else None),
        section("deltas", "Deltas that wait for the facts", table(queue[:MOST_ROWS], {
            "item#": lambda r: r.queue_id,
            "interface": lambda r: r.interface_code,
            "delivery#": lambda r: r.delivery_id,
            "data of": lambda r: moment(r.snapshot_datetime),
            "status": lambda r: r.queue_status.lower(),
            "queued": lambda r: moment(r.queued_datetime),
            "rows": lambda r: row_counts(r.row_counts),
        }), _only(len(queue[:MOST_ROWS]), len(queue), "items")),
        section("marks", "Delivered up to", table(marks[:MOST_ROWS], {
            "interface": lambda r: r.interface_code,
            "entity": lambda r: r.entity_code,
            "delivery#": lambda r: r.delivery_id,
            "data of": lambda r: moment(r.snapshot_datetime),
        }), _only(len(marks[:MOST_ROWS]), len(marks), "entities")),
    ]  # fmt: skip
    return tiles, sections


def _instance(batch: int | None, module: int | None) -> Html | None:
    """Return an instance of one of the two kinds."""
    if batch is None and module is None:
        return None
    name = f"Module {module}" if module else f"Batch {batch}"
    return el("span", name, cls="nowrap")


def _only(shown: int, count: int, what: str) -> Html | None:
    if shown >= count:
        return None
    return el("p", f"Only {shown:,} {what} of {count:,} are shown.", cls="note")


def _runs(control: Control, row: type[Any], key: str, after: dict[str, Any]) -> list[Any]:
    """Return the runs that started in the span and those that still execute, ordered by ID."""
    newest = control.report(row, order_by=[key], descending=True, limit=MOST_RUNS, after=after)
    known = {getattr(run, key) for run in newest}
    executing = control.report(row, order_by=[key], execution_status_code="E", limit=MOST_RUNS)
    return [run for run in executing if getattr(run, key) not in known] + newest[::-1]


def _counted(rows: Sequence[Any], most: int) -> str:
    return compact(len(rows)) + ("+" if len(rows) >= most else "")


def _ids(ids: Sequence[int]) -> str:
    return ", ".join(map(str, ids[:10])) + (f", … ({len(ids):,})" if len(ids) > 10 else "")


STYLE = "\n" + Path(__file__).with_name("page.css").read_text(encoding="utf-8")

"""The page of `omd status --html` (see `omd.programs.terminal.markup`)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from psycopg.conninfo import conninfo_to_dict

from omd.programs.report import sections as c
from omd.programs.terminal import charts
from omd.programs.terminal.charts import columns_chart, compact, lanes, tiles, timeline
from omd.programs.terminal.markup import (
    STATUS,
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
from omd.rooms.control import rows as t
from omd.rooms.delivery import rows as v
from omd.rooms.dispatch import rows as d
from omd.rooms.lineage.rows import SourcesRow

if TYPE_CHECKING:
    from omd.doors.control import Control

MOST_RUNS = 3000  # with more, a browser would not open the page at once
MOST_ROWS = 200
DAYS = 30


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
        parts = [(code, getattr(row, word) if row else 0) for code, word in STATUS.items()]
        counts.append(parts)
        loaded.append([("rows", int(row.rows_inserted) if row else 0)])
        counted = ", ".join(f"{value:,} {STATUS[code]}" for code, value in parts if value)
        titles.append(
            f"{day:%a %Y-%m-%d}\n{counted or 'nothing ran'}"
            + (f"\n{row.rows_inserted:,} rows inserted" if row else "")
        )
    return join(
        [
            el(
                "div",
                _by_day("Module Instances per day", days, counts, titles),
                _by_day("Rows inserted per day", days, loaded, titles),
                cls="charts",
            ),
            el(
                "details",
                el("summary", "The same as a table"),
                table(
                    rows,
                    {
                        "day": lambda r: r.day,
                        **{f"{word}#": c.count(word) for word in STATUS.values()},
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


def _by_day(
    caption: str,
    days: Sequence[date],
    stacks: Sequence[Sequence[tuple[str, int]]],
    titles: Sequence[str],
) -> Html:
    most = max(sum(value for _, value in stack) for stack in stacks)
    last = len(days) - 1
    labels = [f"{day:%b %d}" if (last - n) % 7 == 0 else None for n, day in enumerate(days)]
    return columns_chart(f"{caption}, at most {compact(most)}", stacks, titles, labels)


# The page ---------------------------------------------------------------------------------------


def worst_first(exceptions: Sequence[t.ExceptionsRow]) -> list[t.ExceptionsRow]:
    """Return the exceptions by their kind; within a kind their order stays."""
    places = {kind: place for place, kind in enumerate(c.EXCEPTIONS)}
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

    settings = conninfo_to_dict(control._dsn)
    database = str(settings.get("dbname", ""))
    shown = (
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
        tiles((f"#{id_}", word, count, kind) for id_, word, count, kind in shown),
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
        section("exceptions", "Exceptions", table(exceptions, c.exceptions())),
        section("running", "Running now", table(running, c.running())),
        section("failures", "Failures", table(failures, c.failures())),
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
        section("directives", "Directives for the next run", table(directives, c.directives())),
        section("throughput", "Throughput", throughput(days, today)),
        section("errors", f"Common errors of {DAYS} days", table(errors, {
            "count#": lambda r: number(r.event_count),
            "first": lambda r: moment(r.first_datetime),
            "last": lambda r: moment(r.last_datetime),
            "last instance": lambda r: c.instance(
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
            table(modules[::-1], c.module_runs()),
        )),
    ]  # fmt: skip
    title = f"OMD · {database} · {now.astimezone():%Y-%m-%d %H:%M}"
    return page(title, *body, style=charts.STYLE)


def _dispatch(
    control: Control, now: datetime
) -> tuple[list[tuple[str, str, str, str | None]], list[Html]]:
    """Return the tiles and sections of the room dispatch; there are none until it is used."""
    queue = control.report(d.DispatchQueueRow, order_by=["family_code", "task_type", "lane"])
    workers = control.report(d.DispatchBackendsRow, order_by=["backend_type", "backend_id"])
    suspensions = control.report(d.DispatchSuspensionsRow, order_by=["suspension_id"])
    schedules = control.report(d.DispatchSchedulesRow, order_by=["schedule_code"])
    is_used = any(row.inactive_indicator == "N" for row in schedules)  # one is shipped inactive
    if not (queue or workers or suspensions or is_used):
        return [], []
    dead = control.report(
        d.DispatchDeadRow, order_by=["finished_at"], descending=True, limit=MOST_ROWS
    )
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
        section("dead", "Dead tasks", table(dead, c.dead()), _only(len(dead), dead_count, "tasks")),
        section("queue", "Queue", table(queue[:MOST_ROWS], {
            **c.lanes(),
            "waits for#": lambda r: None if r.oldest_due is None else now - r.oldest_due,
        }), _only(len(queue[:MOST_ROWS]), len(queue), "lanes")),
        section("workers", "Workers", table(workers, c.workers())),
        section("suspensions", "Suspensions", table(suspensions, c.suspensions())),
    ]  # fmt: skip
    if wrong := [row for row in schedules if row.problem]:
        tiles.append(("schedules", "schedules with a problem", compact(len(wrong)), "F"))
        sections.append(
            section("schedules", "Schedules with a problem", table(wrong, c.schedules()))
        )
    return tiles, sections


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
        section(
            "deliveries",
            "Unfinished deliveries",
            table(unfinished[:MOST_ROWS], c.deliveries()),
            _only(len(unfinished[:MOST_ROWS]), len(unfinished), "deliveries"),
        ),
        section(
            "verdicts",
            "Deliveries",
            table(log, c.verdicts()),
            el("p", f"Only the newest {MOST_ROWS:,} are shown.", cls="note")
            if len(log) >= MOST_ROWS
            else None,
        ),
        section(
            "deltas",
            "Deltas that wait for the facts",
            table(queue[:MOST_ROWS], c.deltas()),
            _only(len(queue[:MOST_ROWS]), len(queue), "items"),
        ),
        section(
            "marks",
            "Delivered up to",
            table(marks[:MOST_ROWS], c.marks()),
            _only(len(marks[:MOST_ROWS]), len(marks), "entities"),
        ),
    ]
    return tiles, sections


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

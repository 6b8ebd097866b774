"""What runs, what happened, what needs a look (process-control.md section 10)."""

from __future__ import annotations

import contextlib
import csv
import json
import re
import sys
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd.cli.common import (
    as_json,
    as_text,
    dsn_option,
    open_control,
    output_option,
    row_dict,
    short,
    show,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omd._types import TraceRow
    from omd.control import Control

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

_json_option = click.option(
    "--output",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Format of what is printed to stdout.",
)


def batch_runs(control: Control, limit: int | None, **conditions: Any) -> list[Any]:
    """Return the last Batch Instances, the newest last."""
    from omd._types import BatchExecutionRow

    return _newest(control, BatchExecutionRow, "batch_instance_id", limit, conditions)


def module_runs(control: Control, limit: int | None, **conditions: Any) -> list[Any]:
    """Return the last Module Instances, the newest last."""
    from omd._types import ModuleExecutionRow

    return _newest(control, ModuleExecutionRow, "module_instance_id", limit, conditions)


def events(control: Control, limit: int | None, **conditions: Any) -> list[Any]:
    """Return the last events, the newest last."""
    from omd._types import EventRow

    return _newest(control, EventRow, "event_id", limit, conditions)


def _newest(
    control: Control, row: type[Any], key: str, limit: int | None, conditions: dict[str, Any]
) -> list[Any]:
    found = control.report(row, order_by=[key], descending=True, limit=limit, **conditions)
    return found[::-1]


def since(value: str) -> datetime:
    """Return the instant meant by a span back from now, or by an instant, local if unzoned."""
    units = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
    with contextlib.suppress(ValueError, OverflowError):
        if span := re.fullmatch(r"(\d+)([mhdw])", value):
            back = timedelta(**{units[span[2]]: int(span[1])})
            return datetime.now(timezone.utc) - back
        # Python 3.10 does not know Z.
        return datetime.fromisoformat(re.sub("[zZ]$", "+00:00", value)).astimezone()
    raise click.BadParameter(
        f"{value!r} is neither a span like 90m, 24h, 7d nor an instant like 2026-01-31."
    )


# omd status -------------------------------------------------------------------------------------


@click.command()
@dsn_option
@_json_option
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, help="Runs.")
def status(dsn: str, output: str, limit: int) -> None:
    """Show what runs, what ran last, and what needs attention."""
    from omd import _types as t

    with open_control(dsn) as control:
        sections: dict[str, tuple[list[Any], dict[str, str]]] = {
            "Running now": (
                control.report(t.CurrentRow, order_by=["start_datetime"]),
                {
                    "type": "instance_type",
                    "instance": "instance_id",
                    "code": "code",
                    "started": "start_datetime",
                    "for": "running_for",
                    "told": "processing_indicator",
                    "lease until": "lease_expires_at",
                },
            ),
            "Exceptions": (
                control.report(
                    t.ExceptionRow, order_by=["exception_code", "instance_type", "code"]
                ),
                {
                    "exception": "exception_code",
                    "type": "instance_type",
                    "code": "code",
                    "instance": "instance_id",
                    "since": "since_datetime",
                    "detail": "detail",
                },
            ),
            "Rolled back by the next begin": (
                control.report(t.PendingRollbackRow, order_by=["module_code"]),
                {
                    "module": "module_code",
                    "target": "table_code",
                    "platform": "platform_code",
                    "instances": "module_instance_ids",
                    "since": "since_datetime",
                },
            ),
            "Directives for the next run": (
                control.report(t.DirectiveRow, order_by=["instance_type", "instance_id"]),
                {
                    "type": "instance_type",
                    "instance": "instance_id",
                    "code": "code",
                    "next": "next_run_indicator",
                    "ended": "end_datetime",
                },
            ),
            "Last Batch Instances": (
                batch_runs(control, limit)[::-1],
                {title: name for title, name in BATCH_RUN.items() if title != "told"},
            ),
            "Last Module Instances": (
                module_runs(control, limit)[::-1],
                {title: name for title, name in MODULE_RUN.items() if title != "next"},
            ),
            "Last events": (
                events(control, 5)[::-1],
                {title: name for title, name in EVENT.items() if title != "type"},
            ),
        }
    if output == "json":
        found = {
            title.lower().replace(" ", "_"): [row_dict(row) for row in rows]
            for title, (rows, _) in sections.items()
        }
        click.echo(json.dumps(found, default=as_json, indent=2, ensure_ascii=False))
        return
    for number, (title, (rows, columns)) in enumerate(sections.items()):
        click.secho(f"{chr(10) if number else ''}{title}", bold=True)
        if rows:
            show(rows, columns, output)
        else:
            click.echo("-")


# omd log ----------------------------------------------------------------------------------------

_STATUSES = click.Choice(["E", "S", "F", "A", "C"])
_FILTERS_LACKING = {
    "events": ["execution_status_code"],
    "batches": ["module_code", "module_instance_id"],
    "modules": [],
}


@click.command()
@click.argument("what", type=click.Choice(["modules", "batches", "events"]), default="modules")
@dsn_option
@output_option
@click.option("--batch", "batch_code", metavar="CODE", help="Only this Batch.")
@click.option("--module", "module_code", metavar="CODE", help="Only this Module.")
@click.option("--batch-instance", "batch_instance_id", type=int, metavar="ID")
@click.option("--module-instance", "module_instance_id", type=int, metavar="ID")
@click.option("--status", "execution_status_code", type=_STATUSES, help="Only with this status.")
@click.option(
    "--since",
    "after",
    type=since,
    metavar="SPAN",
    help="Only from then on: 90m, 24h, 7d, 2026-01-31.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), help="The newest so many.  [default: 20; --since: all]"
)
@click.option("--follow", is_flag=True, help="Go on, a line for each begin, end and event.")
@click.option(
    "--interval", type=float, default=1.0, show_default=True, help="Of --follow, seconds."
)
def log(
    what: str,
    dsn: str,
    output: str,
    after: datetime | None,
    limit: int | None,
    follow: bool,
    interval: float,
    **filters: Any,
) -> None:
    """Show the log of Module Instances, Batch Instances or events, the newest last.

    \b
    Examples:
      omd log                               the last Module Instances
      omd log --status F --since 24h        what failed since yesterday
      omd log events --limit 3              the last three events
      omd log batches --follow              what begins and ends, until Ctrl-C
    """
    conditions = {name: value for name, value in filters.items() if value is not None}
    for name in _FILTERS_LACKING[what]:
        if name in conditions:
            raise click.UsageError(f"the log of {what} has no {name}")
    if after is not None:
        date = "event_datetime" if what == "events" else "start_datetime"
        conditions["after"] = {date: after}
    elif limit is None:
        limit = 20
    read, columns = {
        "modules": (module_runs, MODULE_RUN),
        "batches": (batch_runs, BATCH_RUN),
        "events": (events, EVENT),
    }[what]
    with open_control(dsn) as control:
        if not follow:
            show(read(control, limit, **conditions), columns, output)
            return
        with contextlib.suppress(KeyboardInterrupt):
            _follow(
                lambda: read(control, max(limit or 0, 200), **conditions),
                columns,
                output,
                limit or 200,
                interval,
            )


def _follow(
    read: Callable[[], list[Any]],
    columns: Mapping[str, str],
    output: str,
    limit: int,
    interval: float,
) -> None:
    """Print rows that are new or have changed their status, one line each, as they come."""
    key = next(iter(columns.values()))
    seen: dict[int, Any] = {}
    first = True
    while True:
        rows = read()
        if first and len(rows) > limit:
            for row in rows[:-limit]:
                seen[getattr(row, key)] = getattr(row, "execution_status_code", None)
        for row in rows:
            status = getattr(row, "execution_status_code", None)
            if seen.get(getattr(row, key), "") != status:
                _line(row, columns, output, header=first)
                first = False
        seen = {getattr(row, key): getattr(row, "execution_status_code", None) for row in rows}
        sys.stdout.flush()
        time.sleep(interval)


def _line(row: Any, columns: Mapping[str, str], output: str, *, header: bool) -> None:
    values = row_dict(row)
    if output == "json":
        click.echo(json.dumps(values, default=as_json, ensure_ascii=False))
    elif output == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        if header:
            writer.writerow(values)
        writer.writerow([as_text(value) for value in values.values()])
    else:
        # The lines to come are not known yet, so the widths are fixed.
        widths = [{"started": 19, "at": 19, "module": 20, "batch": 20}.get(t, 8) for t in columns]
        lines = [list(columns)] if header else []
        lines.append([as_text(short(values[name])) for name in columns.values()])
        for cells in lines:
            click.echo("  ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)).rstrip())


# omd trace --------------------------------------------------------------------------------------


@click.command()
@click.argument("instance", type=int)
@dsn_option
@_json_option
def trace(instance: int, dsn: str, output: str) -> None:
    """Show all that is known of the Module Instance whose ID a row of a target carries."""
    from omd._types import TraceRow
    from omd.errors import UnknownModuleInstance

    with open_control(dsn) as control:
        found = control.report(TraceRow, module_instance_id=instance)
    if not found:
        raise UnknownModuleInstance(
            f"Module Instance {instance} does not exist", hint="omd log modules"
        )
    if output == "json":
        told = row_dict(found[0])
        click.echo(json.dumps(told, default=as_json, indent=2, ensure_ascii=False))
        return
    for name, value in _told(found[0]):
        click.echo(f"{name:<12}{value}")
    if found[0].events:
        click.secho("\nEvents", bold=True)
    for event in found[0].events:
        at = short(datetime.fromisoformat(event["event_datetime"]))
        code = event["event_return_code_details"]
        click.echo(f"{at}  {event['event_type_description']}{f' {short(code)}' if code else ''}")
        for line in (event["event_detail"] or "").splitlines():
            click.echo(f"  {short_line(line)}")


def short_line(line: str) -> str:
    """A line of a text as the terminal may have it: indented as it is, nothing unprintable."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line.expandtabs())


_WORDS = {
    "E": "executing",
    "S": "succeeded",
    "F": "failed",
    "A": "aborted",
    "C": "skipped",
}


def _told(row: TraceRow) -> list[tuple[str, str]]:
    """A trace in lines of a name and a text."""
    kinds = ", ".join(filter(None, [row.area_code, row.table_type_code]))
    status = str(row.execution_status_code)
    reason = f" ({row.reason_code})" if row.reason_code else ""
    told = [
        ("instance", f"{row.module_instance_id}, {_WORDS[status]}{reason}"),
        ("module", f"{row.module_code} ({kinds})"),
        ("target", f"{row.table_code} on {row.platform_code}"),
    ]
    for number, parent in enumerate(row.parents):
        of = f"{parent['batch_code']}, Batch Instance {parent['batch_instance_id']}"
        state = _WORDS[parent["execution_status_code"]]
        told.append(("under" if number else "batch", f"{of}, {state}"))
    told.append(("started", f"{short(row.start_datetime)}"))
    told.append(("ended" if row.end_datetime else "runs", _until(row)))
    if row.window_is_taken_back is not None:
        told.append(("read", _window(row)))
    counts = ("input", "inserted", "updated", "deleted", "discarded", "rejected")
    told.append(("rows", ", ".join(f"{getattr(row, f'rows_{n}'):,} {n}" for n in counts)))
    told.append(
        ("codes", f"told {row.processing_indicator}, tells the next run {row.next_run_indicator}")
    )
    if row.undid_module_instance_ids:
        told.append(("undid", as_text(row.undid_module_instance_ids)))
    if row.rolled_back_by_module_instance_id is not None:
        told.append(("undone by", str(row.rolled_back_by_module_instance_id)))
    for name, value in (row.execution_context or {}).items():
        told.append(("context", f"{name} = {as_text(value)}"))
    return [(name, str(short(value))) for name, value in told]


def _until(row: TraceRow) -> str:
    if row.end_datetime:
        return f"{short(row.end_datetime)}, after {as_text(row.duration)}"
    lease = f", lease until {short(row.lease_expires_at)}" if row.lease_expires_at else ""
    return f"for {as_text(row.duration)}{lease}"


def _bound(start: object) -> object:
    return "the beginning" if start is None else short(start)


def _window(row: TraceRow) -> str:
    values = [
        f"{name}s from {_bound(start)} (exclusive) to {short(end)}"
        for name, start, end in (
            ("instant", row.window_start_value, row.window_end_value),
            ("id", row.window_start_id, row.window_end_id),
        )
        if end is not None
    ]
    return "; ".join(values) + (" (taken back)" if row.window_is_taken_back else "")


# omd report -------------------------------------------------------------------------------------


@click.command()
@dsn_option
@click.option(
    "--since",
    "start",
    type=since,
    default="24h",
    show_default=True,
    metavar="SPAN",
    help="How far back the timeline goes: 90m, 24h, 7d, 2026-01-31.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    default="omd-report.html",
    show_default=True,
    help="The file to write; - is stdout.",
)
def report(dsn: str, start: datetime, out: Path) -> None:
    """Write one HTML page: what runs, a timeline, what failed, what waits, throughput.

    The page needs nothing else, no network and no script: send it or keep it. Prints its path.

    \b
    Examples:
      omd report                            the last 24 hours, in omd-report.html
      omd report --since 7d --out week.html
      omd report --out - | mail …           to stdout
    """
    from omd.cli import _page

    with open_control(dsn) as control:
        page = _page.make(control, start)
    if str(out) == "-":
        click.echo(page, nl=False)
        return
    out.write_text(page, encoding="utf-8")
    click.echo(out)


commands: list[click.Command] = [status, log, trace, report]

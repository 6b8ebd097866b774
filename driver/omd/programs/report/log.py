"""``omd log`` shows what happened, with the newest last."""

from __future__ import annotations

import contextlib
import csv
import json
import re
import sys
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.cli.logs import (
    BATCH_RUN,
    EVENT,
    MODULE_RUN,
    batch_runs,
    events,
    module_runs,
)
from omd.programs.terminal.options import output_option
from omd.programs.terminal.tables import show
from omd.programs.terminal.text import as_json, as_text, row_dict, short


def since(value: str) -> datetime:
    """Return the instant of a span back from now, or of an instant; without a zone it is local."""
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


_STATUSES = click.Choice(["E", "S", "F", "A", "C"])
_FILTERS_LACKING = {
    "events": ["execution_status_code"],
    "batches": ["module_code", "module_instance_id"],
    "modules": [],
}


class _Kind(click.Choice[str]):
    """A kind of log, which may be named in the singular: ``omd log module`` is ``log modules``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        plural = {"module": "modules", "batch": "batches", "event": "events"}
        return super().convert(plural.get(value, value), param, ctx)


@click.command()
@click.argument("what", type=_Kind(["modules", "batches", "events"]), default="modules")
@dsn_option
@output_option
@click.option("--batch", "batch_code", metavar="CODE", help="Only this Batch.")
@click.option("--module", "module_code", metavar="CODE", help="Only this Module.")
@click.option(
    "--batch-instance",
    "batch_instance_id",
    type=int,
    metavar="ID",
    help="Only this Batch Instance and its Modules.",
)
@click.option(
    "--module-instance",
    "module_instance_id",
    type=int,
    metavar="ID",
    help="Only this Module Instance.",
)
@click.option("--status", "execution_status_code", type=_STATUSES, help="Only runs of this status.")
@click.option(
    "--since",
    "after",
    type=since,
    metavar="SPAN",
    help="Only entries since then: 90m, 24h, 7d, 2026-01-31.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), help="How many.  [default: 20, with --since all]"
)
@click.option("--follow", is_flag=True, help="Print a line for each begin, end and event to come.")
@click.option(
    "--interval", type=float, default=1.0, show_default=True, help="Seconds, for --follow."
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
    """Show the log of Module Instances, Batch Instances or events, with the newest last.

    \b
    Examples:
      omd log                               shows the last Module Instances
      omd log --status F --since 24h        shows what failed since yesterday
      omd log events --limit 3              shows the last three events
      omd log batches --follow              shows what begins and ends, until Ctrl-C
    """
    conditions = {name: value for name, value in filters.items() if value is not None}
    for name in _FILTERS_LACKING[what]:
        if name in conditions:
            raise click.UsageError(f"The log of {what} has no {name}.")
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
    """Print each row that is new or has another status, on one line, as it appears."""
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


_WIDTHS = {
    "started": 19, "at": 19, "module": 20, "batch": 20, "status": 11, "answer": 10, "next": 10,
}  # fmt: skip


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
        # The later lines are not known yet, so the widths are fixed.
        widths = [_WIDTHS.get(title, 8) for title in columns]
        lines = [list(columns)] if header else []
        lines.append([as_text(short(values[name])) for name in columns.values()])
        for cells in lines:
            click.echo("  ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)).rstrip())

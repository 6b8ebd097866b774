"""``omd log`` shows what happened, with the newest last."""

from __future__ import annotations

import contextlib
import csv
import json
import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.cli.things import find
from omd.programs.terminal.options import output_option
from omd.programs.terminal.tables import show, titled
from omd.programs.terminal.text import as_json, as_text, row_dict, short

if TYPE_CHECKING:
    from omd.rooms.control.connection import Connection


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


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a log holds: a view, the column that counts it and its instant, and what is shown."""

    view: str
    key: str
    instant: str
    columns: Mapping[str, str]


_RUNS = {
    "module": _Kind(
        "module_execution_log",
        "module_instance_id",
        "start_datetime",
        titled(
            "module_instance_id AS instance, module_code, batch_instance_id AS in,"
            " execution_status_code AS status, next_run_indicator AS next, reason_code,"
            " start_datetime AS started, duration AS took, rows_inserted AS inserted"
        ),
    ),
    "batch": _Kind(
        "batch_execution_log",
        "batch_instance_id",
        "start_datetime",
        titled(
            "batch_instance_id AS instance, batch_code, execution_status_code AS status,"
            " processing_indicator, next_run_indicator AS next, reason_code,"
            " start_datetime AS started, duration AS took",
            processing_indicator="answer",
        ),
    ),
}
_KINDS = {
    **_RUNS,
    "event": _Kind(
        "event_log",
        "event_id",
        "event_datetime",
        titled(
            "event_id, event_datetime AS at, event_type_description AS type, batch_code,"
            " module_code, event_detail AS detail"
        ),
    ),
}
MODULE_RUN, BATCH_RUN = (_RUNS[kind].columns for kind in ("module", "batch"))


def newest(control: Connection, kind: str, limit: int | None, **conditions: Any) -> list[Any]:
    """Return the newest entries of a log, the newest last.

    Args:
        control: the connection.
        kind: module, batch (their runs) or event.
        limit: at most so many.
        conditions: as those of `Connection.report`.
    """
    its = _KINDS[kind]
    rows = control.report(its.view, order_by=[its.key], descending=True, limit=limit, **conditions)
    return rows[::-1]


# Of a THING: the column that has it, and what its log shows unless --kind says otherwise.
_OF = {
    "module": ("module_code", "module"),
    "topic": ("module_code", "module"),
    "stage": ("module_code", "module"),
    "batch": ("batch_code", "batch"),
    "run": ("module_instance_id", "event"),
    "batchrun": ("batch_instance_id", "module"),
}


@click.command()
@click.argument("thing", required=False)
@dsn_option
@output_option
@click.option(
    "--kind",
    type=click.Choice(list(_KINDS)),
    help="Runs of Modules, runs of Batches, or events.  [default: by THING, else module]",
)
@click.option("--status", type=_STATUSES, help="Only runs of this status.")
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
    thing: str | None,
    dsn: str,
    output: str,
    kind: str | None,
    status: str | None,
    after: datetime | None,
    limit: int | None,
    follow: bool,
    interval: float,
) -> None:
    """Show runs and events, the newest last: of a Module, a Batch or a run, or of all.

    THING is a code or kind:code, of module, topic, stage or batch, or an id, as run:7 (its events)
    or batchrun:7 (the runs of its Modules).

    \b
    Examples:
      omd log                               the last runs of Modules
      omd log --status F --since 24h        what failed since yesterday
      omd log --kind event --limit 3        the last three events
      omd log batch:b_night --follow        what begins and ends, until Ctrl-C
    """
    conditions: dict[str, Any] = {}
    with open_control(dsn) as control:
        if thing is not None:
            target = find(control, thing, among=tuple(_OF))
            column, its = _OF[target.kind]
            conditions[column] = target.module_code if column == "module_code" else target.key
            kind = kind or its
        kind = kind or "module"
        if kind == "batch" and not conditions.keys() <= {"batch_code", "batch_instance_id"}:
            raise click.UsageError(f"{thing} has no runs of Batches.")
        if status is not None and kind not in _RUNS:
            raise click.UsageError("Events have no status.")
        conditions["execution_status_code"] = status
        if kind == "event":
            del conditions["execution_status_code"]
        if after is not None:
            conditions["after"] = {_KINDS[kind].instant: after}
        elif limit is None:
            limit = 20
        if not follow:
            show(newest(control, kind, limit, **conditions), _KINDS[kind].columns, output)
            return
        with contextlib.suppress(KeyboardInterrupt):
            _follow(
                lambda: newest(control, kind, max(limit or 0, 200), **conditions),
                _KINDS[kind].columns,
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

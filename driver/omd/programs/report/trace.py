"""``omd trace`` follows the rows of a run, or one row, through all rooms."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.terminal.options import document_option, json_value, page_option
from omd.programs.terminal.text import as_json, as_text, printable, row_dict, short
from omd.rooms.control.codes import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omd.programs.report.traced import Run
    from omd.rooms.control.rows import TraceRow


@click.command()
@click.argument("instance", type=int, required=False)
@dsn_option
@document_option
@click.option("--row", "table_code", metavar="TABLE", help="Of the run that wrote this row.")
@click.option(
    "--key",
    callback=json_value,
    metavar="JSON",
    help="The columns that find the row, such as '{\"order_nbr\": 5}'.",
)
@click.option("--up", "is_up", is_flag=True, help="Only what it was made from.")
@click.option("--down", "is_down", is_flag=True, help="Only what was made of it.")
@click.option("--depth", type=click.IntRange(min=0), help="How many steps far; by default 20.")
@page_option("--html", "Write it to this file too, as a page for people.")
def trace(
    instance: int | None,
    dsn: str,
    output: str,
    table_code: str | None,
    key: Any,
    is_up: bool,
    is_down: bool,
    depth: int | None,
    page: Path | None,
) -> None:
    """Follow the rows of the Module Instance INSTANCE, or one row, through all rooms.

    A row of a target carries the ID of its run. Up leads to what that run has read, as far as
    deliveries and their files; down to who has read what it made, as far as exports.

    \b
    Examples:
      omd trace 4711                                      shows both ways
      omd trace 4711 --up --depth 1                       shows what it has read itself
      omd trace --row mart.orders --key '{"nbr": 5}' --html way.html
    """
    if (instance is None) == (table_code is None) or (key is None) != (table_code is None):
        raise click.UsageError("name either an INSTANCE, or a row by --row and --key")
    direction = "BOTH" if is_up == is_down else "UP" if is_up else "DOWN"
    from omd.rooms.control.rows import TraceRow

    with open_control(dsn) as control:
        about: list[TraceRow] = []
        runs: Sequence[Run]
        if instance is not None:
            runs = control.calls.omd_provenance.trace(instance, direction=direction, depth=depth)
            about = control.report(TraceRow, module_instance_id=instance)
        else:
            assert table_code is not None  # noqa: S101 - one of the two is given
            runs = control.calls.omd_provenance.trace_row(
                table_code, key, direction=direction, depth=depth
            )
    if page is not None:
        from omd.programs.report.traced import as_page

        page.write_text(as_page(runs), encoding="utf-8")
    if output == "json":
        values = row_dict(about[0]) if about else {}
        click.echo(_json(values | {"way": [row_dict(run) for run in runs]}))
    else:
        _print(about[0] if about else None, runs)
    if page is not None:
        click.echo(f"The way is in {page}.", err=True)


def _json(values: dict[str, Any]) -> str:
    return json.dumps(values, default=as_json, indent=2, ensure_ascii=False)


def _print(about: TraceRow | None, runs: Sequence[Run]) -> None:
    from omd.programs.report.traced import TITLES, in_words

    for name, value in _lines(about) if about else []:
        click.echo(f"{name:<12}{value}")
    for run in runs:
        if run.direction == "SELF":
            click.echo(f"{'in words':<12}{printable(run.text)}")
    for direction, title in TITLES.items():
        its = [run for run in runs if run.direction == direction]
        if its:
            click.secho(f"\n{title}", bold=True)
        for run in its:
            click.echo(f"{'  ' * (run.distance - 1)}{printable(in_words(run))}")
    if about and about.events:
        click.secho("\nEvents", bold=True)
    for event in about.events or [] if about else []:
        at = short(datetime.fromisoformat(event["event_datetime"]))
        code = event["event_return_code_details"]
        click.echo(f"{at}  {event['event_type_description']}{f' {short(code)}' if code else ''}")
        for line in (event["event_detail"] or "").splitlines():
            click.echo(f"  {printable(line)}")


def _lines(row: TraceRow) -> list[tuple[str, str]]:
    """Return a trace as lines of a name and a text."""
    kinds = ", ".join(filter(None, [row.area_code, row.table_type_code]))
    reason = f" ({row.reason_code})" if row.reason_code else ""
    lines = [
        ("instance", f"{row.module_instance_id}, {row.execution_status_code.word}{reason}"),
        ("module", f"{row.module_code} ({kinds})"),
        ("target", f"{row.table_code} on {row.platform_code}"),
    ]
    for number, parent in enumerate(row.parents):
        of = f"{parent['batch_code']}, Batch Instance {parent['batch_instance_id']}"
        state = Status(parent["execution_status_code"]).word
        lines.append(("under" if number else "batch", f"{of}, {state}"))
    by = f", by {row.started_by}" if row.started_by else ""
    lines.append(("started", f"{short(row.start_datetime)}{by}"))
    lines.append(("ended" if row.end_datetime else "runs", _until(row)))
    if row.window_is_taken_back is not None:
        lines.append(("read", _window(row)))
    counts = ("input", "inserted", "updated", "deleted", "discarded", "rejected")
    lines.append(("rows", ", ".join(f"{getattr(row, f'rows_{n}'):,} {n}" for n in counts)))
    lines.append(
        ("codes", _codes(row)),
    )
    if row.undid_module_instance_ids:
        lines.append(("undid", as_text(row.undid_module_instance_ids)))
    if row.rolled_back_by_module_instance_id not in (None, row.module_instance_id):
        lines.append(("undone by", str(row.rolled_back_by_module_instance_id)))
    for name, value in (row.execution_context or {}).items():
        lines.append(("context", f"{name} = {as_text(value)}"))
    return [(name, str(short(value))) for name, value in lines]


def _codes(row: TraceRow) -> str:
    begun, to_come = short(row.processing_indicator), short(row.next_run_indicator)
    return f"begun with {begun}, next run {to_come}"


def _until(row: TraceRow) -> str:
    if row.end_datetime:
        return f"{short(row.end_datetime)}, after {as_text(row.duration)}"
    lease = f", lease until {short(row.lease_expires_at)}" if row.lease_expires_at else ""
    return f"for {as_text(row.duration)}{lease}"


def _window(row: TraceRow) -> str:
    values = [
        f"{name}s from {_bound(start)} (exclusive) to {short(end)}"
        for name, start, end in (
            ("instant", row.window_start_value, row.window_end_value),
            ("id", row.window_start_id, row.window_end_id),
        )
        if end is not None
    ]
    return "; ".join(values) + (" (withdrawn)" if row.window_is_taken_back else "")


def _bound(start: object) -> object:
    return "the beginning" if start is None else short(start)

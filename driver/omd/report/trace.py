"""``omd trace`` shows all that is known about the run whose ID a row carries."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

import click

from omd._terminal.options import document_option
from omd._terminal.text import as_json, as_text, printable, row_dict, short
from omd.cli.common import dsn_option, open_control

if TYPE_CHECKING:
    from omd.control.rows import TraceRow


@click.command()
@click.argument("instance", type=int)
@dsn_option
@document_option
def trace(instance: int, dsn: str, output: str) -> None:
    """Show all that is known about the Module Instance whose ID a row of a target carries.

    It goes one step in each direction: what the run has read, the task that ran it, what took it
    back, and which runs have read what it made. Trace these to go on.
    """
    from omd.control.rows import TraceRow
    from omd.errors import UnknownModuleInstance
    from omd.report.rows import TraceStepsRow

    with open_control(dsn) as control:
        traces = control.report(TraceRow, module_instance_id=instance)
        steps = control.report(
            TraceStepsRow,
            order_by=["step", "at", "object_kind", "object_key"],
            module_instance_id=instance,
        )
    if not traces:
        raise UnknownModuleInstance(
            f"Module Instance {instance} does not exist", hint="omd log modules"
        )
    if output == "json":
        values = row_dict(traces[0]) | {"steps": [row_dict(step) for step in steps]}
        click.echo(json.dumps(values, default=as_json, indent=2, ensure_ascii=False))
        return
    for name, value in _lines(traces[0]):
        click.echo(f"{name:<12}{value}")
    for title, name in _STEPS.items():
        texts = [step.text for step in steps if step.step == name]
        if texts:
            click.secho(f"\n{title}", bold=True)
        for text in texts:
            click.echo(printable(text))
    if traces[0].events:
        click.secho("\nEvents", bold=True)
    for event in traces[0].events:
        at = short(datetime.fromisoformat(event["event_datetime"]))
        code = event["event_return_code_details"]
        click.echo(f"{at}  {event['event_type_description']}{f' {short(code)}' if code else ''}")
        for line in (event["event_detail"] or "").splitlines():
            click.echo(f"  {printable(line)}")


_STEPS = {
    "What it read": "READ",
    "Who ran it": "TASK",
    "What took it back": "UNDONE",
    "Who read what it made": "READ_BY",
}
_WORDS = {
    "E": "executing",
    "S": "succeeded",
    "F": "failed",
    "A": "aborted",
    "C": "skipped",
}


def _lines(row: TraceRow) -> list[tuple[str, str]]:
    """Return a trace as lines of a name and a text."""
    kinds = ", ".join(filter(None, [row.area_code, row.table_type_code]))
    status = str(row.execution_status_code)
    reason = f" ({row.reason_code})" if row.reason_code else ""
    lines = [
        ("instance", f"{row.module_instance_id}, {_WORDS[status]}{reason}"),
        ("module", f"{row.module_code} ({kinds})"),
        ("target", f"{row.table_code} on {row.platform_code}"),
    ]
    for number, parent in enumerate(row.parents):
        of = f"{parent['batch_code']}, Batch Instance {parent['batch_instance_id']}"
        state = _WORDS[parent["execution_status_code"]]
        lines.append(("under" if number else "batch", f"{of}, {state}"))
    by = f", by {row.started_by}" if row.started_by else ""
    lines.append(("started", f"{short(row.start_datetime)}{by}"))
    lines.append(("ended" if row.end_datetime else "runs", _until(row)))
    if row.window_is_taken_back is not None:
        lines.append(("read", _window(row)))
    counts = ("input", "inserted", "updated", "deleted", "discarded", "rejected")
    lines.append(("rows", ", ".join(f"{getattr(row, f'rows_{n}'):,} {n}" for n in counts)))
    lines.append(
        ("codes", f"told {row.processing_indicator}, tells the next run {row.next_run_indicator}")
    )
    if row.undid_module_instance_ids:
        lines.append(("undid", as_text(row.undid_module_instance_ids)))
    if row.rolled_back_by_module_instance_id is not None:
        lines.append(("undone by", str(row.rolled_back_by_module_instance_id)))
    for name, value in (row.execution_context or {}).items():
        lines.append(("context", f"{name} = {as_text(value)}"))
    return [(name, str(short(value))) for name, value in lines]


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

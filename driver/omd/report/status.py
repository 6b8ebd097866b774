"""``omd status`` shows what runs, what ran last, and what needs attention."""

from __future__ import annotations

import json
from typing import Any

import click

from omd._terminal.options import document_option
from omd._terminal.tables import show, titled
from omd._terminal.text import as_json, row_dict
from omd.cli.common import dsn_option, open_control
from omd.control.logs import BATCH_RUN, EVENT, MODULE_RUN, batch_runs, events, module_runs


@click.command()
@dsn_option
@document_option
@click.option(
    "--limit", type=click.IntRange(min=1), default=10, show_default=True, help="How many runs."
)
def status(dsn: str, output: str, limit: int) -> None:
    """Show what runs, what ran last, and what needs attention."""
    from omd.control import rows as t

    with open_control(dsn) as control:
        sections: dict[str, tuple[list[Any], dict[str, str]]] = {
            "Running now": (
                control.report(t.CurrentProcessingRow, order_by=["start_datetime"]),
                titled(
                    "instance_type AS type, instance_id, code, start_datetime AS started,"
                    " running_for AS for, processing_indicator,"
                    " lease_expires_at AS lease until",
                    processing_indicator="told",
                ),
            ),
            "Exceptions": (
                control.report(
                    t.ExceptionsRow, order_by=["exception_code", "instance_type", "code"]
                ),
                titled(
                    "exception_code, instance_type AS type, code, instance_id, since_datetime,"
                    " detail"
                ),
            ),
            "Rolled back by the next begin": (
                control.report(t.PendingRollbacksRow, order_by=["module_code"]),
                titled(
                    "module_code, table_code AS target, platform_code,"
                    " module_instance_ids AS instances, since_datetime"
                ),
            ),
            "Directives for the next run": (
                control.report(t.DirectivesRow, order_by=["instance_type", "instance_id"]),
                titled(
                    "instance_type AS type, instance_id, code, next_run_indicator AS next,"
                    " end_datetime AS ended"
                ),
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
        document = {
            title.lower().replace(" ", "_"): [row_dict(row) for row in rows]
            for title, (rows, _) in sections.items()
        }
        click.echo(json.dumps(document, default=as_json, indent=2, ensure_ascii=False))
        return
    for number, (title, (rows, columns)) in enumerate(sections.items()):
        click.secho(f"{chr(10) if number else ''}{title}", bold=True)
        if rows:
            show(rows, columns, output)
        else:
            click.echo("-")

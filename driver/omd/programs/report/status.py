"""``omd status`` shows what needs somebody, what runs, what is next, and what ran last."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.cli.log import BATCH_RUN, MODULE_RUN, newest
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.options import document_option, page_option
from omd.programs.terminal.tables import show, titled
from omd.programs.terminal.text import as_json, row_dict

# Spans of the page, in hours.
_SPANS = {"1h": "1", "6h": "6", "24h": "24", "3d": "72", "7d": "168"}


@click.command()
@dsn_option
@document_option
@click.option(
    "--limit", type=click.IntRange(min=1), default=5, show_default=True, help="How many runs."
)
@page_option("--html", "Write the page as a still instead; - is stdout.")
@click.option(
    "--since",
    "start",
    type=click.Choice(list(_SPANS)),
    default="24h",
    show_default=True,
    help="How far back the page shows runs.",
)
def status(dsn: str, output: str, limit: int, page: Path | None, start: str) -> None:
    """Show what needs somebody, what runs, what is next, and what ran last.

    The exit code is 1 when a problem is an ERROR: a run that failed, a Module that was given up, a
    dead task. The page needs no other file, no network and no script, so it can be sent or kept;
    the command prints its path.

    \b
    Examples:
      omd status --html week.html --since 7d
      omd status --html - | mail …              writes to stdout
    """
    if page is not None:
        _write_page(dsn, page, _SPANS[start])
        return
    from omd.rooms.control import rows as t
    from omd.rooms.decision.rows import DecisionLastRejectsRow
    from omd.rooms.delivery.rows import ArrivalSummaryRow, DeliveryStateRow
    from omd.rooms.dispatch.rows import DispatchQueueRow
    from omd.rooms.facts.rows import FactsStateRow
    from omd.rooms.report.rows import ProblemsRow, WorkSummaryRow

    with open_control(dsn) as control:
        problems = control.report(
            ProblemsRow, order_by=["severity", "problem_code", "object_kind", "object_key"]
        )
        said = {problem.problem_code for problem in problems}
        sections: dict[str, tuple[list[Any], dict[str, str]]] = {
            "Problems": (
                problems,
                titled("severity, problem_code, subject, text, way_out"),
            ),
            "Running now": (
                control.report(t.CurrentProcessingRow, order_by=["start_datetime"]),
                titled(
                    "instance_type AS type, instance_id, code, start_datetime AS started,"
                    " running_for AS for, processing_indicator,"
                    " lease_expires_at AS lease until",
                    processing_indicator="answer",
                ),
            ),
            "Work": (
                control.report(WorkSummaryRow, order_by=["state", "reason", "module_kind_code"]),
                titled(
                    "state, reason, module_kind_code AS kind, modules, oldest_since AS since,"
                    " first_code"
                ),
            ),
            "Deliveries": (
                control.report(DeliveryStateRow, order_by=["delivery_id"], limit=limit),
                titled(
                    "delivery_id, agreement_code, snapshot_datetime AS T,"
                    " delivery_status AS status, status_age AS for, waits_for"
                ),
            ),
            "Queue": (
                [
                    row
                    for row in control.report(FactsStateRow, order_by=["interface_code"])
                    if row.queued_items
                ],
                titled("interface_code, queued_items AS queued, oldest_queued AS since"),
            ),
            "Tasks": (
                control.report(
                    DispatchQueueRow, order_by=["family_code", "task_type", "lane"], limit=50
                ),
                titled(
                    "family_code, task_type AS type, lane, due, later, suspended,"
                    " claimed AS at work, dead, oldest_due"
                ),
            ),
            "Suspended": (
                [r for r in control.report("dispatch_suspensions") if r.resumed_at is None],
                titled(
                    "suspension_id, family_code, task_types, criteria, reason,"
                    " suspended_at AS since, suspended_by AS by"
                ),
            ),
            "Arrivals": (
                control.report(ArrivalSummaryRow, order_by=["agreement_code", "arrival_status"]),
                titled(
                    "agreement_code, arrival_status AS status, folders, first_folder AS first,"
                    " last_folder AS last, changed_datetime"
                ),
            ),
            "Rejects": (
                control.report(DecisionLastRejectsRow, order_by=["stage_code"]),
                titled(
                    "stage_code, module_instance_id AS instance, end_datetime AS ended,"
                    " rows_input AS read, rows_rejected AS rejected"
                ),
            ),
            "Exceptions": (
                [
                    row
                    for row in control.report(
                        t.ExceptionsRow, order_by=["exception_code", "instance_type", "code"]
                    )
                    # What a person has read above is not said twice.
                    if output == "json" or row.exception_code not in said
                ],
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
                newest(control, "batch", limit)[::-1],
                {title: name for title, name in BATCH_RUN.items() if title != "answer"},
            ),
            "Last Module Instances": (
                newest(control, "module", limit)[::-1],
                {title: name for title, name in MODULE_RUN.items() if title != "next"},
            ),
        }
    if output == "json":
        document = {
            title.lower().replace(" ", "_"): [row_dict(row) for row in rows]
            for title, (rows, _) in sections.items()
        }
        click.echo(json.dumps(document, default=as_json, indent=2, ensure_ascii=False))
    else:
        _show(sections, output)
    if any(row.severity == "ERROR" for row in problems):
        click.get_current_context().exit(ExitCode.FAILURE)


def _write_page(dsn: str, file: Path, hours: str) -> None:
    from omd.programs.web.still import still

    html = still(dsn, hours)
    if str(file) == "-":
        click.echo(html, nl=False)
        return
    file.write_text(html, encoding="utf-8")
    click.echo(file)


def _show(sections: dict[str, tuple[list[Any], dict[str, str]]], output: str) -> None:
    filled = {title: its for title, its in sections.items() if its[0]}
    for number, (title, (rows, columns)) in enumerate(filled.items()):
        click.secho(f"{chr(10) if number else ''}{title}", bold=True)
        show(rows, columns, output)
    if not filled:
        click.echo("Nothing is registered, and nothing has run.")

"""Rollback and retention on the command line (process-control.md sections 6 and 7)."""

from __future__ import annotations

from datetime import timedelta

import click

from omd.cli.common import dsn_option, open_control, output_option, render


@click.command()
@click.argument("code")
@dsn_option
@output_option
@click.option("--count", is_flag=True, help="Count the rows that each statement would touch.")
def rollback(code: str, dsn: str, output: str, count: bool) -> None:
    """Show the statements that the next begin of the Module CODE would undo with.

    Nothing is executed. A count reads the target, with your rights.
    """
    with open_control(dsn) as control:
        previous = control.previous_module_instance(code)
        if previous is None or not previous.instance_array:
            click.echo(f"Nothing of {code} waits for a rollback.", err=True)
            return
        click.echo(f"Undoes Module Instances {_listed(previous.instance_array)}.", err=True)
        instance = previous.instance_array[-1]
        if count:
            counted = control.preview_rollback(instance)
            rows = [
                {
                    "step": row.step,
                    "platform": row.platform_code,
                    "rows": row.row_count,
                    "statement": row.statement,
                }
                for row in counted
            ]
        else:
            rows = [
                {"step": row.step, "platform": row.platform_code, "statement": row.statement}
                for row in control.build_rollback_sql(instance)
            ]
    if output == "table" and not count:
        for row in rows:
            click.echo(f"{row['statement']};")
        return
    render(rows, list(rows[0]), output)


def _listed(ids: list[int]) -> str:
    return ", ".join(map(str, ids[:10])) + (f", … ({len(ids)})" if len(ids) > 10 else "")


@click.command()
@dsn_option
@click.option(
    "--keep-days",
    type=click.IntRange(min=0),
    required=True,
    help="How many days of history stay.",
)
@click.option(
    "--batch-size",
    type=click.IntRange(min=1),
    default=5000,
    show_default=True,
    help="Rows per transaction.",
)
def purge(dsn: str, keep_days: int, batch_size: int) -> None:
    """Delete instances and log rows that are old and that nothing needs any more.

    Kept, however old: what executes, waits for a rollback or carries a directive; the last real run
    of each Module and Batch; failed Batches that wait for a restart; the newest load windows.
    """
    import omd

    with open_control(dsn) as control:
        keep = timedelta(days=keep_days)
        gone = control.purge_history(keep, batch_size=batch_size)
        steps = omd.Lineage(control).purge_log(keep)
    click.echo(
        f"Deleted {gone.module_instances:,} Module Instances, {gone.batch_instances:,} Batch"
        f" Instances, {gone.events:,} events, {steps:,} steps in the log of topics."
    )


commands: list[click.Command] = [rollback, purge]

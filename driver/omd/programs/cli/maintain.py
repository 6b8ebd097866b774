"""``omd maintain`` removes from lake tables what nobody needs any more."""

from __future__ import annotations

from datetime import timedelta

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.options import output_option
from omd.programs.terminal.tables import show

_UNITS = {"day": "days", "days": "days", "hour": "hours", "hours": "hours"}


def _span(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> timedelta | None:
    if value is None:
        return None
    number, _, unit = value.strip().partition(" ")
    if not number.isdigit() or unit.strip() not in _UNITS:
        raise click.BadParameter("Write a number of days or hours: '5 days'.")
    return timedelta(**{_UNITS[unit.strip()]: int(number)})


@click.command()
@click.argument("tables", metavar="[TABLE...]", nargs=-1)
@dsn_option
@output_option
@click.option(
    "--keep",
    callback=_span,
    metavar="SPAN",
    help="Keep snapshots and versions that are younger; by default as the parameter keep_snapshots"
    " of the Module omd_lake_maintain says, at first 5 days.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
def maintain(
    dsn: str, output: str, tables: tuple[str, ...], keep: timedelta | None, dry_run: bool
) -> ExitCode:
    """Maintain lake tables: expire old snapshots, remove folders that were never committed.

    Small files are joined. Without a TABLE it does so for all lake tables. A table or a folder that
    can't be read is passed over: the others are maintained, and the exit code is 1 at the end.

    \b
    Examples:
      omd maintain --dry-run                    what could be removed
      omd maintain lake.flights --keep '5 days'
    """
    from omd.tables.maintenance import maintain as maintained

    with open_control(dsn) as control:
        codes = [table.removeprefix("table:") for table in tables]
        done = maintained(control, codes, keep=keep, dry_run=dry_run)
    columns = {"table": "table_code", "action": "action", "files": "files", "bytes": "bytes"}
    show(done, columns, output)
    passed = [row for row in done if row.problem is not None]
    for row in passed:
        click.echo(f"{row.table_code} is passed over: {row.problem}", err=True)
    if not passed:
        return ExitCode.OK
    click.echo(f"{len(passed)} passed over.", err=True)
    return ExitCode.FAILURE

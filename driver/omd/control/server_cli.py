"""The commands of the server under the installation, and of the room that its tables take."""

from __future__ import annotations

import click

from omd._terminal.commands import Group
from omd._terminal.options import output_option
from omd._terminal.tables import show, show_pairs, titled
from omd._terminal.text import row_dict
from omd.cli.common import add_view, dsn_option, open_control

_CONFIRM = "omd server confirm moved --reason '…'; or, if the other one goes on: copy"


@click.group(cls=Group, invoke_without_command=True)
@dsn_option
@output_option
@click.pass_context
def server(ctx: click.Context, dsn: str, output: str) -> None:
    """Show the server that the installation is known on, and the one on which it stands.

    \b
    Examples:
      omd server                                          is it known, is it a standby?
      omd server changes                                  failovers, moves and copies
      omd server confirm moved --reason 'new hardware'    this is the installation now
      omd server confirm copy --reason 'for tests'        the other one goes on
    """
    if ctx.invoked_subcommand is not None:
        return
    from omd.control.rows import ServerRow

    with open_control(dsn) as control:
        rows = control.report(ServerRow)
    if output == "table":
        for row in rows:
            show_pairs({name.replace("_", " "): v for name, v in row_dict(row).items()})
    else:
        show(rows, {}, output)
    if not all(row.is_known for row in rows):
        click.echo(f"Nobody has confirmed this server: {_CONFIRM}", err=True)


add_view(
    server,
    "changes",
    "Show the changes of the server, the newest first, and what an administrator said.",
    "server_change_id AS change, noticed_at, kind, timeline_id AS timeline, ids_skipped,"
    " confirmed_as AS confirmed, confirmed_by AS by, reason",
    ["server_change_id"],
    room="control",
    view="server_changes",
    newest="FIRST",
)


@server.command()
@click.argument("as_", metavar="moved|copy", type=click.Choice(["moved", "copy"], False))
@dsn_option
@click.option("--reason", metavar="TEXT", required=True, help="Why.")
def confirm(as_: str, dsn: str, reason: str) -> None:
    """Say what this database is: moved, the installation from now on, or a copy of it.

    Until then no worker, scheduler or loader starts on a server that is not known. A copy gets an
    identity of its own: its schedules become inactive, and it writes into no lake of the original.
    Nothing to confirm is no error.
    """
    with open_control(dsn) as control:
        control.confirm_server(as_.upper(), reason=reason)
    click.echo(f"The server is confirmed as {as_.lower()}.", err=True)


@click.command()
@dsn_option
@output_option
def footprint(dsn: str, output: str) -> None:
    """Show how much room each table of OMD takes, the largest first."""
    from omd.control.rows import FootprintRow

    with open_control(dsn) as control:
        rows = control.report(FootprintRow)
    columns = "schema_name AS schema, table_name AS table, row_estimate AS rows, table_bytes,"
    show(rows, titled(f"{columns} index_bytes"), output)


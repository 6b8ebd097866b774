"""``omd embedded``: a PostgreSQL server of the user's own."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import click

from omd.programs.terminal.commands import ExitCode, Group
from omd.programs.terminal.options import output_option
from omd.programs.terminal.tables import render

_home = click.option(
    "--home",
    type=click.Path(file_okay=False, path_type=Path),
    help="Data folder to use instead of OMD_HOME and its defaults.",
)


@click.group(cls=Group)
def embedded() -> None:
    """Run a PostgreSQL server of your own, without an installation.

    The binaries come with the package (the extra embedded). The server keeps its data in
    the data folder, listens on a Unix socket only, and admits nobody but you, as the superuser
    postgres. It runs until it is stopped.

    While it runs, every omd command for which no other database is named uses its database omd.
    """


@embedded.command()
@_home
@click.option(
    "--postgres",
    "version",
    type=click.IntRange(min=15),
    metavar="MAJOR",
    help="Version of a new server: 16 or 18. [default: 18]",
)
def start(home: Path | None, version: int | None) -> None:
    """Start the server, and create it the first time.

    Its data lie in OMD_HOME. Without it root is asked before it makes /var/lib/omd; where nobody
    can be asked, or who says no, the server is in .omd of the working directory.
    """
    from omd.programs import embedded as server

    running = server.start(home or _chosen(), version=version)
    click.echo(
        f"PostgreSQL {running.version} is running in {running.home}, where its data lie.\n"
        f"To remove it with its data: omd embedded stop && rm -r {shlex.quote(str(running.home))}",
        err=True,
    )
    click.echo(running.dsn)


def _chosen() -> Path:
    """Return the data folder when none is named; root is asked before one is made under /var."""
    from omd.programs import embedded as server

    home = server.default_home()
    if home != server.SYSTEM_HOME or home.exists() or os.environ.get("OMD_HOME"):
        return home
    here = Path(".omd").absolute()
    question = f"Make {home} for its data? Otherwise they lie in {here}."
    if sys.stdin.isatty() and click.confirm(question, default=True, err=True):
        return home
    return here


@embedded.command()
@_home
def stop(home: Path | None) -> None:
    """Stop the server; its data stay."""
    from omd.programs import embedded as server

    stopped = server.stop(home)
    click.echo("Stopped." if stopped else "It was not running.", err=True)


@embedded.command()
@_home
@output_option
def status(home: Path | None, output: str) -> int:
    """Tell whether the server runs, and where. The exit code is 6 when it does not."""
    from omd.programs import embedded as server

    state = server.status(home)
    row = {
        "running": state.running,
        "version": state.version,
        "pid": state.pid,
        "home": str(state.home),
        "dsn": state.dsn,
    }
    render([row], list(row), output)
    return ExitCode.OK if state.running else ExitCode.NO_CONNECTION


@embedded.command()
@_home
@click.option("--database", default="omd", show_default=True, help="Database to connect to.")
def dsn(home: Path | None, database: str) -> None:
    """Print the connection string of the running server."""
    from omd.programs import embedded as server

    click.echo(server.dsn(home, database))


@embedded.command(context_settings={"ignore_unknown_options": True})
@_home
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def psql(home: Path | None, arguments: tuple[str, ...]) -> None:
    """Open a psql prompt on the server; the arguments go to psql.

    \b
    Examples:
      omd embedded psql
      omd embedded psql -c 'SELECT * FROM omd_report.current_processing'
    """
    from omd.programs import embedded as server

    server.psql(home, arguments)

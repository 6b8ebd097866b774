"""What the commands of every room share: the connection, and how an error is reported."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click

from omd._core.program import python
from omd.programs.terminal.commands import ExitCode

if TYPE_CHECKING:
    import psycopg
    from click.shell_completion import CompletionItem

    from omd._core.link import Link
    from omd.doors.control import Control

F = TypeVar("F", bound=Callable[..., Any])


# The command `omd`, wherever it is installed.
PROGRAM = python("from omd.programs.cli.main import main; main()")


def dsn_option(command: F) -> F:
    """Add ``--dsn``; the command gets the connection string to use as ``dsn``."""
    return click.option(
        "--dsn",
        metavar="CONNINFO",
        callback=checked_dsn,
        help="Connection string of the database; omd help dsn says what is used without it.",
    )(command)


def checked_dsn(_ctx: click.Context, _parameter: click.Parameter | None, value: str | None) -> str:
    """Return the connection string to use, if it is one."""
    from omd._core.conninfo import read_conninfo
    from omd._core.errors import ConnectionFailed

    dsn = resolve_dsn(value)
    try:
        read_conninfo(dsn)
    except ConnectionFailed as error:
        raise click.UsageError(str(error)) from None
    _asked.set(dsn)
    return dsn


# The database of the command, for the message of its failure.
_asked: ContextVar[str | None] = ContextVar("omd_dsn", default=None)


_LIBPQ = ("PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER", "PGSERVICE")


def resolve_dsn(dsn: str | None = None) -> str:
    """Return the connection string to use; it is empty where libpq's own settings decide.

    The first of these is used: ``dsn``, OMD_DSN, DATABASE_URL, libpq's variables when any is set,
    the embedded server when it runs, libpq's defaults.
    """
    given = dsn or os.environ.get("OMD_DSN") or os.environ.get("DATABASE_URL")
    if given or any(os.environ.get(name) for name in _LIBPQ):
        return given or ""
    from omd.programs import embedded

    try:
        return embedded.status().dsn or ""
    except embedded.EmbeddedError:  # the server belongs to another user
        return ""


def connect(dsn: str) -> psycopg.Connection[tuple[Any, ...]]:
    """Open an autocommit connection for a command that needs no `omd.Control`."""
    import psycopg

    return psycopg.connect(
        dsn, autocommit=True, application_name="omd", connect_timeout=10, prepare_threshold=None
    )


def open_control(dsn: str) -> Control:
    """Connect to the control plane for one command."""
    import omd

    # A person waits for the command, so a lost connection is reported at once.
    return omd.connect(dsn or None, application_name="omd-cli", patience=timedelta(0))


@contextmanager
def open_link(dsn: str) -> Iterator[Link]:
    """Connect for statements that no room makes; who interrupts them ends them in the server."""
    from omd._core import signals
    from omd._core.conninfo import resolve_conninfo
    from omd._core.link import Link

    link = Link(resolve_conninfo(dsn or None), application_name="omd-cli", patience=timedelta(0))
    with signals.raised():
        try:
            link.open()
            yield link
        finally:
            link.end_statement()
            link.close()


def proposals(
    context: click.Context, find: Callable[[Link], Mapping[str, str]], incomplete: str
) -> list[CompletionItem]:
    """Return the names that a shell proposes, with what each is; without a database none."""
    import psycopg
    from click.shell_completion import CompletionItem

    try:
        with open_link(context.params.get("dsn") or "") as link:
            names = find(link)
    except psycopg.Error:
        return []
    return [
        CompletionItem(name, help=about)
        for name, about in names.items()
        if name.startswith(incomplete)
    ]


def report_error(error: Exception) -> ExitCode:
    """Print an error to stderr (MESSAGE, HINT, SQLSTATE) and return its exit code."""
    import psycopg

    from omd import errors

    if isinstance(error, errors.NotStarted):
        click.echo(str(error), err=True)
        return ExitCode.ABORTED if isinstance(error, errors.Aborted) else ExitCode.SKIPPED
    if isinstance(error, psycopg.Error) and error.sqlstate == "25006":
        error = _of_standby(error)
    if (
        isinstance(error, psycopg.errors.InsufficientPrivilege)
        and not isinstance(error, errors.OmdError)
        and (dsn := _asked.get()) is not None
    ):
        from omd._core import rights

        error = rights.refused(dsn, error)
    if not isinstance(error, psycopg.Error):
        _complain(f"{type(error).__name__}: {error}", "omd --debug shows where it was raised.")
        return ExitCode.FAILURE

    # The text of an error of OMD that Python raised has its hint in it.
    message = getattr(error, "message", None) or error.diag.message_primary or str(error).strip()
    hint = getattr(error, "hint", None) or error.diag.message_hint
    if _needs_install(error):
        _complain(message, hint or "omd install", error.sqlstate)
        return ExitCode.NEEDS_INSTALL
    if _no_connection(error):
        _complain(message, hint or "omd doctor", error.sqlstate)
        return ExitCode.NO_CONNECTION
    _complain(message, hint, error.sqlstate)
    return ExitCode.FAILURE


def _of_standby(error: psycopg.Error) -> psycopg.Error:
    """Return the error that names the primary, if the server is a standby."""
    from omd._core import standby
    from omd._core.errors import ServerIsStandby

    dsn = _asked.get()
    if isinstance(error, ServerIsStandby) or dsn is None:
        return error
    return standby.refused(dsn, error) or error


def _complain(message: str, hint: str | None = None, sqlstate: str | None = None) -> None:
    click.echo(f"{click.style('Error:', fg='red')} {message}", err=True)
    if hint:
        click.echo(f"Hint: {hint}", err=True)
    if sqlstate:
        click.echo(f"SQLSTATE: {sqlstate}", err=True)


def _needs_install(error: psycopg.Error) -> bool:
    from psycopg import errors as pg

    from omd import errors

    missing = (pg.UndefinedTable, pg.UndefinedFunction, pg.UndefinedColumn, pg.InvalidSchemaName)
    return isinstance(error, errors.NotInstalled) or (
        # An object that a routine or the user's own SQL lacks is none that omd install creates.
        isinstance(error, missing) and not error.diag.context and "omd" in str(error)
    )


def _no_connection(error: psycopg.Error) -> bool:
    import psycopg

    from omd import errors

    if isinstance(error, errors.OmdError):
        return isinstance(error, errors.ConnectionFailed)
    # Without a connection there is no SQLSTATE; later 08 and 57P0x say that it was lost.
    lost = error.sqlstate is None or error.sqlstate.startswith(("08", "57P0", "28", "3D"))
    return isinstance(error, psycopg.OperationalError) and lost

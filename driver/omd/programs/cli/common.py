"""What the commands of every room share: the connection, and how an error is reported."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click

from omd._core.program import python
from omd.doors.registry import schema_of
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.options import (
    call_arguments,
    call_options,
    limit_option,
    output_option,
    singular,
)
from omd.programs.terminal.tables import show, tell_more, titled
from omd.programs.terminal.text import as_text, short

if TYPE_CHECKING:
    import psycopg
    from click.shell_completion import CompletionItem

    from omd._core.link import Link
    from omd.doors.control import Control

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


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


def add_call(
    group: click.Group,
    name: str,
    call: Callable[..., Any],
    *,
    about: str,
    done: str,
    negations: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
    given: Sequence[click.Parameter] = (),
) -> None:
    """Add a command that makes one generated call and tells on stderr what it did.

    Its arguments are those that the call needs; its options are those of `call_options`. Where None
    removes what the call sets, ``--remove`` stands for it.

    Args:
        group: it gets the command.
        name: of the command.
        call: the method.
        about: its help.
        done: what is printed; {argument} stands for a value, {answer} for what the call answers.
        negations: see `call_options`.
        without: see `call_options`.
        names: see `call_options`.
        given: parameters of the command for arguments that get no option.
    """
    signature = inspect.signature(call).parameters.values()
    needed = [p for p in signature if p.default is p.empty and p.name != "self"]
    room = call.__module__.split(".")[2]  # omd.rooms.<room>.calls
    removing = {p.name for p in needed if str(p.annotation).endswith("| None")}

    @group.command(name, help=about)
    @dsn_option
    @call_options(call, negations, without, names)
    def command(dsn: str, **given: Any) -> None:
        is_removed = removing and given.pop("remove")
        if removing and is_removed == any(given[argument] for argument in removing):
            raise click.UsageError("Give either a value or --remove.")
        values = call_arguments(given)
        with open_control(dsn) as control:
            answer = getattr(getattr(control.calls, schema_of(room)), call.__name__)(**values)
        shown = {argument: as_text(short(value)) for argument, value in values.items()}
        what = "Removed." if is_removed else done.format(answer=short(answer), **shown)
        click.echo(what, err=True)

    for parameter in needed:
        is_list = str(parameter.annotation).startswith("Sequence")
        command.params.append(
            click.Argument(
                [parameter.name],
                type=int if parameter.annotation == "int" else str,
                metavar=singular(parameter.name).upper() + "..." if is_list else None,
                nargs=-1 if is_list else 1,
                required=parameter.name not in removing,
            )
        )
    command.params += given
    if removing:
        command.params.append(click.Option(["--remove"], is_flag=True, help="Remove it."))


def add_view(
    group: click.Group,
    name: str,
    about: str,
    select: str,
    order_by: Sequence[str],
    *,
    room: str,
    view: str | None = None,
    filters: Mapping[str, str] | None = None,
    newest: str | None = None,
    arranged: Callable[[list[Any], str], list[Any]] | None = None,
    judged: Callable[[list[Any]], ExitCode] | None = None,
) -> None:
    """Add a command that shows a report of a room.

    Args:
        group: it gets the command.
        name: of the command.
        about: its help.
        select: the columns of the table; see `titled`.
        order_by: columns.
        room: the door of `omd.Control` to the report.
        view: the view, after the name of the room; without it that of the command.
        filters: the options that choose rows by columns, as far as the table has them.
        newest: there may be many rows, so the newest ones are shown, the newest FIRST or LAST.
        arranged: changes the rows for an output.
        judged: tells more about the rows, and returns the exit code.
    """
    columns = titled(select)
    of_room = "" if room == "control" else f"{room}_"

    @group.command(name, help=about)
    @dsn_option
    @output_option
    def command(dsn: str, output: str, limit: int | None = None, **equal: Any) -> ExitCode:
        with open_control(dsn) as control:
            rows = control.report(
                f"{of_room}{view or name}",
                order_by=order_by,
                descending=newest is not None,
                limit=limit,
                **equal,
            )
        shown = rows[::-1] if newest == "LAST" else rows
        show(shown if arranged is None else arranged(shown, output), columns, output)
        tell_more(rows, limit)
        return ExitCode.OK if judged is None else judged(rows)

    for column, option in (filters or {}).items():
        if column in columns.values():
            command.params.append(_filter(column, option))
    if newest is not None:
        limit_option()(command)


def _filter(column: str, option: str) -> click.Option:
    """Return the option that shows only the rows with a value."""
    metavar = {"id": "ID", "status": "STATUS"}.get(column.rpartition("_")[2], "CODE")
    return click.Option(
        [f"--{option}", column],
        type=int if metavar == "ID" else str,
        metavar=metavar,
        help=f"Only this {option}.",
        callback=lambda _c, _p, v: v.upper() if metavar == "STATUS" and v else v,
    )


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


def opener(door: Callable[[Control], T]) -> Callable[[str], AbstractContextManager[T]]:
    """Return what opens a room for one command."""

    @contextmanager
    def opened(dsn: str) -> Iterator[T]:
        with open_control(dsn) as control:
            yield door(control)

    return opened


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

"""The parts that all commands share: the connection, the output, the exit codes, the errors."""

from __future__ import annotations

import csv
import dataclasses
import importlib
import inspect
import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from enum import Enum, IntEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeVar

import click

from omd._core.calls import loads
from omd._core.program import python

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import psycopg

    from omd.control.room import Control

    F = TypeVar("F", bound=Callable[..., Any])

Row = Mapping[str, Any]

# The command `omd`, wherever it is installed.
PROGRAM = python("from omd.cli.main import main; main()")


class ExitCode(IntEnum):
    """Exit codes of every command."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    SKIPPED = 3
    ABORTED = 4
    NEEDS_INSTALL = 5
    NO_CONNECTION = 6
    REJECTED = 7


class Group(click.Group):
    """A group that shows the whole first sentence of each command."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands; click itself would cut their sentences to one line."""
        commands = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([entry(command) for command in commands if command is not None])


class Sections(Group):
    """A group whose help has sections; `section` names that of the commands that come next."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._sections: dict[str, list[click.Command]] = {}
        self.section("Commands")

    def section(self, title: str) -> None:
        """Begin a section, or go on with it."""
        self._current = self._sections.setdefault(title, [])

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command to the current section."""
        super().add_command(cmd, name)
        self._current.append(cmd)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, one section after the other."""
        for title, commands in self._sections.items():
            if commands:
                with formatter.section(title):
                    formatter.write_dl([entry(command) for command in commands])


def entry(command: click.Command) -> tuple[str, str]:
    """Return a command as an entry of a list: its name and its first sentence."""
    return command.name or "", command.get_short_help_str(1000)


def dsn_option(command: F) -> F:
    """Add ``--dsn``; the command gets the connection string to use as ``dsn``."""
    return click.option(
        "--dsn",
        metavar="CONNINFO",
        callback=_checked_dsn,
        help="Connection string of the database; omd --help says what is used without it.",
    )(command)


def _checked_dsn(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> str:
    from omd._core.conninfo import read_conninfo
    from omd._core.errors import ConnectionFailed

    dsn = resolve_dsn(value)
    try:
        read_conninfo(dsn)
    except ConnectionFailed as error:
        raise click.UsageError(str(error)) from None
    return dsn


def output_option(command: F) -> F:
    """Add ``--output``; the command gets it as ``output`` and hands it to `render`."""
    return click.option(
        "--output",
        type=click.Choice(["table", "json", "csv"]),
        default="table",
        show_default=True,
        help="Format of what is printed to stdout.",
    )(command)


def workers_option(what: str) -> Callable[[F], F]:
    """Add ``--workers`` to a program that runs ``what`` side by side."""
    return click.option(
        "--workers",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help=f"How many {what} may run at once.",
    )


def poll_option(seconds: float, about: str) -> Callable[[F], F]:
    """Add ``--poll`` to a program that looks for work, by default after so many seconds."""
    return click.option(
        "--poll",
        type=click.FloatRange(min=0.1),
        default=seconds,
        show_default=True,
        help=about,
    )


def grace_option(what: str) -> Callable[[F], F]:
    """Add ``--grace`` to a program that lets ``what`` end when it is stopped."""
    return click.option(
        "--grace",
        type=click.FloatRange(min=0),
        default=20,
        show_default=True,
        help=f"Seconds that running {what} have to end after SIGTERM or Ctrl-C.",
    )


def limit_option(most: int | None = None) -> Callable[[F], F]:
    """Add ``--limit``, how many rows are shown; `tell_more` says when there may be others."""
    return click.option(
        "--limit",
        type=click.IntRange(1, most),
        default=100,
        show_default=True,
        help="How many rows.",
    )


def tell_more(found: Sequence[object], limit: int | None) -> None:
    """Say that a limit was reached."""
    if limit is not None and len(found) == limit:
        click.echo(f"There may be more than {limit}: --limit shows them.", err=True)


def document_option(command: F) -> F:
    """Add ``--output`` for a document of more than one table."""
    return click.option(
        "--output",
        type=click.Choice(["table", "json"]),
        default="table",
        show_default=True,
        help="Format of what is printed to stdout.",
    )(command)


def call_options(
    call: Callable[..., Any],
    negations: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
) -> Callable[[F], F]:
    """Add an option for each optional argument of a generated call, under its name.

    Its help is what the docstring says about the argument. A list becomes an option that may be
    repeated and is named in the singular; a truth value becomes a pair of options; an object is
    given as JSON. The command passes what it gets to `call_arguments`.

    Args:
        call: the method.
        negations: for truth values, the name of the option that says no.
        without: the arguments that get no option.
        names: for arguments, another name of the option.
    """
    texts = _argument_texts(call)
    options = [
        _call_option(
            name,
            str(parameter.annotation),
            (names or {}).get(name),
            texts.get(name, ""),
            (negations or {}).get(name),
        )
        for name, parameter in inspect.signature(call).parameters.items()
        if parameter.default is not parameter.empty and name not in without
    ]

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def add_call(
    group: click.Group,
    name: str,
    call: Callable[..., Any],
    *,
    about: str,
    done: str,
    room: str | None = None,
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
        done: what is told; {argument} stands for a value, {answer} for what the call answers.
        room: the door of `omd.Control` to the method; None for its own methods.
        negations: see `call_options`.
        without: see `call_options`.
        names: see `call_options`.
        given: parameters of the command for arguments that get no option.
    """
    signature = inspect.signature(call).parameters.values()
    needed = [p for p in signature if p.default is p.empty and p.name != "self"]
    removing = {p.name for p in needed if str(p.annotation).endswith("| None")}

    @group.command(name, help=about)
    @dsn_option
    @call_options(call, negations, without, names)
    def command(dsn: str, **told: Any) -> None:
        is_removed = removing and told.pop("remove")
        if removing and is_removed == any(told[argument] for argument in removing):
            raise click.UsageError("Give either a value or --remove.")
        values = call_arguments(told)
        with open_control(dsn) as control:
            calls = control if room is None else getattr(control, room)
            answer = getattr(calls, call.__name__)(**values)
        shown = {argument: as_text(short(value)) for argument, value in values.items()}
        what = "Removed." if is_removed else done.format(answer=short(answer), **shown)
        click.echo(what, err=True)

    for parameter in needed:
        is_list = str(parameter.annotation).startswith("Sequence")
        command.params.append(
            click.Argument(
                [parameter.name],
                type=int if parameter.annotation == "int" else str,
                metavar=_singular(parameter.name).upper() + "..." if is_list else None,
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
    columns: Mapping[str, str],
    order_by: Sequence[str],
    *,
    room: str,
    view: str,
    filters: Iterable[click.Option] = (),
    newest: str | None = None,
    told: Callable[[list[Any], str], list[Any]] | None = None,
    judged: Callable[[list[Any]], ExitCode] | None = None,
) -> None:
    """Add a command that shows a report of a room.

    Args:
        group: it gets the command.
        name: of the command.
        about: its help.
        columns: those of the table, by their titles.
        order_by: columns.
        room: the door of `omd.Control` to the report.
        view: the view, after the name of the room.
        filters: options that choose rows, named like their columns.
        newest: there may be many rows, so the newest ones are shown, the newest FIRST or LAST.
        told: changes the rows for an output.
        judged: tells more about the rows, and returns the exit code.
    """

    @group.command(name, help=about)
    @dsn_option
    @output_option
    def command(dsn: str, output: str, limit: int | None = None, **equal: Any) -> ExitCode:
        rows = importlib.import_module(f"omd.{room}.rows")
        row = getattr(rows, f"{room}_{view}_row".title().replace("_", ""))
        with open_control(dsn) as control:
            found = getattr(control, room).report(
                row, order_by=order_by, descending=newest is not None, limit=limit, **equal
            )
        shown = found[::-1] if newest == "LAST" else found
        show(shown if told is None else told(shown, output), columns, output)
        tell_more(found, limit)
        return ExitCode.OK if judged is None else judged(found)

    command.params += filters
    if newest is not None:
        limit_option()(command)


def _singular(name: str) -> str:
    """Return the name of one of several values; depends_on stays."""
    for end, of_one in (("criteria", "criterion"), ("ses", "s"), ("s", "")):
        if name.endswith(end):
            return name.removesuffix(end) + of_one
    return name


def _call_option(
    name: str, type_: str, option: str | None, text: str, negation: str | None
) -> Callable[[F], F]:
    told = f"{text[:1].upper()}{text[1:]}"
    option = option or (_singular(name) if type_.startswith("Sequence") else name).replace("_", "-")
    if name == "inactive_indicator":
        about = "Whether it is inactive, that is, not run."
        return click.option("--inactive/--active", name, default=None, help=about)
    if type_.startswith("bool"):
        flags = f"--{option}/--{negation or f'no-{option}'}"
        return click.option(flags, name, default=None, help=told)
    if type_.startswith("Sequence"):
        told = f"{told.removesuffix('.')}; may be repeated, an empty text is an empty list."
        return click.option(f"--{option}", name, multiple=True, metavar="TEXT", help=told)
    if type_.startswith("Mapping"):
        return click.option(f"--{option}", name, callback=json_value, metavar="JSON", help=told)
    if type_.startswith("datetime"):
        return click.option(f"--{option}", name, callback=instant, metavar="INSTANT", help=told)
    if type_.startswith("int"):
        return click.option(f"--{option}", name, type=int, metavar="NUMBER", help=told)
    return click.option(f"--{option}", name, metavar="TEXT", help=told)


def call_arguments(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the options of `call_options` as arguments of the call."""
    arguments: dict[str, Any] = {}
    for name, value in told.items():
        if isinstance(value, tuple):
            arguments[name] = [text for text in value if text] if value else None
        elif name == "inactive_indicator" and value is not None:
            arguments[name] = "Y" if value else "N"
        else:
            arguments[name] = value
    return arguments


def _argument_texts(call: Callable[..., Any]) -> dict[str, str]:
    """Return what a docstring says about each argument."""
    _, _, section = (inspect.getdoc(call) or "").partition("\nArgs:\n")
    section = section.partition("\n\n")[0].replace("``", "")
    entries = re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


def json_value(_ctx: click.Context, _parameter: click.Parameter, told: str | None) -> Any:
    """Return a value of the command line that is JSON."""
    if told is None:
        return None
    try:
        return loads(told)
    except ValueError as error:
        raise click.BadParameter(f"{told} is no JSON: {error}") from error


def instant(_ctx: click.Context, _parameter: click.Parameter, told: str | None) -> datetime | None:
    """Return an instant of the command line; without a zone it is a local time."""
    if told is None:
        return None
    try:
        found = datetime.fromisoformat(told.replace("Z", "+00:00"))
    except ValueError as error:
        raise click.BadParameter(f"{told} is not like 2013-07-01T00:00:00+02:00") from error
    return found.astimezone()


_LIBPQ = ("PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER", "PGSERVICE")


def resolve_dsn(dsn: str | None = None) -> str:
    """Return the connection string to use; it is empty where libpq's own settings decide.

    The first of these is used: ``dsn``, OMD_DSN, DATABASE_URL, libpq's variables when any is set,
    the embedded server when it runs, libpq's defaults.
    """
    given = dsn or os.environ.get("OMD_DSN") or os.environ.get("DATABASE_URL")
    if given or any(os.environ.get(name) for name in _LIBPQ):
        return given or ""
    from omd import embedded

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


def render(rows: Iterable[Row], columns: Sequence[str], output: str) -> None:
    """Print rows to stdout: as an aligned table, a JSON array of objects, or CSV with a header."""
    if output == "json":
        objects = [{column: row[column] for column in columns} for row in rows]
        click.echo(json.dumps(objects, default=as_json, indent=2, ensure_ascii=False))
    elif output == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_as_cell(row[column]) for column in columns] for row in rows)
        sys.stdout.flush()  # what is told on stderr after the data comes after them
    else:
        _table(list(rows), columns)


_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(e[+-]?[0-9]+)?", re.IGNORECASE)


def _as_cell(value: object) -> str:
    """Return a value as a cell of CSV that no spreadsheet executes and no terminal obeys.

    A text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    text = printable(as_text(value))
    is_formula = _FORMULA.match(text) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


def _table(rows: Sequence[Row], columns: Sequence[str]) -> None:
    numeric = [
        all(isinstance(row[column], (int, float, type(None))) for row in rows) for column in columns
    ]
    lines = [list(columns), *([as_text(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    for number, line in enumerate(lines):
        cells = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ]
        click.echo("  ".join(cells).rstrip())
        if number == 0:
            click.echo("  ".join("-" * width for width in widths))
    if not rows:
        click.echo("(none)", err=True)


def is_chosen(name: str, globs: Sequence[str]) -> bool:
    """Return whether a name matches one of these patterns; without patterns, every name does."""
    return not globs or any(fnmatchcase(name, glob) for glob in globs)


def row_dict(row: Any) -> dict[str, Any]:
    """Return the fields of a row class by name; the values stay as they are."""
    return {field.name: getattr(row, field.name) for field in dataclasses.fields(row)}


def show(
    rows: Iterable[Any], columns: Mapping[str, str], output: str, *, whole: Collection[str] = ()
) -> None:
    """Print rows: as a table with the columns named (title: column), as JSON or CSV with all.

    Of the columns of a table those in ``whole`` are never cut.
    """
    found = [row_dict(row) for row in rows]
    if output == "table":
        show_table(
            [{title: short(row[name]) for title, name in columns.items()} for row in found],
            list(columns),
            whole,
        )
    else:
        render(found, list(found[0]) if found else list(columns.values()), output)


def show_table(
    rows: list[dict[str, Any]], columns: Sequence[str], whole: Collection[str] = ()
) -> None:
    """Print rows as a table that is no wider than 100 columns, if that is possible."""
    render(_fit(rows, whole), columns, "table")


def show_document(values: Mapping[str, Any]) -> None:
    """Print a document of more than one table as a JSON object."""
    click.echo(json.dumps(values, default=as_json, indent=2, ensure_ascii=False))


def show_pairs(values: Mapping[str, Any]) -> None:
    """Print values with their names, line by line, without those that are empty."""
    for name, value in values.items():
        if value is not None and value not in ([], {}):
            told = value if isinstance(value, (str, datetime)) else as_text(value)
            told = str(short(told)) if isinstance(told, datetime) else told
            for number, line in enumerate(told.splitlines()):
                click.echo(f"{'' if number else name:<28}{printable(line)}")


def printable(line: str) -> str:
    """Return a line that is safe for a terminal: it keeps its spaces, but nothing unprintable."""
    # A name may hold anything, even an escape sequence for the terminal.
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line.expandtabs())


def short(value: Any) -> Any:
    """Return a value shortened for a table of 100 columns; instants are in local time."""
    if isinstance(value, datetime):
        # The driver reads -infinity as an instant of the year 1, which has no local time.
        return f"{value.astimezone():%Y-%m-%d %H:%M:%S}" if value.year > 1 else "-infinity"
    if isinstance(value, Mapping):  # as a shell takes it: NAME=VALUE
        pairs = (
            (k, v) for k, v_s in value.items() for v in (v_s if isinstance(v_s, list) else [v_s])
        )
        return " ".join(shlex.quote(printable(f"{k}={as_text(v)}")) for k, v in pairs)
    if isinstance(value, (list, tuple)) and len(value) > 4:
        return f"{', '.join(map(str, value[:3]))}, … ({len(value)})"
    if isinstance(value, str):
        return printable(" ".join(value.split()))
    return value


def _fit(
    rows: list[dict[str, Any]], whole: Collection[str], width: int = 100
) -> list[dict[str, Any]]:
    """Cut the widest texts until a table of these rows is no wider than allowed."""
    if not rows:
        return rows
    widths = {t: max(len(t), *(len(as_text(row[t])) for row in rows)) for t in rows[0]}
    too_much = sum(widths.values()) + 2 * (len(widths) - 1) - width
    while too_much > 0:
        widest = max(widths, key=lambda title: 0 if title in whole else widths[title])
        if widest in whole or widths[widest] <= 20:
            break  # there are many narrow columns: a wide table is better than an unreadable one
        room = max(20, widths[widest] - too_much)
        too_much -= widths[widest] - room
        widths[widest] = room
        for row in rows:
            text = as_text(row[widest])
            if len(text) > room:
                row[widest] = f"{text[: room - 1]}…"
    return rows


def as_text(value: object) -> str:
    """Return a value as text for people and for CSV: on one line, NULL as an empty text."""
    if value is None:
        return ""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, timedelta):
        return str(timedelta(seconds=round(value.total_seconds())))
    if isinstance(value, (list, tuple)):
        return ", ".join(as_text(item) for item in value)
    if isinstance(value, Mapping):
        return json.dumps(value, default=as_json, ensure_ascii=False)
    return " ".join(str(value).split("\n"))


def as_json(value: object) -> object:
    """Return a value that json has no type for as one that it has; ``default`` of `json.dumps`."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if dataclasses.is_dataclass(value):
        return row_dict(value)
    return str(value)


def report_error(error: Exception) -> ExitCode:
    """Print an error to stderr (MESSAGE, HINT, SQLSTATE) and return its exit code."""
    import psycopg

    from omd import errors

    if isinstance(error, errors.NotStarted):
        click.echo(str(error), err=True)
        return ExitCode.ABORTED if error.verdict == "aborted" else ExitCode.SKIPPED
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

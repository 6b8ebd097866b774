"""``omd send``: hands events to the sinks that they are registered for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.report.metrics import listen_option, listening
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.text import short

if TYPE_CHECKING:
    from omd.doors.control import Control
    from omd.programs.sender.sender import Transport
    from omd.programs.sender.sinks import Allowed

_LOOK = 60.0  # seconds between two looks at views that may have been replaced
_AT_ONCE = 500  # events of a catalogue that are taken at once: each is small


@click.command()
@click.argument("sinks", metavar="[SINK]...", nargs=-1)
@dsn_option
@click.option(
    "--openlineage",
    "is_lineage",
    is_flag=True,
    help="Send runs and Batches to a catalogue that reads OpenLineage, as the sink openlineage.",
)
@click.option("--until-quiet", is_flag=True, help="Stop when all is sent.")
@click.option(
    "--allow-url",
    "urls",
    metavar="PREFIX",
    multiple=True,
    help="Send only to URLs of this scheme, host and port, below its path; repeatable. Without it"
    " to any that an administrator of OMD registers, unless its address is one of this host or of a"
    " private network.",
)
@click.option(
    "--allow-command",
    "commands",
    metavar="PATH",
    multiple=True,
    help="Programs that may be started; repeatable. Without it none is.",
)
@listen_option
def send(
    sinks: tuple[str, ...],
    dsn: str,
    is_lineage: bool,
    until_quiet: bool,
    urls: tuple[str, ...],
    commands: tuple[str, ...],
    listen: tuple[str, int] | None,
) -> int:
    """Send events to webhooks, programs and catalogues, until SIGTERM or Ctrl-C.

    Without SINK and --openlineage it serves the sinks of the kinds WEBHOOK and COMMAND that are
    active when it starts. Each event is sent in order, and at least once: a receiver knows one that
    comes again by its id. A receiver that is down or slow is tried again, and nothing overtakes.
    Any number of senders may run; one of them has a sink.

    With --openlineage the official client says where to: OPENLINEAGE_URL, OPENLINEAGE_CONFIG,
    openlineage.yml or OPENLINEAGE__… variables, with the transports http, file, console, kafka, and
    composite of these with continue_on_failure: false. Without any it prints the events. With
    OPENLINEAGE_DISABLED=true nothing is sent, and nothing passes. The sink is made where there is
    none, which takes omd_admin. Who has that role also finds from which columns those of transform
    views come, at the start and each minute; a view that it can't trace is reported.

    \b
    Examples:
      omd send chat --allow-url https://chat.example.com/hook/
      omd send pager --allow-command /usr/local/bin/page --listen 9464
      OPENLINEAGE_URL=http://marquez:5000 omd send --openlineage
    """
    from omd.programs.sender.sender import serve
    from omd.programs.sender.sinks import Allowed

    def tell(line: str) -> None:
        click.echo(short(line), err=True)

    transports: dict[str, Transport] = {}
    settings: dict[str, Any] = {}
    columns: _Columns | None = None
    with open_control(dsn) as control:
        if sinks or not is_lineage:
            transports.update(_registered(control, sinks, Allowed(urls, commands)))
            if until_quiet:  # a problem that is there now is sent too
                control.calls.omd_event.watch(every="15 seconds")
        if is_lineage:
            lineage = _lineage(control, tell)
            if lineage is not None:
                transports.update(lineage)
                settings["limit"] = _AT_ONCE
                columns = _Columns(lambda: open_control(dsn), tell)
                if not columns.find(control) or until_quiet:
                    columns = None
            elif not sinks:
                return ExitCode.OK
    if not until_quiet:
        tell(f"sending to {', '.join(transports)}; SIGTERM or Ctrl-C stops it")

    @contextmanager
    def around(turns: Callable[[], bool]) -> Iterator[None]:
        looking = nullcontext() if columns is None else columns.each_minute()
        with listening(listen, dsn, turns), looking:
            yield

    return serve(
        lambda: open_control(dsn),
        transports,
        tell,
        until_quiet=until_quiet,
        around=around,
        **settings,
    )


def _registered(control: Control, sinks: Sequence[str], allowed: Allowed) -> dict[str, Transport]:
    """Return the transports of these sinks, or of all that are active.

    Raises:
        click.UsageError: a sink is of a kind that is not sent so.
        click.ClickException: there is none.
    """
    from omd.programs.sender.sinks import KINDS, Registered
    from omd.rooms.event.calls import EventCalls
    from omd.rooms.event.rows import EventSinksRow

    chosen = list(dict.fromkeys(sinks))
    for code in chosen:
        [sink] = control.calls.omd_event.sink_definition(code)
        if sink.sink_kind == "OPENLINEAGE":
            raise click.UsageError(
                f"{code} is of the kind OPENLINEAGE: omd send --openlineage serves it"
            )
        if sink.sink_kind not in KINDS:
            raise click.UsageError(
                f"{code} is of the kind {sink.sink_kind}: a program of your own takes its events"
            )
    if not chosen:
        active = control.report(
            EventSinksRow, sink_kind=list(KINDS), inactive_indicator="N", order_by=["sink_code"]
        )
        chosen = [sink.sink_code for sink in active]
    if not chosen:
        raise click.ClickException("there is no active sink of the kind WEBHOOK or COMMAND")
    return {
        code: Registered(EventCalls(control._new_link(name="-sink")), code, allowed)
        for code in chosen
    }


def _lineage(control: Control, tell: Callable[[str], None]) -> dict[str, Transport] | None:
    """Return the transport of the sink openlineage, which is made; None: the client is off."""
    from omd._core import packages
    from omd._core.errors import CallerError
    from omd.rooms.event.rows import EventSinksRow

    try:
        from omd.integrations.openlineage import SINK, OpenLineage, is_disabled
    except ModuleNotFoundError as error:
        raise CallerError(
            f"{error.name} is not installed", hint=packages.install("openlineage")
        ) from error
    if is_disabled():
        tell("OPENLINEAGE_DISABLED is set: nothing is sent.")
        return None
    transport = OpenLineage(show=click.echo)
    if not control.report(EventSinksRow, sink_code=SINK):
        control.calls.omd_event.register_sink(SINK, sink_kind="OPENLINEAGE")
        tell(f"The sink {SINK} is registered.")
    tell(f"sending by {transport.kind}")
    return {SINK: transport}


class _Columns:
    """Finds from which columns those of transform views come, and keeps it for events.

    What is found counts until somebody replaces the view, so it looks again.
    """

    def __init__(self, connect: Callable[[], Control], tell: Callable[[str], None]) -> None:
        self._connect = connect
        self._tell = tell
        self._untraced: set[tuple[str, str]] = set()

    def find(self, control: Control) -> bool:
        """Look at the views whose text is new; returns whether this user may."""
        import psycopg

        try:
            from omd.integrations.view_columns import fields_of
        except ModuleNotFoundError as error:
            self._tell(f"the columns of views are not looked for: {error.name} is not installed")
            return False
        try:
            for row in control.calls.omd_event.transform_views():
                its = (row.view_code, row.view_text)
                if row.is_known or its in self._untraced:
                    continue
                fields = fields_of(row.view_text, row.tables)
                if fields is None:
                    self._untraced.add(its)
                    self._tell(f"the columns of {row.view_code} ({row.topic}) can't be traced")
                else:
                    control.calls.omd_event.save_view_columns(*its, fields)
        except psycopg.errors.InsufficientPrivilege:
            self._tell("the columns of views are not looked for: that takes omd_admin")
            return False
        return True

    @contextmanager
    def each_minute(self) -> Iterator[None]:
        """Look in a thread while the block is open."""
        end = threading.Event()
        thread = threading.Thread(target=self._look, args=[end], name="omd-columns", daemon=True)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join(5)

    def _look(self, end: threading.Event) -> None:
        import psycopg

        while not end.wait(_LOOK):
            try:
                with self._connect() as control:
                    self.find(control)
            except psycopg.Error as error:  # the next look may succeed
                self._tell(f"the columns of views: {type(error).__name__}")

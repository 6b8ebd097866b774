"""The commands for the tools of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.terminal.commands import ExitCode, Group
from omd.programs.terminal.options import output_option
from omd.programs.terminal.tables import show, titled

_COLUMNS = titled("topic, view, columns, problem")


@dataclass(frozen=True, slots=True)
class _Traced:
    """What was found of a view."""

    topic: str
    view: str
    columns: int | None
    problem: str | None


@contextmanager
def _extra(name: str) -> Iterator[None]:
    """Say which extra of the package is missing, where one is."""
    from omd._core import packages
    from omd._core.errors import CallerError

    try:
        yield
    except ModuleNotFoundError as error:
        raise CallerError(f"{error.name} is not installed", hint=packages.install(name)) from error


@click.group(cls=Group)
def openlineage() -> None:
    """Send what ran to a catalogue that understands OpenLineage, such as Marquez."""


@openlineage.command()
@dsn_option
@click.option("--until-quiet", is_flag=True, help="Stop when everything is sent.")
def run(dsn: str, until_quiet: bool) -> int:
    """Send events of runs and Batches, in order and at least once, until SIGTERM or Ctrl-C.

    Where to is what the official client reads: OPENLINEAGE_URL, OPENLINEAGE_CONFIG, openlineage.yml
    or OPENLINEAGE__… variables, with the transports http, file, console, kafka, and composite of
    these with continue_on_failure: false. Without any it prints the events. Several may run at
    once: one of them sends. With OPENLINEAGE_DISABLED=true nothing is sent, and nothing passes.

    The sink `openlineage` is made where there is none, which takes omd_admin; it begins with what
    happens from then on.

    \b
    Example:
      OPENLINEAGE_URL=http://marquez:5000 omd openlineage run
    """
    with _extra("openlineage"):
        from omd.integrations.openlineage import SINK, OpenLineage, is_disabled
    from omd.programs.sender.sender import serve
    from omd.rooms.event.rows import EventSinksRow

    tell = partial(click.echo, err=True)
    if is_disabled():
        tell("OPENLINEAGE_DISABLED is set: nothing is sent.")
        return ExitCode.OK
    transport = OpenLineage(show=click.echo)
    with open_control(dsn) as control:
        if not control.report(EventSinksRow, sink_code=SINK):
            control.calls.omd_event.register_sink(SINK, sink_kind="OPENLINEAGE")
            tell(f"The sink {SINK} is registered.")
    if not until_quiet:
        tell(f"sending by {transport.kind}; SIGTERM or Ctrl-C stops it")
    return serve(
        lambda: open_control(dsn), {SINK: transport}, tell, until_quiet=until_quiet, limit=500
    )


@openlineage.command()
@click.argument("topics", metavar="[TOPIC]...", nargs=-1)
@dsn_option
@output_option
def columns(topics: Sequence[str], dsn: str, output: str) -> int:
    """Find from which columns those of the transform views come, and keep it for events.

    Without TOPIC it looks at the views of all topics. What is found counts until somebody replaces
    the view. A view that can't be traced is shown, and the exit code is 1: its events then name the
    columns that it reads, without saying which of them becomes which.
    """
    with _extra("openlineage"):
        from omd.integrations.view_columns import fields_of

    views = []
    with open_control(dsn) as control:
        for row in control.calls.omd_event.transform_views(topics=topics or None):
            fields = fields_of(row.view_text, row.tables)
            if fields is not None:
                control.calls.omd_event.save_view_columns(row.view_code, row.view_text, fields)
            if fields is None:
                views.append(_Traced(row.topic, row.view_code, None, "it can't be traced"))
            else:
                views.append(_Traced(row.topic, row.view_code, len(fields), None))
    show(views, _COLUMNS, output)
    return ExitCode.FAILURE if any(row.problem for row in views) else ExitCode.OK


commands = [openlineage]

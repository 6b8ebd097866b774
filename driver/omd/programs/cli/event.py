"""The commands of events: what was committed, and the programs that it is sent to."""

from __future__ import annotations

import time
from functools import partial

import click

from omd.programs.cli.common import add_call, add_view, dsn_option, open_control, opener
from omd.programs.report.metrics import listen_option, listening
from omd.programs.terminal.commands import ExitCode, Sections
from omd.programs.terminal.options import limit_option, output_option
from omd.programs.terminal.tables import show, tell_more, titled
from omd.programs.terminal.text import short
from omd.rooms.event.calls import EventCalls

_open = opener(lambda control: control.calls.omd_event)

_EVENTS = titled(
    "event_number AS number, event_type AS event, subject_id AS id, code, event_datetime AS at,"
    " detail"
)


@click.group(cls=Sections)
def event() -> None:
    """Show what was committed, in one order, and the programs that it is sent to.

    \b
    Examples:
      omd event list                                      what was published, newest last
      omd event register audit --sink-kind PULL           a program of your own may take events
      omd event sinks                                     how far each program has come
      omd event again audit 4711                          sends it from this event on once more
    """


event.section("Events")


@event.command()
@dsn_option
def publish(dsn: str) -> int:
    """Give numbers to what has happened, until nothing is left.

    Workers, schedulers and senders do it each second.
    """
    published = 0
    with _open(dsn) as room:
        while (done := room.publish().published) != 0:
            if done is None:  # another session publishes
                time.sleep(0.05)
            else:
                published += done
    click.echo(f"Events published: {published:,}.", err=True)
    return ExitCode.OK


@event.command("list")
@dsn_option
@output_option
@limit_option()
@click.option(
    "--after",
    type=click.IntRange(min=0),
    metavar="NUMBER",
    help="The events after this number, oldest first; without it the newest.",
)
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only this type; repeatable.")
def list_(dsn: str, output: str, limit: int, after: int | None, types: tuple[str, ...]) -> None:
    """Show what was published, newest last."""
    from omd.rooms.event.rows import EventsRow

    kinds = [kind.upper() for kind in types] or None
    with _open(dsn) as room:
        if after is None:
            newest = room.report(
                EventsRow,
                event_type=kinds,
                order_by=["event_number"],
                descending=True,
                limit=limit,
            )
            show(newest[::-1], _EVENTS, output)
            tell_more(newest, limit)
        else:
            rows = room.events_after(after, limit=limit, event_types=kinds)
            show(rows, _EVENTS, output)
            tell_more(rows, limit)


add_call(
    event,
    "configure",
    EventCalls.configure,
    about="Set how events are named and how long they are kept.",
    done="It is set.",
)


event.section("Sinks")
_add_view = partial(add_view, event, room="event")
_add_view(
    "sinks",
    "Show the programs that events are sent to, and how far each has come.",
    "sink_code AS sink, sink_kind AS kind, event_number AS settled, behind, oldest_waiting AS"
    " oldest, holder, problem, not_before, sent, refused, purged_unsent AS purged,"
    " inactive_indicator AS inactive",
    ["sink_code"],
    view="sinks",
)
add_call(
    event,
    "register",
    EventCalls.register_sink,
    about="Register a program that events are sent to, or change it.",
    done="Sink {sink_code} goes on after event {answer}.",
    names={"from_": "from"},
)
add_call(
    event,
    "remove",
    EventCalls.remove_sink,
    about="Remove a sink, with what it refused.",
    done="Sink {sink_code} is removed.",
)
add_call(
    event,
    "again",
    EventCalls.send_again,
    about="Let a sink go on with an event that it may have got before.",
    done="Sink {sink_code} gets event {event_number} next.",
)
add_call(
    event,
    "continue-as",
    EventCalls.continue_as,
    about="Say who goes on sending after the database was copied: SAME (this one) or NEW.",
    done="Sinks continue as {identity}.",
)


@event.command()
@click.argument("sinks", metavar="[SINK]...", nargs=-1)
@dsn_option
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
def run(
    sinks: tuple[str, ...],
    dsn: str,
    until_quiet: bool,
    urls: tuple[str, ...],
    commands: tuple[str, ...],
    listen: tuple[str, int] | None,
) -> int:
    """Send events to the webhooks and programs that are registered as sinks, until SIGTERM.

    Without SINK it serves those of the kinds WEBHOOK and COMMAND that are active when it starts.
    Each event is sent in order, and at least once: a receiver knows one that comes again by its id.
    A receiver that is down or slow is tried again, and nothing overtakes. Any number of senders may
    run; one of them has a sink.

    \b
    Examples:
      omd event register chat --sink-kind WEBHOOK --format TEXT --event-type RUN_FAILED
        --target https://chat.example.com/hook/1
      omd event run chat --allow-url https://chat.example.com/hook/
      omd event run pager --allow-command /usr/local/bin/page
    """
    from omd.programs.sender.sender import serve
    from omd.programs.sender.sinks import KINDS, Allowed, Registered
    from omd.rooms.event.rows import EventSinksRow

    def tell(line: str) -> None:
        click.echo(short(line), err=True)

    with open_control(dsn) as control:
        chosen = list(dict.fromkeys(sinks))
        for code in chosen:
            [sink] = control.calls.omd_event.sink_definition(code)
            if sink.sink_kind not in KINDS:
                raise click.UsageError(_elsewhere(code, sink.sink_kind))
        if not chosen:
            active = control.report(
                EventSinksRow, sink_kind=list(KINDS), inactive_indicator="N", order_by=["sink_code"]
            )
            chosen = [sink.sink_code for sink in active]
        if not chosen:
            raise click.ClickException("there is no active sink of the kind WEBHOOK or COMMAND")
        allowed = Allowed(urls, commands)
        transports = {
            code: Registered(EventCalls(control._new_link(name="-sink")), code, allowed)
            for code in chosen
        }
        if until_quiet:  # a problem that is there now is sent too
            control.calls.omd_event.watch(every="15 seconds")
        else:
            tell(f"sending to {', '.join(chosen)}; SIGTERM or Ctrl-C stops it")
        return serve(
            lambda: open_control(dsn),
            transports,
            tell,
            until_quiet=until_quiet,
            around=lambda turns: listening(listen, dsn, turns),
        )


def _elsewhere(code: str, kind: str) -> str:
    if kind == "OPENLINEAGE":
        return f"{code} is of the kind OPENLINEAGE: omd openlineage run serves it"
    return f"{code} is of the kind PULL: a program of your own takes its events"


commands: list[click.Command] = [event]

"""``omd event run`` sends events to webhooks and programs."""

from __future__ import annotations

import click

from omd._core.publisher import Publisher
from omd._terminal.text import short
from omd.cli.common import dsn_option, open_control
from omd.report.metrics import listen_option, listening

@click.command()
@click.argument("sinks", metavar="[SINK]...", nargs=-1)
@dsn_option
@click.option("--until-quiet", is_flag=True, help="Stop when all is sent.")
@click.option(
    "--allow-url",
    "urls",
    metavar="PREFIX",
    multiple=True,
    help="Send only to URLs of this scheme, host and port, below its path; repeatable. Without it"
    " any URL is allowed that an administrator of OMD registers.",
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
      omd event register chat --sink-kind WEBHOOK --target https://chat.example.com/hook/1 \\
          --event-type RUN_FAILED --format TEXT
      omd event run chat --allow-url https://chat.example.com/hook/
      omd event run pager --allow-command /usr/local/bin/page
    """
    from omd.event.calls import EventCalls
    from omd.event.rows import EventSinksRow
    from omd.event.sender import serve
    from omd.event.sinks import KINDS, Allowed, Registered

    def tell(line: str) -> None:
        click.echo(short(line), err=True)

    with open_control(dsn) as control:
        chosen = list(dict.fromkeys(sinks))
        for code in chosen:
            [sink] = control.event.sink_definition(code)
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
            code: Registered(EventCalls(control.new_link(name="-sink")), code, allowed)
            for code in chosen
        }
        with Publisher(lambda: control.new_link(name="-publish"), tell):
            if not until_quiet:
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

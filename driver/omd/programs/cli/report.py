"""Commands that report what runs, what happened and what needs attention (rule P17)."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.report.explain import explain
from omd.programs.report.log import log, since
from omd.programs.report.metrics import metrics
from omd.programs.report.platform import platform
from omd.programs.report.show import show
from omd.programs.report.status import status
from omd.programs.report.trace import trace
from omd.programs.report.work import retry, work


@click.command()
@dsn_option
@click.option(
    "--since",
    "start",
    type=since,
    default="24h",
    show_default=True,
    metavar="SPAN",
    help="Start of the timeline: 90m, 24h, 7d, 2026-01-31.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    default="omd-report.html",
    show_default=True,
    help="The file to write; - is stdout.",
)
def report(dsn: str, start: datetime, output: Path) -> None:
    """Write one HTML page: what runs, a timeline, what failed, what waits, throughput.

    The page needs no other file, no network and no script, so it can be sent or kept. The command
    prints its path.

    \b
    Examples:
      omd report                            shows the last 24 hours, in omd-report.html
      omd report --since 7d --output week.html
      omd report --output - | mail …           writes to stdout
    """
    from omd.programs.report import page

    with open_control(dsn) as control:
        html = page.make(control, start)
    if str(output) == "-":
        click.echo(html, nl=False)
        return
    output.write_text(html, encoding="utf-8")
    click.echo(output)


commands: list[click.Command] = [
    status, show, work, retry, platform, log, trace, explain, report, metrics,
]  # fmt: skip

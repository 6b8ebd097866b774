"""``omd platform graph`` draws what flows where over all rooms, and how it is."""

from __future__ import annotations

import json

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.terminal.text import row_dict
from omd.rooms.report.rows import FlowNodesRow, FlowRow


@click.group()
def platform() -> None:
    """Show the platform as a whole: what is delivered, stored, transformed, decided, exported."""


@platform.command()
@dsn_option
@click.option("--of", "code", metavar="CODE", help="Only what leads to it, and what it leads to.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "mermaid", "svg", "json"]),
    default="text",
    show_default=True,
    help="Format of what is printed to stdout.",
)
def graph(dsn: str, code: str | None, format_: str) -> None:
    """Draw what flows where, each with its state and its last problem.

    \b
    Examples:
      omd platform graph --of mart.order_fact
      omd platform graph --format svg > platform.svg
    """
    from omd.programs.report.flow import flow

    with open_control(dsn) as control:
        shown = flow(control.report(FlowRow), control.report(FlowNodesRow))
    if code is not None:
        near = shown.of(code)
        if near is None:
            raise click.UsageError(f"Nothing in the platform is called {code!r}.")
        shown = near
    if format_ == "json":
        names = ("from_kind", "from_code", "to_kind", "to_code")
        document = {
            "nodes": [row_dict(row) for row in shown.rows.values()],
            "edges": [dict(zip(names, (*a, *b), strict=True)) for a, b in shown.arrows],
        }
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    elif shown.rows:
        from omd.programs.terminal.graph import FORMATS

        click.echo(FORMATS[format_](*shown.drawn()))
    else:
        click.echo("(none)", err=True)

"""``omd web`` shows the page: everything in the rooms, alive."""

from __future__ import annotations

import click

from omd.cli.common import dsn_option


@click.command()
@dsn_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True,
    help="The port; 0: one that is free.",
)  # fmt: skip
@click.option("--no-open", is_flag=True, help="Open no browser.")
def web(dsn: str, host: str, port: int, no_open: bool) -> None:  # noqa: ARG001
    """Show the page: what runs, what waits for what, and what waits for a person."""
    from omd.web import app
    from omd.web.login import TokenLogin
    from omd.web.serving import bound, serve

    application = app(dsn)
    listening = bound(host, port)
    login = application.site.login
    assert isinstance(login, TokenLogin)  # noqa: S101
    click.echo(f"http://{host}:{listening.getsockname()[1]}{login.link()}")
    serve(application, listening)


commands = [web]

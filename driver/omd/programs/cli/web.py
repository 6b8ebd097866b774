"""``omd web`` shows the page: everything in the rooms, alive."""

from __future__ import annotations

import contextlib
import html
import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from omd._core import packages
from omd.programs.cli.common import dsn_option

if TYPE_CHECKING:
    import socket

    from omd.programs.web.application import Application

_UNITS = {"s": 1, "m": 60, "h": 3600}


def _span(_ctx: click.Context, _parameter: click.Parameter, given: str) -> float:
    """Return the seconds of a span such as 30m."""
    match = re.fullmatch(r"(\d+)([smh]?)", given)
    if match is None or int(match[1]) == 0:
        raise click.BadParameter(f"{given!r} is no span like 90s, 30m or 2h.")
    return float(int(match[1]) * _UNITS[match[2] or "m"])


def _public(_ctx: click.Context, _parameter: click.Parameter, given: str | None) -> str | None:
    if given is None:
        return None
    try:
        parts = urlsplit(given)
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or parts.query or parts.fragment or parts.username is not None:
        raise click.BadParameter(f"{given!r} is no address like https://omd.example.org.")
    return given


def _prefixed(_ctx: click.Context, _parameter: click.Parameter, given: str) -> str:
    path = given.rstrip("/")
    if path and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", path):
        raise click.BadParameter(f"{given!r} is no path like /omd.")
    return path


def _networks(
    _ctx: click.Context, _parameter: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...]:
    import ipaddress

    for name in given:
        try:
            ipaddress.ip_network(name)
        except ValueError:
            raise click.BadParameter(f"{name!r} is no address or network.") from None
    return given


_FILE = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)


@click.command()
@dsn_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address it listens on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="The port; 0 is one that is free.",
)
@click.option(
    "--login",
    type=click.Choice(["token", "database", "header"]),
    default="token",
    show_default=True,
    help="Who one is: whoever has the printed link, a database user, or whom a proxy names.",
)
@click.option(
    "--header",
    default="X-Remote-User",
    show_default=True,
    help="The header in which the proxy names the database role.",
)
@click.option(
    "--trusted-proxy",
    "proxies",
    metavar="ADDRESS",
    multiple=True,
    callback=_networks,
    help="Address or network of a proxy whose header counts; may be repeated.",
)
@click.option(
    "--peer-uid",
    "peers",
    type=int,
    multiple=True,
    help="An account of this host, beside your own, that may ask over loopback; may be repeated.",
)
@click.option(
    "--socket",
    "file",
    type=click.Path(path_type=Path),
    help="A Unix socket instead of host and port; its owner and group may use it.",
)
@click.option(
    "--prefix", default="", metavar="PATH", callback=_prefixed, help="Its path, such as /omd."
)
@click.option(
    "--public-url", metavar="URL", callback=_public, help="The address that browsers use."
)
@click.option("--tls-cert", type=_FILE, help="The certificate, with those that signed it.")
@click.option("--tls-key", type=_FILE, help="Its private key.")
@click.option(
    "--idle",
    default="30m",
    show_default=True,
    metavar="SPAN",
    callback=_span,
    help="When a session ends that asks nothing: 90s, 30m, 2h.",
)
@click.option("--read-only", is_flag=True, help="Offer no action.")
@click.option("--no-open", is_flag=True, help="Open no browser.")
def web(
    dsn: str,
    host: str,
    port: int,
    login: str,
    header: str,
    proxies: tuple[str, ...],
    peers: tuple[int, ...],
    file: Path | None,
    prefix: str,
    public_url: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    idle: float,
    read_only: bool,
    no_open: bool,
) -> None:
    """Show the page: what runs, what waits for what, and what waits for a person.

    The first line of its output is the address. With the login token it is a link that works once;
    Enter prints a new one. SIGTERM or Ctrl-C ends it.

    \b
    Examples:
      omd web                                       for you alone, on this machine
      omd web --read-only --no-open
      omd web --login database --host 0.0.0.0 --public-url https://omd.example.org \\
          --tls-cert cert.pem --tls-key key.pem     for database users
      omd web --login header --socket /run/omd/web.sock --public-url https://omd.example.org
    """
    try:
        from omd.programs.web import serving
        from omd.programs.web.application import app
        from omd.programs.web.safety import way_out
    except ModuleNotFoundError as error:
        from omd.errors import OmdError

        raise OmdError(f"{error.name} is not installed.", hint=packages.install("web")) from None

    problem = way_out(
        login=login,
        host=host,
        is_socket=file is not None,
        is_tls=tls_cert is not None,
        public_url=public_url,
        proxies=proxies,
        prefix=prefix,
    )
    if (tls_cert is None) != (tls_key is None):
        problem = "--tls-cert and --tls-key come together."
    if problem is not None:
        raise click.UsageError(problem)
    tls = _tls(tls_cert, tls_key)
    application = app(
        dsn,
        login,
        prefix,
        header=header,
        trusted_proxies=proxies,
        public_url=public_url,
        host=host,
        peer_uids=peers,
        idle=idle,
        read_only=read_only,
        is_https=tls_cert is not None,
    )
    with contextlib.ExitStack() as stack:
        stack.enter_context(serving.ending_quietly())
        application.site.reader.check()
        if application.site.reader.is_pooled and application.site.login.name == "header":
            from omd._core.pooling import needs_session
            from omd.programs.web.login import HEADER_NEEDS

            raise needs_session(HEADER_NEEDS)
        _log_to_stderr()
        try:
            if file is not None:
                listening = stack.enter_context(serving.bound_file(file))
            else:
                listening = stack.enter_context(serving.bound(host, port))
        except OSError as error:
            where = file if file is not None else f"{host}:{port}"
            hint = "--socket names another file." if file else "--port 0 takes one that is free."
            raise click.ClickException(f"{where}: {error.strerror or error}. {hint}") from None
        base = _base(listening, public_url, is_tls=tls_cert is not None, host=host)
        _tell(application, base, stack, opens=not no_open and file is None)
        serving.serve(application, listening, _teller(application, base), **tls)


def _tell(application: Application, base: str, stack: contextlib.ExitStack, *, opens: bool) -> None:
    """Print the address and open it."""
    address = f"{base}{_path(application)}"
    click.echo(address)
    sys.stdout.flush()
    if opens and sys.stdin is not None and sys.stdin.isatty() and _has_browser():
        import webbrowser

        webbrowser.open(stack.enter_context(_leading_to(address)).as_uri())


def _teller(application: Application, base: str) -> Any:
    """Return what prints a new link; with the other logins the address stays."""
    if application.site.login.name != "token":
        return None

    def tell() -> None:
        click.echo(f"{base}{_path(application)}")
        sys.stdout.flush()

    return tell


def _path(application: Application) -> str:
    from omd.programs.web import parts
    from omd.programs.web.login import TokenLogin

    site = application.site
    with parts.under(site.prefix):
        return site.login.link() if isinstance(site.login, TokenLogin) else parts.path("/")


def _base(listening: socket.socket, public_url: str | None, *, is_tls: bool, host: str) -> str:
    """Return scheme, host and port."""
    if public_url is not None:
        parts = urlsplit(public_url)
        return f"{parts.scheme}://{parts.netloc}"
    from omd.programs.web.peers import is_unspecified

    name = listening.getsockname()
    if isinstance(name, str):
        return "http://localhost"
    if is_unspecified(host):
        click.echo("Browsers on other machines need --public-url.", err=True)
        host = "localhost"
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if is_tls else 'http'}://{shown}:{name[1]}"


@contextmanager
def _leading_to(address: str) -> Iterator[Path]:
    """Yield a file that leads to an address, and that nobody else can read.

    The arguments of a program are for everybody on the host to see, so the link is none of the
    browser's.
    """
    import tempfile

    number, name = tempfile.mkstemp(prefix="omd-web-", suffix=".html")
    file = Path(name)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as opened:
            url = html.escape(address)
            opened.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={url}">')
        yield file
    finally:
        file.unlink(missing_ok=True)


def _has_browser() -> bool:
    """Return whether there is a desktop; elsewhere a browser would take the terminal."""
    return sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )


def _tls(cert: Path | None, key: Path | None) -> dict[str, str]:
    import ssl

    if cert is None or key is None:
        return {}
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key)
    except (ssl.SSLError, OSError) as error:
        raise click.UsageError(
            f"{cert} and {key} are no certificate and its key: {error}"
        ) from None
    return {"ssl_certfile": str(cert), "ssl_keyfile": str(key)}


def _log_to_stderr() -> None:
    """Write one line per request, where no other log is set up."""
    log = logging.getLogger("omd.web")
    if not log.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        log.addHandler(handler)
    log.setLevel(logging.INFO)

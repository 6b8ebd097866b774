"""The metrics as Prometheus reads them: once, or over HTTP beside a program that runs for long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import click

from omd._core import versions
from omd._core.calls import Calls, Reports
from omd.programs.service.endpoint import Endpoint
from omd.rooms.report.rows import MetricsRow, PrometheusRow

F = TypeVar("F", bound=Callable[..., Any])

_LONGEST = "30s"  # so long a query of the endpoint may take


def _address(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> tuple[str, int] | None:
    """Read HOST:PORT, :PORT for all addresses, or PORT for 127.0.0.1."""
    if value is None:
        return None
    host, colon, port = value.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise click.BadParameter(f"{value!r} is no address: 127.0.0.1:9464, [::1]:9464, :9464")
    return (host.removeprefix("[").removesuffix("]") if colon else "127.0.0.1"), int(port)


def listen_option(command: F) -> F:
    """Add ``--listen``; the command gets host and port, or None, as ``listen``."""
    return click.option(
        "--listen",
        metavar="ADDRESS",
        callback=_address,
        help="Answer /metrics, /healthz and /readyz there: 9464 (on this machine only), HOST:9464,"
        " :9464.",
    )(command)


def text(calls: Reports, *, no_codes: bool = False) -> str:
    """Return the metrics in Prometheus' text format."""
    rows = calls.report(PrometheusRow, is_per_code=False if no_codes else None)
    return "".join(f"{row.line}\n" for row in rows)


def unready(calls: Reports) -> str | None:
    """Return why the database does not fit this program; None: it does."""
    [row] = calls.report(MetricsRow, metric_name="omd_info")
    version = row.labels["version"]
    refusal = versions.refusal(versions.mine(), version)
    return None if refusal is None else refusal.message


@contextmanager
def listening(
    listen: tuple[str, int] | None, dsn: str, turns: Callable[[], bool], *, no_codes: bool = False
) -> Iterator[None]:
    """Answer over HTTP while the block is open, if there is an address.

    Args:
        listen: host and port.
        dsn: the database; it gets a connection of the endpoint's own at the first request.
        turns: returns whether the loop of the program turns.
        no_codes: leave out what has a series for each code.
    """
    if listen is None:
        yield
        return
    from omd._core.conninfo import resolve_conninfo
    from omd._core.link import Link

    link = Link(
        resolve_conninfo(dsn or None),
        application_name="omd-endpoint",
        patience=timedelta(0),
        connect_timeout="5",
    )
    # To compile a plan of so many parts takes longer than to scrape.
    link.set(statement_timeout=_LONGEST, jit="off")
    calls = Calls(link)
    try:
        endpoint = Endpoint(
            *listen,
            metrics=lambda: text(calls, no_codes=no_codes),
            turns=turns,
            unready=lambda: unready(calls),
        )
    except OSError as error:
        raise click.ClickException(f"it can't listen: {error}") from error
    try:
        with endpoint:
            click.echo(f"listening on {endpoint.url}", err=True)
            yield
    finally:
        link.close()


def answer_scrapes(dsn: str, listen: tuple[str, int], *, no_codes: bool = False) -> None:
    """Answer the metrics over HTTP until SIGTERM or Ctrl-C."""
    from omd.programs.service.loop import Loop

    loop = Loop(lambda line: click.echo(line, err=True))
    with loop.signals(), listening(listen, dsn, lambda: loop.turns, no_codes=no_codes):
        loop.service.ready("answering /metrics, /healthz and /readyz")
        while not loop.stop:
            loop.wait(10)

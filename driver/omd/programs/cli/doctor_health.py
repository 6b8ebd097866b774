"""``omd doctor --health``: one answer for who looks after a container: it is well or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from omd._core import versions
from omd.programs.terminal.commands import ExitCode

if TYPE_CHECKING:
    import http.client

    import psycopg

_LONGEST = 1000  # characters of an answer that are shown


def tell(dsn: str, port: int | None, timeout: float) -> ExitCode:
    """Say whether it is well, on one line; the exit code is 0 or 1.

    Args:
        dsn: the database that is asked.
        port: ask the program that listens there, on this host, and not the database.
        timeout: seconds after which it is not well.
    """
    try:
        well = _asked_database(dsn, timeout) if port is None else _asked_program(port, timeout)
    except _NotWell as error:
        click.echo(str(error), err=True)
        return ExitCode.FAILURE
    click.echo(f"It is well: {well}.")
    return ExitCode.OK


class _NotWell(Exception):  # noqa: N818 - the name says what is found
    """It is not well, and why."""


def _asked_database(dsn: str, timeout: float) -> str:
    """Return what the database says that is well."""
    import psycopg

    milliseconds = max(int(timeout * 1000), 1)
    try:
        with psycopg.connect(
            dsn,
            autocommit=True,
            application_name="omd doctor --health",
            connect_timeout=max(int(timeout), 2),  # libpq knows no less
            tcp_user_timeout=milliseconds,
            prepare_threshold=None,
        ) as conn:
            return f"the database answers, omd {_fitting_version(conn, milliseconds)}"
    except psycopg.Error as error:
        raise _NotWell(_first_line(error)) from None


def _fitting_version(conn: psycopg.Connection[Any], milliseconds: int) -> str:
    from omd.programs import install as installer

    with conn.transaction():
        conn.execute(
            "SELECT pg_catalog.set_config('statement_timeout', %s, true)", [str(milliseconds)]
        )
        if not installer.is_installed(conn):
            raise _NotWell(f"{versions.place_of(conn.info)} has no OMD. {versions.OTHER_DATABASE}")
        [(version,)] = conn.execute(
            "SELECT m.labels OPERATOR(pg_catalog.->>) 'version' FROM omd_report.metrics AS m"
            " WHERE m.metric_name OPERATOR(pg_catalog.=) 'omd_info'"
        ).fetchall()
    refusal = versions.refusal(versions.mine(), version)
    if refusal is not None:
        raise _NotWell(refusal.message)
    return str(version)


def _asked_program(port: int, timeout: float) -> str:
    """Return what the program that listens on this host says that is well."""
    import http.client
    import ssl

    try:
        answer = _asked(http.client.HTTPConnection("127.0.0.1", port, timeout=timeout))
        if answer is None:  # it may speak TLS, and its certificate is for another name
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            answer = _asked(
                http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=context)
            )
    except OSError as error:
        raise _NotWell(f"port {port}: {error.strerror or error}") from None
    if answer is None:
        raise _NotWell(f"port {port}: its answer is no HTTP")
    status, text = answer
    if status != 200:
        raise _NotWell(f"port {port}: {status} {text}".rstrip())
    return f"port {port} is ready"


def _asked(connection: http.client.HTTPConnection) -> tuple[int, str] | None:
    """Return the answer; None: it is none of HTTP."""
    import http.client

    try:
        connection.request("GET", "/readyz")
        response = connection.getresponse()
        return response.status, response.read(_LONGEST).decode(errors="replace").strip()
    except (http.client.HTTPException, ConnectionResetError):
        return None
    finally:
        connection.close()


def _first_line(error: psycopg.Error) -> str:
    return (error.diag.message_primary or str(error).strip() or type(error).__name__).splitlines()[
        0
    ]

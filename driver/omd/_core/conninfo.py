"""Connection strings: which one counts, and what a malformed one may tell.

libpq repeats a string that it can't read in its message, with the password in it, and so would
every log. What it reads in another way than was meant ("p@ss" before the host, a forgotten host)
is no better: a part of the password then is the name of a host, and is shown as such.
"""

from __future__ import annotations

import os
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from omd._core.errors import ConnectionFailed

_SCHEMES = ("postgresql://", "postgres://")


def resolve_conninfo(conninfo: str | None) -> str:
    """Return the argument, else OMD_DSN, else DATABASE_URL, else "": libpq's own settings apply.

    Raises:
        ConnectionFailed: it is malformed.
    """
    conninfo = conninfo or os.environ.get("OMD_DSN") or os.environ.get("DATABASE_URL") or ""
    read_conninfo(conninfo)
    return conninfo


def read_conninfo(conninfo: str) -> dict[str, Any]:
    """Return the settings of a connection string by their names.

    Raises:
        ConnectionFailed: it is malformed; nothing of it is shown.
    """
    try:
        settings = conninfo_to_dict(conninfo)
    except (psycopg.ProgrammingError, ValueError):
        # ValueError: it holds half a surrogate pair.
        settings = None
    if settings is None or _is_misread(conninfo) or not _are_ports(settings.get("port")):
        raise ConnectionFailed(
            "this is no connection string; it is not shown, since it may hold a password",
            hint="It is like postgresql://USER:PASSWORD@HOST:PORT/DATABASE or host=HOST dbname=DB."
            " In a URL, write @ : / ? # % of a password as %40 %3A %2F %3F %23 %25; or name it in"
            " PGPASSWORD or a password file.",
        ) from None
    return settings


def _is_misread(conninfo: str) -> bool:
    """Return whether an @ or / of a user or password ends what it should be a part of.

    libpq takes what stands before the first @ for user and password, unless a / comes before it.
    """
    if "\0" in conninfo:
        return True  # libpq would see only the text before it
    if not conninfo.startswith(_SCHEMES):
        return False
    rest = conninfo.partition("://")[2]
    user, at, host = rest.partition("@")
    address = host if at and "/" not in user else rest
    return "@" in address.partition("?")[0]


def _are_ports(given: object) -> bool:
    """Return whether these are ports; a URL without @ has its password there."""
    ports = str(given or "").split(",")
    return all(port.strip() == "" or port.strip().isdecimal() for port in ports)

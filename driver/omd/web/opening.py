"""How the page opens a connection."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row

from omd._core.adapters import adapt

APPLICATION = "omd web"

Connection = psycopg.Connection[DictRow]

# A server that has vanished is noticed within a minute.
_SETTINGS = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}


def opened(dsn: str, **settings: Any) -> Connection:
    """Open an autocommit connection whose rows are dictionaries; settings come before ``dsn``."""
    connection = psycopg.connect(
        dsn,
        autocommit=True,
        prepare_threshold=None,
        row_factory=dict_row,
        application_name=APPLICATION,
        client_encoding="utf8",
        **{**_SETTINGS, **settings},
    )
    adapt(connection)
    return connection


class NotLetInError(psycopg.OperationalError):
    """The database is there, but lets this user in no more: another password, or no right."""

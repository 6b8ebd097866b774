"""A connection of Airflow of the type ``omd``, as a connection to the control plane."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

import omd
from omd.integrations.airflow.names import BaseHook
from omd.rooms.control.rows import BatchListRow


class OmdHook(BaseHook):
    """Opens a connection to the control plane.

    Args:
        omd_conn_id: a connection of the type ``omd``: host, port, login, password, and the database
            as its schema. Its extra is an object of libpq's parameters.
    """

    conn_name_attr = "omd_conn_id"
    default_conn_name = "omd_default"
    conn_type = "omd"
    hook_name = "OMD"

    def __init__(self, omd_conn_id: str = default_conn_name, **options: Any) -> None:
        super().__init__(**options)
        self.omd_conn_id = omd_conn_id

    def get_conn(self) -> omd.Control:
        """Return a new connection; whoever asks for it closes it."""
        control = omd.connect(self.conninfo(), application_name="omd-airflow")
        # The statement of a process that was killed ends, so that its run is known to be dead.
        control._set(client_connection_check_interval="1s")
        return control

    def conninfo(self) -> str:
        """Return the connection string. It holds the password: never log it."""
        return _conninfo_of(self.get_connection(self.omd_conn_id))

    async def aconninfo(self) -> str:
        """Return the same where an event loop runs, which must not wait."""
        if hasattr(self, "aget_connection"):
            return _conninfo_of(await self.aget_connection(self.omd_conn_id))
        return await asyncio.to_thread(self.conninfo)

    def test_connection(self) -> tuple[bool, str]:
        """Return whether the database answers and has OMD, and a sentence about it."""
        try:
            with self.get_conn() as control:
                control.report(BatchListRow, limit=1)
        except psycopg.Error as error:
            return False, str(error)
        return True, "The database answers, and has OMD."

    @classmethod
    def get_ui_field_behaviour(cls) -> dict[str, Any]:
        """Return how the form of a connection names its fields."""
        return {
            "hidden_fields": [],
            "relabeling": {"schema": "Database"},
            "placeholders": {"port": "5432", "extra": '{"sslmode": "verify-full"}'},
        }


def _conninfo_of(connection: Any) -> str:
    try:
        extra = json.loads(connection.extra or "{}")
    except ValueError:
        extra = None
    if not isinstance(extra, dict):
        raise omd.errors.CallerError(
            f"the extra of the connection {connection.conn_id} is no JSON object",
            hint='It holds parameters of libpq, such as {"sslmode": "verify-full"}.',
        )
    given = {
        "host": connection.host,
        "port": connection.port,
        "user": connection.login,
        "password": connection.password,
        "dbname": connection.schema,
        **extra,
    }
    known = {name: str(value) for name, value in given.items() if value not in (None, "")}
    return make_conninfo("", **known)

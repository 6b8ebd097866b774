"""Begin and success of one Module by the driver."""

from __future__ import annotations

import atexit

from bench.control import module
from bench.server import dsn_of
from bench.turns import Connection, Take, timed

import omd

CALLS, ROUNDS = 50, 40


def prepare(conn: Connection, size: float = 1) -> Take:
    module(conn, "m_driver")
    control = omd.connect(dsn_of(conn), lease=None)
    atexit.register(control.close)
    return timed(
        lambda: control.calls.omd.module_success(
            control.calls.omd.begin_module("m_driver").module_instance_id
        )
    )

"""The page says beforehand what an action would do: a Module is deactivated."""

from __future__ import annotations

from bench.control import module
from bench.turns import Connection, Take, timed

CALLS, ROUNDS = 5, 30
PREVIEW = "SELECT outcome FROM omd_web.preview('DEACTIVATE', 'm_shown', '{}')"


def prepare(conn: Connection, size: float = 1) -> Take:
    module(conn, "m_shown")

    def preview() -> None:
        assert conn.execute(PREVIEW).fetchone() == ("DONE",)

    return timed(preview)

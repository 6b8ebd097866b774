"""The first page of ``omd web``, in a small company."""

from __future__ import annotations

import atexit

from bench.company import small
from bench.page import Page
from bench.server import dsn_of
from bench.turns import Connection, Take, timed

ROUNDS = 15


def prepare(conn: Connection, size: float = 1) -> Take:
    small(conn, size)
    page = Page(dsn_of(conn))
    atexit.register(page.close)
    return timed(lambda: page.get("/"))

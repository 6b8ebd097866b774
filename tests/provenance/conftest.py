"""The tests share the emptied database; those of topics play their scenes in it."""

from __future__ import annotations

from support.emptied import conn, dsn

__all__ = ["conn", "dsn"]

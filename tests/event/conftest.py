"""All tests of this folder share a database."""

from support.emptied import conn, dsn

__all__ = ["conn", "dsn"]

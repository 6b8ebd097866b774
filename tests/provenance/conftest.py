"""The fixtures of facts: `Store` delivers and loads, and calls any room."""

from facts.conftest import conn, dsn, store, stores

__all__ = ["conn", "dsn", "store", "stores"]

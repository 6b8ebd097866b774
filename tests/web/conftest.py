from support.emptied import conn, dsn

__all__ = ["conn", "dsn"]

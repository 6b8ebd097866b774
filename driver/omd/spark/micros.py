"""Timestamps in files of Parquet as other engines read them; an export needs no table format."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

_TIMESTAMPS = "spark.sql.parquet.outputTimestampType"

_in_use: dict[str, tuple[int, str | None]] = {}
_lock = threading.Lock()


@contextmanager
def micros(spark: SparkSession) -> Iterator[None]:
    """Let Spark write timestamps as other engines read them; the setting is one of the session.

    Threads that write at the same time share it, so the last one puts it back.
    """
    session = getattr(spark, "session_id", None) or spark._jsparkSession.sessionUUID()
    with _lock:
        users, before = _in_use.get(session, (0, None))
        if not users:
            before = spark.conf.getAll.get(_TIMESTAMPS)
            spark.conf.set(_TIMESTAMPS, "TIMESTAMP_MICROS")
        _in_use[session] = (users + 1, before)
    try:
        yield
    finally:
        with _lock:
            users, before = _in_use.pop(session)
            if users > 1:
                _in_use[session] = (users - 1, before)
            elif before is None:
                spark.conf.unset(_TIMESTAMPS)
            else:
                spark.conf.set(_TIMESTAMPS, before)

"""Timestamps in files of Parquet as other engines read them; an export needs no table format."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

_TIMESTAMPS = "spark.sql.parquet.outputTimestampType"
_IN_USE = "spark.omd.timestamps"  # of a session: how many write, and what the setting was before

_lock = threading.Lock()


@contextmanager
def micros(spark: SparkSession) -> Iterator[None]:
    """Let Spark write timestamps as other engines read them; the setting is one of the session.

    Threads that write at the same time share it, so the last one puts it back.
    """
    with _lock:
        users, before = _in_use(spark)
        spark.conf.set(_TIMESTAMPS, "TIMESTAMP_MICROS")
        spark.conf.set(_IN_USE, f"{users + 1} {before}")
    try:
        yield
    finally:
        with _lock:
            users, before = _in_use(spark)
            if users > 1:
                spark.conf.set(_IN_USE, f"{users - 1} {before}")
            else:
                spark.conf.unset(_IN_USE)
                if before:
                    spark.conf.set(_TIMESTAMPS, before)
                else:
                    spark.conf.unset(_TIMESTAMPS)


def _in_use(spark: SparkSession) -> tuple[int, str]:
    given = spark.conf.getAll
    users, _, before = given.get(_IN_USE, f"0 {given.get(_TIMESTAMPS, '')}").partition(" ")
    return int(users), before

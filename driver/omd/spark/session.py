"""A Spark session that suits OMD, and the data source made known to any session."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from omd.spark.source import OmdDataSource

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["register", "session"]

_REGISTERED = "spark.omd.registered"
_DEFAULTS = {
    "spark.app.name": "omd",
    "spark.driver.memory": "2g",
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # The default of 200 is for a cluster.
    "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
}


def session(master: str = "local[*]", settings: Mapping[str, str] | None = None) -> SparkSession:
    """A Spark session: UTC, Arrow on, quiet, 2 GB for the driver, data source ``omd`` registered.

    A session that exists already is taken; of it only what may change while it runs is changed.

    Args:
        master: master URL.
        settings: Spark settings over these defaults.
    """
    local = master.startswith("local")
    if local:
        # Else the workers are some `python3` on the path; spark.pyspark.python is read too late.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master)
    for name, value in {**_DEFAULTS, **(_LOCAL if local else {}), **(settings or {})}.items():
        builder = builder.config(name, value)
    return register(builder.getOrCreate())


def register(spark: SparkSession) -> SparkSession:
    """Make the data source ``omd`` known to a session, and hand it back. May be repeated."""
    if spark.conf.get(_REGISTERED, "") != "true":
        spark.dataSource.register(OmdDataSource)
        # Spark refuses a source that takes over filters unless this is on.
        spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
        spark.conf.set(_REGISTERED, "true")
    return spark

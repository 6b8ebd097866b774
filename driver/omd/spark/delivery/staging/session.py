"""The session in which a delivery works: the settings on which the meaning of a model depends."""

from __future__ import annotations

from pyspark.sql import SparkSession

from omd._core.error_codes import DeliveryArgumentInvalid
from omd.spark.sessions import cloned

_SETTINGS = {
    # One method for all expressions of a row is too big for the JIT compiler.
    "spark.sql.codegen.wholeStage": "false",
    # What is kept are hashes and keys, which compression makes hardly smaller, but slower.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # The meaning of a model must not depend on the session in which it is checked.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.variable.substitute": "false",
    # What can't be read fails the attempt.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    # Files of any code page; bytes that it does not have become U+FFFD, which is looked for.
    "spark.sql.legacy.javaCharsets": "true",
    "spark.sql.legacy.codingErrorAction": "true",
}
_WORKING = "spark.omd.delivery"  # it marks a session that `working_session` has returned
_MIN_PARTS = "spark.sql.files.minPartitionNum"


def working_session(spark: SparkSession) -> SparkSession:
    """Return a session with the views and functions of this one, and settings of its own.

    A session that this function has returned is returned as it is.

    Raises:
        DeliveryArgumentInvalid: it is a session of Spark Connect.
    """
    if spark.conf.get(_WORKING, None) == "true":
        return spark
    if not hasattr(spark, "_jsparkSession"):
        raise DeliveryArgumentInvalid(
            "a delivery can't run over Spark Connect",
            hint="Run it where the driver of Spark is: spark-submit, or a local master.",
        )
    # Files are cut in the same way in each scan, however many executors come and go.
    parts = (
        spark.conf.get(_MIN_PARTS, None)
        or spark.conf.get("spark.sql.leafNodeDefaultParallelism", None)
        or str(spark.sparkContext.defaultParallelism)
    )
    return cloned(spark, _SETTINGS | {_MIN_PARTS: parts, _WORKING: "true"})

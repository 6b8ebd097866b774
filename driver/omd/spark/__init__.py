"""The data path: Spark jobs that read and write PostgreSQL under the control of OMD.

Needs the extra ``spark``.

Examples:
    spark = omd.spark.session()
    with control.module("m_hstg_flights") as run:
        df = run.read(spark, "stg.flights")
        run.write(df)
"""

from omd.spark.job import WriteResult, read, stamp, write
from omd.spark.lake import execute_rollback
from omd.spark.session import register, session
from omd.spark.snapshot import HeldSnapshot, SnapshotGone, snapshot
from omd.spark.source import OmdDataSource
from omd.spark.types import UnsupportedType

__all__ = [
    "HeldSnapshot",
    "OmdDataSource",
    "SnapshotGone",
    "UnsupportedType",
    "WriteResult",
    "execute_rollback",
    "read",
    "register",
    "session",
    "snapshot",
    "stamp",
    "write",
]

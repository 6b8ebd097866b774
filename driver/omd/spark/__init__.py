"""The data path: Spark jobs that read and write PostgreSQL under the control of OMD.

It needs the extra ``spark``.

Examples:
    spark = omd.spark.session()
    with control.module("m_hstg_flights") as run:
        df = run.read(spark, "stg.flights")
        run.write(df)
"""

from typing import TYPE_CHECKING

from omd._core import packages
from omd._core.lazy import lazily

if TYPE_CHECKING:
    from omd._core.engines import WriteResult as WriteResult
    from omd.spark.job import read as read
    from omd.spark.job import stamp as stamp
    from omd.spark.job import write as write
    from omd.spark.lake import execute_rollback as execute_rollback
    from omd.spark.sessions import register as register
    from omd.spark.sessions import session as session
    from omd.spark.snapshots import HeldSnapshot as HeldSnapshot
    from omd.spark.snapshots import snapshot as snapshot
    from omd.spark.source import OmdDataSource as OmdDataSource

packages.require("pyspark", "spark")

# The names are imported on first use, so that a Spark worker imports only what it needs.
__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "omd._core.engines": ["WriteResult"],
        "omd.spark.job": ["read", "stamp", "write"],
        "omd.spark.lake": ["execute_rollback"],
        "omd.spark.sessions": ["register", "session"],
        "omd.spark.snapshots": ["HeldSnapshot", "snapshot"],
        "omd.spark.source": ["OmdDataSource"],
    },
)

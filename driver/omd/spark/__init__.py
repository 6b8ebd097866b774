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
    from omd.spark.sessions import session as session

packages.require("pyspark", "spark")

# It is imported on first use, so that a Spark worker imports only what it needs.
__all__, __getattr__, __dir__ = lazily(__name__, {"omd.spark.sessions": ["session"]})

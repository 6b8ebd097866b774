"""The settings of a run that suit the amount of its data.

Spark plans for much of it: it compiles the expressions of each query, and starts a job for each
shuffle. For some thousand rows that costs far more than the rows do. They are worked on by
interpreted expressions, in one task, whose rows need no shuffle; what is sorted there may still be
spilled to disk.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOST_BYTES = 4 * 1024 * 1024
_MOST_ROWS = 20_000

SMALL = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.ui.explainMode": "simple",
}


class Scale:
    """Suits a session to an amount of data.

    Args:
        spark: a session of its own, with the settings for much data.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._usual = {name: str(spark.conf.get(name)) for name in SMALL}

    def are_few_bytes(self, sizes: Iterable[int | None]) -> bool:
        """Suit the session to files of these sizes; return whether they go into one task.

        Args:
            sizes: in bytes; None where that is not known.
        """
        given = list(sizes)
        return self._suit(None not in given and sum(n or 0 for n in given) <= _MOST_BYTES)

    def are_few_rows(self, numbers: Iterable[int]) -> bool:
        """Suit the session to so many rows; return whether they go into one task."""
        return self._suit(sum(numbers) <= _MOST_ROWS)

    def _suit(self, is_small: bool) -> bool:
        for name, value in (SMALL if is_small else self._usual).items():
            self._spark.conf.set(name, value)
        return is_small

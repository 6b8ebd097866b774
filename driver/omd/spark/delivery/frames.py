"""Frames that are kept, and forget how they were made.

A frame of a round is made of those of the rounds before, several times over. If each carried its
whole plan, the plans would grow exponentially, and Spark would spend its time on reading them.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Row

from omd.spark.sessions import plain


class Keeper:
    """Keeps frames until `release`; what is lost with an executor is computed again."""

    def __init__(self) -> None:
        self._kept: list[DataFrame] = []

    def keep(
        self, frame: DataFrame, counts: Sequence[Column], by: Sequence[str] = ()
    ) -> tuple[DataFrame, list[Row]]:
        """Compute a frame and keep it; return it, and aggregates over its rows.

        Args:
            counts: what is aggregated.
            by: the columns by which it is grouped.
        """
        kept = frame.persist(StorageLevel.MEMORY_AND_DISK)
        self._kept.append(kept)
        counted = kept.groupBy(*by).agg(*counts).collect()
        return plain(kept), counted

    def release(self) -> None:
        """Forget all frames."""
        while self._kept:
            self._kept.pop().unpersist()

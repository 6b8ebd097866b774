"""Frames that are kept, and forget how they were made; and queries over frames.

A frame of a round is made of those of the rounds before, several times over. If each carried its
whole plan, the plans would grow exponentially, and Spark would spend its time on reading them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Row, SparkSession

from omd.spark.names import quote
from omd.spark.sessions import is_connect, plain


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
        kept = keep(frame)
        self._kept.append(kept)
        counted = kept.groupBy(*by).agg(*counts).collect()
        return plan_less(kept), counted

    def release(self) -> None:
        """Forget all frames."""
        while self._kept:
            forget(self._kept.pop())


def keep(frame: DataFrame, level: StorageLevel = StorageLevel.MEMORY_AND_DISK) -> DataFrame:
    """Return a frame that is computed once, when it is first used, until `forget`.

    Over Connect, which is sent the whole plan of a frame at each use, it is without its plan, too.
    What is lost with an executor is computed again then by the next attempt.
    """
    if is_connect(frame.sparkSession):
        return plain(frame)
    return frame.persist(level)


def plan_less(kept: DataFrame) -> DataFrame:
    """Return a frame made of those that are kept, without its plan."""
    return kept if is_connect(kept.sparkSession) else plain(kept)


def forget(*frames: DataFrame) -> None:
    """Keep frames no longer."""
    for frame in frames:
        if not is_connect(frame.sparkSession):  # there it ends with the last reference to it
            frame.unpersist()


def asked_of(spark: SparkSession, frames: Mapping[str, DataFrame]) -> Callable[[str], DataFrame]:
    """Return a function that returns the rows of a query over frames, which have names in it.

    They become views of the session, which is one of the delivery alone. A session of Connect is
    that of the user, and has views of these names perhaps; there they stand before the query.
    """
    if not is_connect(spark):
        for name, frame in frames.items():
            frame.createOrReplaceTempView(quote(name))
        return spark.sql
    given: dict[str, Any] = {f"omd_{number}": frame for number, frame in enumerate(frames.values())}
    named = ", ".join(
        f"{quote(name)} AS (SELECT * FROM {{{word}}})"  # noqa: S608 - the query is one of the model
        for name, word in zip(frames, given, strict=True)
    )

    def rows(query: str) -> DataFrame:
        within = f"SELECT * FROM (\n{query}\n)"  # noqa: S608
        if not given:
            frame = spark.sql(within)
        else:
            literal = within.replace("{", "{{").replace("}", "}}")
            frame = spark.sql(f"WITH {named} {literal}", **given)
        return analysed(frame)

    return rows


def analysed(frame: DataFrame) -> DataFrame:
    """Return a frame after its analysis, whose errors Connect would tell when it is used."""
    if is_connect(frame.sparkSession):
        frame.schema  # noqa: B018
    return frame

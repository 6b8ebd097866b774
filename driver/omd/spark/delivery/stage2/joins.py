"""Joins by pairs of columns, and conditions."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812


def known(condition: Column) -> Column:
    """Return a condition that is false where it is unknown."""
    return F.coalesce(condition, F.lit(False))


def all_of(conditions: Iterable[Column]) -> Column:
    """Return whether all conditions are true."""
    return functools.reduce(lambda one, other: one & other, conditions)


def in_context() -> Column:
    """Return whether the key of a joined row is in the context of a Full entity."""
    return (F.col("_delivered") & F.col("_in_new")) | (F.col("_current") & F.col("_in_old"))


def without(rows: DataFrame, others: DataFrame, pairs: Sequence[tuple[str, str]]) -> DataFrame:
    """Return the rows that none of the others match, by pairs of columns."""
    return _matched(rows, others, pairs, "left_anti")


def within(rows: DataFrame, others: DataFrame, pairs: Sequence[tuple[str, str]]) -> DataFrame:
    """Return the rows that some of the others match, by pairs of columns."""
    return _matched(rows, others, pairs, "left_semi")


def _matched(
    rows: DataFrame, others: DataFrame, pairs: Sequence[tuple[str, str]], how: str
) -> DataFrame:
    """Join by pairs of columns that may have the same names, and other types."""
    renamed = others.select(*(F.col(right).alias(f"_m{i}") for i, (_, right) in enumerate(pairs)))
    condition = all_of(F.col(left) == F.col(f"_m{i}") for i, (left, _) in enumerate(pairs))
    return rows.join(renamed, condition, how)

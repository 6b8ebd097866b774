"""The delta: what differs from the current rows (docs/explanation/delivery.md, rule Q17).

Keys come from the narrow frame of stage 2, full rows are read again from staging: of few rows that
differ, the lines alone.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from omd.spark.delivery.frames import forget, keep
from omd.spark.delivery.hashes import row_hash
from omd.spark.delivery.stage2.side import OPERATION, Side
from omd.spark.delivery.staging.staged import PLACE
from omd.spark.job import write_table

if TYPE_CHECKING:
    from omd.rooms.delivery.run import DeliveryRun


def write_delta(run: DeliveryRun, side: Side) -> int:
    """Write the delta of an entity; return how many rows it must have then.

    The number is that of the keys, not that of the rows written: staging that gives other rows when
    it is read again is found out when the delta is applied.
    """
    plan, checked = side.plan, side.checked
    assert plan is not None and checked is not None  # noqa: S101, PT018 - it is delivered
    new, changed, deleted = side.effects()
    if not new + changed + deleted:
        return 0
    usual = _usual(side, new, changed)
    emptied = side.emptied()
    is_other = ~F.col(OPERATION).eqNullSafe(F.lit(usual))
    for name in emptied:
        is_other = is_other | F.col(f"_empty_{name}")
    others = side.operations().select(
        *side.key,
        PLACE,
        OPERATION,
        "_delivered",
        *(side.marked_empty(name).alias(f"_empty_{name}") for name in emptied),
    )
    others = keep(others.filter(is_other))
    try:
        frames = []
        if new + changed:
            frames.append(_full_rows(side, usual, others, new, changed))
        if deleted:
            gone = others.filter(F.col(OPERATION) == "R")
            frames.append(gone.select(*side.key, OPERATION, PLACE))
        rows = functools.reduce(
            lambda one, other: one.unionByName(other, allowMissingColumns=True), frames
        )
        rows = checked.stand(rows)
        instance = run.instances[side.name]
        write_table(run._control, instance, _stamped(run, rows, instance), plan.delta_table)
    finally:
        forget(others)
    return new + changed + deleted


def _usual(side: Side, new: int, changed: int) -> str | None:
    """Return the operation that most delivered rows have in common; NULL is one too.

    Few of many rows change in a later delivery, and all are new in the first.
    """
    none = side.delivered - new - changed
    return max(("N", new), ("A", changed), (None, none), key=lambda pair: pair[1])[0]


def _full_rows(
    side: Side, usual: str | None, others: DataFrame, new: int, changed: int
) -> DataFrame:
    """Return the rows that are new or changed, whole, with their operation.

    Args:
        usual: the operation that is assumed of all delivered rows, but for
        others: the keys that have another one, or of which columns were emptied.
        new: how many rows are new.
        changed: how many are changed.
    """
    plan, checked = side.plan, side.checked
    assert plan is not None and checked is not None  # noqa: S101, PT018 - it is delivered
    key, emptied = list(side.key), side.emptied()
    is_written = F.col(OPERATION).isin("N", "A")
    others = others.filter("_delivered")
    names = [*key, OPERATION, *(f"_empty_{name}" for name in emptied)]
    if usual is None:
        others = others.filter(is_written)
        rows = _left(checked.rows_at(others.select(PLACE), new + changed))
        rows = rows.join(others.select(*key), key, "left_semi").join(others.select(*names), key)
    elif new + changed < side.delivered or emptied or (new and changed):
        others = others.select(*names, F.lit(True).alias("_other"))
        rows = _left(checked.values()).join(others, key, "left")
        rows = rows.filter(F.col("_other").isNull() | is_written).withColumn(
            OPERATION, F.when(F.col("_other"), F.col(OPERATION)).otherwise(F.lit(usual))
        )
    else:
        rows = _left(checked.values()).withColumn(OPERATION, F.lit(usual))
    values = {a.name: F.col(a.name) for a in plan.attributes}
    hash_a, hash_b = F.col("_hash_a"), F.col("_hash_b")
    if emptied:
        is_emptied = F.lit(False)
        for name in emptied:
            # Without a mark the flag is NULL.
            is_empty = F.coalesce(F.col(f"_empty_{name}"), F.lit(False))
            is_emptied = is_emptied | is_empty
            values[name] = F.when(~is_empty, F.col(name))
        after = row_hash(plan.attributes, values.__getitem__, plan.key)
        hash_a = F.when(is_emptied, after[0]).otherwise(hash_a)
        hash_b = F.when(is_emptied, after[1]).otherwise(hash_b)
    return rows.select(
        *(value.alias(name) for name, value in values.items()),
        F.col(OPERATION),
        hash_a.alias("acm_hash_a"),
        hash_b.alias("acm_hash_b"),
        *(name for name in rows.columns if name == PLACE),
    )


def _stamped(run: DeliveryRun, rows: DataFrame, instance: int) -> DataFrame:
    names = [n for n in rows.columns if n != OPERATION]
    return rows.select(
        F.lit(run.delivery_id).cast("bigint").alias("delivery_id"),
        F.col(OPERATION).alias("acm_record_ind"),
        F.lit(instance).cast("bigint").alias("acm_audit_id"),
        *names,
    )


def _left(rows: DataFrame) -> DataFrame:
    # Spark does not push the filter below a number, so that it checks each row once, not twice.
    numbered = rows.withColumn("_number", F.monotonically_increasing_id())
    return numbered.filter("_number >= 0 AND _readable AND NOT _delete AND NOT _skip")

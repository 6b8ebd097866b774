"""An entity is joined with its current rows; and each row is in the context of the delivery or not.

A context limits what a Full delivery deletes implicitly: to the keys that are named, and to the
children of parents that are in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from omd.spark.delivery.frames import plan_less
from omd.spark.delivery.lvl import HASHES, RECORD_IND
from omd.spark.delivery.stage2.joins import all_of, in_context, known
from omd.spark.delivery.staging.staged import PLACE

if TYPE_CHECKING:
    from omd.spark.delivery.plan import Context, EntityPlan, Filter, Relationship
    from omd.spark.delivery.stage1 import Checked
    from omd.spark.delivery.stage2.side import Side
    from omd.spark.delivery.stage2.sides import Sides


def join_current(sides: Sides, side: Side) -> None:
    """Join the delivered rows of an entity with the current ones, keep them, and count.

    Args:
        sides: the entities of the run; those whose rows limit this one were joined before.
        side: the entity, which is delivered.
    """
    plan, checked = _delivered(side)
    is_full = plan.load == "FULL"
    side.readable = plan_less(checked.narrow).filter("_readable")
    rows = _joined(sides, side, side.readable, is_full=is_full)
    # What a deletion is about is the current row.
    rows = _inside(
        sides,
        side,
        rows,
        "_in_new",
        lambda n: F.when(F.col("_some_delete"), side.old(n)).otherwise(side.new(n)),
    )
    rows = rows.withColumn("_in_new", F.col("_in_new") | F.col("_beside"))
    rows = rows.drop("_some_delete", "_beside")
    missing = F.lit(False)
    if is_full:
        rows = _inside(sides, side, rows, "_in_old", side.old)
        missing = ~F.col("_delivered") & F.col("_current") & F.col("_in_old")
    # A row that can't be read may be the one that is missing. So nothing is deleted implicitly.
    unreadable = checked.unreadable if is_full else 0
    rows = rows.withColumn("_implicit", missing if not unreadable else F.lit(False))
    side.joined, (counted,) = sides.keeper.keep(
        rows, [F.count_if(c).alias(n) for n, c in _counts(missing, is_full=is_full).items()]
    )
    side.rows = {**counted.asDict(), "unreadable": unreadable}


def _delivered(side: Side) -> tuple[EntityPlan, Checked]:
    """Return the plan and the rows of a delivered entity."""
    assert side.plan is not None and side.checked is not None  # noqa: S101, PT018 - so said the caller
    return side.plan, side.checked


def _counts(missing: Column, *, is_full: bool) -> dict[str, Column]:
    """Return the conditions whose rows are counted in ``joined``, before there are marks."""
    delete, skipped = F.col("_delete"), F.col("_skipped")
    is_known = F.col("_current") | F.col("_ended")
    up = F.col("_delivered") & ~delete & ~skipped
    return {
        "missing": missing,
        "implicit": F.col("_implicit"),
        "deletes": delete & is_known,
        "unknown": delete & ~skipped & ~F.col("_current") & ~F.col("_ended"),
        "scope": F.col("_current") & F.col("_in_old") if is_full else F.lit(False),
        "replaced": F.col("_delivered") & F.col("_current"),
        "new": up & ~F.col("_current"),
        "changed": up & F.col("_current") & ~F.col("_same"),
        "deleted": F.col("_implicit") | (delete & ~skipped & is_known),
    }


_MARKS = ("_delivered", "_delete", "_skipped", "_some_delete", "_beside")

# The join ---------------------------------------------------------------------------------------


def _joined(sides: Sides, side: Side, readable: DataFrame, *, is_full: bool) -> DataFrame:
    """Return delivered rows with their current ones; of a Full also the other current rows."""
    key = list(side.key)
    delivered = _one_per_key(
        sides,
        side,
        readable.select(
            *key,
            *(F.col(n).alias(f"n_{n}") for n in side.kept),
            F.col("_delete"),
            F.col("_skip").alias("_skipped"),
            F.col("_hash_a").alias("n_hash_a"),
            F.col("_hash_b").alias("n_hash_b"),
            F.col(PLACE),
            F.lit(True).alias("_delivered"),
        ),
    )
    current = _current_rows(sides, side, delivered).select(
        *key,
        *(F.col(n).alias(f"o_{n}") for n in side.kept),
        *(F.col(n).alias(f"o_{n[4:]}") for n in HASHES),
        F.col(RECORD_IND),
    )
    rows = delivered.join(current, key, "full" if is_full else "left")
    is_current = known(F.col(RECORD_IND) != "R")
    return rows.withColumns(
        {
            **{n: known(F.col(n)) for n in _MARKS},
            "_current": is_current,
            "_ended": known(F.col(RECORD_IND) == "R"),
            "_same": is_current
            & known(
                (F.col("n_hash_a") == F.col("o_hash_a")) & (F.col("n_hash_b") == F.col("o_hash_b"))
            ),
        }
    ).drop(RECORD_IND, "n_hash_a", "n_hash_b", "o_hash_a", "o_hash_b")


def _one_per_key(sides: Sides, side: Side, rows: DataFrame) -> DataFrame:
    """Return one row per key; only skipped rows can have the same.

    A key lies in the context when one of its rows does. So two columns tell of all of them:
    ``_beside`` that one lies in it by its delivered values, ``_some_delete`` that one deletes.
    """
    alone = {"_some_delete": F.col("_delete"), "_beside": F.lit(False)}
    if not _violations(side, "primary_key"):
        return rows.withColumns(alone)
    others = [n for n in rows.columns if n not in side.key]
    skipped = (
        _inside(sides, side, rows.filter("_skipped"), "_beside", side.new)
        .groupBy(*side.key)
        .agg(
            F.max(F.struct(*others)).alias("_one"),
            F.bool_or(F.col("_beside") & ~known(F.col("_delete"))).alias("_beside"),
            F.bool_or(known(F.col("_delete"))).alias("_some_delete"),
        )
        .select(*side.key, *(F.col(f"_one.{n}").alias(n) for n in others), *alone)
    )
    return rows.filter("NOT _skipped").withColumns(alone).unionByName(skipped)


def _violations(side: Side, type_: str) -> int:
    """Return how many rows violated constraints of a type in stage 1."""
    _, checked = _delivered(side)
    measured = checked.measures()["violations"]
    return sum(
        int(measured[c.code]["rows"])
        for c in checked.constraints
        if c.type == type_ and c.code in measured
    )


def _current_rows(sides: Sides, side: Side, delivered: DataFrame) -> DataFrame:
    """Return the current rows that an entity is joined with."""
    columns = [*side.columns, *HASHES, RECORD_IND]
    key, current = list(side.key), side.current
    if side.kind == "ALL":
        side.is_complete = True
        return current.all(columns)
    keys = delivered.select(*key)
    if side.kind == "KEYS":
        return current.matching(
            key, keys, columns, side.delivered, deleted=sides.plan.delete_type == "PHYSICAL"
        )
    if not current.has_few_wanted(side.delivered):
        side.is_complete = True
        return current.all(columns)
    inside = None
    for names, wanted in _limits(sides, side):
        if inside is None:
            inside = current.matching(names, wanted, columns)
        else:
            inside = inside.join(wanted, list(names), "left_semi")
    rows = current.matching(key, keys, columns, side.delivered)
    assert inside is not None  # noqa: S101 - it is filtered
    return rows.unionByName(inside).dropDuplicates(key)


# The context ------------------------------------------------------------------------------------


def _inside(
    sides: Sides, side: Side, rows: DataFrame, flag: str, value: Callable[[str], Column]
) -> DataFrame:
    """Add whether a row is in the context by these values of its columns."""
    inside = F.lit(True)
    places = []
    for i, (names, wanted) in enumerate(_limits(sides, side)):
        columns = [f"_{flag}{i}_{j}" for j in range(len(names))]
        wanted = wanted.select(
            *(F.col(n).alias(c) for n, c in zip(names, columns, strict=True)),
        )
        rows = rows.join(
            wanted,
            all_of(value(n) == F.col(c) for n, c in zip(names, columns, strict=True)),
            "left",
        )
        inside = inside & F.col(columns[0]).isNotNull()
        places += columns
    return rows.withColumn(flag, inside).drop(*places)


def _limits(sides: Sides, side: Side) -> list[tuple[tuple[str, ...], DataFrame]]:
    """Return what a row in the context has: columns, and the distinct values they may have."""
    plan, _ = _delivered(side)
    context = _context(plan)
    limits = []
    for filter_ in context.filters:
        relationship = next(
            r for r in plan.relationships if (r.name, r.child) == (filter_.relationship, side.name)
        )
        parents = _parents(sides, side, filter_, relationship)
        columns = (F.col(parent).alias(child) for child, parent in relationship.pairs)
        limits.append((relationship.columns, parents.select(*columns)))
    if context.named is not None:
        limits.append((side.key, _named(sides, side, context.named)))
    return limits


def _context(plan: EntityPlan) -> Context:
    assert plan.context is not None  # noqa: S101 - it is delivered
    return plan.context


def _parents(sides: Sides, side: Side, filter_: Filter, relationship: Relationship) -> DataFrame:
    """Return the keys of parents that filter."""
    parent = sides.side(filter_.parent, relationship.parent_columns)
    if filter_.parents == "ROWS":
        assert side.readable is not None  # noqa: S101 - it is set before
        keys = side.readable.select(*(F.col(c).alias(p) for c, p in relationship.pairs))
        return keys.dropna().distinct()
    if filter_.parents == "NAMED" or not parent.is_delivered:
        return _named(sides, parent, sides.plan.context[parent.name])
    assert parent.joined is not None  # noqa: S101 - parents come first
    own = F.col("_delivered") & F.col("_in_new")
    rows = parent.joined.filter(own if parent.kind == "KEYS" else in_context())
    return rows.select(*parent.key)


def _named(sides: Sides, side: Side, keys: Iterable[Mapping[str, Any]]) -> DataFrame:
    """Return keys that were named in the context of the agreement or the delivery."""
    types = side.current.schema(side.key)
    texts = [tuple(_text(key[name]) for name in side.key) for key in keys]
    frame = sides.spark.createDataFrame(texts, ", ".join(f"{n} string" for n in side.key))
    return frame.select(*(F.col(f.name).cast(f.dataType).alias(f.name) for f in types)).distinct()


def _text(value: Any) -> str:
    """Return a value of JSON as the text that Spark casts."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)

"""Existing rows that a delivery breaks: their parent, or their last child, is deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from omd.spark.delivery.stage2.joins import all_of, within, without
from omd.spark.delivery.stage2.side import CODE, Side

if TYPE_CHECKING:
    from omd.spark.delivery.plan import Constraint, Relationship
    from omd.spark.delivery.stage2.sides import Sides


def count_existing(sides: Sides, side: Side, constraint: Constraint) -> None:
    """Count the existing rows that the delivery breaks."""
    if constraint.type == "parent_exists":
        rows = _without_parent(sides, side, side.relationship(constraint))
    elif constraint.type == "child_exists":
        rows = _without_child(sides, side, side.relationship(constraint))
    else:
        return
    if rows is None:
        return
    rows = rows.withColumn(CODE, F.lit(side.constraints.index(constraint)))
    kept_rows, ((number,),) = sides.keeper.keep(rows, [F.count("*")])
    if number:
        side.existing[constraint.code] = number
        side.existing_rows.append(kept_rows)


def _without_parent(sides: Sides, side: Side, relationship: Relationship) -> DataFrame | None:
    """Return the keys of existing rows whose parent is deleted."""
    parent = sides.side(relationship.parent, relationship.parent_columns)
    if parent.joined is None or not parent.rows["implicit"] + parent.rows["deletes"]:
        return None
    gone = parent.state().filter("_gone").select(*parent.key)
    pairs = relationship.pairs
    if side.joined is None or not side.is_complete:
        wanted = gone.select(*(F.col(p).alias(c) for c, p in pairs))
        rows = sides.rest(
            side,
            relationship.columns,
            wanted,
            side.key,
            parent.rows["implicit"] + parent.rows["deletes"],
        )
    else:
        rows = None
    if side.joined is not None:
        stays = side.state().filter("_stays")
        values = stays.select(
            *side.key, *(side.old(c).alias(f"_fk_{c}") for c in relationship.columns)
        )
        broken = within(values, gone, [(f"_fk_{c}", p) for c, p in pairs])
        broken = broken.select(*side.key)
        rows = broken if rows is None else rows.unionByName(broken)
    return rows


def _without_child(sides: Sides, side: Side, relationship: Relationship) -> DataFrame | None:
    """Return the keys of existing rows whose last child is gone."""
    child = sides.get(relationship.child)
    if (
        child is None
        or child.joined is None
        or not (child.rows["implicit"] + child.rows["deletes"] + child.rows["replaced"])
    ):
        return None
    pairs = [(p, c) for c, p in relationship.pairs]
    state = child.state()
    moved = F.col("_gone") | (
        F.col("_up")
        & F.col("_current")
        & ~all_of(child.new(c).eqNullSafe(child.old(c)) for c in relationship.columns)
    )
    lost = (
        state.filter(moved).select(*(child.old(c).alias(p) for p, c in pairs)).dropna().distinct()
    )
    rows = without(lost, child.present(state, relationship.columns, "_stays"), pairs)
    if not child.is_complete:
        rows = sides.childless(rows, child, relationship, None)
    if side.joined is not None:
        stays = side.state().filter("_stays").select(*side.key)
        existing = within(rows, stays, [(k, k) for k in side.key])
        if side.is_complete:
            return existing
        rest = sides.rest(side, side.key, rows, side.key, None)
        return existing.unionByName(rest)
    return sides.rest(side, side.key, rows, side.key, None)

"""The rounds of stage 2: constraints of delivered rows are checked until nothing changes.

A row that one constraint skips may be the parent, the child or the duplicate of another one.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from omd.spark.delivery.frames import asked_of
from omd.spark.delivery.permitted import require_query
from omd.spark.delivery.stage2.joins import in_context, within, without
from omd.spark.delivery.stage2.side import CODE, CODES, EMPTY, SKIP, Side

if TYPE_CHECKING:
    from omd.spark.delivery.plan import Constraint
    from omd.spark.delivery.stage2.sides import Sides


@dataclass(frozen=True)
class _Marks:
    """The violations of an entity after a round: the rows, how many of each, how many skip."""

    rows: DataFrame
    counts: Mapping[str, int]
    skipped: int

    def put_on(self, side: Side) -> list[Constraint]:
        """Make them those of the entity, and return the constraints that they are new to."""
        new = [c for c in side.constraints if self.counts[c.code] > side.counts.get(c.code, 0)]
        if new:
            side.marks, side.counts, side.skipped = self.rows, dict(self.counts), self.skipped
        return new


def _may_break(
    side: Side, constraint: Constraint, skipped: Collection[str], emptied: Collection[str]
) -> bool:
    """Return whether more rows may violate a constraint than before a round.

    Args:
        skipped: the entities of which the round has skipped rows.
        emptied: those of which it has emptied columns.
    """
    if constraint.type == "alternate_key":
        # The current row stays in the place of one that is skipped, and may be a duplicate.
        return side.name in skipped
    if constraint.type == "parent_exists":
        # The parent may be skipped. Its key can't be emptied.
        return constraint.parent in skipped
    if constraint.type == "child_exists":
        # The last child may be skipped, or refer to nobody any more.
        return constraint.child in skipped or constraint.child in emptied
    # A set rule reads whatever it likes.
    return constraint.type == "set" and bool(skipped or emptied)


class Rounds:
    """The rounds of a run.

    Args:
        sides: its entities, joined with their current rows.
    """

    def __init__(self, sides: Sides) -> None:
        self._sides = sides

    def run(self) -> None:
        """Check what may be broken until nothing changes."""
        dirty = {
            (side.name, i)
            for side in self._sides.delivered
            for i, c in enumerate(side.constraints)
            if c.type in self._CHECKS
        }
        while dirty:
            # What a round finds counts from the next one, whatever the order of entities.
            marks = [
                (side, self._violators(side, [i for name, i in dirty if name == side.name]))
                for side in self._sides.delivered
            ]
            skipped: set[str] = set()
            emptied: set[str] = set()
            for side, own in marks:
                for constraint in own.put_on(side) if own is not None else ():
                    if constraint.action == SKIP:
                        skipped.add(side.name)
                    elif constraint.action == EMPTY:
                        emptied.add(side.name)
            dirty = {
                (side.name, i)
                for side in self._sides.delivered
                for i, c in enumerate(side.constraints)
                if _may_break(side, c, skipped, emptied)
            }

    def _violators(self, side: Side, numbers: Iterable[int]) -> _Marks | None:
        """Return the violations of an entity, with those that were known before."""
        frames = [
            self._CHECKS[side.constraints[i].type](self, side, side.constraints[i]).select(
                *side.key, F.lit(i).alias(CODE)
            )
            for i in numbers
        ]
        if not frames:
            return None
        if side.marks is not None:
            frames.append(side.marks.select(*side.key, F.explode(CODES).alias(CODE)))
        every = functools.reduce(lambda one, other: one.unionByName(other), frames)
        marks = every.groupBy(*side.key).agg(F.collect_set(CODE).alias(CODES))
        counts = [
            F.count_if(F.array_contains(CODES, i)).alias(c.code)
            for i, c in enumerate(side.constraints)
        ]
        rows, (counted,) = self._sides.keeper.keep(
            marks, [*counts, F.count_if(side.violates(SKIP)).alias(SKIP)]
        )
        return _Marks(rows, {c.code: counted[c.code] for c in side.constraints}, counted[SKIP])

    def _context(self, side: Side, _constraint: Constraint) -> DataFrame:
        assert side.joined is not None  # noqa: S101 - it is delivered
        outside = F.col("_delivered") & ~F.col("_skipped") & ~F.col("_in_new")
        return side.joined.filter(outside).select(*side.key)

    def _parent_exists(self, side: Side, constraint: Constraint) -> DataFrame:
        relationship = side.relationship(constraint)
        parent = self._sides.side(relationship.parent, relationship.parent_columns)
        rows = (
            self._sides.state(side)
            .filter("_up")
            .select(*side.key, *(side.new(n).alias(f"_fk_{n}") for n in relationship.columns))
            .dropna()
        )
        pairs = [(f"_fk_{n}", p) for n, p in relationship.pairs]
        if parent.joined is not None:
            there = parent.present(self._sides.state(parent), parent.key)
            rows = without(rows, there, pairs)
        if not parent.is_complete:
            wanted = rows.select(*(F.col(c).alias(p) for c, p in pairs)).distinct()
            rows = without(
                rows,
                self._sides.rest(parent, parent.key, wanted, parent.key, side.delivered),
                pairs,
            )
        return rows.select(*side.key)

    def _child_exists(self, side: Side, constraint: Constraint) -> DataFrame:
        relationship = side.relationship(constraint)
        child = self._sides.side(relationship.child, ())
        rows = self._sides.state(side).filter("_up").select(*side.key)
        pairs = [(p, c) for c, p in relationship.pairs]
        is_limited = child.is_delivered and child.kind == "FILTERED"
        if child.joined is not None:
            state = self._sides.state(child)
            if is_limited:
                state = state.filter(in_context())
            rows = without(rows, child.present(state, relationship.columns), pairs)
        if not child.is_complete and not is_limited:
            rows = self._sides.childless(rows, child, relationship, side.delivered)
        return rows.select(*side.key)

    def _alternate_key(self, side: Side, constraint: Constraint) -> DataFrame:
        assert side.plan is not None  # noqa: S101 - it is delivered
        names = next(
            k.attributes for k in side.plan.alternate_keys if k.name == constraint.alternate_key
        )
        state = side.state()
        delivered = (
            state.filter("_up")
            .select(*side.key, *(side.new(n).alias(f"_ak_{n}") for n in names))
            .dropna()
        )
        values = side.present(state, [*side.key, *names], "_stays")
        values = values.select(*(F.col(n).alias(f"_ak_{n}") for n in names)).dropna()
        if not side.is_complete:
            wanted = delivered.select(*(F.col(f"_ak_{n}").alias(n) for n in names)).distinct()
            rest = self._sides.rest(side, names, wanted, names, side.delivered)
            values = values.unionByName(rest.select(*(F.col(n).alias(f"_ak_{n}") for n in names)))
        several = values.groupBy(*values.columns).count().filter("count > 1").drop("count")
        return delivered.join(several, values.columns, "left_semi").select(*side.key)

    def _set(self, side: Side, constraint: Constraint) -> DataFrame:
        query = constraint.expression
        assert query is not None  # noqa: S101 - a set rule has one
        words = set(re.findall(r"\w+", query.lower()))
        tables = self._sides.plan.lvl_tables
        visible = {name: self._visible(name) for name in tables if name in words}
        answer = asked_of(self._sides.spark, visible)
        broken = require_query(self._sides.spark, query, constraint.code, tables, answer)
        rows = self._sides.state(side).filter("_up").select(*side.key)
        return within(rows, broken, [(n, n) for n in side.key])

    def _visible(self, name: str) -> DataFrame:
        """Return whole rows of an entity as a set rule sees them."""
        side = self._sides.side(name, ())
        if side.plan is not None:
            columns = [a.name for a in side.plan.attributes]
        else:
            columns = [n for n in side.current.relation.columns if not n.startswith("acm_")]
        current = side.current.all(columns)
        if side.checked is None:
            return current
        key = list(side.key)
        state = self._sides.state(side)
        if side.kind == "FILTERED":
            inside = state.filter(in_context()).select(*key)
            current = current.join(inside, key, "left_semi")
            state = state.filter(in_context())
        replaced = self._sides.state(side).filter("NOT _old").select(*key)
        current = current.join(replaced, key, "left_anti")
        emptied = side.emptied()
        marks = state.filter("_up").select(
            *key, *(side.marked_empty(n).alias(f"_empty_{n}") for n in emptied)
        )
        rows = side.checked.rows().filter("_readable AND NOT _delete AND NOT _skip")
        delivered = rows.join(marks, key).select(
            *(
                F.when(~F.col(f"_empty_{n}"), F.col(n)).alias(n) if n in emptied else F.col(n)
                for n in columns
            )
        )
        return delivered.unionByName(current)

    _CHECKS = {  # noqa: RUF012
        "context": _context,
        "parent_exists": _parent_exists,
        "child_exists": _child_exists,
        "alternate_key": _alternate_key,
        "set": _set,
    }

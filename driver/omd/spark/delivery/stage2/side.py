"""One entity in stage 2: its frames, and what the violations found so far leave of its rows."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from omd.spark.delivery.stage2.joins import known

if TYPE_CHECKING:
    from omd.spark.delivery.lvl import Current
    from omd.spark.delivery.plan import Constraint, EntityPlan, Relationship
    from omd.spark.delivery.stage1 import Checked

OPERATION = "_op"
CODE = "_code"
CODES = "_codes"
SKIP, EMPTY = "SKIP ROW", "EMPTY COLUMN"


def kept(entity: EntityPlan) -> tuple[str, ...]:
    """Return the attributes that stage 2 needs of an entity, beside its key."""
    names = [n for r in entity.relationships if r.child == entity.entity for n in r.columns]
    names += [n for k in entity.alternate_keys for n in k.attributes]
    return tuple(n for n in dict.fromkeys(names) if n not in entity.key)


@dataclass
class Side:
    """An entity as stage 2 sees it.

    Attributes:
        name: its name.
        key: its primary key.
        current: its current rows.
        plan: the entity in the plan; None where it is only looked up.
        checked: its rows after stage 1; None where it is not delivered.
        kept: the attributes that stage 2 needs beside the key.
        readable: the narrow rows of stage 1 that have a key.
        joined: one row per key, delivered or current, with these columns:

            * the key;
            * ``n_…`` and ``o_…``: the delivered and the current values of what is in ``kept``;
            * ``_delivered``, ``_delete``, ``_skipped`` (in stage 1), ``_place``: of the delivered
              row;
            * ``_current``: there is a current row;
            * ``_ended``: it was logically deleted before; only where that matters;
            * ``_same``: the hashes are equal;
            * ``_in_new`` and ``_in_old``: it is in the context by these values;
            * ``_implicit``: it is deleted implicitly.
        is_complete: ``joined`` has all current rows.
        marks: the keys that violate constraints, and in ``_codes`` the numbers of these.
        counts: how many rows violate each constraint.
        rows: how many rows of ``joined`` are new, changed …, before there are marks.
        skipped: how many rows the marks skip.
        existing: how many existing rows the delivery breaks, by constraint.
        existing_rows: their keys, and in ``_code`` the number of the constraint.
    """

    name: str
    key: tuple[str, ...]
    current: Current
    plan: EntityPlan | None = None
    checked: Checked | None = None
    kept: tuple[str, ...] = ()
    readable: DataFrame | None = None
    joined: DataFrame | None = None
    is_complete: bool = False
    marks: DataFrame | None = None
    counts: dict[str, int] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    skipped: int = 0
    existing: dict[str, int] = field(default_factory=dict)
    existing_rows: list[DataFrame] = field(default_factory=list)

    @property
    def is_delivered(self) -> bool:
        """Whether rows of it were delivered."""
        return self.checked is not None

    @property
    def columns(self) -> list[str]:
        """What is read of its current rows."""
        return [*self.key, *self.kept]

    @property
    def delivered(self) -> int:
        """How many rows were delivered."""
        return int(self.checked.measures()["rows_delivered"]) if self.checked else 0

    @property
    def kind(self) -> str:
        """The kind of its context."""
        context = self.plan.context if self.plan is not None else None
        return context.kind if context is not None else "NAMED"

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Its constraints in stage 2."""
        return self.plan.constraints if self.plan is not None else ()

    def marked(self, action: str, column: str | None = None) -> Column:
        """Return whether a violation in a row of `state` has this action, on this column."""
        return F.lit(False) if self.marks is None else self.violates(action, column)

    def violates(self, action: str, column: str | None = None) -> Column:
        """Return whether there is such a violation in ``_codes``."""
        numbers = [
            F.lit(i)
            for i, c in enumerate(self.constraints)
            if c.action == action and (column is None or column in self._about(c))
        ]
        return known(F.arrays_overlap(CODES, F.array(*numbers))) if numbers else F.lit(False)

    def _about(self, constraint: Constraint) -> tuple[str, ...]:
        assert self.plan is not None  # noqa: S101 - constraints are of a plan
        if constraint.type == "alternate_key":
            return next(
                k.attributes for k in self.plan.alternate_keys if k.name == constraint.alternate_key
            )
        if constraint.type == "parent_exists":
            return self.relationship(constraint).columns
        return ()

    def marked_skip(self) -> Column:
        """Return whether a violation skips a row of `state`."""
        return self.marked(SKIP)

    def marked_empty(self, name: str) -> Column:
        """Return whether a violation has emptied the column in a row of `state`."""
        return self.marked(EMPTY, name)

    def emptied(self) -> list[str]:
        """Return the columns that violations have emptied somewhere."""
        columns = [
            name
            for c in self.constraints
            if c.action == EMPTY and self.counts.get(c.code)
            for name in self._about(c)
        ]
        return list(dict.fromkeys(columns))

    def relationship(self, constraint: Constraint) -> Relationship:
        """Return the relationship of a constraint."""
        assert self.plan is not None  # noqa: S101 - constraints are of a plan
        return next(
            r
            for r in self.plan.relationships
            if (r.name, r.child, r.parent)
            == (constraint.relationship, constraint.child, constraint.parent)
        )

    def state(self, *, include_existing: bool = True) -> DataFrame:
        """Return the joined rows as the violations found so far leave them.

        They have ``_up`` (a delivered row that counts), ``_gone`` (deleted by this delivery),
        ``_stays`` (the current row stays in LVL), ``_old`` (and belongs to what is validated); the
        ``n_…`` are as they were emptied.
        """
        assert self.joined is not None  # noqa: S101 - only delivered entities are asked
        rows = self.joined
        if self.marks is not None:
            rows = rows.join(self.marks, list(self.key), "left")
        left = ~F.col("_skipped") & ~self.marked(SKIP)
        deleted = F.col("_delivered") & F.col("_delete") & left
        rows = rows.withColumns(
            {
                "_up": F.col("_delivered") & ~F.col("_delete") & left,
                "_gone": (deleted & (F.col("_current") | F.col("_ended"))) | F.col("_implicit"),
            }
            | {
                f"n_{name}": F.when(~self.marked(EMPTY, name), F.col(f"n_{name}"))
                for name in self.emptied()
            }
        )
        stays = F.col("_current") & ~F.col("_up") & ~F.col("_gone")
        belongs = stays if include_existing else stays & ~F.col("_delivered")
        return rows.withColumns({"_stays": stays, "_old": belongs})

    def new(self, name: str) -> Column:
        """Return the delivered value of a column of `state`."""
        return F.col(name if name in self.key else f"n_{name}")

    def old(self, name: str) -> Column:
        """Return the current value of a column of `state`."""
        return F.col(name if name in self.key else f"o_{name}")

    def present(self, state: DataFrame, names: Sequence[str], old: str = "_old") -> DataFrame:
        """Return the values of columns in the rows of a state that are there afterwards."""
        return state.filter(F.col("_up") | F.col(old)).select(
            *(
                F.when(F.col("_up"), self.new(n)).otherwise(self.old(n)).alias(n)
                if n not in self.key
                else F.col(n)
                for n in names
            )
        )

    def operations(self) -> DataFrame:
        """Return the joined rows with ``_op``: N, A, R, or NULL for nothing to do."""
        changed = functools.reduce(
            lambda one, other: one | other,
            (self.marked(EMPTY, name) for name in self.emptied()),
            ~F.col("_same"),
        )
        return self.state().withColumn(
            OPERATION,
            F.when(F.col("_gone"), "R")
            .when(F.col("_up") & ~F.col("_current"), "N")
            .when(F.col("_up") & changed, "A"),
        )

    def effects(self) -> tuple[int, int, int]:
        """Return how many rows are new, changed and deleted."""
        if not self.skipped and not self.emptied():
            return self.rows["new"], self.rows["changed"], self.rows["deleted"]
        counts = (F.count_if(F.col(OPERATION) == operation) for operation in "NAR")
        new, changed, deleted = self.operations().agg(*counts).collect()[0]
        return new, changed, deleted

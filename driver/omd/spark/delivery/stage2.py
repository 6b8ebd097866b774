"""Stage 2: checks with existing rows (docs/explanation/delivery.md, rule Q9).

Each delivered entity is joined once with its current rows; that narrow frame is kept, and has one
row per key. What the rounds find is another, small frame of keys and constraints. A Delta, or a
Full within a context, is joined with those current rows only that it can touch; what else must be
known of the others is looked up.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812

from omd.spark.delivery.frames import Keeper, plain
from omd.spark.delivery.lvl import HASHES, RECORD_IND, Current
from omd.spark.delivery.permitted import require_query
from omd.spark.delivery.staging.staged import PLACE
from omd.spark.names import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

    from omd.delivery.run import DeliveryRun
    from omd.spark.delivery.plan import Constraint, EntityPlan, Filter, Plan, Relationship
    from omd.spark.delivery.stage1 import Checked

__all__ = ["OPERATION", "Judgement", "Side", "kept"]

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
    """An entity as stage 2 sees it; ``checked`` is None where it is not delivered.

    ``readable`` are its narrow rows that have a key. ``joined`` has one row per key: the key;
    ``n_…`` and ``o_…``, the delivered and the current value of each attribute in ``kept``;
    ``_delivered``, ``_delete``, ``_skipped`` (in stage 1), ``_current``, ``_ended`` (logically
    deleted before; only where that matters), ``_same`` (the hashes are equal), ``_place``,
    ``_in_new`` and ``_in_old`` (in the context by these values), ``_implicit`` (an implicit
    delete). ``marks`` has
    the keys that violate constraints, and in ``_codes`` their numbers; ``skipped`` is how many of
    these rows they skip. ``rows`` are counts of ``joined``, before there are marks.
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
        return _known(F.arrays_overlap(CODES, F.array(*numbers))) if numbers else F.lit(False)

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


class Judgement:
    """Stage 2 of a run.

    Args:
        run: the run.
        spark: its session.
        plan: the plan of stage 2.
        checked: the delivered entities after stage 1.
        concurrently: calls a function with each of several things, a few at the same time.
    """

    def __init__(
        self,
        run: DeliveryRun,
        spark: SparkSession,
        plan: Plan,
        checked: Mapping[str, Checked],
    ) -> None:
        self._run = run
        self._spark = spark
        self._plan = plan
        self._keeper = Keeper()
        self._sides: dict[str, Side] = {}
        for name, entity in plan.entities.items():
            self._sides[name] = Side(
                name,
                entity.key,
                self._current(name),
                entity,
                checked.get(name),
                kept(entity),
            )
        self.planned = list(self._sides.values())
        self.delivered = [side for side in self.planned if side.is_delivered]

    def _current(self, name: str) -> Current:
        return Current(self._run, self._spark, self._plan.lvl_tables[name])

    def side(self, name: str, key: Sequence[str]) -> Side:
        """Return an entity; one that the plan does not have is known by its key alone."""
        if name not in self._sides:
            self._sides[name] = Side(name, tuple(key), self._current(name))
        return self._sides[name]

    def about(self) -> Iterator[int]:
        """Yield about how many rows are read of each entity, as far as that is known before."""
        for side in self.delivered:
            yield side.delivered
            if side.plan is not None and side.plan.load == "FULL":
                yield side.current.about

    def work_in_one_task(self) -> None:
        """Have the delivered rows in one partition."""
        for side in self.delivered:
            assert side.checked is not None  # noqa: S101 - it is delivered
            side.checked = side.checked.in_one_task()

    def judge(self) -> None:
        """Find all violations; afterwards each side has its counts."""
        for side in self.delivered:
            self._join(side)
        self._rounds()
        for side in self.planned:
            for constraint in side.constraints:
                self._count_existing(side, constraint)

    def measures(self, side: Side) -> dict[str, Any]:
        """Return what `omd_delivery.register_violations` takes for stage 2."""
        measures: dict[str, Any] = {
            "violations": {
                c.code: {
                    "rows": side.counts.get(c.code, 0),
                    "existing": side.existing.get(c.code, 0),
                }
                for c in side.constraints
                if c.type != "deletes"
            }
        }
        if side.checked is None or side.plan is None:
            return measures
        first = side.checked.measures()
        measures["rows_delivered"] = first["rows_delivered"]
        measures["rows_skipped"] = first["rows_skipped"] + side.skipped
        findings = {}
        if side.rows["unknown"]:
            findings["DELETE_OF_UNKNOWN_KEY"] = side.rows["unknown"]
        if side.plan.load == "FULL":
            measures["rows_in_scope"] = side.rows["scope"]
            measures["rows_implicit_deletes"] = side.rows["implicit"]
            if side.rows["unreadable"]:
                findings["DELETES_SUPPRESSED"] = side.rows["missing"]
        measures["findings"] = findings
        return measures

    def release(self) -> None:
        """Free what is kept."""
        self._keeper.release()
        for side in self._sides.values():
            side.current.release()

    # Contexts -----------------------------------------------------------------------------------

    def _join(self, side: Side) -> None:
        """Join the delivered rows of an entity with the current ones, and count."""
        plan, checked = side.plan, side.checked
        assert plan is not None and checked is not None  # noqa: S101, PT018 - it is delivered
        key = list(side.key)
        is_full = plan.load == "FULL"
        narrow = plain(checked.narrow)
        readable = side.readable = narrow.filter("_readable")
        delivered = self._one_per_key(
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
        current = self._current_rows(side, delivered).select(
            *key,
            *(F.col(n).alias(f"o_{n}") for n in side.kept),
            *(F.col(n).alias(f"o_{n[4:]}") for n in HASHES),
            F.col(RECORD_IND),
        )
        rows = delivered.join(current, key, "full" if is_full else "left")
        is_current = _known(F.col(RECORD_IND) != "R")
        rows = rows.withColumns(
            {
                **{n: _known(F.col(n)) for n in ("_delivered", "_delete", "_skipped")},
                "_current": is_current,
                "_ended": _known(F.col(RECORD_IND) == "R"),
                "_same": is_current
                & _known(
                    (F.col("n_hash_a") == F.col("o_hash_a"))
                    & (F.col("n_hash_b") == F.col("o_hash_b"))
                ),
            }
        ).drop(RECORD_IND, "n_hash_a", "n_hash_b", "o_hash_a", "o_hash_b")
        # What a deletion is about is the current row.
        rows = self._inside(
            side,
            rows,
            "_in_new",
            lambda n: F.when(F.col("_delete"), side.old(n)).otherwise(side.new(n)),
        )
        rows = self._inside(side, rows, "_in_old", side.old) if is_full else rows
        unreadable = checked.unreadable if is_full else 0
        missing = F.lit(False)
        if is_full:
            missing = ~F.col("_delivered") & F.col("_current") & F.col("_in_old")
        rows = rows.withColumn("_implicit", missing if not unreadable else F.lit(False))
        up = F.col("_delivered") & ~F.col("_delete") & ~F.col("_skipped")
        counts: dict[str, Column] = {
            "missing": missing,
            "implicit": F.col("_implicit"),
            "deletes": F.col("_delete") & (F.col("_current") | F.col("_ended")),
            "unknown": F.col("_delete")
            & ~F.col("_skipped")
            & ~F.col("_current")
            & ~F.col("_ended"),
            "scope": F.col("_current") & F.col("_in_old") if is_full else F.lit(False),
            "replaced": F.col("_delivered") & F.col("_current"),
            "new": up & ~F.col("_current"),
            "changed": up & F.col("_current") & ~F.col("_same"),
            "deleted": F.col("_implicit")
            | (F.col("_delete") & ~F.col("_skipped") & (F.col("_current") | F.col("_ended"))),
        }
        side.joined, (counted,) = self._keeper.keep(
            rows, [F.count_if(c).alias(n) for n, c in counts.items()]
        )
        side.rows = {**counted.asDict(), "unreadable": unreadable}

    def _one_per_key(self, side: Side, rows: DataFrame) -> DataFrame:
        """Return one row per key; only skipped rows can have the same."""
        if not self._violations(side, "primary_key"):
            return rows
        others = [n for n in rows.columns if n not in side.key]
        skipped = (
            rows.filter("_skipped")
            .groupBy(*side.key)
            .agg(F.max(F.struct(*others)).alias("_one"))
            .select(*side.key, *(F.col(f"_one.{n}").alias(n) for n in others))
        )
        return rows.filter("NOT _skipped").unionByName(skipped)

    def _violations(self, side: Side, type_: str) -> int:
        """Return how many rows violated constraints of a type in stage 1."""
        assert side.checked is not None  # noqa: S101 - it is delivered
        found = side.checked.measures()["violations"]
        return sum(
            int(found[c.code]["rows"])
            for c in side.checked.constraints
            if c.type == type_ and c.code in found
        )

    def _current_rows(self, side: Side, delivered: DataFrame) -> DataFrame:
        """Return the current rows that an entity is joined with."""
        assert side.plan is not None  # noqa: S101 - it is delivered
        columns = [*side.columns, *HASHES, RECORD_IND]
        key, current = list(side.key), side.current
        if side.kind == "ALL":
            side.is_complete = True
            return current.all(columns)
        keys = delivered.select(*key)
        if side.kind == "KEYS":
            return current.matching(
                key,
                keys,
                columns,
                side.delivered,
                deleted=self._plan.delete_type == "PHYSICAL",
            )
        if not current.has_few_wanted(side.delivered):
            side.is_complete = True
            return current.all(columns)
        inside = None
        context = side.plan.context
        assert context is not None  # noqa: S101 - it is filtered
        for names, wanted in self._limits(side):
            if inside is None:
                inside = current.matching(names, wanted, columns)
            else:
                inside = inside.join(wanted, list(names), "left_semi")
        rows = current.matching(key, keys, columns, side.delivered)
        assert inside is not None  # noqa: S101 - it is filtered
        return rows.unionByName(inside).dropDuplicates(key)

    def _limits(self, side: Side) -> list[tuple[tuple[str, ...], DataFrame]]:
        """Return what a row in the context has: columns, and the distinct values they may have."""
        assert side.plan is not None  # noqa: S101 - it is delivered
        context = side.plan.context
        assert context is not None  # noqa: S101 - it is delivered
        limits = []
        for filter_ in context.filters:
            relationship = next(
                r
                for r in side.plan.relationships
                if (r.name, r.child) == (filter_.relationship, side.name)
            )
            parents = self._parents(side, filter_, relationship)
            limits.append(
                (
                    relationship.columns,
                    parents.select(
                        *(
                            F.col(parent).alias(child)
                            for parent, child in zip(
                                relationship.parent_columns, relationship.columns, strict=True
                            )
                        )
                    ),
                )
            )
        if context.named is not None:
            limits.append((side.key, self._named(side, context.named)))
        return limits

    def _parents(self, side: Side, filter_: Filter, relationship: Relationship) -> DataFrame:
        """Return the keys of parents that filter."""
        parent = self.side(filter_.parent, relationship.parent_columns)
        if filter_.parents == "ROWS":
            pairs = zip(relationship.columns, relationship.parent_columns, strict=True)
            assert side.readable is not None  # noqa: S101 - it is set before
            return side.readable.select(*(F.col(c).alias(p) for c, p in pairs)).dropna().distinct()
        if filter_.parents == "NAMED" or not parent.is_delivered:
            return self._named(parent, self._plan.context[parent.name])
        assert parent.joined is not None  # noqa: S101 - parents come first
        own = F.col("_delivered") & F.col("_in_new")
        rows = parent.joined.filter(own if parent.kind == "KEYS" else _in_context())
        return rows.select(*parent.key)

    def _named(self, side: Side, keys: Iterable[Mapping[str, Any]]) -> DataFrame:
        """Return keys that were named in the context of the agreement or the delivery."""
        types = side.current.schema(side.key)
        texts = [tuple(_text(key[name]) for name in side.key) for key in keys]
        frame = self._spark.createDataFrame(texts, ", ".join(f"{n} string" for n in side.key))
        return frame.select(
            *(F.col(f.name).cast(f.dataType).alias(f.name) for f in types)
        ).distinct()

    def _inside(
        self, side: Side, rows: DataFrame, flag: str, value: Callable[[str], Column]
    ) -> DataFrame:
        """Add whether a row is in the context by these values of its columns."""
        inside = F.lit(True)
        places = []
        for i, (names, wanted) in enumerate(self._limits(side)):
            columns = [f"_{flag}{i}_{j}" for j in range(len(names))]
            wanted = wanted.select(
                *(F.col(n).alias(c) for n, c in zip(names, columns, strict=True)),
            )
            rows = rows.join(
                wanted,
                _all(value(n) == F.col(c) for n, c in zip(names, columns, strict=True)),
                "left",
            )
            inside = inside & F.col(columns[0]).isNotNull()
            places += columns
        return rows.withColumn(flag, inside).drop(*places)

    # Rounds -------------------------------------------------------------------------------------

    def _rounds(self) -> None:
        """Check what may be broken until nothing changes."""
        dirty = {
            (side.name, i)
            for side in self.delivered
            for i, c in enumerate(side.constraints)
            if c.type in self._CHECKS
        }
        while dirty:
            found = [
                (side, self._violators(side, [i for name, i in dirty if name == side.name]))
                for side in self.delivered
            ]
            skipped: set[str] = set()
            emptied: set[str] = set()
            for side, marked in found:
                for constraint in marked.put_on(side) if marked is not None else ():
                    if constraint.action == SKIP:
                        skipped.add(side.name)
                    elif constraint.action == EMPTY:
                        emptied.add(side.name)
            dirty = {
                (side.name, i)
                for side in self.delivered
                for i, c in enumerate(side.constraints)
                if (c.type == "alternate_key" and side.name in skipped)
                or (c.type == "parent_exists" and c.parent in skipped)
                or (c.type == "child_exists" and c.child in skipped | emptied)
                or (c.type == "set" and skipped | emptied)
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
        rows, (counted,) = self._keeper.keep(
            marks, [*counts, F.count_if(side.violates(SKIP)).alias(SKIP)]
        )
        return _Marks(rows, {c.code: counted[c.code] for c in side.constraints}, counted[SKIP])

    def _state(self, side: Side) -> DataFrame:
        return side.state(include_existing=self._plan.include_existing)

    def _context(self, side: Side, _constraint: Constraint) -> DataFrame:
        assert side.joined is not None  # noqa: S101 - it is delivered
        outside = F.col("_delivered") & ~F.col("_skipped") & ~F.col("_in_new")
        return side.joined.filter(outside).select(*side.key)

    def _parent_exists(self, side: Side, constraint: Constraint) -> DataFrame:
        relationship = side.relationship(constraint)
        parent = self.side(relationship.parent, relationship.parent_columns)
        rows = (
            self._state(side)
            .filter("_up")
            .select(*side.key, *(side.new(n).alias(f"_fk_{n}") for n in relationship.columns))
            .dropna()
        )
        pairs = [(f"_fk_{n}", p) for n, p in zip(*_columns(relationship), strict=True)]
        if parent.joined is not None:
            there = parent.present(self._state(parent), parent.key)
            rows = _without(rows, there, pairs)
        if not parent.is_complete:
            wanted = rows.select(*(F.col(c).alias(p) for c, p in pairs)).distinct()
            rows = _without(
                rows, self._rest(parent, parent.key, wanted, parent.key, side.delivered), pairs
            )
        return rows.select(*side.key)

    def _child_exists(self, side: Side, constraint: Constraint) -> DataFrame:
        relationship = side.relationship(constraint)
        child = self._sides.get(relationship.child) or self.side(relationship.child, ())
        rows = self._state(side).filter("_up").select(*side.key)
        pairs = [(p, c) for c, p in zip(*_columns(relationship), strict=True)]
        is_limited = child.is_delivered and child.kind == "FILTERED"
        if child.joined is not None:
            state = self._state(child)
            if is_limited:
                state = state.filter(_in_context())
            rows = _without(rows, child.present(state, relationship.columns), pairs)
        if not child.is_complete and not is_limited:
            rows = self._childless(rows, child, relationship, side.delivered)
        return rows.select(*side.key)

    def _childless(
        self, rows: DataFrame, child: Side, relationship: Relationship, at_most: int | None
    ) -> DataFrame:
        """Return the parents that no current row, which the delivery does not touch, refers to."""
        pairs = [(p, c) for c, p in zip(*_columns(relationship), strict=True)]
        wanted = rows.select(*(F.col(p).alias(c) for p, c in pairs)).distinct()
        return _without(
            rows,
            self._rest(child, relationship.columns, wanted, relationship.columns, at_most),
            pairs,
        )

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
            rest = self._rest(side, names, wanted, names, side.delivered)
            values = values.unionByName(rest.select(*(F.col(n).alias(f"_ak_{n}") for n in names)))
        several = values.groupBy(*values.columns).count().filter("count > 1").drop("count")
        return delivered.join(several, values.columns, "left_semi").select(*side.key)

    def _set(self, side: Side, constraint: Constraint) -> DataFrame:
        query = constraint.expression
        assert query is not None  # noqa: S101 - a set rule has one
        words = set(re.findall(r"\w+", query.lower()))
        for name in self._plan.lvl_tables:
            if name in words:  # the session is that of the run alone
                self._visible(name).createOrReplaceTempView(quote(name))
        require_query(self._spark, query, constraint.code, self._plan.lvl_tables)
        found = self._spark.sql(query)
        rows = self._state(side).filter("_up").select(*side.key)
        return _within(rows, found, [(n, n) for n in side.key])

    def _visible(self, name: str) -> DataFrame:
        """Return whole rows of an entity as a set rule sees them."""
        side = self._sides.get(name) or self.side(name, ())
        if side.plan is not None:
            columns = [a.name for a in side.plan.attributes]
        else:
            columns = [n for n in side.current.relation.columns if not n.startswith("acm_")]
        current = side.current.all(columns)
        if side.checked is None:
            return current
        key = list(side.key)
        state = self._state(side)
        if side.kind == "FILTERED":
            inside = state.filter(_in_context()).select(*key)
            current = current.join(inside, key, "left_semi")
            state = state.filter(_in_context())
        current = current.join(self._state(side).filter("NOT _old").select(*key), key, "left_anti")
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

    def _rest(
        self,
        side: Side,
        names: Sequence[str],
        wanted: DataFrame,
        columns: Sequence[str],
        at_most: int | None,
    ) -> DataFrame:
        """Return current rows that are not among those joined, by the values of columns."""
        known = set(side.columns)
        told = list(dict.fromkeys([*side.key, *names, *columns]))
        read = side.columns if known >= set(told) else told
        rows = side.current.matching(names, wanted, read, at_most)
        if side.joined is not None:
            rows = rows.join(side.joined, list(side.key), "left_anti")
        return rows.select(*columns)

    # Existing rows ------------------------------------------------------------------------------

    def _count_existing(self, side: Side, constraint: Constraint) -> None:
        """Count the existing rows that the delivery breaks."""
        if constraint.type == "parent_exists":
            rows = self._orphans(side, side.relationship(constraint))
        elif constraint.type == "child_exists":
            rows = self._bereft(side, side.relationship(constraint))
        else:
            return
        if rows is None:
            return
        rows = rows.withColumn(CODE, F.lit(side.constraints.index(constraint)))
        kept_rows, ((number,),) = self._keeper.keep(rows, [F.count("*")])
        if number:
            side.existing[constraint.code] = number
            side.existing_rows.append(kept_rows)

    def _orphans(self, side: Side, relationship: Relationship) -> DataFrame | None:
        """Return the keys of existing rows whose parent is deleted."""
        parent = self.side(relationship.parent, relationship.parent_columns)
        if parent.joined is None or not parent.rows["implicit"] + parent.rows["deletes"]:
            return None
        gone = parent.state().filter("_gone").select(*parent.key)
        pairs = [(c, p) for c, p in zip(*_columns(relationship), strict=True)]
        if side.joined is None or not side.is_complete:
            wanted = gone.select(*(F.col(p).alias(c) for c, p in pairs))
            rows = self._rest(
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
            broken = _within(values, gone, [(f"_fk_{c}", p) for c, p in pairs])
            broken = broken.select(*side.key)
            rows = broken if rows is None else rows.unionByName(broken)
        return rows

    def _bereft(self, side: Side, relationship: Relationship) -> DataFrame | None:
        """Return the keys of existing rows whose last child is gone."""
        child = self._sides.get(relationship.child)
        if (
            child is None
            or child.joined is None
            or not (child.rows["implicit"] + child.rows["deletes"] + child.rows["replaced"])
        ):
            return None
        pairs = [(p, c) for c, p in zip(*_columns(relationship), strict=True)]
        state = child.state()
        moved = F.col("_gone") | (
            F.col("_up")
            & F.col("_current")
            & ~_all(child.new(c).eqNullSafe(child.old(c)) for c in relationship.columns)
        )
        lost = (
            state.filter(moved)
            .select(*(child.old(c).alias(p) for p, c in pairs))
            .dropna()
            .distinct()
        )
        rows = _without(lost, child.present(state, relationship.columns, "_stays"), pairs)
        if not child.is_complete:
            rows = self._childless(rows, child, relationship, None)
        if side.joined is not None:
            stays = side.state().filter("_stays").select(*side.key)
            existing = _within(rows, stays, [(k, k) for k in side.key])
            if side.is_complete:
                return existing
            rest = self._rest(side, side.key, rows, side.key, None)
            return existing.unionByName(rest)
        return self._rest(side, side.key, rows, side.key, None)


def _columns(relationship: Relationship) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return relationship.columns, relationship.parent_columns


def _known(condition: Column) -> Column:
    """Return a condition that is false where it is unknown."""
    return F.coalesce(condition, F.lit(False))


def _in_context() -> Column:
    """Return whether the key of a joined row is in the context of a Full entity."""
    return (F.col("_delivered") & F.col("_in_new")) | (F.col("_current") & F.col("_in_old"))


def _all(conditions: Iterable[Column]) -> Column:
    return functools.reduce(lambda one, other: one & other, conditions)


def _matched(
    rows: DataFrame, others: DataFrame, pairs: Sequence[tuple[str, str]], how: str
) -> DataFrame:
    """Join by pairs of columns that may have the same names, and other types."""
    renamed = others.select(*(F.col(right).alias(f"_m{i}") for i, (_, right) in enumerate(pairs)))
    condition = _all(F.col(left) == F.col(f"_m{i}") for i, (left, _) in enumerate(pairs))
    return rows.join(renamed, condition, how)


def _without(rows: DataFrame, others: DataFrame, pairs: Sequence[tuple[str, str]]) -> DataFrame:
    return _matched(rows, others, pairs, "left_anti")


def _within(rows: DataFrame, others: DataFrame, pairs: Sequence[tuple[str, str]]) -> DataFrame:
    return _matched(rows, others, pairs, "left_semi")


def _text(value: Any) -> str:
    """Return a value of JSON as the text that Spark casts."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)

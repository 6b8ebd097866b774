"""The versions of a key in a table with history: which end where, before and after a change.

A row ends where the next one of its key begins: in the order of effective date and insert instance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyiceberg.conversions import from_bytes
from pyiceberg.types import PrimitiveType
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    TimestampType,
)
from pyspark.sql.window import Window

from omd._core.errors import CallerError
from omd.spark.names import quote

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema

    from omd.rooms.control.rows import ModuleDefinitionRow

_NEXT = "omd_next"
_OURS = "omd_is_ours"
_HIT = "omd_is_hit"
_BOUNDED = (ByteType, ShortType, IntegerType, LongType, StringType, DateType, TimestampType)


@dataclass(frozen=True, slots=True)
class Reach:
    """Which rows of a table a change may touch."""

    rows: int  # how many rows the change has
    # For a column of the key its least and its greatest value, as a table counts them.
    keys: dict[str, tuple[Any, Any]]
    expiry: str  # the expiry date column
    since: Any  # the least effective date, as a table counts it; what ended before stays as it is
    start: str  # the same as a text of Spark

    def may_touch(self, bounds: Callable[[str], tuple[Any, Any, int | None]]) -> bool:
        """Return whether the bounds of a file leave it possible that it holds such rows.

        Args:
            bounds: returns the least and the greatest value of a column in it, as a table counts
                them, and the number of NULLs; None for what is not known.
        """
        for name, (least, greatest) in self.keys.items():
            low, high, _ = bounds(name)
            if (low is not None and low > greatest) or (high is not None and high < least):
                return False
        _, high, nulls = bounds(self.expiry)
        return nulls != 0 or high is None or self.since is None or bool(high >= self.since)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a Module that make a history."""

    keys: tuple[str, ...]
    effective: str
    expiry: str
    current: str
    insert: str
    update: str | None
    open_expiry: str

    @classmethod
    def of(cls, module: ModuleDefinitionRow) -> Columns:
        """Return the columns as the Module is registered.

        Raises:
            CallerError: it lacks a key, or a column of the history.
        """
        keys = tuple(module.business_key_columns or ())
        effective, expiry = module.effective_date_column, module.expiry_date_column
        current = module.current_indicator_column
        if not keys or effective is None or expiry is None or current is None:
            raise CallerError(
                f"module {module.module_code} names no key or no columns for its history",
                hint="Register its business_key_columns, with table type SAT or LSAT.",
            )
        return cls(
            keys,
            effective,
            expiry,
            current,
            module.insert_instance_column,
            module.update_instance_column,
            module.open_expiry_date,
        )

    def opened(self, rows: DataFrame) -> DataFrame:
        """Return new rows with the columns of the history: each is open, and current."""
        for name in (*self.keys, self.effective):
            if name not in rows.columns:
                raise CallerError(f'the rows lack the column "{name}" of the history')
        type_ = rows.schema[self.effective].dataType
        made = {self.expiry: F.lit(self.open_expiry).cast(type_), self.current: F.lit("Y")}
        if self.update is not None:
            made[self.update] = F.lit(None).cast("bigint")
        return rows.withColumns(made)

    def reach(self, rows: DataFrame) -> Reach | None:
        """Return which rows of the table some rows may touch; None if there are none."""
        type_ = rows.schema[self.expiry].dataType
        start = F.min(F.col(quote(self.effective)).cast(type_))
        measures = [F.count(F.lit(1)), start.cast("string"), _counted(start, type_)]
        for name in self.keys:
            key, kind = F.col(quote(name)), rows.schema[name].dataType
            measures += [_counted(F.min(key), kind), _counted(F.max(key), kind), F.count(key)]
        row = rows.agg(*(column.alias(f"c{n}") for n, column in enumerate(measures))).first()
        assert row is not None  # noqa: S101 - an aggregate without groups has one row
        count, text, since, *rest = row
        if not count:
            return None
        keys = {
            name: (rest[3 * n], rest[3 * n + 1])
            for n, name in enumerate(self.keys)
            # A NULL in the key is equal to NULL, which no bound tells of.
            if rest[3 * n] is not None and rest[3 * n + 2] == count
        }
        return Reach(count, keys, self.expiry, since, text)

    def merged(self, old: DataFrame, new: DataFrame, instance: int, reach: Reach) -> DataFrame:
        """Return the rows of some files, together with new versions of their keys.

        Args:
            old: the rows of all files that the new ones may touch.
            new: the new rows, open.
            instance: the run, for the rows that it ends.
            reach: of the new rows.
        """
        hit, rest = self._split(old, new, reach)
        chain = hit.withColumn(_OURS, F.lit(False)).unionByName(new.withColumn(_OURS, F.lit(True)))
        chain = chain.withColumn(_NEXT, self._next(chain))
        ours, next_ = F.col(_OURS), F.col(_NEXT)
        ends = next_.isNotNull()
        changed = ends & ~ours & ~F.col(quote(self.expiry)).eqNullSafe(next_)
        made = {
            self.expiry: F.when(ends, next_).otherwise(F.col(quote(self.expiry))),
            self.current: F.when(ends, self._no(chain)).otherwise(F.col(quote(self.current))),
        }
        if self._has_update(chain):
            made[str(self.update)] = F.when(changed, F.lit(instance).cast("bigint")).otherwise(
                F.col(quote(str(self.update)))
            )
        return chain.withColumns(made).select(*_names(old)).unionByName(rest)

    def touched(self, rows: DataFrame, instances: Sequence[int]) -> DataFrame:
        """Return the rows that some runs have inserted or ended."""
        by = [F.col(quote(self.insert)).isin(list(instances))]
        if self._has_update(rows):
            by.append(F.col(quote(str(self.update))).isin(list(instances)))
        return rows.where(reduce(lambda one, other: one | other, by))

    def repaired(
        self, old: DataFrame, touched: DataFrame, instances: Sequence[int], reach: Reach
    ) -> DataFrame:
        """Return the rows of some files without those of some runs, ended as if these never ran.

        Args:
            old: the rows of all files that the runs may have touched.
            touched: the rows that the runs have inserted or ended.
            instances: the runs.
            reach: of the touched rows.
        """
        array = list(instances)
        others = old.where(~F.coalesce(F.col(quote(self.insert)).isin(array), F.lit(False)))
        chain, rest = self._split(others, touched, reach)
        chain = chain.withColumn(_NEXT, self._next(chain))
        next_ = F.col(_NEXT)
        expiry = F.coalesce(next_, F.lit(self.open_expiry).cast(chain.schema[self.expiry].dataType))
        current = F.when(next_.isNull(), self._yes(chain)).otherwise(self._no(chain))
        stays = F.lit(False)
        made = {}
        if self._has_update(chain):
            update = F.col(quote(str(self.update)))
            ended_by_them = F.coalesce(update.isin(array), F.lit(False))
            # Another run has ended the last row of the key on purpose.
            stays = (
                next_.isNull()
                & update.isNotNull()
                & ~update.eqNullSafe(F.col(quote(self.insert)))
                & ~ended_by_them
            )
            made[str(self.update)] = F.when(ended_by_them, F.lit(None)).otherwise(update)
        made[self.expiry] = F.when(stays, F.col(quote(self.expiry))).otherwise(expiry)
        made[self.current] = F.when(stays, F.col(quote(self.current))).otherwise(current)
        return chain.withColumns(made).select(*_names(old)).unionByName(rest)

    def _split(
        self, old: DataFrame, change: DataFrame, reach: Reach
    ) -> tuple[DataFrame, DataFrame]:
        """Split rows into those whose end may change, and those that stay as they are."""
        keys = change.select(
            *(F.col(quote(name)).alias(f"omd_key_{n}") for n, name in enumerate(self.keys))
        ).distinct()
        equal = [
            F.col(quote(name)).eqNullSafe(F.col(f"omd_key_{n}")) for n, name in enumerate(self.keys)
        ]
        both = reduce(lambda one, other: one & other, equal)
        marked = old.join(keys.withColumn(_HIT, F.lit(True)), both, "left")
        expiry = F.col(quote(self.expiry))
        start = F.lit(reach.start).cast(old.schema[self.expiry].dataType)
        hit = F.coalesce(F.col(_HIT), F.lit(False)) & (expiry.isNull() | (expiry >= start))
        return marked.where(hit).select(*_names(old)), marked.where(~hit).select(*_names(old))

    def _next(self, chain: DataFrame) -> Column:
        window = Window.partitionBy(*(F.col(quote(name)) for name in self.keys)).orderBy(
            F.col(quote(self.effective)), F.col(quote(self.insert))
        )
        next_ = F.lead(F.col(quote(self.effective))).over(window)
        return next_.cast(chain.schema[self.expiry].dataType)

    def _has_update(self, rows: DataFrame) -> bool:
        return self.update is not None and self.update in rows.columns

    def _yes(self, rows: DataFrame) -> Column:
        is_boolean = isinstance(rows.schema[self.current].dataType, BooleanType)
        return F.lit(True) if is_boolean else F.lit("Y")

    def _no(self, rows: DataFrame) -> Column:
        is_boolean = isinstance(rows.schema[self.current].dataType, BooleanType)
        return F.lit(False) if is_boolean else F.lit("N")


def _names(rows: DataFrame) -> list[Column]:
    return [F.col(quote(name)) for name in rows.columns]


def _counted(value: Column, type_: DataType) -> Column:
    """Return a value as a table counts it in its bounds; NULL where that is another order."""
    if isinstance(type_, DateType):
        return F.unix_date(value)
    if isinstance(type_, TimestampType):
        return F.unix_micros(value)
    if isinstance(type_, (*_BOUNDED, DecimalType)):
        return value
    return F.lit(None)


def bounds_in(schema: Schema, file: DataFile) -> Callable[[str], tuple[Any, Any, int | None]]:
    """Return the bounds of an Iceberg file as `Reach.may_touch` asks for them."""

    def bounds(name: str) -> tuple[Any, Any, int | None]:
        field = schema.find_field(name)
        low = (file.lower_bounds or {}).get(field.field_id)
        high = (file.upper_bounds or {}).get(field.field_id)
        nulls = (file.null_value_counts or {}).get(field.field_id)
        type_ = field.field_type
        if low is None or high is None or nulls is None or not isinstance(type_, PrimitiveType):
            return None, None, nulls
        return _read(type_, low), _read(type_, high), nulls

    return bounds


def _read(type_: PrimitiveType, raw: bytes) -> Any:
    # A column that was widened has bounds of four bytes in its older files.
    if len(raw) == 4 and str(type_) == "long":
        return int.from_bytes(raw, "little", signed=True)
    return from_bytes(type_, raw)

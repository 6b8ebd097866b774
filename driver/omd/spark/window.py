"""The slice of a source that one run reads, as SQL: the rows after its start and up to its end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from psycopg import sql
from pyspark.sql.types import (
    DateType,
    IntegerType,
    LongType,
    ShortType,
    TimestampNTZType,
    TimestampType,
)

from omd._core.errors import CallerError
from omd._core.names import operator

if TYPE_CHECKING:
    from omd.spark.relation import Relation

_NO_START = "-infinity"
_BEFORE_ALL = datetime.min.replace(tzinfo=timezone.utc)  # the driver reads -infinity so
_TIMES = (TimestampType, TimestampNTZType, DateType)
_INTEGERS = (ShortType, IntegerType, LongType)


@dataclass(frozen=True)
class Window:
    """A load window over a time column, an integer column, or the pair of both.

    The start is exclusive, the end is inclusive. A bound is an instant with its zone in ISO form,
    or -infinity. A row with a NULL in one of the columns is in no window.
    """

    time_column: str | None
    id_column: str | None
    start: str | None
    start_id: int | None
    end: str | None
    end_id: int | None

    def __post_init__(self) -> None:
        for column, end in ((self.time_column, self.end), (self.id_column, self.end_id)):
            if (column is None) != (end is None):
                raise CallerError(
                    f"the load window ends at ({self.end}, {self.end_id}), which does not fit the"
                    f" columns ({self.time_column}, {self.id_column})",
                    hint="Name a time column if it ends at a time, and an id column if it ends"
                    " at an id.",
                )
        if self.time_column is None and self.id_column is None:
            raise CallerError("a load window needs a time column, an id column, or both")
        if self.time_column is None and self.start_id is None:
            raise CallerError(
                f"the load window starts at the time {self.start} and ends at the id {self.end_id}",
                hint="Continue with times, or start the windows of the Module again.",
            )
        for bound in (self.start, self.end):
            if bound not in (None, _NO_START):
                _check_instant(bound)

    def condition(self, relation: Relation) -> sql.Composed:
        """Return ``(time, id) > (…) AND (time, id) <= (…)``, which an index on the pair serves."""
        conditions = [
            self._compare(relation, ">", self.start, self.start_id),
            self._compare(relation, "<=", self.end, self.end_id),
        ]
        if self.id_column is not None and self.time_column is not None and self.start is not None:
            # These follow from the two above, but only from these the planner can estimate a range.
            conditions.append(self._compare(relation, ">=", self.start, None))
            conditions.append(self._compare(relation, "<=", self.end, None))
        return sql.SQL(" AND ").join(conditions)

    def _compare(
        self, relation: Relation, symbol: str, time: str | None, id_: int | None
    ) -> sql.Composed:
        columns: list[sql.Composable] = []
        values: list[sql.Composable] = []
        if self.time_column is not None and time is not None:
            columns.append(sql.Identifier(self.time_column))
            values.append(_instant(relation, self.time_column, time))
        if self.id_column is not None and id_ is not None:
            _require(relation, self.id_column, _INTEGERS, "an integer column")
            columns.append(sql.Identifier(self.id_column))
            values.append(sql.SQL("{}::bigint").format(sql.Literal(str(id_))))
        comma = sql.SQL(", ")
        return sql.SQL("({}) {} ({})").format(
            comma.join(columns), sql.SQL(operator(symbol)), comma.join(values)
        )


def as_option(bound: datetime | None) -> str:
    """Return a bound of a load window as text; None is the start of the first window."""
    if bound is None:
        return _NO_START
    if bound.tzinfo is None:
        raise CallerError(
            f"the bound {bound} of a load window has no time zone",
            hint="Say which instant is meant: datetime(…, tzinfo=timezone.utc).",
        )
    return _NO_START if bound == _BEFORE_ALL else bound.isoformat()


def _check_instant(bound: str | None) -> None:
    try:
        known = datetime.fromisoformat(bound or "").tzinfo is not None
    except ValueError:
        known = False
    if not known:
        raise CallerError(
            f"{bound} is not an instant", hint="Write it with its zone: 2013-07-01T00:00:00+00:00."
        )


def _instant(relation: Relation, column: str, bound: str) -> sql.Composed:
    """Return a bound in the type of the column; a column without a zone is taken to be in UTC."""
    _require(relation, column, _TIMES, "a time column")
    instant = sql.SQL("{}::pg_catalog.timestamptz").format(sql.Literal(bound))
    if isinstance(relation.columns[column].spark, TimestampType):
        return instant
    return sql.SQL("({} AT TIME ZONE 'UTC')").format(instant)


def _require(relation: Relation, column: str, types: tuple[type, ...], what: str) -> None:
    known = relation.columns.get(column)
    if known is None or not isinstance(known.spark, types):
        raise CallerError(f'column "{column}" of the load window is not {what} of {relation}')

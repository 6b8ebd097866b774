"""Rows of answers and views as typed objects, and the codes in them."""

from __future__ import annotations

import enum
import functools
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psycopg.rows import BaseRowFactory

__all__ = ["Code", "rows_of"]

T = TypeVar("T")


class Code(str, enum.Enum):
    """A code of one letter or word; it is a text too, as the database has it."""

    def __str__(self) -> str:
        return str(self.value)


@functools.cache
def _codes_of(row: type) -> dict[str, type[Code]]:
    """Which fields of a row class hold a code."""
    return {
        name: candidate
        for name, hint in get_type_hints(row).items()
        for candidate in (hint, *get_args(hint))
        if isinstance(candidate, type) and issubclass(candidate, Code)
    }


def rows_of(row: type[T]) -> BaseRowFactory[T]:
    """Like psycopg's `class_row`; drops the ``p_`` of OUT parameters and makes enums of codes."""
    if row is tuple:
        from psycopg.rows import tuple_row

        return tuple_row  # type: ignore[return-value]
    codes = _codes_of(row)  # type: ignore[arg-type, unused-ignore]

    in_order = [field.name for field in fields(row)]  # type: ignore[arg-type, unused-ignore]

    def factory(cursor: Any) -> Callable[[Sequence[Any]], T]:
        names = [column.name.removeprefix("p_") for column in cursor.description or ()]
        if names == in_order and not codes:
            return lambda values: row(*values)

        def make(values: Sequence[Any]) -> T:
            given = dict(zip(names, values, strict=True))
            for name, code in codes.items():
                if given.get(name) is not None:
                    given[name] = code(given[name])
            return row(**given)

        return make

    return factory

"""Rows of answers and views as typed objects, and the codes in them."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, TypeVar, get_args, get_type_hints

T = TypeVar("T")


class Code(str, enum.Enum):
    """A code of one letter or word; it is a text too, as the database has it."""

    def __str__(self) -> str:
        return str(self.value)


def _codes_of(row: type) -> dict[str, type[Code]]:
    """Which fields of a row class hold a code."""
    return {
        name: candidate
        for name, hint in get_type_hints(row).items()
        for candidate in (hint, *get_args(hint))
        if isinstance(candidate, type) and issubclass(candidate, Code)
    }


def rows_of(row: type[T], columns: tuple[bytes | None, ...], values: list[Any]) -> list[T]:
    """Return the rows of a result as objects of a class; a ``p_`` before a column is dropped.

    Args:
        row: the class; codes become its enums. A tuple has no names.
        columns: the names of the columns.
        values: the rows, as tuples.
    """
    if row is tuple:
        return values
    make: Callable[[Sequence[Any]], T] = _maker(row, columns)  # type: ignore[arg-type, unused-ignore]
    return [make(row_values) for row_values in values]


@functools.cache
def _maker(row: type[T], columns: tuple[bytes | None, ...]) -> Callable[[Sequence[Any]], T]:
    codes = _codes_of(row)
    names = [(column or b"").decode().removeprefix("p_") for column in columns]
    in_order = [field.name for field in fields(row)]  # type: ignore[arg-type, unused-ignore]
    if names == in_order and not codes:
        return lambda values: row(*values)

    def make(values: Sequence[Any]) -> T:
        given = dict(zip(names, values, strict=True))
        for name, code in codes.items():
            if given.get(name) is not None:
                given[name] = code(given[name])
        return row(**given)

    return make

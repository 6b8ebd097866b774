"""Rows of answers and views as typed objects, and the codes in them."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Sequence
from dataclasses import fields, make_dataclass
from typing import Any, TypeVar, get_args, get_type_hints

T = TypeVar("T")


class Code(str, enum.Enum):
    """A code of one letter or word; it is a text too, as the database has it."""

    def __str__(self) -> str:
        return str(self.value)


CODES: dict[str, type[Code]] = {}
"""The columns of views that hold a code, in whatever room; process control enters them."""


def _codes_of(row: type) -> dict[str, type[Code]]:
    """Which fields of a row class hold a code."""
    return {
        name: candidate
        for name, hint in get_type_hints(row).items()
        for candidate in (hint, *get_args(hint))
        if isinstance(candidate, type) and issubclass(candidate, Code)
    }


class MissingColumns(LookupError):  # noqa: N818 - the name says what happened
    """An answer lacks what its class has: the database is older."""


@functools.cache
def _class_of(view: str, columns: tuple[bytes | None, ...]) -> type[Any]:
    """Return a class for the rows of a view."""
    names = [(column or b"").decode() for column in columns]
    typed = [(name, CODES.get(name, Any)) for name in names]
    return make_dataclass(f"{view.title()}Row".replace("_", ""), typed, frozen=True, slots=True)


def rows_of(
    row: type[T] | str,
    columns: tuple[bytes | None, ...],
    values: list[Any],
    *,
    may_lack: bool = False,
) -> list[T]:
    """Return the rows of a result as objects of a class; a ``p_`` before a column is dropped.

    Args:
        row: the class; codes become its enums. A tuple has no names. Of a view that is named, a
            class with its columns is made.
        columns: the names of the columns.
        values: the rows, as tuples.
        may_lack: what the class has, and the result has not, is None.

    Raises:
        MissingColumns: the result lacks a column.
    """
    if row is tuple:
        return values
    if isinstance(row, str):
        row = _class_of(row, columns)
    make: Callable[[Sequence[Any]], T] = _maker(row, columns, may_lack)  # type: ignore[arg-type, unused-ignore]
    return [make(row_values) for row_values in values]


@functools.cache
def _maker(
    row: type[T], columns: tuple[bytes | None, ...], may_lack: bool
) -> Callable[[Sequence[Any]], T]:
    """Return what makes an object; a newer database may have columns and codes more."""
    codes = _codes_of(row)
    names = [(column or b"").decode().removeprefix("p_") for column in columns]
    in_order = [field.name for field in fields(row)]  # type: ignore[arg-type, unused-ignore]
    if names == in_order and not codes:
        return lambda values: row(*values)
    if not may_lack and (missing := [name for name in in_order if name not in names]):
        raise MissingColumns(f"the answer has no {', '.join(missing)}")
    places = [names.index(name) if name in names else None for name in in_order]
    known = [_known(codes[name]) if name in codes else None for name in in_order]

    def make(values: Sequence[Any]) -> T:
        given = []
        for place, code in zip(places, known, strict=True):
            value = None if place is None else values[place]
            given.append(value if code is None or value is None else code(value))
        return row(*given)

    return make


def _known(code: type[Code]) -> Callable[[str], str]:
    """Return what makes a code of a text; one that this client does not know stays a text."""

    def read(value: str) -> str:
        try:
            return code(value)
        except ValueError:
            return value

    return read

"""How values of PostgreSQL become Python's, on every connection that reads rooms."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import psycopg
from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.types.datetime import TimestamptzLoader
from psycopg.types.json import set_json_loads

from omd._core.texts import loads


def adapt(connection: psycopg.Connection[Any]) -> None:
    """Let a connection read infinite instants, large sums and documents as OMD has them."""
    connection.adapters.register_loader("timestamptz", _InstantLoader)
    connection.adapters.register_loader("numeric", _CountLoader)
    set_json_loads(loads, connection)


_Y = ord("y")  # no finite instant ends with it


class _InstantLoader(Loader):
    """Reads -infinity, where the first load window starts, as the smallest instant of Python."""

    def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
        super().__init__(oid, context)
        # The loader that psycopg registers is the one in C, if there is one: claims read many.
        finite = psycopg.adapters.get_loader(oid, Format.TEXT) or TimestamptzLoader
        self._finite = finite(oid, context)

    def load(self, data: Buffer) -> datetime:
        if data[-1] != _Y:
            return self._finite.load(data)  # type: ignore[no-any-return]
        if bytes(data) == b"-infinity":
            return datetime.min.replace(tzinfo=timezone.utc)
        return datetime.max.replace(tzinfo=timezone.utc)


class _CountLoader(Loader):
    """Reads a whole number as an int: a sum of row counts may be larger than a bigint."""

    def load(self, data: Buffer) -> int | Decimal:
        number = bytes(data).decode()
        return int(number) if number.lstrip("-").isdecimal() else Decimal(number)

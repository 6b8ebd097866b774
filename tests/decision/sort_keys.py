"""The sort key in Python, written from C3 of docs/explanation/decision.md and from nothing else."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any

_COMPLEMENT = str.maketrans("0123456789abcdef", "fedcba9876543210")
FAMILIES = {"smallint": "integer", "bigint": "integer", "varchar(20)": "text"}


def _digits(value: Any, family: str) -> str:
    if family == "boolean":
        return "01" if value else "00"
    if family == "integer":
        return f"{value + 2**63:016x}"
    if family == "text":
        return value.encode().hex() + "00"
    if family == "uuid":
        return str(value.hex)
    if family == "date":
        return f"{(value - date(2000, 1, 1)).days + 2**31:08x}"
    epoch = datetime(2000, 1, 1, tzinfo=None if family == "timestamp" else timezone.utc)
    return f"{(value - epoch) // timedelta(microseconds=1) + 2**63:016x}"


def sort_key(value: Any, type_: str, direction: str = "ASC") -> str:
    """Return the sort key of a value of a type of PostgreSQL."""
    text = "0" if value is None else "1" + _digits(value, FAMILIES.get(type_, type_))
    return text if direction == "ASC" else text.translate(_COMPLEMENT)

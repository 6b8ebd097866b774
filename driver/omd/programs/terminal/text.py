"""Values as text: for people, for a cell of a table, for JSON."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from enum import Enum
from typing import Any


def row_dict(row: Any) -> dict[str, Any]:
    """Return the fields of a row class by name; the values stay as they are."""
    return {field.name: getattr(row, field.name) for field in dataclasses.fields(row)}


def printable(line: str) -> str:
    """Return a line that is safe for a terminal: it keeps its spaces, but nothing unprintable."""
    # A name may hold anything, even an escape sequence for the terminal.
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line.expandtabs())


def short(value: Any) -> Any:
    """Return a value as a line for people has it; instants are in local time."""
    if isinstance(value, datetime):
        # The driver reads -infinity as an instant of the year 1, which has no local time.
        return f"{value.astimezone():%Y-%m-%d %H:%M:%S}" if value.year > 1 else "-infinity"
    if isinstance(value, Enum):  # a letter stands with its word
        return " ".join(filter(None, [str(value.value), getattr(value, "word", None)]))
    if isinstance(value, Mapping):  # as a shell takes it: NAME=VALUE
        pairs = (
            (k, v) for k, v_s in value.items() for v in (v_s if isinstance(v_s, list) else [v_s])
        )
        return " ".join(shlex.quote(printable(f"{k}={as_text(v)}")) for k, v in pairs)
    if isinstance(value, (list, tuple)):
        return ", ".join(as_text(short(item)) for item in value)
    if isinstance(value, str):
        return printable(" ".join(value.split()))
    return value


def as_text(value: object) -> str:
    """Return a value as text for people and for CSV: on one line, NULL as an empty text."""
    if value is None:
        return ""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, timedelta):
        return str(timedelta(seconds=round(value.total_seconds())))
    if isinstance(value, (list, tuple)):
        return ", ".join(as_text(item) for item in value)
    if isinstance(value, Mapping):
        return json.dumps(value, default=as_json, ensure_ascii=False)
    return " ".join(str(value).split("\n"))


def as_json(value: object) -> object:
    """Return a value that json has no type for as one that it has; ``default`` of `json.dumps`."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if dataclasses.is_dataclass(value):
        return row_dict(value)
    return str(value)

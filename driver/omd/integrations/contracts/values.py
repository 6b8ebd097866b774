"""The values of an enumeration."""

from __future__ import annotations

from typing import Any

from omd.integrations.contracts import checks
from omd.integrations.contracts.notes import Notes
from omd.integrations.contracts.types import is_number, kind


def take_values(attribute: dict[str, Any], values: Any, path: str, notes: Notes) -> bool:
    """Give an attribute the values that it may have; return whether it could be done."""
    # An empty field is no value: it may be there in any case, or mandatory says that it may not.
    given = [v for v in values if v not in (None, "")] if isinstance(values, list) else []
    taken = [_value(value, attribute["type"]) for value in given]
    if not taken or None in taken:
        notes.leave(path, f"the values are not all of the type {attribute['type']}")
        return False
    attribute["values"] = taken
    return True


def _value(value: Any, data_type: str) -> Any:
    """Return a value as a model has it; None: it is none of the type."""
    if isinstance(value, (list, dict)):
        return None
    if kind(data_type) == "text" and not isinstance(value, str):
        digits = checks.number(value)
        return str(value).lower() if digits is None else f"{digits:f}"
    if kind(data_type) == "boolean" and not isinstance(value, bool):
        return None
    if is_number(data_type) and isinstance(value, (bool, float)) and checks.number(value) is None:
        return None
    return value

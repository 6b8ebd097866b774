"""Codes for what has any name in a contract."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

_LONGEST = 41
CODE = re.compile(r"[a-z][a-z0-9_]{0,40}")
_NO_ATTRIBUTE = re.compile(r"acm_.*|delivery_id|ctid|tableoid|[cx](min|max)")
NO_COLUMN = re.compile(r"\s*|ctid|tableoid|[cx](min|max)")


def is_code(text: object) -> bool:
    """Whether a model may have this code."""
    return isinstance(text, str) and CODE.fullmatch(text) is not None


def is_attribute(text: object) -> bool:
    """Whether an attribute may have this name."""
    return is_code(text) and not _NO_ATTRIBUTE.fullmatch(str(text))


def as_code(name: str) -> str:
    """Return a code that resembles a name: orderDate and "Order Date" are order_date."""
    if is_code(name):
        return name
    plain = unicodedata.normalize("NFKD", name[:500]).encode("ascii", "ignore").decode()
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain)
    code = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")
    if not code or not code[0].isalpha():
        code = f"c_{code}".rstrip("_")
    return code[:_LONGEST]


def as_attribute(name: str) -> str:
    """Return a name for an attribute that resembles a name."""
    code = as_code(name)
    return f"c_{code}"[:_LONGEST] if _NO_ATTRIBUTE.fullmatch(code) else code


def unused(code: str, used: Collection[str]) -> str:
    """Return a code, or the first of code_2, code_3 … that is not used."""
    number, free = 2, code
    while free in used:
        end = f"_{number}"
        free, number = code[: _LONGEST - len(end)] + end, number + 1
    return free

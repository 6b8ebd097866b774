"""Numbers and texts as they are read from JSON, and as PostgreSQL can store them."""

from __future__ import annotations

import functools
import json
from decimal import Decimal


def exact(text: str) -> float | Decimal:
    """Return a number of JSON or YAML; one with more digits than a float keeps is a Decimal."""
    number = float(text)
    digits = Decimal(text)
    return number if Decimal(repr(number)) == digits else digits


loads = functools.partial(json.loads, parse_float=exact)


def storable(text: str) -> str:
    """Text as PostgreSQL can store it: no NUL, no lone surrogates.

    What a job's exception says must never be the reason why its failure is not recorded.
    """
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()

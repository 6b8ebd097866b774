"""The bounds of documents that people write: models, stages, rulesets, topics, registrations.

A document is read whole, its paths are named, and a database keeps it; so it is bounded before. The
database has the same bounds of depth and size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MAX_BYTES = 10_000_000
"""The size of a document as a text."""

MAX_DEPTH = 64
"""How deep a document may be nested; its top is 1."""

MAX_VALUES = 500_000
"""How many values a document may have; what an alias stands for counts each time."""

MAX_ALIASES = 10_000
"""How many anchors and aliases a document may have, and how many merge keys."""

MAX_DIGITS = 1_000
"""How many digits a whole number may have, its sign and prefix counted."""

TOO_DEEP = f"it is nested more than {MAX_DEPTH} deep"
TOO_MANY = f"the document has more than {MAX_VALUES:,} values, aliases written out"
TOO_MANY_ALIASES = f"the document has more than {MAX_ALIASES:,} anchors and aliases"
TOO_MANY_MERGES = f"the document has more than {MAX_ALIASES:,} merge keys"
TOO_LONG = f"a whole number has more than {MAX_DIGITS:,} digits"
TOO_LARGE = f"the document has more than {MAX_BYTES:,} bytes"

_TOO_LONG = 10**MAX_DIGITS


def whole_number(text: str) -> int:
    """Return the number that JSON writes so; one that is too long stands for all of them."""
    return _TOO_LONG if len(text) > MAX_DIGITS else int(text)


def child(path: str, step: str | int) -> str:
    """Return the path of what is below a path, by its key or its number."""
    return f"{path}[{step}]" if isinstance(step, int) else f"{path}.{step}".lstrip(".")


def odd_character(text: str) -> str | None:
    """Return what a text has that no text of PostgreSQL can have; None: nothing."""
    if "\0" in text:
        return "a text has the character U+0000"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "a text has half a surrogate pair"
    return None


def problem_of(document: object) -> tuple[str, str] | None:
    """Return the path and the text of the first bound that a document breaks; None: none."""
    left: list[tuple[str, object, int]] = [("", document, 1)]
    values = 0
    while left:
        path, value, depth = left.pop()
        values += 1
        if values > MAX_VALUES:
            return path, TOO_MANY
        if isinstance(value, str):
            if problem := odd_character(value):
                return path, problem
            continue
        if isinstance(value, int) and abs(value) >= _TOO_LONG:
            return path, TOO_LONG
        items: list[tuple[Any, Any]] = []
        if isinstance(value, Mapping):
            items = list(value.items())
        elif isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
            items = list(enumerate(value))
        if items and depth >= MAX_DEPTH:
            return _printable(path), TOO_DEEP
        below = []
        for step, item in items:
            if isinstance(step, str) and (problem := odd_character(step)):
                return _printable(child(path, step)), problem
            below.append(
                (child(path, step if isinstance(step, int) else str(step)), item, depth + 1)
            )
        left += reversed(below)
    return None


def _printable(path: str) -> str:
    text = path.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
    return text if len(text) <= 200 else f"{text[:200]}…"

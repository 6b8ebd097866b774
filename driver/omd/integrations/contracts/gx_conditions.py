"""The row_condition of an expectation as a part of a check."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from omd.integrations.contracts import checks
from omd.integrations.contracts.draft import Entity

_SIGNS = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "=": "=", "<>": "<>"}
_TOKEN = re.compile(
    r"""\s*(?:col\(\s*(?:"([^"]*)"|'([^']*)')\s*\)|"([^"]*)"|'([^']*)'|(-?\d+(?:\.\d+)?)"""
    r"""|(\.notNull\(\)|\.notnull\(\)|\.isnull\(\)|\.isNull\(\))|([A-Za-z_]\w*)"""
    r"""|(==|!=|<>|<=|>=|=|<|>|&|\||\(|\)))"""
)
_JOINTS = {"and": "AND", "&": "AND", "or": "OR", "|": "OR", "(": "(", ")": ")"}
_MOST_DEPTH = 20


def condition_check(condition: Any, entity: Entity) -> str | None:
    """Return a condition in the words of checks; None: it can't be said.

    It may be a text, as pandas and Spark have it, or the object of newer versions.
    """
    if isinstance(condition, str):
        return _of_text(condition, entity) if len(condition) <= 2000 else None
    return _of_object(condition, entity, 0) if isinstance(condition, dict) else None


def _of_text(text: str, entity: Entity) -> str | None:
    """Translate each comparison; what stands between them are AND, OR and parentheses."""
    parts: list[str] = []
    pending: list[tuple[str, Any]] = []
    at, text, open_ = 0, text.strip(), 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        at = match.end()
        kind, value = _token(match)
        if kind == "joint":
            if pending:
                return None
            open_ += (value == "(") - (value == ")")
            if open_ < 0:
                return None
            parts.append(value)
            continue
        pending.append((kind, value))
        if (check := _comparison(pending, entity)) is not None:
            parts.append(check)
            pending = []
        elif len(pending) > 3:
            return None
    if pending or open_ or not parts:
        return None
    return " ".join(parts) if _is_sentence(parts) else None


def _token(match: re.Match[str]) -> tuple[str, Any]:
    column = match[1] if match[1] is not None else match[2]
    string = match[3] if match[3] is not None else match[4]
    word = match[7]
    if column is not None:
        return "column", column
    if string is not None:
        return "value", string
    if match[5] is not None:
        return "value", float(match[5]) if "." in match[5] else int(match[5])
    if match[6] is not None:
        return "null", "not" in match[6].lower()
    if word is not None:
        if word.lower() in ("and", "or"):
            return "joint", _JOINTS[word.lower()]
        if word in ("True", "False", "true", "false", "TRUE", "FALSE"):
            return "value", word.lower() == "true"
        return "column", word
    return ("joint", _JOINTS[match[8]]) if match[8] in _JOINTS else ("sign", match[8])


def _comparison(tokens: list[tuple[str, Any]], entity: Entity) -> str | None:
    kinds = [kind for kind, _ in tokens]
    attribute = entity.find(tokens[0][1]) if kinds[0] == "column" else None
    if attribute is None:
        return None
    name = checks.name(attribute["name"])
    if kinds == ["column", "null"]:
        return f"{name} IS {'NOT ' if tokens[1][1] else ''}NULL"
    if kinds == ["column", "sign", "value"]:
        literal = checks.literal(tokens[2][1], attribute["type"])
        return None if literal is None else f"{name} {_SIGNS[tokens[1][1]]} {literal}"
    if kinds == ["column", "sign", "column"]:
        other = entity.find(tokens[2][1])
        return (
            None if other is None else f"{name} {_SIGNS[tokens[1][1]]} {checks.name(other['name'])}"
        )
    return None


def _is_sentence(parts: list[str]) -> bool:
    """Whether comparisons and joints take turns."""
    is_wanted = True
    for part in parts:
        is_term = part not in ("AND", "OR", ")")
        if is_term is not is_wanted:
            return False
        is_wanted = part in ("AND", "OR", "(")
    return not is_wanted


def _of_object(condition: Mapping[str, Any], entity: Entity, depth: int) -> str | None:
    if depth > _MOST_DEPTH:
        return None
    of = condition.get("type")
    if of in ("and", "or") and isinstance(condition.get("conditions"), list):
        parts = [
            _of_object(part, entity, depth + 1) if isinstance(part, dict) else None
            for part in condition["conditions"]
        ]
        return (
            None if None in parts or not parts else f" {of.upper()} ".join(f"({p})" for p in parts)
        )
    column = condition.get("column")
    attribute = entity.find(column.get("name") if isinstance(column, dict) else column)
    if attribute is None:
        return None
    name = checks.name(attribute["name"])
    if of == "nullity":
        return f"{name} IS {'' if condition.get('is_null') else 'NOT '}NULL"
    sign, value = condition.get("operator"), condition.get("parameter")
    if sign in ("IN", "NOT_IN") and isinstance(value, list):
        return checks.listed(attribute["name"], value, attribute["type"], is_in=sign == "IN")
    literal = checks.literal(value, attribute["type"])
    is_sign = isinstance(sign, str) and sign in _SIGNS
    return f"{name} {_SIGNS[str(sign)]} {literal}" if is_sign and literal is not None else None

"""A suite of Great Expectations 1.x as a model of one entity.

What becomes of each expectation stands in docs/how-to/delivery/exchange-data-contracts.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import click

from omd.integrations.contracts import checks, types
from omd.integrations.contracts.draft import Draft, Entity, leave_unknown
from omd.integrations.contracts.gx_conditions import condition_check
from omd.integrations.contracts.notes import Notes
from omd.integrations.contracts.values import take_values

_COMMON = (
    *("mostly", "severity", "row_condition", "condition_parser", "strict_min", "strict_max"),
    *("batch_id", "result_format", "catch_exceptions", "include_config", "meta", "notes"),
    *("windows", "ignore_row_if", "or_equal", "parse_strings_as_datetimes"),
)
_PYTHON_TYPES = {"timestamp": "timestamp", "datetime": "timestamp", "str": "text", "object": "text"}
_NO_PLACE = {
    "expect_table_row_count_to_equal": "the number of rows is announced with each delivery",
    "expect_table_row_count_to_be_between": "the number of rows is announced with each delivery",
}
_AGGREGATE = re.compile(
    r"expect_column_(mean|median|sum|stdev|min|max|most_common_value|unique_value_count"
    r"|proportion_of|quantile|value_z_scores|distinct_values)"
)
_VIOLATING = re.compile(
    r"\s*SELECT\s+\*\s+FROM\s+\{batch\}\s+WHERE\s+(\S.*)", re.IGNORECASE | re.DOTALL
)
_DATES = re.compile(r"\d{4}-\d{2}-\d{2}")
_STRFTIME = {
    "Y": "yyyy",
    "y": "yy",
    "m": "MM",
    "b": "MMM",
    "B": "MMMM",
    "d": "dd",
    "j": "DDD",
    "H": "HH",
    "I": "hh",
    "p": "a",
    "M": "mm",
    "S": "ss",
    "f": "SSSSSS",
    "z": "XX",
}


def read_gx(suite: Any, notes: Notes, file_name: str) -> tuple[Draft, str]:
    """Return what a suite says as the draft of a model, and the name of the suite.

    Raises:
        click.UsageError: it is no suite.
    """
    expectations = suite.get("expectations") if isinstance(suite, dict) else None
    if not isinstance(expectations, list):
        raise click.UsageError("it is no suite of Great Expectations: expectations is a list")
    name = suite.get("name", suite.get("expectation_suite_name"))
    name = name if isinstance(name, str) and name else file_name
    known = ("name", "expectation_suite_name", "expectations", "id", "meta", "ge_cloud_id")
    leave_unknown(notes, "", suite, known, {"notes": "a model has no descriptions"})
    draft = Draft(notes)
    _Suite(draft.entity(name, ""), notes).read(expectations)
    return draft, name


class _Suite:
    """The expectations of one table, in two rounds: types first, then what is held against them."""

    def __init__(self, entity: Entity, notes: Notes) -> None:
        self.entity = entity
        self.notes = notes
        self.unique: list[list[str]] = []  # the uniqueness that is not weakened, as columns

    def read(self, expectations: list[Any]) -> None:
        """Add the attributes of all columns, then the rules."""
        given = [
            (f"expectations[{number}]", str(kind), kwargs, expectation)
            for number, expectation in enumerate(expectations)
            if isinstance(expectation, dict)
            and isinstance(kwargs := expectation.get("kwargs", {}), dict)
            and (kind := expectation.get("type", expectation.get("expectation_type")))
        ]
        if len(given) < len(expectations):
            self.notes.leave("expectations", "some have no type")
        said: dict[str, str | None] = {}
        # A table says its columns in order; a rule names one.
        for _, _, kwargs, _ in sorted(
            given, key=lambda g: not g[1].startswith("expect_table_columns")
        ):
            for column in _columns(kwargs):
                said.setdefault(column, None)
        for _, kind, kwargs, _ in given:
            named, said_type = kwargs.get("column"), _type_of(kind, kwargs)
            if said_type and isinstance(named, str) and said.get(named) is None:
                said[named] = said_type
        for _, kind, kwargs, _ in given:
            named, guess = kwargs.get("column"), _guess(kind, kwargs)
            if guess and isinstance(named, str) and said.get(named) is None:
                said[named] = guess
                self.notes.assume(f"column {named}", f"its type is not said; {guess} is taken")
        for column, data_type in said.items():
            if data_type is None:
                self.notes.assume(f"column {column}", "its type is not said; text is taken")
            self.entity.add(column, data_type or "text", path=f"column {column}")
        for path, kind, kwargs, expectation in given:
            self._rule(path, kind, kwargs, expectation)
        if len(self.unique) == 1:
            self.entity.likely_key = self.unique[0]

    def _rule(
        self, path: str, kind: str, kwargs: Mapping[str, Any], expectation: Mapping[str, Any]
    ) -> None:
        handler = _HANDLERS.get(kind)
        if handler is None:
            self.notes.leave(path, _why_not(kind))
            return
        known = (*_COMMON, *_ARGUMENTS.get(kind, ()))
        leave_unknown(self.notes, f"{path}.kwargs", kwargs, known)
        condition = None
        if kwargs.get("row_condition") not in (None, ""):
            condition = condition_check(kwargs["row_condition"], self.entity)
            if condition is None:
                self.notes.leave(path, "its row_condition can't be said in a check")
                return
        setting = _setting(kwargs, expectation)
        if setting is None:
            self.notes.leave(path, "mostly is a number from 0 to 1")
            return
        if (problem := handler(self, _Rule(kwargs, condition, setting, path))) is not None:
            self.notes.leave(path, problem)

    def add_check(self, rule: _Rule, word: str, check: str | None) -> str | None:
        """Add a check of one column, or with its condition of the record; return the problem."""
        attribute = self.entity.find(rule.kwargs.get("column"))
        if attribute is None or check is None:
            return "a check can't say it"
        name = attribute["name"]
        if rule.condition is None:
            self.entity.check(f"{name}_{word}", check, name, rule.setting)
        else:
            self.entity.check(
                f"{name}_{word}", f"NOT ({rule.condition}) OR {check}", None, rule.setting
            )
        return None

    def add_record(self, rule: _Rule, word: str, check: str) -> None:
        """Add a check of several columns."""
        if rule.condition is not None:
            check = f"NOT ({rule.condition}) OR ({check})"
        self.entity.check(word, check, None, rule.setting)

    def add_unique(self, rule: _Rule, origins: Any) -> str | None:
        """Add a uniqueness; return the problem."""
        names = self.entity.names(origins)
        if names is None:
            return "it names no columns"
        if rule.condition is not None:
            return "an alternate key holds for all rows"
        self.entity.unique(f"unique_{'_'.join(names)}", names, rule.setting)
        if not rule.setting and names not in self.unique:
            self.unique.append(names)
        return None


class _Rule:
    """An expectation, ready to be taken over."""

    def __init__(
        self, kwargs: Mapping[str, Any], condition: str | None, setting: dict[str, Any], path: str
    ) -> None:
        self.kwargs = kwargs
        self.condition = condition
        self.setting = setting
        self.path = path

    def named(self, suite: _Suite) -> tuple[str, str] | None:
        """Return the name of its column in a check, and the type; None: there is no column."""
        attribute = suite.entity.find(self.kwargs.get("column"))
        return None if attribute is None else (checks.name(attribute["name"]), attribute["type"])


def _setting(kwargs: Mapping[str, Any], expectation: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the thresholds of mostly and severity; None: mostly is no share."""
    mostly = kwargs.get("mostly", 1)
    share = checks.number(1 if mostly is None else mostly)
    if share is None or not 0 <= share <= 1:
        return None
    percent = _plain((1 - share) * 100)
    severity = expectation.get("severity", kwargs.get("severity", "critical"))
    if severity in ("warning", "info"):
        return {"threshold": "none", **({"warn_percent": percent} if percent else {"warn": 0})}
    return {"threshold_percent": percent} if percent else {}


def _plain(number: Decimal) -> int | Decimal:
    return int(number) if number == number.to_integral_value() else number.normalize()


# Columns and types ------------------------------------------------------------------------------


def _columns(kwargs: Mapping[str, Any]) -> list[str]:
    names: list[Any] = [kwargs.get(key) for key in ("column", "column_A", "column_B")]
    for key in ("column_list", "column_set"):
        if isinstance(kwargs.get(key), list):
            names += kwargs[key]
    return [name for name in names if isinstance(name, str) and name]


def _type_of(kind: str, kwargs: Mapping[str, Any]) -> str | None:
    """Return the type of a column where an expectation says it."""
    if kind == "expect_column_values_to_be_of_type":
        return _written(kwargs.get("type_"))
    if kind == "expect_column_values_to_be_in_type_list":
        names = kwargs.get("type_list")
        data_types = {_written(name) for name in names} if isinstance(names, list) else set()
        return data_types.pop() if len(data_types) == 1 else None
    if kind == "expect_column_values_to_be_dateutil_parseable":
        return "timestamp"
    if kind == "expect_column_values_to_match_strftime_format":
        pattern = _pattern(kwargs.get("strftime_format"))
        return (
            None if pattern is None else ("timestamp" if re.search("[HhmSs]", pattern) else "date")
        )
    if kind == "expect_column_value_lengths_to_be_between":
        return types.text(kwargs.get("max_value"))
    if kind == "expect_column_value_lengths_to_equal":
        return types.text(kwargs.get("value"))
    return None


def _written(name: Any) -> str | None:
    data_type = types.written(name)
    return data_type or (_PYTHON_TYPES.get(name.lower()) if isinstance(name, str) else None)


def _guess(kind: str, kwargs: Mapping[str, Any]) -> str | None:
    """Return the type of the values that a column is compared with."""
    values: Any = None
    if kind == "expect_column_values_to_be_between":
        values = [kwargs.get("min_value"), kwargs.get("max_value")]
    elif kind in ("expect_column_values_to_be_in_set", "expect_column_values_to_not_be_in_set"):
        values = kwargs.get("value_set")
    if not isinstance(values, list):
        return None
    given = [value for value in values if value is not None]
    if not given:
        return None
    if all(isinstance(value, bool) for value in given):
        return "boolean"
    if all(checks.number(value) is not None for value in given):
        is_between = kind.endswith("between")
        return (
            "double precision" if is_between or any(type(v) is not int for v in given) else "bigint"
        )
    if all(isinstance(value, str) and _DATES.fullmatch(value) for value in given):
        return "date"
    return None


def _pattern(strftime: Any) -> str | None:
    """Return a format of strftime as Spark has it; None: there is none."""
    if not isinstance(strftime, str) or not strftime or len(strftime) > 100 or "'" in strftime:
        return None
    pattern = ""
    for part in re.findall(r"%.|[A-Za-z]+|.", strftime, re.DOTALL):
        if part.startswith("%"):
            if part[1:] not in _STRFTIME:
                return None
            pattern += _STRFTIME[part[1:]]
        else:
            pattern += f"'{part}'" if part.isalpha() else part
    return pattern


# Expectations -----------------------------------------------------------------------------------


def _columns_only(_suite: _Suite, _rule: _Rule) -> str | None:
    return None  # the columns are there already


def _of_type(suite: _Suite, rule: _Rule) -> str | None:
    wanted = rule.kwargs.get("type_", rule.kwargs.get("type_list"))
    column = rule.named(suite)
    names = wanted if isinstance(wanted, list) else [wanted]
    known = {_written(name) for name in names}
    if column is None or column[1] not in known:
        return "a model has no such type, or another expectation says another one"
    return _set_datatype(suite, rule)


def _set_datatype(suite: _Suite, rule: _Rule) -> str | None:
    attribute = suite.entity.find(rule.kwargs.get("column"))
    if attribute is not None:
        suite.entity.set(f"{attribute['name']}.datatype", rule.setting)
    return None


def _strftime(suite: _Suite, rule: _Rule) -> str | None:
    pattern = _pattern(rule.kwargs.get("strftime_format"))
    attribute = suite.entity.find(rule.kwargs.get("column"))
    if pattern is None or attribute is None or attribute["type"] not in ("date", "timestamp"):
        return "a model has no such format"
    if pattern not in ("yyyy-MM-dd", "yyyy-MM-dd HH:mm:ss"):
        attribute["format"] = pattern
    return _set_datatype(suite, rule)


def _not_null(suite: _Suite, rule: _Rule) -> str | None:
    attribute = suite.entity.find(rule.kwargs.get("column"))
    if attribute is None:
        return "it names no column"
    if rule.condition is not None:
        return suite.add_check(rule, "given", f"{checks.name(attribute['name'])} IS NOT NULL")
    attribute["mandatory"] = True
    suite.entity.set(f"{attribute['name']}.mandatory", rule.setting)
    return None


def _in_set(suite: _Suite, rule: _Rule) -> str | None:
    attribute = suite.entity.find(rule.kwargs.get("column"))
    values = rule.kwargs.get("value_set")
    if attribute is None or not isinstance(values, list):
        return "it names no column and values"
    given = [value for value in values if value is not None]
    if rule.condition is not None or "values" in attribute:
        check = checks.listed(attribute["name"], given, attribute["type"], is_in=True)
        return suite.add_check(rule, "known", check)
    if take_values(attribute, given, f"{rule.path}.kwargs.value_set", suite.notes):
        suite.entity.set(f"{attribute['name']}.enumeration", rule.setting)
    return None


def _not_in_set(suite: _Suite, rule: _Rule) -> str | None:
    attribute = suite.entity.find(rule.kwargs.get("column"))
    values = rule.kwargs.get("value_set")
    if attribute is None or not isinstance(values, list):
        return "it names no column and values"
    given = [value for value in values if value is not None]
    return suite.add_check(
        rule, "allowed", checks.listed(attribute["name"], given, attribute["type"])
    )


def _between(suite: _Suite, rule: _Rule) -> str | None:
    column, kwargs = rule.named(suite), rule.kwargs
    if column is None or types.kind(column[1]) in ("text", "boolean"):
        return "the type of the column has no such order"
    name, data_type = column
    parts = []
    low, high = kwargs.get("min_value"), kwargs.get("max_value")
    for value, sign, is_strict in ((low, ">", "strict_min"), (high, "<", "strict_max")):
        if value is None:
            continue
        literal = checks.literal(value, data_type)
        if literal is None:
            return f"a bound is no {data_type}"
        parts.append(f"{name} {sign}{'' if kwargs.get(is_strict) is True else '='} {literal}")
    if not parts:
        return "it has no bounds"
    if len(parts) == 2 and all("= " in part for part in parts):
        ends = [checks.literal(value, data_type) for value in (low, high)]
        parts = [f"{name} BETWEEN {ends[0]} AND {ends[1]}"]
    check = " AND ".join(parts)
    return suite.add_check(rule, "between", f"({check})" if rule.condition else check)


def _length_between(suite: _Suite, rule: _Rule) -> str | None:
    column, kwargs = rule.named(suite), rule.kwargs
    if column is None or types.kind(column[1]) != "text":
        return "only a text has a length"
    name, data_type = column
    low, high = kwargs.get("min_value"), kwargs.get("max_value")
    if "value" in kwargs:
        low = high = kwargs["value"]
    low_strict, high_strict = kwargs.get("strict_min") is True, kwargs.get("strict_max") is True
    parts = []
    for value, sign, is_strict in ((low, ">", low_strict), (high, "<", high_strict)):
        if value is None:
            continue
        if type(value) is not int or not 0 <= value <= types.LONGEST_TEXT:
            return "a length is a number"
        # The type says it, where nothing else is set for it.
        if (
            sign == "<"
            and data_type == f"text({value})"
            and not (is_strict or rule.setting or rule.condition)
        ):
            continue
        parts.append(f"length({name}) {sign}{'' if is_strict else '='} {value}")
    if not parts:
        return None
    check = " AND ".join(parts)
    return suite.add_check(rule, "length", f"({check})" if rule.condition else check)


def _regex(suite: _Suite, rule: _Rule) -> str | None:
    return _matches(suite, rule, [rule.kwargs.get("regex")], " AND ", is_not=False)


def _not_regex(suite: _Suite, rule: _Rule) -> str | None:
    return _matches(suite, rule, [rule.kwargs.get("regex")], " AND ", is_not=True)


def _regex_list(suite: _Suite, rule: _Rule) -> str | None:
    joint = " AND " if rule.kwargs.get("match_on") == "all" else " OR "
    return _matches(suite, rule, rule.kwargs.get("regex_list"), joint, is_not=False)


def _not_regex_list(suite: _Suite, rule: _Rule) -> str | None:
    return _matches(suite, rule, rule.kwargs.get("regex_list"), " AND ", is_not=True)


def _matches(suite: _Suite, rule: _Rule, patterns: Any, joint: str, *, is_not: bool) -> str | None:
    attribute = suite.entity.find(rule.kwargs.get("column"))
    if attribute is None or types.kind(attribute["type"]) != "text":
        return "only a text matches a pattern"
    if not isinstance(patterns, list) or not 1 <= len(patterns) <= 100:
        return "it has no patterns"
    matching = [checks.matching(attribute["name"], pattern) for pattern in patterns]
    if None in matching:
        return "the pattern has what a check can't say"
    parts = [f"NOT {part}" if is_not else str(part) for part in matching]
    check = joint.join(parts)
    return suite.add_check(rule, "form", f"({check})" if len(parts) > 1 else check)


def _like(suite: _Suite, rule: _Rule) -> str | None:
    return _likes(suite, rule, [rule.kwargs.get("like_pattern")], " AND ", "LIKE")


def _not_like(suite: _Suite, rule: _Rule) -> str | None:
    return _likes(suite, rule, [rule.kwargs.get("like_pattern")], " AND ", "NOT LIKE")


def _like_list(suite: _Suite, rule: _Rule) -> str | None:
    joint = " AND " if rule.kwargs.get("match_on") == "all" else " OR "
    return _likes(suite, rule, rule.kwargs.get("like_pattern_list"), joint, "LIKE")


def _not_like_list(suite: _Suite, rule: _Rule) -> str | None:
    return _likes(suite, rule, rule.kwargs.get("like_pattern_list"), " AND ", "NOT LIKE")


def _likes(suite: _Suite, rule: _Rule, patterns: Any, joint: str, word: str) -> str | None:
    column = rule.named(suite)
    if column is None or types.kind(column[1]) != "text":
        return "only a text is like a pattern"
    if not isinstance(patterns, list) or not 1 <= len(patterns) <= 100:
        return "it has no patterns"
    if not all(isinstance(pattern, str) for pattern in patterns):
        return "a pattern is a text"
    check = joint.join(f"{column[0]} {word} {checks.quoted(pattern)}" for pattern in patterns)
    return suite.add_check(rule, "like", f"({check})" if len(patterns) > 1 else check)


def _unique(suite: _Suite, rule: _Rule) -> str | None:
    return suite.add_unique(rule, [rule.kwargs.get("column")])


def _compound(suite: _Suite, rule: _Rule) -> str | None:
    return suite.add_unique(rule, rule.kwargs.get("column_list"))


def _pair(suite: _Suite, rule: _Rule) -> str | None:
    return _compare(suite, rule, ">=" if rule.kwargs.get("or_equal") is True else ">")


def _equal_pair(suite: _Suite, rule: _Rule) -> str | None:
    return _compare(suite, rule, "=")


def _compare(suite: _Suite, rule: _Rule, sign: str) -> str | None:
    pair = [suite.entity.find(rule.kwargs.get(key)) for key in ("column_A", "column_B")]
    if pair[0] is None or pair[1] is None:
        return "it names no two columns"
    a, b = pair[0]["name"], pair[1]["name"]
    word = f"{a}_{'equals' if sign == '=' else 'above'}_{b}"
    suite.add_record(rule, word, f"{checks.name(a)} {sign} {checks.name(b)}")
    return None


def _within_record(suite: _Suite, rule: _Rule) -> str | None:
    names = suite.entity.names(rule.kwargs.get("column_list"))
    if names is None or not 2 <= len(names) <= 10:
        return "it names no columns, or more than 10"
    pairs = [(a, b) for n, a in enumerate(names) for b in names[n + 1 :]]
    check = " AND ".join(f"{checks.name(a)} <> {checks.name(b)}" for a, b in pairs)
    suite.add_record(rule, f"{names[0]}_unique_in_record", check)
    return None


def _query(suite: _Suite, rule: _Rule) -> str | None:
    query = rule.kwargs.get("unexpected_rows_query")
    violating = (
        re.fullmatch(
            r"\s*SELECT\s+\*\s+FROM\s+\{batch\}\s+WHERE\s+(.+?)\s*;?\s*",
            query,
            re.IGNORECASE | re.DOTALL,
        )
        if isinstance(query, str) and len(query) < 10_000
        else None
    )
    if violating is None or "{" in violating[1] or rule.condition is not None:
        return "write it as a set constraint: its query answers the keys of violating rows"
    name = suite.entity.rule_name("unexpected_rows")
    suite.entity.constraints.append({"name": name, "type": "set", "where": violating[1]})
    suite.entity.set(name, rule.setting)
    return None


def _why_not(kind: str) -> str:
    if kind in _NO_PLACE:
        return _NO_PLACE[kind]
    if _AGGREGATE.match(kind) and not kind.endswith("divergence_to_be_less_than"):
        return (
            "write it as a set constraint: let its query answer all keys of a group that is wrong"
        )
    return "nothing in a model is like it"


_HANDLERS: dict[str, Callable[[_Suite, _Rule], str | None]] = {
    "expect_column_to_exist": _columns_only,
    "expect_table_columns_to_match_set": _columns_only,
    "expect_table_columns_to_match_ordered_list": _columns_only,
    "expect_column_values_to_be_of_type": _of_type,
    "expect_column_values_to_be_in_type_list": _of_type,
    "expect_column_values_to_be_dateutil_parseable": _set_datatype,
    "expect_column_values_to_match_strftime_format": _strftime,
    "expect_column_values_to_not_be_null": _not_null,
    "expect_column_values_to_be_in_set": _in_set,
    "expect_column_values_to_not_be_in_set": _not_in_set,
    "expect_column_values_to_be_between": _between,
    "expect_column_value_lengths_to_be_between": _length_between,
    "expect_column_value_lengths_to_equal": _length_between,
    "expect_column_values_to_match_regex": _regex,
    "expect_column_values_to_not_match_regex": _not_regex,
    "expect_column_values_to_match_regex_list": _regex_list,
    "expect_column_values_to_not_match_regex_list": _not_regex_list,
    "expect_column_values_to_match_like_pattern": _like,
    "expect_column_values_to_not_match_like_pattern": _not_like,
    "expect_column_values_to_match_like_pattern_list": _like_list,
    "expect_column_values_to_not_match_like_pattern_list": _not_like_list,
    "expect_column_values_to_be_unique": _unique,
    "expect_compound_columns_to_be_unique": _compound,
    "expect_column_pair_values_a_to_be_greater_than_b": _pair,
    "expect_column_pair_values_to_be_equal": _equal_pair,
    "expect_select_column_values_to_be_unique_within_record": _within_record,
    "unexpected_rows_expectation": _query,
}
_COLUMN = ("column",)
_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "expect_column_to_exist": ("column", "column_index"),
    "expect_table_columns_to_match_set": ("column_set", "exact_match"),
    "expect_table_columns_to_match_ordered_list": ("column_list",),
    "expect_column_values_to_be_of_type": ("column", "type_"),
    "expect_column_values_to_be_in_type_list": ("column", "type_list"),
    "expect_column_values_to_match_strftime_format": ("column", "strftime_format"),
    "expect_column_values_to_be_in_set": ("column", "value_set"),
    "expect_column_values_to_not_be_in_set": ("column", "value_set"),
    "expect_column_values_to_be_between": ("column", "min_value", "max_value"),
    "expect_column_value_lengths_to_be_between": ("column", "min_value", "max_value"),
    "expect_column_value_lengths_to_equal": ("column", "value"),
    "expect_column_values_to_match_regex": ("column", "regex"),
    "expect_column_values_to_not_match_regex": ("column", "regex"),
    "expect_column_values_to_match_regex_list": ("column", "regex_list", "match_on"),
    "expect_column_values_to_not_match_regex_list": ("column", "regex_list"),
    "expect_column_values_to_match_like_pattern": ("column", "like_pattern"),
    "expect_column_values_to_not_match_like_pattern": ("column", "like_pattern"),
    "expect_column_values_to_match_like_pattern_list": ("column", "like_pattern_list", "match_on"),
    "expect_column_values_to_not_match_like_pattern_list": ("column", "like_pattern_list"),
    "expect_column_values_to_be_dateutil_parseable": _COLUMN,
    "expect_column_values_to_not_be_null": _COLUMN,
    "expect_column_values_to_be_unique": _COLUMN,
    "expect_compound_columns_to_be_unique": ("column_list",),
    "expect_column_pair_values_a_to_be_greater_than_b": ("column_A", "column_B"),
    "expect_column_pair_values_to_be_equal": ("column_A", "column_B"),
    "expect_select_column_values_to_be_unique_within_record": ("column_list",),
    "unexpected_rows_expectation": ("unexpected_rows_query", "description"),
}

"""A contract of the Open Data Contract Standard, 3.0 to 3.2, as a model."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import click

from omd.integrations.contracts import checks, codes, types
from omd.integrations.contracts.draft import Draft, Entity, in_given_order, leave_unknown
from omd.integrations.contracts.notes import Notes
from omd.integrations.contracts.odcs import ENGINE, INTEGERS, SETTINGS, VENDOR
from omd.integrations.contracts.values import take_values

_VERSION = re.compile(r"v?3\.[0-2](\.\d+)?")
_Index = dict[tuple[str, str], tuple[str, str]]

_FIXED = ("row_count", "row_format", "primary_key", "context", "deletes")
_SET = frozenset(SETTINGS.values())

# What a contract may say by default, which is nothing.
_NOTHING: dict[str, Any] = {
    "deprecated": False,
    "partitioned": False,
    "partitionKeyPosition": -1,
    "criticalDataElement": False,
    "primaryKey": False,
    "primaryKeyPosition": -1,
    "required": False,
    "unique": False,
    "semanticType": "column",
}
_REASONS = {
    "description": "a model has no descriptions",
    "businessName": "a model has no descriptions",
    "tags": "a model has no tags",
    "servers": "a model does not say where data are; an agreement says who delivers them",
    "team": "register_tenant and register_agreement say who delivers",
    "roles": "rights are those of the database",
    "slaProperties": "omd_report.delivery_marks shows how new each entity is",
    "deprecated": "retired: true would end its delivery",
    "transformLogic": "it may be in any language; computed is Spark SQL over the staged columns",
    "classification": "a model has no classes; facts may hold them",
    "examples": "a model has no examples",
}
_RULES = {  # names of metrics in 3.0
    "duplicateCount": "duplicateValues",
    "validValues": "invalidValues",
    "nullCheck": "nullValues",
    "nullCount": "nullValues",
}
_OTHER_INTEGERS = {
    "i8": "smallint",
    "u8": "smallint",
    "u16": "integer",
    "u32": "bigint",
    "u64": "numeric(20,0)",
    "i128": "numeric(38,0)",
    "u128": "numeric(38,0)",
}
_KINDS = {  # what a physical type may be for a logical one
    "string": ("text",),
    "integer": ("integer", "numeric"),
    "number": ("numeric", "double", "integer"),
    "boolean": ("boolean",),
    "date": ("date", "timestamp", "timestamptz"),
    "timestamp": ("timestamp", "timestamptz"),
}


def read_odcs(contract: Mapping[str, Any], notes: Notes) -> Draft:
    """Return what a contract says as the draft of a model.

    Raises:
        click.UsageError: it is no contract of a version from 3.0 to 3.2.
    """
    if contract.get("kind") != "DataContract" or not isinstance(contract.get("schema"), list):
        raise click.UsageError(
            "it is no contract of the Open Data Contract Standard with a schema: kind is "
            "DataContract, and schema is a list"
        )
    if not _VERSION.fullmatch(str(contract.get("apiVersion", "v3"))):
        raise click.UsageError("apiVersion must be one from v3.0.0 to v3.2.0")
    known = ("apiVersion", "kind", "id", "name", "version", "status", "schema", "customProperties")
    leave_unknown(notes, "", contract, known, _REASONS)
    draft = Draft(notes)
    own = _own(contract, "", ("facts",), notes)
    draft.facts = own.get("facts")
    index = _index(contract["schema"])
    for number, schema in enumerate(contract["schema"]):
        path = f"schema[{number}]"
        if not isinstance(schema, dict) or not isinstance(schema.get("name"), str):
            notes.leave(path, "it has no name")
        elif schema.get("logicalType", "object") != "object":
            notes.leave(path, "it is no table")
        else:
            _Schema(draft, schema, path, index).read()
    return draft


class _Schema:
    """One table of a contract."""

    def __init__(self, draft: Draft, schema: Mapping[str, Any], path: str, index: _Index) -> None:
        self.index = index
        self.notes = draft.notes
        self.schema = schema
        self.path = path
        self.entity: Entity = draft.entity(schema["name"], path)

    def read(self) -> None:
        known = (
            *("id", "name", "logicalType", "physicalType", "properties", "relationships"),
            *("quality", "customProperties"),
        )
        schema = {
            key: value
            for key, value in self.schema.items()
            if (key, value) not in _NOTHING.items()
            and (key, value) != ("physicalName", self.entity.name)
        }
        leave_unknown(self.notes, self.path, schema, known, _REASONS)
        own = _own(
            schema, self.path, ("indicator", "derived", "retired", "facts", "order"), self.notes
        )
        order = own.pop("order", None)
        self.entity.more = own
        key: list[tuple[float, int, str]] = []
        later = []
        for number, given in enumerate(_list(schema, "properties")):
            path = f"{self.path}.properties[{number}]"
            if not isinstance(given, dict) or not isinstance(given.get("name"), str):
                self.notes.leave(path, "it has no name")
                continue
            if given["name"] in self.entity.attributes:
                self.notes.leave(path, "there is another one of this name")
                continue
            if (attribute := self._attribute(given, path)) is None:
                continue
            later.append((given, path, attribute))
            if given.get("primaryKey") is True:
                position = given.get("primaryKeyPosition")
                place = position if isinstance(position, int) and position > 0 else math.inf
                key.append((place, number, attribute["name"]))
        self.entity.key = [name for _, _, name in sorted(key)]
        # The rules of attributes may name any of them.
        for given, path, attribute in later:
            _Property(self, given, path, attribute).read()
        for number, rule in enumerate(_list(schema, "quality")):
            self._rule(rule, f"{self.path}.quality[{number}]")
        for number, given in enumerate(_list(schema, "relationships")):
            path = f"{self.path}.relationships[{number}]"
            if isinstance(given, dict):
                self.relationship(given, given.get("from"), path)
            else:
                self.notes.leave(path, "it is no object")
        if isinstance(order, dict):
            self.entity.alternate_keys = in_given_order(
                self.entity.alternate_keys, order.get("alternate_keys")
            )
            self.entity.constraints = in_given_order(
                self.entity.constraints, order.get("constraints")
            )

    def _attribute(self, given: Mapping[str, Any], path: str) -> dict[str, Any] | None:
        """Add the attribute of a property; None: a model can't hold it."""
        data_type = _data_type(given, path, self.notes)
        if data_type is None:
            return None
        physical = given.get("physicalName")
        source = physical if isinstance(physical, str) and physical else given["name"]
        attribute = self.entity.add(given["name"], data_type, source=source, path=path)
        if given.get("required") is True:
            attribute["mandatory"] = True
        return attribute

    def _rule(self, rule: Any, path: str) -> None:
        """Take a rule of the whole table."""
        if not isinstance(rule, dict):
            self.notes.leave(path, "it is no object")
        elif rule.get("type") == "custom" and rule.get("engine") == ENGINE:
            self.own_rule(rule, path, None)
        elif _metric(rule) == "duplicateValues":
            names = self.entity.names(_arguments(rule).get("properties"))
            setting = _setting(rule, path, self.notes)
            if names is None:
                self.notes.leave(path, "its arguments name no properties of the table")
            elif setting is not None:
                _leave_words(rule, path, self.notes)
                name = rule.get("name")
                if isinstance(name, str) and codes.is_code(name):
                    self.entity.set(self.entity.alternate_key(name, names), setting)
                else:
                    self.entity.unique(f"unique_{'_'.join(names)}", names, setting)
        elif _metric(rule) == "rowCount":
            self.notes.leave(path, "the number of rows is announced with each delivery")
        else:
            self.notes.leave(path, _why_not(rule))

    def own_rule(self, rule: Mapping[str, Any], path: str, attribute: str | None) -> None:
        """Take a rule of the engine omd."""
        name, implementation = rule.get("name"), rule.get("implementation")
        if isinstance(implementation, str):
            implementation = {"check": implementation}
        if not isinstance(name, str) or not isinstance(implementation, dict):
            self.notes.leave(path, "a rule of the engine omd has a name and an implementation")
            return
        _leave_words(rule, path, self.notes)
        setting = {key: value for key, value in implementation.items() if key in _SET}
        leave_unknown(
            self.notes, f"{path}.implementation", implementation, (*_SET, "check", "query")
        )
        fixed = ("datatype",) if attribute else _FIXED
        if "check" in implementation:
            self.entity.check(name, implementation["check"], attribute, setting)
        elif "query" in implementation and attribute is None:
            named = self.entity.rule_name(name)
            self.entity.constraints.append(
                {"name": named, "type": "set", "query": implementation["query"]}
            )
            self.entity.set(named, setting)
        elif name in fixed:
            self.entity.set(f"{attribute}.{name}" if attribute else name, setting)
        else:
            self.notes.leave(path, "its implementation has no check and no query")

    def relationship(self, given: Mapping[str, Any], ours: Any, path: str) -> None:
        """Take a foreign key; whether its parent has such a key is known at the end."""
        ours = [
            self._reference(part, path) for part in (ours if isinstance(ours, list) else [ours])
        ]
        to = given.get("to")
        theirs = [self._reference(part, path) for part in (to if isinstance(to, list) else [to])]
        own = _own(
            given, path, ("contextFilter", "childRequired", "setting", "childSetting"), self.notes
        )
        leave_unknown(self.notes, path, given, ("id", "type", "from", "to", "customProperties"))
        pairs = [
            (our[1], their[1]) for our, their in zip(ours, theirs, strict=False) if our and their
        ]
        parents = {part[0] for part in theirs if part}
        children = {part[0] for part in ours if part}
        if given.get("type", "foreignKey") != "foreignKey":
            self.notes.leave(path, "it is no foreign key")
        elif len(ours) != len(theirs) or len(pairs) != len(ours) or len(parents) != 1:
            self.notes.leave(path, "from and to must name as many properties of two tables")
        elif children != {self.schema["name"]}:
            self.notes.leave(path, "from must name properties of the table")
        else:
            [parent] = parents
            wanted = str(given.get("id"))
            name = self.entity.rule_name(
                wanted if "id" in given and codes.is_code(wanted) else f"of_{parent}"
            )
            relationship: dict[str, Any] = {"name": name}
            for key, word in (
                ("context_filter", "contextFilter"),
                ("child_required", "childRequired"),
            ):
                if word in own:
                    relationship[key] = own[word]
            if isinstance(own.get("setting"), dict):
                self.entity.set(name, own["setting"])
            child_setting = own.get("childSetting")
            self.entity.relationships.append(
                {
                    **relationship,
                    "path": path,
                    "to_entity": parent,
                    "pairs": pairs,
                    "child_setting": child_setting if isinstance(child_setting, dict) else None,
                }
            )

    def _reference(self, text: Any, path: str) -> tuple[str, str] | None:
        """Return the table and the property that a reference names, by their names."""
        if not isinstance(text, str) or len(text) > 1000:
            return None
        if "/" not in text:
            table, dot, column = text.partition(".")
            return (table, column) if dot and "." not in column else None
        if "#" in text:
            self.notes.leave(path, "nothing is fetched, and it refers to another file")
            return None
        parts = text.strip("/").split("/")
        if len(parts) != 4 or parts[0] != "schema" or parts[2] != "properties":
            return None
        return self.index.get((parts[1], parts[3]))


class _Property:
    """What one property says besides its name and its type."""

    def __init__(
        self, schema: _Schema, given: Mapping[str, Any], path: str, attribute: dict[str, Any]
    ) -> None:
        self.schema = schema
        self.entity = schema.entity
        self.notes = schema.notes
        self.given = given
        self.path = path
        self.attribute = attribute
        self.name: str = attribute["name"]

    def read(self) -> None:
        given = {
            key: value
            for key, value in self.given.items()
            if (key, value) not in _NOTHING.items() or isinstance(value, (list, dict))
        }
        known = (
            *("id", "name", "logicalType", "logicalTypeOptions", "physicalType", "physicalName"),
            *("required", "unique", "primaryKey", "primaryKeyPosition", "enum", "quality"),
            *("relationships", "customProperties", "properties", "items", "map"),
        )
        leave_unknown(self.notes, self.path, given, known, _REASONS)
        names = ("computed", "retired", "facts", "alternateKey")
        own = _own(given, self.path, names, self.notes)
        named = own.pop("alternateKey", None)
        if "computed" in own:
            self.attribute.pop("source", None)
        self.attribute |= own
        if given.get("unique") is True:
            if isinstance(named, str) and named:
                self.entity.alternate_key(named, [self.name])
            elif self.entity.key != [self.name]:
                self.entity.unique(f"unique_{self.name}", [self.name])
        self._options()
        if "enum" in given:
            values = [e.get("value") for e in _list(given, "enum") if isinstance(e, dict)]
            take_values(self.attribute, values, f"{self.path}.enum", self.notes)
        for number, rule in enumerate(_list(given, "quality")):
            self._rule(rule, f"{self.path}.quality[{number}]")
        for number, relationship in enumerate(_list(given, "relationships")):
            path = f"{self.path}.relationships[{number}]"
            if isinstance(relationship, dict) and "from" not in relationship:
                ours = f"{self.schema.schema['name']}.{self.given['name']}"
                self.schema.relationship(relationship, ours, path)
            else:
                self.notes.leave(path, "it has no from: that is the property")

    def _options(self) -> None:
        options = self.given.get("logicalTypeOptions")
        if not isinstance(options, dict):
            return
        path, data_type = f"{self.path}.logicalTypeOptions", self.attribute["type"]
        what = types.kind(data_type)
        for key, value in options.items():
            at = f"{path}.{key}"
            if key == "format" and what in ("date", "timestamp", "timestamptz"):
                self.attribute["format"] = value
            elif key == "format" and types.is_number(data_type):
                pass
            elif key == "maxLength" and what == "text":
                if types.text(value) == "text":
                    self.notes.leave(at, "a text has 1 to 10485760 characters")
            elif key in ("timezone", "defaultTimezone") and what in ("timestamp", "timestamptz"):
                if key == "defaultTimezone" and value not in ("UTC", "Etc/UTC"):
                    self.notes.leave(at, "a timestamptz without a zone is UTC")
            elif (check := option_check(self.name, data_type, key, value)) is None:
                self.notes.leave(at, "a check can't say it")
            else:
                self.entity.check(f"{self.name}_{key}", check, self.name)

    def _rule(self, rule: Any, path: str) -> None:
        if not isinstance(rule, dict):
            self.notes.leave(path, "it is no object")
            return
        if rule.get("type") == "custom" and rule.get("engine") == ENGINE:
            self.schema.own_rule(rule, path, self.name)
            return
        metric, arguments = _metric(rule), _arguments(rule)
        if metric not in ("nullValues", "missingValues", "invalidValues", "duplicateValues"):
            self.notes.leave(path, _why_not(rule))
            return
        setting = _setting(rule, path, self.notes)
        if setting is None:
            return
        _leave_words(rule, path, self.notes)
        if metric in ("nullValues", "missingValues"):
            self._missing(metric, arguments, setting, path)
        elif metric == "duplicateValues":
            self.entity.unique(f"unique_{self.name}", [self.name], setting)
        elif "validValues" in arguments:
            if "values" in self.attribute:
                self.notes.leave(path, "there are valid values already")
            elif take_values(self.attribute, arguments["validValues"], path, self.notes):
                self.entity.set(f"{self.name}.enumeration", setting)
        elif "pattern" in arguments:
            check = None
            if types.kind(self.attribute["type"]) == "text":
                check = checks.matching(self.name, arguments["pattern"])
            self._check("form", check, setting, path)
        else:
            self.notes.leave(path, "its arguments are neither validValues nor a pattern")

    def _missing(
        self, metric: str, arguments: Mapping[str, Any], setting: dict[str, Any], path: str
    ) -> None:
        """Take what counts as missing: an empty field, and maybe values that stand for one."""
        if setting and self.given.get("required") is True:
            self.notes.assume(path, "required is the same rule without a limit; this limit holds")
        values = arguments.get("missingValues") if metric == "missingValues" else None
        values = values if isinstance(values, list) and values else [None]
        others = [value for value in values if value not in (None, "")]
        if len(others) < len(values):
            self.attribute["mandatory"] = True
            self.entity.set(f"{self.name}.mandatory", setting)
        if others:
            check = checks.listed(self.name, others, self.attribute["type"])
            self._check("present", check, setting, path)

    def _check(self, word: str, check: str | None, setting: dict[str, Any], path: str) -> None:
        if check is None:
            self.notes.leave(path, "a check can't say it")
        else:
            self.entity.check(f"{self.name}_{word}", check, self.name, setting)


def option_check(name: str, data_type: str, option: str, value: Any) -> str | None:
    """Return the check for an option of a type, which JSON Schema has too; None: there is none."""
    attribute, what = checks.name(name), types.kind(data_type)
    if option in ("minLength", "maxLength") and what == "text":
        sign = ">=" if option == "minLength" else "<="
        is_length = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        return f"length({attribute}) {sign} {value}" if is_length else None
    if option == "pattern" and what == "text":
        return checks.matching(name, value)
    signs = {"minimum": ">=", "maximum": "<=", "exclusiveMinimum": ">", "exclusiveMaximum": "<"}
    if option not in signs or what in ("text", "boolean"):
        return None
    literal = checks.literal(value, data_type)
    return None if literal is None else f"{attribute} {signs[option]} {literal}"


def _data_type(given: Mapping[str, Any], path: str, notes: Notes) -> str | None:
    """Return the type of a property: the logical type decides, the physical one makes it exact."""
    logical = given.get("logicalType")
    options = given.get("logicalTypeOptions")
    options = options if isinstance(options, dict) else {}
    physical = types.written(given.get("physicalType"))
    if logical == "time":
        notes.assume(path, "a model has no time of day; text is taken")
        return "text"
    if logical is None:
        if physical is None:
            notes.assume(path, "its type is not said, or not known; text is taken")
        return physical or "text"
    if not isinstance(logical, str) or logical not in _KINDS:
        notes.leave(path, "a model has no such type")
        return None
    if physical is not None and not _fits(physical, logical):
        notes.leave(f"{path}.physicalType", f"the logicalType is {logical}")
        physical = None
    if "physicalType" in given and not types.written(given["physicalType"]):
        notes.assume(f"{path}.physicalType", f"it is not known; the logicalType {logical} decides")
    written = options.get("format")
    match logical:
        case "boolean":
            return "boolean"
        case "string":
            length = types.text(options.get("maxLength"))
            return length if length != "text" else physical or "text"
        case "integer":
            return (
                INTEGERS.get(str(written))
                or _OTHER_INTEGERS.get(str(written))
                or physical
                or "integer"
            )
        case "number":
            if written not in ("f32", "f64") and physical is None:
                notes.assume(path, "how many digits it has is not said; double precision is taken")
            return (
                "double precision" if written in ("f32", "f64") else physical or "double precision"
            )
        case "date":
            return physical or "date"
    if "timezone" in options:
        return "timestamptz" if options["timezone"] is True else "timestamp"
    return physical or "timestamp"


def _fits(physical: str, logical: str) -> bool:
    what = types.kind(physical)
    return what in _KINDS[logical] and not (
        logical == "integer" and what == "numeric" and not physical.endswith(",0)")
    )


# Rules ------------------------------------------------------------------------------------------


def _metric(rule: Mapping[str, Any]) -> str | None:
    """Return the metric of a rule of the library; None: it is of another type."""
    if rule.get("type", "library") != "library":
        return None
    metric = rule.get("metric", rule.get("rule"))
    return _RULES.get(metric, metric) if isinstance(metric, str) else None


def _arguments(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a rule; before 3.1 they stood in the rule itself."""
    arguments = rule.get("arguments")
    if isinstance(arguments, dict):
        return arguments
    return {key: rule[key] for key in ("validValues", "pattern") if key in rule}


def _setting(rule: Mapping[str, Any], path: str, notes: Notes) -> dict[str, Any] | None:
    """Return what a rule sets; None: a model has no such limit."""
    own = _own(rule, path, tuple(SETTINGS), notes)
    setting = {SETTINGS[name]: value for name, value in own.items()}
    limit = _limit(rule)
    if limit is None:
        notes.leave(path, "its limit is not one of at most so many rows, or percent of them")
        return None
    return {**limit, **setting}


def _limit(rule: Mapping[str, Any]) -> dict[str, Any] | None:
    operators = [key for key in rule if key.startswith("must")]
    if len(operators) > 1:
        return None
    operator = operators[0] if operators else "mustBe"
    unit = rule.get("unit", "rows")
    value = rule.get(operator, 0)
    if operator == "mustBeBetween" and isinstance(value, list) and value[:1] == [0]:
        operator, value = "mustBeLessOrEqualTo", value[-1]
    number = checks.number(value)
    if number is None or unit not in ("rows", "percent"):
        return None
    if operator == "mustBeGreaterOrEqualTo" and number <= 0:
        return {"threshold": "none"}
    if operator == "mustBe" and number == 0:
        return {}
    if operator == "mustBeLessThan" and unit == "rows" and number > 0:
        number = number.to_integral_value("ROUND_CEILING") - 1
    elif operator != "mustBeLessOrEqualTo" or number < 0:
        return None
    if unit == "percent":
        return {"threshold_percent": value} if number <= 100 else None
    is_count = number.adjusted() < 19
    return {"threshold": int(number)} if is_count else None


def _why_not(rule: Mapping[str, Any]) -> str:
    match rule.get("type", "library"):
        case "sql":
            return "it answers a number; a set constraint answers the keys of violating rows"
        case "text":
            return "it is a text for people"
        case "custom":
            return "it is a rule of another engine"
    return "a model has no such metric"


def _leave_words(rule: Mapping[str, Any], path: str, notes: Notes) -> None:
    known = (
        *("id", "type", "name", "metric", "rule", "arguments", "unit", "engine", "implementation"),
        *("customProperties", "validValues", "pattern"),
        *(key for key in rule if key.startswith("must")),
    )
    leave_unknown(notes, path, rule, known, _REASONS)


# Parts ------------------------------------------------------------------------------------------


def _own(
    given: Mapping[str, Any], path: str, names: tuple[str, ...], notes: Notes
) -> dict[str, Any]:
    """Return our customProperties by their names, and note those of others."""
    own: dict[str, Any] = {}
    for number, part in enumerate(_list(given, "customProperties")):
        at = f"{path}.customProperties[{number}]".lstrip(".")
        if not isinstance(part, dict) or part.get("vendor") != VENDOR:
            notes.leave(at, "it is one of others")
        elif part.get("property") not in names or part["property"] in own:
            notes.leave(at, "it has no meaning here")
        else:
            own[part["property"]] = part.get("value")
    return own


def _list(given: Mapping[str, Any], key: str) -> list[Any]:
    value = given.get(key)
    return value if isinstance(value, list) else []


def _index(schemas: list[Any]) -> _Index:
    """Return the tables and properties of a contract by their ids, and else by their names."""
    index: _Index = {}
    named = [s for s in schemas if isinstance(s, dict) and isinstance(s.get("name"), str)]
    for by in ("id", "name"):
        for schema in named:
            for part in _list(schema, "properties"):
                if isinstance(part, dict) and isinstance(part.get("name"), str):
                    at = (str(schema.get(by, schema["name"])), str(part.get(by, part["name"])))
                    index.setdefault(at, (schema["name"], part["name"]))
    return index

"""A JSON Schema (draft 7 or 2020-12) as a model: an object is an entity."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

import click

from omd._core.documents import MAX_DEPTH, MAX_VALUES
from omd.integrations.contracts import checks, types
from omd.integrations.contracts.draft import Draft, Entity, leave_unknown
from omd.integrations.contracts.notes import Notes
from omd.integrations.contracts.odcs_import import option_check
from omd.integrations.contracts.values import take_values

_DRAFTS = re.compile(r"https?://json-schema\.org/(draft-07|draft/2020-12|draft/2019-09)/schema#?")
_DEFINED = ("$defs", "definitions")
_ABOUT = ("title", "description", "default", "examples", "$id", "$comment", "$schema", "$anchor")
_WORDS = ("$schema", "$id", "$anchor", "$comment", *_DEFINED)
_REASONS = {
    "title": "a model has no descriptions",
    "description": "a model has no descriptions",
    "default": "a model has no defaults",
    "examples": "a model has no examples",
    "format": "a check may say it with matches",
    "additionalProperties": "a column that the model does not know is a finding",
    "unevaluatedProperties": "a column that the model does not know is a finding",
    **dict.fromkeys(
        ("if", "then", "else", "not", "dependentRequired", "dependentSchemas", "dependencies"),
        "a record constraint may say it in a check",
    ),
}
_CHECKED = (
    *("minLength", "maxLength", "pattern", "minimum", "maximum"),
    *("exclusiveMinimum", "exclusiveMaximum"),
)


def read_json_schema(schema: Any, notes: Notes, file_name: str) -> Draft:
    """Return what a schema says as the draft of a model.

    Args:
        schema: the document.
        notes: what is not taken over.
        file_name: names the entity where the schema has no title.

    Raises:
        click.UsageError: it describes no object, or is of another draft.
    """
    if not isinstance(schema, dict):
        raise click.UsageError("it is no JSON Schema of an object")
    draft = schema.get("$schema")
    if draft is not None and not (isinstance(draft, str) and _DRAFTS.fullmatch(draft)):
        raise click.UsageError("$schema must be draft 7 or 2020-12")
    reader = _Reader(schema, notes)
    for origin, path, given in reader.tables(file_name):
        reader.read(origin, path, given)
    if not reader.draft.entities:
        raise click.UsageError("it describes no object with properties")
    return reader.draft


class _Reader:
    def __init__(self, root: Mapping[str, Any], notes: Notes) -> None:
        self.root = root
        self.notes = notes
        self.draft = Draft(notes)
        self.is_old = "draft-07" in str(root.get("$schema"))
        self.steps = 0
        self.anchors = {
            name: part
            for key in _DEFINED
            for part in _object(root, key).values()
            if isinstance(part, dict)
            for name in (part.get("$anchor"), str(part.get("$id", "")).removeprefix("#"))
            if name and isinstance(name, str)
        }

    # Which entities there are ---------------------------------------------------------------

    def tables(self, file_name: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Yield the objects that are entities: name, path and schema."""
        root, path = self._rows(self.root, "")
        title = root.get("title")
        name = title if isinstance(title, str) and re.search("[A-Za-z]", title) else file_name
        parts = _object(root, "properties")
        lists = {
            key: self._rows(part, f"properties.{key}")
            for key, part in parts.items()
            if isinstance(part, dict)
            and self.resolved(part, f"properties.{key}").get("type") == "array"
        }
        are_tables = bool(lists) and len(lists) == len(parts)
        if are_tables and all("properties" in rows for rows, _ in lists.values()):
            for key, (rows, at) in lists.items():
                yield key, at, rows
        elif parts:
            yield name, path, root
        else:
            for key in _DEFINED:
                for defined, part in _object(self.root, key).items():
                    whole = self.resolved(part, f"{key}.{defined}")
                    if "properties" in whole:
                        yield defined, f"{key}.{defined}", whole

    def _rows(self, schema: Mapping[str, Any], path: str) -> tuple[Mapping[str, Any], str]:
        """Return the schema of the rows of a list, or of an object itself, and its path."""
        whole = self.resolved(schema, path)
        items = whole.get("items")
        if whole.get("type") == "array" and isinstance(items, dict):
            at = f"{path}.items".lstrip(".")
            return self.resolved(items, at), at
        return whole, path

    # References -----------------------------------------------------------------------------

    def resolved(self, schema: Any, path: str, seen: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return a schema with what it refers to, and with all that allOf demands.

        Raises:
            click.UsageError: this takes too long.
        """
        self._count(1)
        if not isinstance(schema, dict):
            return {}
        reference, every = schema.get("$ref"), schema.get("allOf")
        if reference is None and not isinstance(every, list):
            return schema
        parts: list[Mapping[str, Any]] = []
        if reference is not None:
            target = self._target(reference)
            if target is None or reference in seen or len(seen) >= MAX_DEPTH:
                reason = (
                    "it refers to nothing in the file, and nothing is fetched"
                    if target is None
                    else "it refers to itself"
                )
                self.notes.leave(f"{path}.$ref".lstrip("."), reason)
                return {"$ref": reference}
            parts.append(self.resolved(target, path, (*seen, reference)))
            if self.is_old:  # draft 7 ignores what stands beside
                return dict(parts[0])
        for number, part in enumerate(every if isinstance(every, list) else ()):
            # Each step counts: a chain of parts is as long as one of references.
            parts.append(self.resolved(part, f"{path}.allOf[{number}]".lstrip("."), (*seen, "")))
        parts.append({k: v for k, v in schema.items() if k not in ("$ref", "allOf")})
        return self._together(parts, path)

    def _count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MAX_VALUES:
            raise click.UsageError(f"its references stand for more than {MAX_VALUES:,} values")

    def _together(self, parts: Sequence[Mapping[str, Any]], path: str) -> dict[str, Any]:
        """Return the schema of what fits all of these."""
        whole: dict[str, Any] = {}
        for part in parts:
            for key, value in part.items():
                self._count(1 + (len(value) if isinstance(value, (dict, list)) else 0))
                if key not in whole or whole[key] == value or key in _ABOUT:
                    whole[key] = value
                elif key in ("properties", *_DEFINED) and _are(dict, whole[key], value):
                    self._count(len(whole[key]))
                    whole[key] = _both(whole[key], value)
                elif key == "required" and _are(list, whole[key], value):
                    self._count(len(whole[key]))
                    whole[key] = [*whole[key], *value]
                else:
                    self.notes.leave(f"{path}.allOf".lstrip("."), f"{key} stands there twice")
        return whole

    def _target(self, reference: Any) -> Any:
        """Return what a reference in the file names; None: it is not there."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        pointer = unquote(reference[1:])
        if not pointer.startswith("/"):
            return self.anchors.get(pointer) if pointer else self.root
        target: Any = self.root
        for step in pointer[1:].split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            if (
                isinstance(target, list)
                and re.fullmatch(r"\d{1,6}", key)
                and int(key) < len(target)
            ):
                target = target[int(key)]
            elif isinstance(target, dict) and key in target:
                target = target[key]
            else:
                return None
        return target

    # Entities and attributes ----------------------------------------------------------------

    def read(self, origin: str, path: str, schema: Mapping[str, Any]) -> None:
        """Add the entity of an object."""
        entity = self.draft.entity(origin, path)
        known = {*_WORDS, "type", "properties", "required"}
        if origin == schema.get("title"):
            known.add("title")
        if schema.get("additionalProperties") in (True, False):
            known.add("additionalProperties")
        leave_unknown(self.notes, path, schema, known, _REASONS)
        properties = _object(schema, "properties")
        required = schema.get("required")
        needed = {
            name: None
            for name in (required if isinstance(required, list) else [])
            if isinstance(name, str)
        }
        for name, part in properties.items():
            at = f"{path}.properties.{name}".lstrip(".")
            self._attribute(entity, name, part, at, name in needed)
        for name in (name for name in needed if name not in properties):
            self.notes.leave(f"{path}.required".lstrip("."), f"there is no property {name}")

    def _attribute(
        self, entity: Entity, origin: str, part: Any, path: str, is_required: bool
    ) -> None:
        schema, is_nullable = self._without_null(
            self.resolved({} if part is True else part, path), path
        )
        if part is False or schema is None or "$ref" in schema:
            self.notes.leave(path, "an attribute has one type")
            return
        data_type, used = _data_type(schema)
        if data_type is None:
            self.notes.leave(path, "a model has no lists and objects in an entity")
            return
        if "type" not in schema and not {"enum", "const"} & {*schema}:
            self.notes.assume(path, "its type is not said; text is taken")
        attribute = entity.add(origin, data_type, path=path)
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        may_be_null = is_nullable or (isinstance(values, list) and None in values)
        if is_required and not may_be_null:
            attribute["mandatory"] = True
        if values is not None:
            take_values(attribute, values, f"{path}.enum", self.notes)
        name = attribute["name"]
        for key in _CHECKED:
            if key not in schema or key in used:
                continue
            check = option_check(name, data_type, key, schema[key])
            if check is None:
                self.notes.leave(f"{path}.{key}", "a check can't say it")
            else:
                entity.check(f"{name}_{key}", check, name)
        known = (*_WORDS, *_CHECKED, *used, "type", "nullable", "enum", "const")
        leave_unknown(self.notes, path, schema, known, _REASONS)

    def _without_null(
        self, schema: dict[str, Any], path: str, depth: int = 0
    ) -> tuple[dict[str, Any] | None, bool]:
        """Return a schema of one type, and whether the value may be null too; None: of several."""
        for key in ("anyOf", "oneOf"):
            ways = schema.get(key)
            if not isinstance(ways, list):
                continue
            each = [self.resolved(way, f"{path}.{key}[{n}]") for n, way in enumerate(ways)]
            others = [
                way for way in each if way.get("type") != "null" and way.get("const", 0) is not None
            ]
            if len(others) != 1 or depth >= MAX_DEPTH:
                return None, False
            rest = {k: v for k, v in schema.items() if k != key}
            inner, is_nullable = self._without_null(
                self._together([rest, others[0]], path), path, depth + 1
            )
            return inner, is_nullable or len(others) < len(each)
        of = schema.get("type")
        if not isinstance(of, list):
            return schema, of == "null" or schema.get("nullable") is True
        given = [name for name in of if name != "null"]
        if len(given) == 2 and {*map(str, given)} == {"integer", "number"}:
            given = ["number"]
        if len(given) != 1:
            return None, False
        return {**schema, "type": given[0]}, "null" in of


def _data_type(schema: Mapping[str, Any]) -> tuple[str | None, set[str]]:
    """Return the type of an attribute, and which words say it; None: there is none."""
    of, word = schema.get("type"), str(schema.get("format"))
    if of is None:
        of = _type_of_values(schema)
    match of:
        case "boolean":
            return "boolean", set()
        case "integer":
            sizes = {"int32": "integer", "int64": "bigint", "int16": "smallint"}
            return sizes.get(word, "bigint"), {"format"} if word in sizes else set()
        case "number":
            return _number(schema)
        case "string":
            if word in ("date", "date-time"):
                return ("date" if word == "date" else "timestamptz"), {"format"}
            if word == "uuid":
                return "text(36)", {"format"}
            length = types.text(schema.get("maxLength"))
            return length, {"maxLength"} if length != "text" else set()
    return None, set()


def _number(schema: Mapping[str, Any]) -> tuple[str, set[str]]:
    """Return numeric where multipleOf says how many digits are behind the point."""
    step = checks.number(schema.get("multipleOf"))
    if step is not None and step > 0:
        _, digits, exponent = step.normalize().as_tuple()
        if digits == (1,) and isinstance(exponent, int) and -20 <= exponent <= 0:
            return f"numeric({types.MOST_DIGITS},{-exponent})", {"multipleOf"}
    word = {"format"} if schema.get("format") in ("double", "float") else set()
    return "double precision", word


def _type_of_values(schema: Mapping[str, Any]) -> str:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    given = [v for v in values if v is not None] if isinstance(values, list) else []
    if given and all(isinstance(value, bool) for value in given):
        return "boolean"
    if given and all(type(value) is int for value in given):
        return "integer"
    if given and all(type(value) in (int, float, Decimal) for value in given):
        return "number"
    return "string"


def _both(former: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of two schemas; one that both have must fit both."""
    return {
        **former,
        **{
            name: {"allOf": [former[name], part]} if name in former else part
            for name, part in more.items()
        },
    }


def _is_index(text: str, of: Sequence[Any]) -> bool:
    return re.fullmatch(r"[0-9]{1,6}", text) is not None and int(text) < len(of)


def _are(of: type, *values: Any) -> bool:
    return all(isinstance(value, of) for value in values)


def _object(given: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = given.get(key)
    return value if isinstance(value, dict) else {}

"""A schema of Apache Avro as a model: each record is an entity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from omd.integrations.contracts import types
from omd.integrations.contracts.draft import Draft, Entity, leave_unknown
from omd.integrations.contracts.notes import Notes
from omd.integrations.contracts.values import take_values

_PRIMITIVE = {
    "boolean": "boolean",
    "int": "integer",
    "long": "bigint",
    "float": "double precision",
    "double": "double precision",
    "string": "text",
}
_NO_TYPE = "a model has no such type"
_LOGICAL = {
    ("int", "date"): "date",
    ("string", "uuid"): "text(36)",
    **{("long", f"timestamp-{part}"): "timestamptz" for part in ("millis", "micros", "nanos")},
    **{("long", f"local-timestamp-{part}"): "timestamp" for part in ("millis", "micros", "nanos")},
}
_OF_TYPE = (
    *("type", "logicalType", "precision", "scale", "name", "namespace", "symbols", "size"),
    *("fields", "items", "values"),
)
_REASONS = {
    "doc": "a model has no descriptions",
    "aliases": "a model has one name for each thing",
    "default": "a model has no defaults",
    "order": "a model does not sort",
}


def read_avro(schema: Any, notes: Notes) -> Draft:
    """Return what a schema says as the draft of a model.

    Raises:
        click.UsageError: it is no schema of a record, or of several.
    """
    reader = _Reader(notes)
    records = [*reader.records(schema)]
    if not records:
        raise click.UsageError("it is no Avro schema of a record, or of a union of records")
    for record, path in records:
        reader.read(record, path)
    return reader.draft


class _Reader:
    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.draft = Draft(notes)
        self.named: dict[str, Mapping[str, Any]] = {}  # the enumerations and so on, by their names

    def records(self, schema: Any) -> Iterator[tuple[Mapping[str, Any], str]]:
        """Yield the records at the top of a schema."""
        is_list = isinstance(schema, list)
        for number, part in enumerate(schema if is_list else [schema]):
            path = f"[{number}]" if is_list else ""
            of = part.get("type") if isinstance(part, dict) else None
            if of == "record" and _is_record(part):
                yield part, path
            elif of in ("enum", "fixed"):
                self.keep(part, str(part.get("namespace", "")))
            elif is_list:
                self.notes.leave(path, "it is no record")

    def keep(self, schema: Mapping[str, Any], namespace: str) -> None:
        """Keep a schema under its name."""
        if isinstance(schema.get("name"), str):
            self.named[_full(schema["name"], str(schema.get("namespace", namespace)))] = schema

    def read(self, record: Mapping[str, Any], path: str) -> None:
        """Add the entity of a record."""
        leave_unknown(self.notes, path, record, ("type", "name", "namespace", "fields"), _REASONS)
        origin = record["name"].rpartition(".")[2]
        namespace = record.get("namespace") or record["name"].rpartition(".")[0]
        entity = self.draft.entity(origin, path)
        for number, field in enumerate(record["fields"]):
            at = f"{path}.fields[{number}]".lstrip(".")
            if isinstance(field, dict) and isinstance(field.get("name"), str) and "type" in field:
                self._field(entity, field, at, str(namespace))
            else:
                self.notes.leave(at, "it has no name, or no type")

    def _field(self, entity: Entity, field: Mapping[str, Any], path: str, namespace: str) -> None:
        schema, is_nullable = _without_null(field["type"])
        if isinstance(schema, list):
            self.notes.leave(path, "an attribute has one type; a union of several is none")
            return
        if field["name"] in entity.attributes:
            self.notes.leave(path, "there is another one of this name")
            return
        if isinstance(schema, str) and schema not in _PRIMITIVE:
            schema = self.named.get(_full(schema, namespace), self.named.get(schema, schema))
        if isinstance(schema, dict):
            self.keep(schema, namespace)
            leave_unknown(self.notes, f"{path}.type", schema, _OF_TYPE, _REASONS)
        data_type, reason = _data_type(schema)
        if data_type is None:
            self.notes.leave(path, reason)
            return
        known = (
            ("name", "type") if field.get("default", 0) is not None else ("name", "type", "default")
        )
        leave_unknown(self.notes, path, field, known, _REASONS)
        attribute = entity.add(field["name"], data_type, path=path)
        if not is_nullable:
            attribute["mandatory"] = True
        if isinstance(schema, dict) and schema.get("type") == "enum":
            take_values(attribute, schema.get("symbols"), f"{path}.type.symbols", self.notes)


def _is_record(schema: Mapping[str, Any]) -> bool:
    return isinstance(schema.get("name"), str) and isinstance(schema.get("fields"), list)


def _without_null(schema: Any) -> tuple[Any, bool]:
    """Return a type without null, and whether it may be null."""
    if not isinstance(schema, list):
        return schema, False
    others = [part for part in schema if part not in ("null", {"type": "null"})]
    return (others[0] if len(others) == 1 else others), len(others) < len(schema)


def _data_type(schema: Any) -> tuple[str | None, str]:
    """Return the type of an attribute; where there is none, why."""
    if isinstance(schema, str):
        return _PRIMITIVE.get(schema), _NO_TYPE
    if not isinstance(schema, dict):
        return None, _NO_TYPE
    of, logical = schema.get("type"), schema.get("logicalType")
    if isinstance(of, (dict, list)) or not isinstance(of, str):
        return _data_type(of) if isinstance(of, dict) and logical is None else (None, _NO_TYPE)
    if of == "enum":
        return "text", ""
    if logical == "decimal" and of in ("bytes", "fixed"):
        return (
            types.numeric(schema.get("precision"), schema.get("scale", 0)),
            f"a number has at most {types.MOST_DIGITS} digits",
        )
    if isinstance(logical, str) and (of, logical) in _LOGICAL:
        return _LOGICAL[of, logical], ""
    if logical in ("time-millis", "time-micros", "duration"):
        return None, "a model has no time of day and no duration"
    # A logical type that a reader does not know is ignored.
    return _PRIMITIVE.get(of), _NO_TYPE


def _full(name: str, namespace: str) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"

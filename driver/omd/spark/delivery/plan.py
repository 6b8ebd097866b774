"""The plan of a stage, as `omd_delivery.validation_plan` returns it; nothing of Spark is here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from typing import Any, TypeVar

T = TypeVar("T")

_FRACTION = re.compile(r"\.\d+")


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute that is not retired; ``type`` is what format_type prints."""

    name: str
    type: str
    ordinal: int
    mandatory: bool
    source: str | None
    computed: str | None
    format: str | None
    values: tuple[str | int | float | bool, ...] | None


@dataclass(frozen=True, slots=True)
class AlternateKey:
    """Attributes that are unique together."""

    name: str
    attributes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relationship:
    """The foreign key of a child; ``parent_columns`` is the whole key of the parent, in order."""

    name: str
    child: str
    parent: str
    columns: tuple[str, ...]
    parent_columns: tuple[str, ...]
    dependent: bool
    context_filter: bool
    child_required: bool

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Each column of the child, with that of the parent."""
        return list(zip(self.columns, self.parent_columns, strict=True))


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint of the stage, with what it is about.

    ``spark_expression`` is a check in the words of Spark SQL, with the date of the delivery in it;
    ``expression`` is the check as the model has it, or the query of a set rule.
    """

    code: str
    type: str
    action: str | None
    expression: str | None
    spark_expression: str | None
    attribute: str | None
    alternate_key: str | None
    relationship: str | None
    child: str | None
    parent: str | None


@dataclass(frozen=True, slots=True)
class Filter:
    """A relationship that filters. ``parents``: those in their CONTEXT, those of ROWS, or NAMED."""

    relationship: str
    parent: str
    parents: str


@dataclass(frozen=True, slots=True)
class Context:
    """What a delivery of an entity is about; ``named``: the keys that are named, or None."""

    kind: str
    named: tuple[Mapping[str, Any], ...] | None
    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Derived:
    """Spark SQL over the staged entities ``sources``."""

    sources: tuple[str, ...]
    query: str


@dataclass(frozen=True, slots=True)
class EntityPlan:
    """An entity of the plan; ``load`` is FULL, DELTA, or None where it is not delivered."""

    entity: str
    lvl_table: str
    delta_table: str
    key: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    alternate_keys: tuple[AlternateKey, ...]
    relationships: tuple[Relationship, ...]
    indicator_column: str
    indicator_delete: str
    derived: Derived | None
    load: str | None
    module_instance_id: int | None
    rows_announced: int | None
    context: Context | None
    constraints: tuple[Constraint, ...]

    def attribute(self, name: str) -> Attribute:
        """Return the attribute of this name."""
        return next(a for a in self.attributes if a.name == name)

    def types(self, names: Sequence[str]) -> dict[str, str]:
        """Return the types of attributes by their names."""
        return {name: self.attribute(name).type for name in names}


@dataclass(frozen=True, slots=True)
class Plan:
    """What one stage of a run has to validate; entities in the order of the plan."""

    delivery_id: int
    attempt: int
    stage: int
    interface: str
    agreement: str
    model_version: int
    snapshot_datetime: datetime
    delete_type: str
    include_existing: bool
    staging_schema: str
    options: Mapping[str, Any]
    context: Mapping[str, Any]
    lvl_tables: Mapping[str, str]
    entities: Mapping[str, EntityPlan]

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Plan:
        """Return the plan that `omd_delivery.validation_plan` has returned as this document."""
        moment = _moment(document["snapshot_datetime"])
        return _made(
            cls,
            document,
            snapshot_datetime=moment,
            options=document["options"] or {},
            context=document["context"] or {},
            lvl_tables=document["lvl_tables"] or {},
            entities={
                e["entity"]: _entity(e, f"DATE'{moment.date().isoformat()}'")
                for e in document["entities"] or ()
            },
        )


def _made(kind: Callable[..., T], said: Mapping[str, Any], **read: Any) -> T:
    """Return an object with the fields of a document, but for those that are read otherwise."""
    names = {field.name for field in fields(kind)} - read.keys()  # type: ignore[arg-type]
    return kind(**{name: said.get(name) for name in names}, **read)


def _tuple(values: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)


def _moment(text: str) -> datetime:
    # Before Python 3.11 a fraction must have three or six digits.
    padded = _FRACTION.sub(lambda match: match[0].ljust(7, "0"), text)
    return datetime.fromisoformat(padded).astimezone(timezone.utc)


def _entity(said: Mapping[str, Any], delivery_date: str) -> EntityPlan:
    derived = said["derived"]
    return _made(
        EntityPlan,
        said,
        key=tuple(said["key"]),
        attributes=tuple(
            _made(Attribute, a, values=_tuple(a.get("values"))) for a in said["attributes"]
        ),
        alternate_keys=tuple(
            AlternateKey(k["name"], tuple(k["attributes"])) for k in said["alternate_keys"]
        ),
        relationships=tuple(
            _made(
                Relationship,
                r,
                columns=tuple(r["columns"]),
                parent_columns=tuple(r["parent_columns"]),
            )
            for r in said["relationships"]
        ),
        indicator_column=said["indicator"]["column"],
        indicator_delete=said["indicator"]["delete"],
        derived=None if derived is None else Derived(tuple(derived["from"]), derived["query"]),
        context=_context(said["context"]),
        constraints=tuple(_constraint(c, delivery_date) for c in said["constraints"]),
    )


def _constraint(said: Mapping[str, Any], delivery_date: str) -> Constraint:
    words = said.get("spark_expression")
    # A literal that could contain the call is written in bytes.
    spark_expression = words and words.replace("delivery_date()", delivery_date)
    return _made(Constraint, said, code=said["constraint"], spark_expression=spark_expression)


def _context(said: Mapping[str, Any] | None) -> Context | None:
    if said is None:
        return None
    filters = tuple(Filter(**f) for f in said["filters"] or ())
    return Context(said["kind"], _tuple(said["named"]), filters)

"""A model document while it is made from a contract."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from omd.integrations.contracts import codes
from omd.integrations.contracts.notes import Notes
from omd.integrations.contracts.types import kind

_EMPTY: tuple[Any, ...] = (None, "", [], {})  # what says nothing
_MOST_ENTITIES = 1000
_MOST_ATTRIBUTES = 1500
_MOST_RULES = 5000

_FIXED = ("columns", "row_count", "row_format", "primary_key", "context", "deletes")


@dataclass(slots=True)
class Entity:
    """One entity: its attributes by the names that the contract has for them, and their rules."""

    name: str
    origin: str  # its name in the contract
    path: str
    notes: Notes
    attributes: dict[str, dict[str, Any]] = field(default_factory=dict)
    key: list[str] = field(default_factory=list)
    alternate_keys: list[dict[str, Any]] = field(default_factory=list)
    relationships: list[dict[str, Any]] = field(default_factory=list)
    constraints: list[dict[str, Any]] = field(default_factory=list)
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)  # without the entity's code
    more: dict[str, Any] = field(default_factory=dict)
    likely_key: list[str] = field(default_factory=list)  # where nothing says the key
    _named: dict[str, dict[str, Any]] = field(default_factory=dict)
    _rules: set[str] = field(default_factory=lambda: {*_FIXED})
    _unique: dict[frozenset[str], str] = field(default_factory=dict)

    def add(
        self, origin: str, data_type: str, *, source: str | None = None, path: str = ""
    ) -> dict[str, Any]:
        """Add an attribute; its name is that of the contract, as far as a model may have it.

        Raises:
            click.UsageError: there are too many.
        """
        if len(self._named) >= _MOST_ATTRIBUTES:
            raise click.UsageError(f"{path}: an entity has at most {_MOST_ATTRIBUTES} attributes")
        name = codes.unused(codes.as_attribute(origin), self._named)
        attribute: dict[str, Any] = {"name": name, "type": data_type}
        self._named[name] = attribute
        source = origin if source is None else source
        if source != attribute["name"]:
            if codes.NO_COLUMN.fullmatch(source) or len(source.encode()) > 63:
                self.notes.leave(path, "no staged column may have this name")
            else:
                attribute["source"] = source
        self.attributes[origin] = attribute
        return attribute

    def find(self, name: Any) -> dict[str, Any] | None:
        """Return the attribute that the contract, or the model, has under a name."""
        if not isinstance(name, str):
            return None
        return self.attributes.get(name) or self._named.get(name)

    def names(self, origins: Any) -> list[str] | None:
        """Return the names of attributes; None where one of them is not there."""
        if not isinstance(origins, (list, tuple)) or not 1 <= len(origins) <= 32:
            return None
        given = [self.find(origin) for origin in origins]
        named = [attribute["name"] for attribute in given if attribute is not None]
        return named if len({*named}) == len(origins) else None

    def rule_name(self, wanted: str) -> str:
        """Return a name for a rule that no other rule of the entity has, and keep it.

        Raises:
            click.UsageError: there are too many.
        """
        if len(self._rules) >= _MOST_RULES:
            raise click.UsageError(f"{self.path}: an entity has at most {_MOST_RULES:,} rules")
        name = codes.unused(codes.as_code(wanted), self._rules)
        self._rules.add(name)
        return name

    def check(
        self, wanted: str, check: str, attribute: str | None, setting: Mapping[str, Any] = {}
    ) -> None:
        """Add a check on one attribute, or on the whole record."""
        rule = {"name": self.rule_name(wanted), "type": "record" if attribute is None else "value"}
        if attribute is not None:
            rule["attribute"] = attribute
        self.constraints.append({**rule, "check": check})
        self.set(rule["name"], setting)

    def unique(self, wanted: str, names: Sequence[str], setting: Mapping[str, Any] = {}) -> None:
        """Add an alternate key, unless there is one of the same attributes."""
        same = frozenset(names)
        if same not in self._unique:
            self._unique[same] = self.alternate_key(wanted, names)
        self.set(self._unique[same], setting)

    def alternate_key(self, wanted: str, names: Sequence[str]) -> str:
        """Add an alternate key, and return its name."""
        name = self.rule_name(wanted)
        self.alternate_keys.append({"name": name, "attributes": [*names]})
        return name

    def set(self, rule: str, setting: Mapping[str, Any]) -> None:
        """Set what holds for a rule; what is set already stays."""
        if setting:
            self.settings[rule] = {**setting, **self.settings.get(rule, {})}

    def document(self) -> dict[str, Any]:
        """Return the entity as a model document has it."""
        for constraint in self.constraints:
            if "where" in constraint:  # a condition of violating rows, whose keys are answered
                key = ", ".join(f"`{name}`" for name in self.key)
                condition = constraint.pop("where")
                words = ["SELECT", key, "FROM", f"`{self.name}`", "WHERE", condition]
                constraint["query"] = " ".join(words)
        document: dict[str, Any] = {
            "name": self.name,
            "key": self.key,
            "attributes": [*self.attributes.values()],
        }
        for key in ("alternate_keys", "relationships", "constraints"):
            if rules := getattr(self, key):
                document[key] = rules
        return {**document, **self.more}


class Draft:
    """A model document while it is made."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.entities: list[Entity] = []
        self.facts: Any = None
        self.settings: dict[str, dict[str, Any]] = {}  # those under their whole codes
        self._origins: dict[str, Entity] = {}
        self._named: dict[str, Entity] = {}

    def entity(self, origin: str, path: str) -> Entity:
        """Add an entity.

        Raises:
            click.UsageError: there are too many.
        """
        if len(self.entities) >= _MOST_ENTITIES:
            raise click.UsageError(f"{path}: a model has at most {_MOST_ENTITIES:,} entities")
        name = codes.unused(codes.as_code(origin), self._named)
        entity = Entity(name, origin, path, self.notes)
        self.entities.append(entity)
        self._origins.setdefault(origin, entity)
        self._named[name] = entity
        return entity

    def find(self, name: str) -> Entity | None:
        """Return the entity that the contract, or the model, has under a name."""
        return self._origins.get(name) or self._named.get(name)

    def choose(self, name: str | None) -> None:
        """Leave all entities but one; a single one gets the name.

        Raises:
            click.UsageError: it is not there, or its name is no code.
        """
        if name is None:
            return
        chosen = self.find(name)
        if chosen is None and len(self.entities) == 1 and codes.is_code(name):
            [chosen] = self.entities
            self._origins = {chosen.origin: chosen}
            chosen.name = chosen.origin = name
        if chosen is None:
            known = ", ".join(entity.name for entity in self.entities[:20])
            raise click.UsageError(f"there is no entity {name}; the file has: {known}")
        for entity in self.entities:
            if entity is not chosen:
                self.notes.leave(entity.path, f"only the entity {chosen.name} was asked for")
        self.entities, self._named = [chosen], {chosen.name: chosen}
        self._origins = {o: entity for o, entity in self._origins.items() if entity is chosen}

    def document(self, interface: str, key: Sequence[str]) -> dict[str, Any]:
        """Return the model document.

        Args:
            interface: its code.
            key: the attributes of the key of the only entity that the contract gives none, or of
                the only entity.

        Raises:
            click.UsageError: an entity has no key, or the key is not there.
        """
        if not self.entities:
            raise click.UsageError("the file has no entity that a model can hold")
        self._take_key(key)
        self._check_relationships()
        for entity in self.entities:
            if entity.name != entity.origin:
                self.notes.assume(entity.path, f"the entity is named {entity.name}")
            self._check_mandatory(entity)
        document: dict[str, Any] = {"interface": interface}
        if self.facts is not None:
            document["facts"] = self.facts
        document["entities"] = [entity.document() for entity in self.entities]
        settings = {
            f"{entity.name}.{rule}": setting
            for entity in self.entities
            for rule, setting in entity.settings.items()
        } | self.settings
        if settings:
            document["settings"] = settings
        return document

    def _take_key(self, key: Sequence[str]) -> None:
        lacking = [entity for entity in self.entities if not entity.key]
        if not key and len(lacking) == 1 and lacking[0].likely_key:
            key = lacking[0].likely_key
            self.notes.assume("key", f"the only unique columns are it: {', '.join(key)}")
        if key:
            of = lacking or self.entities
            if len(of) > 1:
                raise click.UsageError(
                    f"--key fits one entity, and there are {', '.join(e.name for e in of[:20])}; "
                    "--entity chooses one"
                )
            names = of[0].names(list(key))
            if names is None:
                known = ", ".join(a["name"] for a in [*of[0].attributes.values()][:50])
                raise click.UsageError(f"--key: {of[0].name} has the attributes {known}")
            of[0].key = names
            lacking = []
            # What the key says need not be said again.
            same = [k for k in of[0].alternate_keys if {*k["attributes"]} == {*names}]
            for alternate_key in same:
                if alternate_key["name"] not in of[0].settings:
                    of[0].alternate_keys.remove(alternate_key)
        if lacking:
            raise click.UsageError(
                f"the file does not say the key of {', '.join(e.name for e in lacking[:20])}; "
                "--key A,B names its attributes"
            )

    def _check_relationships(self) -> None:
        """Leave out the relationships that have no parent; put columns in the order of its key."""
        for entity in self.entities:
            kept = []
            for relationship in entity.relationships:
                path = relationship.pop("path")
                problem = self._relationship_problem(entity, relationship)
                if problem is None:
                    kept.append(relationship)
                    continue
                self.notes.leave(path, problem)
                entity.settings.pop(relationship["name"], None)
            entity.relationships = kept

    def _relationship_problem(self, entity: Entity, relationship: dict[str, Any]) -> str | None:
        parent = self.find(relationship.pop("to_entity"))
        pairs = relationship.pop("pairs")
        child_setting = relationship.pop("child_setting")
        if parent is None:
            return "its parent is not in the model"
        columns = {}
        for ours, theirs in pairs:
            child_attribute, parent_attribute = entity.find(ours), parent.find(theirs)
            if child_attribute is None or parent_attribute is None:
                return "a column of it is not in the model"
            if kind(child_attribute["type"]) != kind(parent_attribute["type"]):
                types = child_attribute["type"], parent_attribute["type"]
                return f"{ours} is {types[0]}, and {theirs} is {types[1]}"
            columns[parent_attribute["name"]] = child_attribute["name"]
        if {*columns} != {*parent.key} or len(columns) != len(pairs):
            return f"it does not name the key of {parent.name}: {', '.join(parent.key)}"
        relationship["parent"] = parent.name
        relationship["columns"] = [columns[name] for name in parent.key]
        if child_setting:
            self.settings[f"{parent.name}.{entity.name}.{relationship['name']}"] = child_setting
        return None

    def _check_mandatory(self, entity: Entity) -> None:
        """Leave out what is set for values that are missing in the key: nothing may be there."""
        for name in entity.key:
            if entity.settings.pop(f"{name}.mandatory", None):
                self.notes.leave(f"{entity.path}.{name}", "a key attribute has a value in any case")


def in_given_order(rules: list[dict[str, Any]], names: Any) -> list[dict[str, Any]]:
    """Return rules in the order of a list of their names; the others follow."""
    order = {str(name): n for n, name in enumerate(names)} if isinstance(names, list) else {}
    return sorted(rules, key=lambda rule: order.get(rule["name"], len(order)))


def leave_unknown(
    notes: Notes,
    path: str,
    given: Mapping[str, Any],
    known: Iterable[str],
    reasons: Mapping[str, str] = {},
) -> None:
    """Note the keys of an object that nothing reads."""
    expected = {*known}
    for key in (k for k, v in given.items() if k not in expected and v not in _EMPTY):
        notes.leave(f"{path}.{key}".lstrip("."), reasons.get(key, "a model has no place for it"))

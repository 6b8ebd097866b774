"""A model as a contract of the Open Data Contract Standard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from omd.integrations.contracts.notes import Notes
from omd.integrations.contracts.odcs import ENGINE, INTEGERS, VERSION, custom, limits
from omd.integrations.contracts.odcs_import import read_odcs
from omd.integrations.contracts.types import kind
from omd.programs.terminal.yaml_file import as_yaml

# The constraints of an entity that nothing in the standard stands for.
_FIXED = ("row_count", "row_format", "primary_key", "context", "deletes")
_FORMATS = {data_type: name for name, data_type in INTEGERS.items()}


def odcs_contract(model: Mapping[str, Any], version: int) -> dict[str, Any]:
    """Return a model document as a contract.

    Args:
        model: what model_document returned.
        version: that of the model.
    """
    settings = dict(model.get("settings", {}))
    keys = {entity["name"]: entity["key"] for entity in model["entities"]}
    contract = {
        "apiVersion": VERSION,
        "kind": "DataContract",
        "id": model["interface"],
        "version": f"{version}.0.0",
        "status": "active",
        "schema": [_entity(entity, keys, settings) for entity in model["entities"]],
    }
    _keep_order(contract, model["entities"])
    if "facts" in model:
        contract["customProperties"] = [custom("facts", model["facts"])]
    return contract


def contract_as_yaml(contract: Mapping[str, Any]) -> str:
    """Return a contract as YAML, in the order in which the standard explains its words."""
    return as_yaml(contract, _ORDER, apart=("schema", "properties"))


_ORDER = [
    *("id", "property", "type", "name", "metric", "engine", "physicalName", "logicalType"),
    *("logicalTypeOptions", "physicalType", "required", "primaryKey", "primaryKeyPosition"),
    *("unique", "from", "to", "properties", "arguments", "validValues", "implementation"),
    *("check", "query", "mustBe", "mustBeLessOrEqualTo", "mustBeGreaterOrEqualTo", "unit"),
    *("relationships", "quality", "customProperties"),
]


def _entity(
    entity: Mapping[str, Any], keys: Mapping[str, Sequence[str]], settings: dict[str, Any]
) -> dict[str, Any]:
    code = entity["name"]
    quality = list(_rules(entity, settings))
    properties = [
        _property(attribute, entity, quality, settings) for attribute in entity["attributes"]
    ]
    relationships = [
        _relationship(relationship, code, keys, settings)
        for relationship in entity.get("relationships", ())
    ]
    own = [
        custom(key, entity[key])
        for key in ("indicator", "derived", "retired", "facts")
        if key in entity
    ]
    return {
        "name": code,
        "logicalType": "object",
        "properties": properties,
        **_given(relationships=relationships, quality=quality, customProperties=own),
    }


def _rules(entity: Mapping[str, Any], settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rules of an entity that are not those of one attribute."""
    code, seen = entity["name"], set()
    for alternate_key in entity.get("alternate_keys", ()):
        name, attributes = alternate_key["name"], alternate_key["attributes"]
        setting = settings.pop(f"{code}.{name}", None)
        # Of one attribute the standard says that it is unique, where no duplicate may be.
        if len(attributes) > 1 or setting or attributes[0] in seen:
            arguments = {"properties": [*attributes]}
            yield _metric("duplicateValues", setting or {}, name=name, arguments=arguments)
        else:
            seen.add(attributes[0])
    for constraint in entity.get("constraints", ()):
        if constraint["type"] != "value":
            yield _constraint(constraint, code, settings)
    for name in _FIXED:
        if setting := settings.pop(f"{code}.{name}", None):
            yield _own_rule(name, setting)


def _property(
    attribute: Mapping[str, Any],
    entity: Mapping[str, Any],
    rules: Sequence[Mapping[str, Any]],
    settings: dict[str, Any],
) -> dict[str, Any]:
    name, code = attribute["name"], f"{entity['name']}.{attribute['name']}"
    written: dict[str, Any] = {"name": name, **_given(physicalName=attribute.get("source"))}
    written |= _type(attribute["type"], attribute.get("format"))
    missing = settings.pop(f"{code}.mandatory", None)
    # With a limit the metric alone says it: a field of which some may be missing is not required.
    if attribute.get("mandatory") and not missing:
        written["required"] = True
    if name in entity["key"]:
        written["primaryKey"] = True
        written["primaryKeyPosition"] = entity["key"].index(name) + 1
    own = [
        custom(key, attribute[key]) for key in ("computed", "retired", "facts") if key in attribute
    ]
    apart = {rule.get("name") for rule in rules if rule.get("metric") == "duplicateValues"}
    for alternate_key in entity.get("alternate_keys", ()):
        if alternate_key["attributes"] == [name] and alternate_key["name"] not in apart:
            written["unique"] = True
            own.append(custom("alternateKey", alternate_key["name"]))
    quality = []
    if missing:
        quality.append(_metric("nullValues", missing))
    if "values" in attribute:
        setting = settings.pop(f"{code}.enumeration", {})
        arguments = {"validValues": attribute["values"]}
        quality.append(_metric("invalidValues", setting, arguments=arguments))
    if setting := settings.pop(f"{code}.datatype", None):
        quality.append(_own_rule("datatype", setting))
    quality += [
        _constraint(constraint, entity["name"], settings)
        for constraint in entity.get("constraints", ())
        if constraint["type"] == "value" and constraint["attribute"] == name
    ]
    return {**written, **_given(quality=quality, customProperties=own)}


def _type(data_type: str, pattern: str | None) -> dict[str, Any]:
    options: dict[str, Any] = _given(format=pattern)
    match kind(data_type):
        case "boolean":
            return {"logicalType": "boolean"}
        case "integer":
            return {
                "logicalType": "integer",
                "logicalTypeOptions": {"format": _FORMATS[data_type]},
            }
        case "numeric":  # The standard has no word for digits.
            return {"logicalType": "number", "physicalType": data_type}
        case "double":
            return {"logicalType": "number", "logicalTypeOptions": {"format": "f64"}}
        case "date":
            return {"logicalType": "date", **_given(logicalTypeOptions=options)}
        case "timestamp" | "timestamptz" as instant:
            options["timezone"] = instant == "timestamptz"
            return {"logicalType": "timestamp", "logicalTypeOptions": options}
    if "(" in data_type:
        options["maxLength"] = int(data_type.partition("(")[2].rstrip(")"))
    return {"logicalType": "string", **_given(logicalTypeOptions=options)}


def _relationship(
    relationship: Mapping[str, Any],
    child: str,
    keys: Mapping[str, Sequence[str]],
    settings: dict[str, Any],
) -> dict[str, Any]:
    name, parent = relationship["name"], relationship["parent"]
    ours = [f"{child}.{column}" for column in relationship["columns"]]
    theirs = [f"{parent}.{column}" for column in keys[parent]]
    own = {
        "contextFilter": relationship.get("context_filter"),
        "childRequired": relationship.get("child_required"),
        "setting": settings.pop(f"{child}.{name}", None),
        "childSetting": settings.pop(f"{parent}.{child}.{name}", None),
    }
    is_single = len(ours) == 1
    return {
        "id": name,
        "from": ours[0] if is_single else ours,
        "to": theirs[0] if is_single else theirs,
        **_given(customProperties=[custom(key, value) for key, value in _given(**own).items()]),
    }


def _metric(metric: str, setting: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    limit, own = limits(setting)
    return {"metric": metric, **more, **limit, **_given(customProperties=own)}


def _constraint(
    constraint: Mapping[str, Any], entity: str, settings: dict[str, Any]
) -> dict[str, Any]:
    word = "query" if constraint["type"] == "set" else "check"
    setting = settings.pop(f"{entity}.{constraint['name']}", {})
    return _own_rule(constraint["name"], {word: constraint[word], **setting})


def _own_rule(name: str, implementation: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "custom",
        "name": name,
        "engine": ENGINE,
        "implementation": dict(implementation),
    }


def _given(**values: Any) -> dict[str, Any]:
    """Return the values that are given; an empty list or object is none."""
    return {
        key: value for key, value in values.items() if value is not None and value not in ([], {})
    }


def _keep_order(contract: dict[str, Any], entities: Sequence[Mapping[str, Any]]) -> None:
    """Write the order of rules where it would be lost: those of attributes stand with these."""
    again = read_odcs(contract, Notes()).document(str(contract["id"]), ())
    for entity, back, schema in zip(entities, again["entities"], contract["schema"], strict=True):
        order = {
            key: names
            for key in ("alternate_keys", "constraints")
            if (names := [rule["name"] for rule in entity.get(key, ())])
            != [rule["name"] for rule in back.get(key, ())]
        }
        if order:
            schema.setdefault("customProperties", []).append(custom("order", order))
